import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Explanation } from "#schema";
import { isJson, type Json } from "../../../src/kit/index.ts";
import { adminDocument } from "../../../src/server/openapi/admin-document.ts";
import { answered, conforms } from "../../support/openapi.ts";
import { tier } from "../support/gateway-config.ts";
import { eventually } from "../support/http.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await TestGateway.start({
    chains: { "route/one": ["-"], "route/two": ["?status=503", "-"] },
    config: {
      tiers: { Max: tier({ minute: 4, streams: 2 }) },
      defaults: { upstream: { breaker: { consecutive: 1, open_for: "1h", max_open_for: "1h" } } },
    },
  });
});
afterAll(() => gateway.close());

const post = (question: Json, headers: Record<string, string> = {}) =>
  gateway.admin("/admin/explain", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: question,
  });

async function explained(question: Json): Promise<Explanation> {
  const { status, text } = await post(question);
  expect({ status, text }).toEqual({ status: 200, text });
  return JSON.parse(text) as Explanation;
}

const DOCUMENT = adminDocument();

/** Every object in an answer, with its place. */
function* objectsIn(value: unknown, place = ""): Generator<readonly [place: string, object: Record<string, unknown>]> {
  if (!isJson(value) && !Array.isArray(value)) return;
  if (isJson(value)) yield [place, value];
  for (const [name, inner] of Object.entries(value)) yield* objectsIn(inner, `${place}/${name}`);
}

/** The fields that may be added to an answer of the gateway, or be missing in it, while it is as it is described. */
function unnoticed(text: string): string[] {
  const answer = JSON.parse(text) as Json;
  const isDescribed = (): boolean =>
    conforms(DOCUMENT, answered("POST", "/admin/explain", { body: JSON.stringify(answer) })).length === 0;
  expect(isDescribed()).toBe(true);
  const found: string[] = [];
  for (const [place, object] of Array.from(objectsIn(answer))) {
    for (const [name, value] of [...Object.entries(object), ["more", undefined]] as const) {
      if (value === undefined) object[name] = 1;
      else delete object[name];
      if (isDescribed()) found.push(`${place}/${name}`);
      if (value === undefined) delete object[name];
      else object[name] = value;
    }
  }
  return found;
}

const state = async (user: TestUser) => ({
  books: await gateway.books(user),
  sent: gateway.simulator.ledger().length,
  requests: await gateway.metric("gateway_requests_total"),
});

test("a user's own counters and credits are read, and nothing is counted, charged or sent", async () => {
  const user = await gateway.user();
  await gateway.chat(user);
  const before = await state(user);
  const { answer, limits, credits } = await explained({ model: "route/one", user: user.id });
  expect(answer).toMatchObject({ status: 200, outcome: "served" });
  expect(limits.minute).toMatchObject({ limit: 4, used: 2, left: 2 });
  expect(Number(credits.balance)).toBeLessThan(10);
  expect(await state(user)).toEqual(before);
});

test("it says what the next request then meets", async () => {
  const user = await gateway.user();
  for (let used = 0; used < 4; used += 1) await gateway.chat(user);
  const { answer, stages } = await explained({ model: "route/one", user: user.id });
  const refused = await gateway.chat(user);
  expect(answer).toMatchObject({ status: refused.status, code: "RATE_LIMIT_ERROR", message: refused.text });
  expect(stages.find(({ decision }) => decision === "refused")?.plugin).toBe("quota");
  expect(await explained({ model: "route/one", user: user.id, key: "key_none" })).toMatchObject({
    answer: { status: 401 },
  });
});

test("breakers are as they are in the process", async () => {
  const user = await gateway.user();
  const asked = { model: "route/two", user: user.id };
  expect((await explained(asked)).chain[0]!.targets[0]).toMatchObject({ decision: "failed" });
  await gateway.chat(user, { model: "route/two" });
  const { chain } = await explained(asked);
  expect(chain.map(({ targets: [target] }) => target!.decision)).toEqual(["skipped", "served"]);
});

test.each([
  [{}, "/model is required"],
  [{ model: "route/one" }, "/tier is missing, and so is user"],
  [{ model: "route/on", tier: "Max" }, "did you mean route/one?"],
  [{ model: "route/one", tier: "Maxx" }, "did you mean Max?"],
  [{ model: "route/one", user: "nobody" }, "there is no user nobody"],
  [{ model: "route/one", tier: "Max", down: ["none"] }, "there is no upstream none"],
  [
    { model: "route/one", tier: "Max", faults: {} },
    "/faults is not known: model, tier, user, key, endpoint, stream, body,",
  ],
  [{ model: "route/one", tier: "Max", prompt_tokens: -1 }, "/prompt_tokens must be at least 0"],
  [{ model: "route/one", tier: "Max", output_tokens: 1_000_001 }, "/output_tokens must be at most 1000000"],
  [{ model: "route/one", tier: "Max", body: [] }, "/body must be an object"],
  [{ model: "route/one", tier: "Max", open: ["one", 2] }, "/open/1 must be a string"],
  [{ model: "route/one", tier: "Max", key: "key_none" }, "/user is missing: whose key?"],
  [{ model: "route/one", tier: "Max", endpoint: "video" }, "/endpoint must be one of"],
])("%j is a 400", async (question, message) => {
  const { status, text } = await post(question);
  expect(status).toBe(400);
  expect(text).toContain(message);
});

test("an answer has the fields that are described, each of them and no other", async () => {
  const { text } = await post({ model: "route/two", tier: "Max", stream: true });
  expect(JSON.parse(text)).toMatchObject({ stages: { 0: {} }, chain: { 1: { targets: [{}] } } });
  expect(unnoticed(text).filter((place) => !/^\/answer\/headers\/(?!more$)/.test(place))).toEqual([]);
});

test("the token is needed", async () => {
  expect((await post({}, { authorization: "Bearer wrong" })).status).toBe(401);
});

test("a past request is explained by its line in the decision log, put aside or not, then and now", async () => {
  const folder = await mkdtemp(join(tmpdir(), "explain-"));
  const file = join(folder, "decisions.jsonl");
  const config = { telemetry: { decision_log: { file, max_size: "2KiB", keep: 8 } } };
  const logging = await TestGateway.start({ config, chains: { "route/failing": ["?status=503", "-"] } });
  onTestFinished(async () => {
    await logging.close();
    await rm(folder, { recursive: true });
  });
  const user = await logging.user();
  const ids: string[] = [];
  for (let count = 0; count < 8; count += 1) {
    const { headers } = await logging.chat(user, { model: "route/failing" });
    ids.push(headers["x-request-id"] as string);
  }
  const ask = (body: Json) =>
    logging.admin("/admin/explain", { method: "POST", headers: { "content-type": "application/json" }, body });
  await eventually(async () => (await ask({ request: ids.at(-1)! })).status === 200);
  expect((await readdir(folder)).length).toBeGreaterThan(1);
  for (const id of [ids[0]!, ids.at(-1)!]) {
    const past = JSON.parse((await ask({ request: id })).text) as Json;
    expect(past).toMatchObject({ before: { request_id: id, status: 200 }, now: { answer: { status: 200 } } });
    expect(past["differences"]).toEqual([]);
  }
  const second = logging.gateway.generation.snapshot.models["route/failing"]!.chain[1]!.targets[0]!.upstream;
  const { text } = await ask({ request: ids[0]!, down: [second] });
  expect(JSON.parse(text)).toMatchObject({
    before: { attempts: [{}, {}] },
    differences: expect.arrayContaining([{ what: "result", before: "200 served", now: "502 PROVIDER_ERROR" }]),
  });
  expect(unnoticed(text).filter((place) => !/^\/now\/answer\/headers\/(?!more$)/.test(place))).toEqual([]);
});

test.each([
  [{ request: "none" }, "/request is looked for in telemetry.decision_log, which is not configured"],
  [{ request: "none", model: "route/one" }, "/model is not known beside request: request, tier, down, open"],
  [{ request: 5 }, "/request must be the id of a request"],
  // Every line of the log has the empty text in it.
  [{ request: "" }, "/request must be the id of a request"],
])("%j is a bad question about a past request", async (question, message) => {
  expect(await post(question)).toMatchObject({ status: 400, text: expect.stringContaining(message) });
});
