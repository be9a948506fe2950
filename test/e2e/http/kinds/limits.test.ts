import { describe, expect, test } from "vitest";
import { tier } from "../../support/gateway-config.ts";
import type { Answer } from "../../support/http.ts";
import { TestGateway } from "../../support/in-process.ts";
import { type KindEndpoint, askKind, chains, ENDPOINTS, KIND_CHAINS, MEDIA, PLACES } from "../../support/kinds.ts";

const remaining = ({ headers }: Answer): readonly unknown[] =>
  ["day", "hour", "minute"].map((window) => headers[`x-ratelimit-remaining-${window}`]);
const TOO_MANY = [429, "DAILY_REQUEST_LIMIT_EXCEEDED", "Daily request limit exceeded"];
const told = ({ status, headers, text }: Answer): readonly unknown[] => [status, headers["x-error-code"], text];

describe("audio and images take five units of the day, and one of hour and minute", () => {
  test.each(ENDPOINTS)("%s, to the last unit", async (endpoint) => {
    const units = (MEDIA as readonly KindEndpoint[]).includes(endpoint) ? 5 : 1;
    // One unit less than another request needs.
    const rest = units - 1;
    const limits = { day: 2 * units + rest, hour: 90, minute: 80 };
    const gateway = await TestGateway.start({
      chains: { ...KIND_CHAINS, ...chains("-bad", ["?status=500"]), ...chains("-mute", ["?first_byte=1h"]) },
      config: {
        tiers: { Few: tier(limits), Exact: tier({ ...limits, day: 2 * units }) },
        models: Object.fromEntries(ENDPOINTS.map((one) => [`${PLACES[one].model}-mute`, { deadline: "150ms" }])),
      },
    });
    const user = await gateway.user({ tier: "Few" });
    const ask = (suffix = "") => askKind(gateway, user, endpoint, { model: PLACES[endpoint].model + suffix });
    const used = async () => (await gateway.books(user)).used;
    expect(remaining(await ask())).toEqual([String(limits.day - units), "89", "79"]);
    expect(await used()).toEqual({ day: units, hour: 1, minute: 1 });
    // Given back whole.
    for (const [suffix, status] of [
      ["-bad", 502],
      ["-mute", 504],
    ] as const) {
      const failed = await ask(suffix);
      expect([failed.status, ...remaining(failed)]).toEqual([status, String(limits.day - units), "89", "79"]);
      expect(await used()).toEqual({ day: units, hour: 1, minute: 1 });
    }
    expect(remaining(await ask())).toEqual([String(rest), "88", "78"]);
    const refused = await ask();
    expect([...told(refused), ...remaining(refused)]).toEqual([...TOO_MANY, String(rest), "88", "78"]);
    // What needs fewer is still served.
    const chats = await Promise.all(Array.from({ length: units }, () => askKind(gateway, user, "chat")));
    expect(chats.filter(({ status }) => status === 200)).toHaveLength(rest);
    const other = await gateway.user({ tier: "Exact" });
    const statuses = [];
    for (let count = 0; count < 3; count += 1) statuses.push((await askKind(gateway, other, endpoint)).status);
    expect(statuses).toEqual([200, 200, 429]);
    expect((await gateway.books(other)).used).toEqual({ day: 2 * units, hour: 2, minute: 2 });
    await gateway.close();
  });

  test("an operator's own number replaces the five", async () => {
    const gateway = await TestGateway.start({
      chains: KIND_CHAINS,
      config: {
        models: { "route/paint": { multipliers: { requests: 2 } } },
        defaults: { kinds: { speech: { multipliers: { requests: 7 } } } },
      },
    });
    const user = await gateway.user();
    for (const endpoint of MEDIA) await askKind(gateway, user, endpoint);
    expect((await gateway.books(user)).used).toEqual({ day: 14, hour: 3, minute: 3 });
    await gateway.close();
  });
});

describe("at once", () => {
  test.each(MEDIA.slice(0, 1))("100 requests of 5 units to %s with 23 left: exactly 4 are served", async (endpoint) => {
    const gateway = await TestGateway.start({ chains: KIND_CHAINS, config: { tiers: { Few: tier({ day: 23 }) } } });
    const user = await gateway.user({ tier: "Few" });
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        askKind(gateway, user, endpoint, {}, { url: index % 2 === 0 ? gateway.url : gateway.secondUrl }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(4);
    expect(answers.filter(({ status }) => status === 429).map(told)).toEqual(
      Array.from({ length: 96 }, () => TOO_MANY),
    );
    expect(gateway.simulator.ledger()).toHaveLength(4);
    const { used, ledger } = await gateway.books(user);
    expect([used, ledger.length]).toEqual([{ day: 20, hour: 4, minute: 4 }, 4]);
    await gateway.close();
  });

  test("requests of every kind and size together never take more than there is", async () => {
    const gateway = await TestGateway.start({ chains: KIND_CHAINS, config: { tiers: { Few: tier({ day: 101 }) } } });
    const user = await gateway.user({ tier: "Few" });
    const answers = await Promise.all(
      Array.from({ length: 180 }, async (_, index) => {
        const endpoint = ENDPOINTS[index % ENDPOINTS.length]!;
        const { status } = await askKind(gateway, user, endpoint);
        return { status, units: (MEDIA as readonly KindEndpoint[]).includes(endpoint) ? 5 : 1 };
      }),
    );
    const units = answers.reduce((sum, { status, units }) => sum + (status === 200 ? units : 0), 0);
    // The last four cannot serve a request of five; those of one take what is left.
    expect(units).toBe(101);
    const { used, ledger } = await gateway.books(user);
    expect([used.day, ledger.length]).toEqual([101, answers.filter(({ status }) => status === 200).length]);
    await gateway.close();
  });

  test("balance for one image, 100 at once: one upstream call, 99 times 402 (H12)", async () => {
    const gateway = await TestGateway.start({ chains: KIND_CHAINS });
    const user = await gateway.user({ credits: "0.02" });
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => askKind(gateway, user, "image", { sim: "?first_byte=200ms" })),
    );
    const refused = answers.filter(({ status }) => status === 402);
    expect([answers.filter(({ status }) => status === 200).length, refused.length]).toEqual([1, 99]);
    expect(new Set(refused.map(({ text }) => text))).toEqual(new Set(["Insufficient credits for this request"]));
    expect(gateway.simulator.ledger()).toHaveLength(1);
    const { used, ledger, balance } = await gateway.books(user);
    expect([used, ledger.length, balance]).toEqual([{ day: 5, hour: 1, minute: 1 }, 1, 0n]);
    await gateway.close();
  });

  test.each<readonly [KindEndpoint, object, string, string]>([
    ["image", { n: 3 }, "0.06", "0.059999999"],
    ["speech", { input: "😀😀" }, "0.00002", "0.000019999"],
    ["transcription", {}, "0.0015", "0.001499999"],
    ["rerank", {}, "0.001", "0.000999999"],
    ["embeddings", { input: "12345" }, "0.000002", "0.000001999"],
  ])("%s %j needs %s, and %s is too little", async (endpoint, changes, enough, few) => {
    const gateway = await TestGateway.start({ chains: KIND_CHAINS });
    for (const [credits, status] of [
      [enough, 200],
      [few, 402],
    ] as const) {
      const user = await gateway.user({ credits });
      expect((await askKind(gateway, user, endpoint, { ...changes })).status).toBe(status);
    }
    await gateway.close();
  });

  test("models of every kind that cost nothing need no credits", async () => {
    const free = {
      chat: ["input_per_million", "output_per_million"],
      embeddings: ["input_per_million"],
      rerank: ["per_request"],
      speech: ["per_million_characters"],
      transcription: ["per_second"],
      image: ["per_image"],
    };
    const gateway = await TestGateway.start({
      chains: KIND_CHAINS,
      config: {
        models: Object.fromEntries(
          ENDPOINTS.map((endpoint) => [
            PLACES[endpoint].model,
            { price: Object.fromEntries(free[endpoint].map((unit) => [unit, 0])) },
          ]),
        ),
      },
    });
    const user = await gateway.user({ credits: "0" });
    for (const endpoint of ENDPOINTS) expect((await askKind(gateway, user, endpoint)).status).toBe(200);
    const { ledger, balance } = await gateway.books(user);
    expect([ledger.map(({ charge }) => charge), balance]).toEqual([Array(6).fill(0n), 0n]);
    await gateway.close();
  });
});
