import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isJson, type Json } from "../../../../src/kit/index.ts";
import { DEFECTS } from "../../../../src/simulator/script.ts";
import {
  askFormat,
  eventsOf,
  FORMAT_NAMES,
  FORMATS,
  modelsIn,
  openFormat,
  streamedText,
} from "../../support/formats.ts";
import { type Answer, eventually } from "../../support/http.ts";
import { TestGateway, type TestUser } from "../../support/in-process.ts";

const SAID = "This is a simulated answer. You said: Hello there";
const OTHERS = ["messages", "responses"] as const;

let gateway: TestGateway;
let user: TestUser;
beforeAll(async () => {
  gateway = await TestGateway.start({
    chains: {
      "route/uncounted": ["?no_usage"],
      "route/reason": ["-"],
      "route/mute": ["?first_byte=1h"],
      ...Object.fromEntries(DEFECTS.map((defect) => [`route/${defect}`, [`?defect=${defect}`]])),
    },
    config: {
      models: { "route/reason": { chain: [{ upstream: "reason-1", model: "reasoner" }] } },
      tiers: { Counted: { access: "all", limits: { day: 500, hour: "none", minute: 100, streams: 5 } } },
    },
  });
  user = await gateway.user();
});
afterAll(() => gateway.close());

const parsed = (text: string): Json => JSON.parse(text) as Json;

describe.each(OTHERS)("%s: a complete answer", (name) => {
  const format = FORMATS[name];

  test("says what chat completions would have said, under the route's name", async () => {
    const { status, headers, text } = await askFormat(gateway, user, name);
    const { "content-type": type, "content-length": length, "x-gateway-dropped": dropped } = headers;
    expect([status, type, length, dropped]).toEqual([
      200,
      "application/json",
      String(Buffer.byteLength(text)),
      undefined,
    ]);
    const answer = parsed(text);
    expect([format.text(answer), format.counts(answer), answer["model"]]).toEqual([SAID, [2, 9], "route/one"]);
    expect([...modelsIn(answer)]).toEqual(["route/one"]);
  });

  test("without usage from the upstream shows what is charged", async () => {
    const someone = await gateway.user();
    const { text } = await askFormat(gateway, someone, name, { model: "route/uncounted" });
    const [entry] = (await gateway.books(someone)).ledger;
    expect(entry?.estimated).toBe(true);
    expect(format.counts(parsed(text))).toEqual([entry?.usage.prompt, entry?.usage.completion]);
  });

  test("an answer that its limit ends says so", async () => {
    // The API's least is 16 tokens.
    const [asked, chars] = name === "responses" ? [16, "word ".repeat(30)] : [3, "word"];
    const body = name === "responses" ? { input: chars } : {};
    const { text } = await askFormat(gateway, user, name, { ...body, [format.limit]: asked });
    const answer = parsed(text);
    expect(format.counts(answer)[1]).toBe(asked);
    expect(answer).toMatchObject(format.limited);
  });

  test("a field that no upstream of another dialect knows is named in X-Gateway-Dropped, streamed or not", async () => {
    for (const stream of [false, true]) {
      const { status, headers } = await askFormat(gateway, user, name, { stream, future: { deep: [1] } });
      expect([status, headers["x-gateway-dropped"]]).toEqual([200, "/future"]);
    }
  });
});

describe.each(OTHERS)("%s: a stream", (name) => {
  const format = FORMATS[name];

  test("is named events of the route's model and ends in its own ending", async () => {
    const { status, headers, text, whole } = await askFormat(gateway, user, name, { stream: true });
    expect([status, whole]).toEqual([200, true]);
    expect(headers).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache",
      "x-accel-buffering": "no",
    });
    expect(text).toMatch(/^(?:event: [\w.]+\ndata: \{[^\n]*\}\n\n)+$/);
    for (const [, event, data] of text.matchAll(/^event: (\S+)\ndata: (.*)$/gm)) {
      expect(parsed(data!)["type"]).toBe(event);
    }
    const events = eventsOf(text);
    expect(streamedText(name, text)).toBe(SAID);
    expect(text).toMatch(format.done);
    expect([...modelsIn(events)]).toEqual(["route/one"]);
    const last = name === "messages" ? events.at(-2)! : (events.at(-1)!["response"] as Json);
    expect(format.counts(last)).toEqual([2, 9]);
  });

  test.each(DEFECTS)("over an upstream with the defect %s is as good as over one without", async (defect) => {
    const { status, text } = await askFormat(gateway, user, name, { model: `route/${defect}`, stream: true });
    expect(status).toBe(200);
    expect(text).toMatch(format.done);
    expect(streamedText(name, text)).toBe(SAID);
    expect([...modelsIn(eventsOf(text))]).toEqual([`route/${defect}`]);
  });

  test.each(DEFECTS)("of a tool call over an upstream with the defect %s has one whole call", async (defect) => {
    const schema = { type: "object", properties: { q: { type: "string" } }, required: ["q"] };
    const body = { tools: [format.tool("look_up", schema)], ...format.prompt("please look_up this") };
    const { text } = await askFormat(gateway, user, name, { model: `route/${defect}`, stream: true, ...body });
    expect(text).toMatch(format.done);
    expect(format.streamedCalls(eventsOf(text))).toEqual([["look_up", { q: "simulated" }]]);
    expect(text).toMatch(name === "messages" ? /"stop_reason":"tool_use"/ : /"status":"completed"/);
  });

  test("of 3,000 events arrives whole, in order", async () => {
    const long = await TestGateway.start({ chains: { "route/long": ["?chunks=3000"] } });
    const someone = await long.user();
    const { text } = await askFormat(long, someone, name, {
      model: "route/long",
      stream: true,
      [format.limit]: 10_000,
    });
    expect(streamedText(name, text).match(/ simulated/g)).toHaveLength(3_000 - 8);
    expect(text).toMatch(format.done);
    await long.close();
  });

  test("reasoning comes in blocks of its own", async () => {
    const { text } = await askFormat(gateway, user, name, { model: "route/reason", stream: true });
    const types = new Set(
      eventsOf(text)
        .map(({ content_block, item }) => content_block ?? item)
        .filter(isJson)
        .map(({ type }) => type),
    );
    expect([...types]).toEqual(name === "messages" ? ["thinking", "text"] : ["reasoning", "message"]);
    expect(text).toMatch(format.done);
  });
});

describe("headers", () => {
  test("Messages has its request id under both names, Responses under one", async () => {
    for (const [name, ids] of [
      ["messages", ["r-1", "r-1"]],
      ["responses", ["r-1", undefined]],
    ] as const) {
      for (const changes of [{}, { stream: true }, { model: "route/none" }]) {
        const { headers } = await askFormat(gateway, user, name, changes, { headers: { "x-request-id": "r-1" } });
        expect([headers["x-request-id"], headers["request-id"]]).toEqual(ids);
      }
    }
    expect(gateway.simulator.ledger().at(-1)?.requestId).toBe("r-1");
  });
});

describe("the books", () => {
  test.each([false, true])("are those of chat completions for the same prompt (streamed: %s)", async (stream) => {
    const entries: unknown[] = [];
    for (const name of FORMAT_NAMES) {
      const someone = await gateway.user();
      await askFormat(gateway, someone, name, { stream });
      const { ledger, used, balance, granted } = await gateway.books(someone);
      const [{ usage, charge, estimated, outcome, upstream, model } = ledger[0]!] = ledger;
      entries.push({ usage, charge, estimated, outcome, upstream, model, used, spent: granted - balance });
    }
    expect(entries).toEqual(entries.map(() => entries[0]));
    expect(entries[0]).toMatchObject({ charge: 20_000n, spent: 20_000n, used: { day: 1, hour: 1, minute: 1 } });
  });

  test("an estimate is the same in every format", async () => {
    const charges: bigint[] = [];
    for (const name of FORMAT_NAMES) {
      const someone = await gateway.user();
      await askFormat(gateway, someone, name, { model: "route/uncounted" });
      charges.push((await gateway.books(someone)).ledger[0]!.charge);
    }
    expect(new Set(charges).size).toBe(1);
  });

  test("so is what a running request holds", async () => {
    const held: bigint[] = [];
    for (const name of FORMAT_NAMES) {
      const someone = await gateway.user();
      const call = openFormat(gateway, someone, name, {
        model: "route/mute",
        stream: true,
        [FORMATS[name].limit]: 500,
      });
      await eventually(async () => (await gateway.books(someone)).running.requests === 1);
      const { running } = await gateway.books(someone);
      expect(running).toMatchObject({ requests: 1, streams: 1 });
      held.push(running.held);
      call.leave();
    }
    await gateway.audit();
    expect(new Set(held).size).toBe(1);
    expect(held[0]).toBeGreaterThan(1_000_000n);
  });
});

function count(someone: TestUser, messages: readonly Json[]): Promise<Answer> {
  return gateway.send("/v1/messages/count_tokens", {
    headers: { "x-api-key": someone.key, "content-type": "application/json" },
    body: { model: "route/one", messages },
  });
}

describe("the count of tokens", () => {
  test("costs nothing, counts nowhere, asks no upstream, and needs no credits", async () => {
    const poor = await gateway.user({ credits: "0", tier: "Counted" });
    const [before, asked] = [await gateway.books(poor), gateway.simulator.ledger().length];
    const { status, headers, text } = await count(poor, [{ role: "user", content: "Hello there" }]);
    expect([status, text]).toEqual([200, '{"input_tokens":4}']);
    expect(Object.keys(headers).filter((name) => name.startsWith("x-ratelimit"))).toEqual([]);
    expect([await gateway.books(poor), gateway.simulator.ledger().length]).toEqual([before, asked]);
  });

  test("is what an estimate of the same prompt comes to", async () => {
    const messages = [{ role: "user", content: "Grüße aus 東京 😀, and a longer sentence." }];
    const someone = await gateway.user();
    const { input_tokens } = JSON.parse((await count(someone, messages)).text) as { input_tokens: number };
    await askFormat(gateway, someone, "messages", { model: "route/uncounted", messages });
    expect((await gateway.books(someone)).ledger[0]?.usage.prompt).toBe(input_tokens);
  });
});

test.each(["x-api-key", "authorization"])("a key in %s is served on every format", async (header) => {
  for (const name of FORMAT_NAMES) {
    const value = header === "x-api-key" ? user.key : `Bearer ${user.key}`;
    const headers = { authorization: [], [header]: value };
    expect((await askFormat(gateway, user, name, {}, { headers, query: "?beta=true" })).status).toBe(200);
  }
});
