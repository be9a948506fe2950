import { globSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SCRIPT } from "../../src/simulator/script.ts";
import { scriptedUrl, type Simulator, startSimulator } from "../../src/simulator/server.ts";
import { call, chat, dataOf, eventsOf, eventually, RawCall, type Seen, type Usage } from "./support.ts";

let simulator: Simulator;
beforeAll(async () => (simulator = await startSimulator()));
afterAll(() => simulator.close());

const urlOf = (script: string) => `${scriptedUrl(simulator.origin, script)}/chat/completions`;
const plain = chat("hi");
const stream = chat("hi", { stream: true });
/** Events of the healthy stream: role, eight words, finish. */
const EVENTS = 10;

/** Scripts whose effect is how the connection ends: what arrives before it, and how many events. */
const CUTS: readonly (readonly [string, object, "fin" | "reset", number])[] = [
  ["reset_after=0", plain, "reset", 0],
  ["reset_after=0", stream, "reset", 0],
  ["reset_after=1", stream, "reset", 1],
  ["reset_after=3", stream, "reset", 3],
  [`reset_after=${EVENTS}`, stream, "reset", EVENTS],
  ["close_after=0", plain, "fin", 0],
  ["close_after=4", stream, "fin", 4],
  [`close_after=${EVENTS}&no_done`, stream, "fin", EVENTS],
];

async function contentsOf(script: string): Promise<readonly string[]> {
  const seen = await call(urlOf(script), { body: stream });
  return eventsOf(seen.text).flatMap((chunk) => chunk.choices[0]?.delta.content || []);
}

/** Statuses of 40 requests, half of which fail by chance. */
async function outcomes(name: string, seed: string): Promise<string> {
  const url = urlOf(`status=500&fail_ratio=0.5&seed=${seed}&name=${name}`);
  const statuses = [];
  for (let index = 0; index < 40; index++) statuses.push((await call(url, { body: plain })).status);
  return statuses.join();
}

/** A request that its path scripts, and its body and header too. */
function send(sim: unknown, header?: string): Promise<Seen> {
  const headers = header === undefined ? undefined : { "x-sim": header };
  return call(urlOf("status=500&message=path"), { body: sim === undefined ? plain : { ...plain, sim }, headers });
}

describe("faults of transport", () => {
  test.each(CUTS)("%s %j ends with %s after %d events", async (script, body, ended, events) => {
    const raw = await new RawCall(urlOf(script), body).over();
    expect(raw.ended).toBe(ended);
    expect(raw.text.split("data: ").length - 1).toBe(events);
    expect(raw.text).not.toContain("[DONE]");
    expect(raw.text.startsWith("HTTP/1.1 200")).toBe(events > 0);
    expect(simulator.ledger().at(-1)).toMatchObject({ ending: ended, events, aborted: false });
  });

  test.each(["reset_after=2", "close_after=1"])("%s in a JSON answer is half a body", async (script) => {
    const raw = await new RawCall(urlOf(script), plain).over();
    const [head = "", body = ""] = raw.text.split("\r\n\r\n");
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
    expect(body.length).toBe(Math.ceil(length / 2));
    expect(simulator.ledger().at(-1)).toMatchObject({ events: 0, claimed: null, bytes: body.length });
  });

  test.each([
    ["stall_after=0", stream, 0],
    ["stall_after=2", stream, 2],
    ["stall_after=1", plain, 0],
  ])("%s is silence until the client leaves", async (script, body, events) => {
    const raw = new RawCall(urlOf(script), body);
    await raw.until(events > 0 ? `"delta":{"content":"This"}` : "HTTP/1.1 200");
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(raw.ended).toBeNull();
    expect(raw.text.split("data: ").length - 1).toBe(events);
    expect(simulator.ledger().at(-1)).toMatchObject({ closedAt: null, ending: null });
    raw.leave();
    await eventually(() => simulator.ledger().at(-1)?.closedAt !== null);
    expect(simulator.ledger().at(-1)).toMatchObject({ aborted: true, events });
  });

  test.each([
    ["first_byte=120ms", 120, ""],
    ["first_event=0.12s", 120, "HTTP/1.1 200"],
    ["chunk_delay=60", 120, "data: "],
  ])("%s delays what follows", async (script, least, before) => {
    const begun = performance.now();
    const raw = new RawCall(urlOf(script), chat("hi", { stream: true, max_tokens: 1 }));
    await raw.until(before || "HTTP");
    const early = performance.now() - begun;
    await raw.until("[DONE]");
    // Timers may fire a millisecond early.
    expect(performance.now() - begun).toBeGreaterThanOrEqual(least - 2);
    expect(early).toBeGreaterThanOrEqual(before === "" ? least - 2 : 0);
    raw.leave();
  });

  test("a slow client holds the stream back instead of filling memory", async () => {
    const raw = new RawCall(urlOf("chunks=200000&chunk_bytes=200"), stream);
    await raw.until("data: ");
    raw.pause();
    await eventually(() => (simulator.ledger().at(-1)?.bytes ?? 0) > 100_000);
    await new Promise((resolve) => setTimeout(resolve, 300));
    // Of about 90 MB: what the sockets of both sides hold.
    expect(simulator.ledger().at(-1)?.bytes).toBeLessThan(20_000_000);
    raw.leave();
  });
});

describe("faults of content", () => {
  test.each([
    ["malformed_after=2", plain],
    ["malformed_after=2", stream],
  ])("%s", async (script, body) => {
    const seen = await call(urlOf(script), { body });
    expect(seen).toMatchObject({ status: 200, whole: true });
    const payloads = body === stream ? dataOf(seen.text) : [seen.text];
    const broken = payloads.findIndex((data) => data !== "[DONE]" && !isJson(data));
    expect(broken).toBe(body === stream ? 2 : 0);
    expect(payloads.length).toBe(body === stream ? EVENTS + 2 : 1);
  });

  test.each([
    ["error_first", 0],
    ["error_after=0", 0],
    ["error_after=3&message=Overloaded", 3],
  ])("%s", async (script, at) => {
    const events = eventsOf((await call(urlOf(script), { body: stream })).text);
    expect(events.length).toBe(at + 1);
    const message = script.includes("Overloaded") ? "Overloaded" : "Simulated failure";
    expect(events[at]).toEqual({ error: { message, type: "server_error", param: null, code: null } });
    const seen = await call(urlOf(script), { body: plain });
    expect(seen.status).toBe(200);
    expect(JSON.parse(seen.text)).toHaveProperty("error.message", message);
  });

  test("no_done leaves out the ending alone", async () => {
    const seen = await call(urlOf("no_done"), { body: stream });
    expect(seen.whole).toBe(true);
    expect(eventsOf(seen.text).at(-1)?.choices[0]?.finish_reason).toBe("stop");
    expect(dataOf(seen.text).length).toBe(EVENTS);
  });

  test("usage claims what it is told, sense or not", async () => {
    const script = "usage.prompt=100&usage.completion=-5&usage.cached=lots";
    const { usage } = JSON.parse((await call(urlOf(script), { body: plain })).text) as { usage: Usage };
    expect(usage).toMatchObject({ prompt_tokens: 100, completion_tokens: -5, total_tokens: 95 });
    expect(usage.prompt_tokens_details).toEqual({ cached_tokens: "lots" });
    expect(simulator.ledger().at(-1)?.claimed).toMatchObject({ prompt: 100, completion: -5, cached: "lots" });
  });

  test("usage of a cache comes on top of the prompt, and finish is any word", async () => {
    const script = "usage.cached=10&usage.cache_write=5&finish=eos";
    const made = JSON.parse((await call(urlOf(script), { body: plain })).text) as { usage: Usage; choices: unknown };
    expect(made.usage).toMatchObject({ prompt_tokens: 16, prompt_tokens_details: { cached_tokens: 10 } });
    expect(made.choices).toMatchObject([{ finish_reason: "eos" }]);
    expect(simulator.ledger().at(-1)?.claimed).toMatchObject({ prompt: 16, cached: 10, cacheWrite: 5 });
    expect((await call(urlOf(script), { body: stream })).text).toContain('"finish_reason":"eos"');
  });

  test("a redirect has somewhere to go, and a 2xx keeps its answer", async () => {
    expect((await call(urlOf("status=302"), { body: plain })).headers["location"]).toBe("/redirected");
    const accepted = await call(urlOf("status=202"), { body: plain });
    expect(accepted).toMatchObject({ status: 202, text: expect.stringContaining("simulated answer") as string });
  });

  test.each([
    ["chunks=3", 3],
    ["chunks=0", 0],
    ["chunks=500", 500],
  ])("%s", async (script, count) => {
    expect((await contentsOf(script)).length).toBe(count);
    expect(simulator.ledger().at(-1)?.tokens).toBe(count === 0 ? 0 : Math.max(count, 8));
  });
});

describe("where and when", () => {
  test("the path, the header and the body script a request, the later ones deciding", async () => {
    expect((await send(undefined)).status).toBe(500);
    expect((await send(undefined, "?status=501")).status).toBe(501);
    const both = await send({ status: 502 }, '{"status":501,"message":"header"}');
    expect(both.status).toBe(502);
    expect(both.text).toContain("header");
    expect((await send("status=503")).status).toBe(503);
  });

  test("fail_times spares the requests after the first ones, by script", async () => {
    const url = urlOf("status=500&fail_times=2&chunks=3");
    const statuses = [];
    for (let index = 0; index < 4; index++) statuses.push((await call(url, { body: stream })).status);
    expect(statuses).toEqual([500, 500, 200, 200]);
    expect((await call(urlOf("status=500&fail_times=2"), { body: stream })).status).toBe(500);
  });

  test("a spared request keeps the shape of the answer", async () => {
    const seen = await call(urlOf("status=500&fail_times=0&chunks=3&usage.prompt=77"), { body: plain });
    expect(JSON.parse(seen.text)).toHaveProperty("usage.prompt_tokens", 77);
  });

  test("a name makes different scripts count together", async () => {
    expect((await call(urlOf("status=500&fail_times=1&name=shared"), { body: plain })).status).toBe(500);
    expect((await call(urlOf("status=501&fail_times=1&name=shared"), { body: plain })).status).toBe(200);
  });

  test("fail_ratio is a share, the same one for the same seed", async () => {
    const [first, again, other] = [await outcomes("a", "s1"), await outcomes("b", "s1"), await outcomes("c", "s2")];
    expect(first).toBe(again);
    expect(first).not.toBe(other);
    expect(first.split("500").length - 1).toBeGreaterThan(8);
    expect(first.split("500").length - 1).toBeLessThan(32);
  });

  test("a probe of the model list meets faults without using them up", async () => {
    const script = "status=503&fail_times=1&name=probe";
    const probe = () => call(`${scriptedUrl(simulator.origin, script)}/models`, { method: "GET" });
    expect([(await probe()).status, (await probe()).status]).toEqual([503, 503]);
    expect((await call(urlOf(script), { body: plain })).status).toBe(503);
    expect((await probe()).status).toBe(200);
  });

  test("a script that is wrong is a 400 that names the key and the nearest one", async () => {
    const seen = await call(urlOf("stal_after=2"), { body: plain });
    expect(seen.status).toBe(400);
    expect(seen.text).toContain("Unknown simulator key 'stal_after'. Did you mean 'stall_after'?");
    expect((await call(`${simulator.origin}/sim/%zz/v1/chat/completions`, { body: plain })).status).toBe(400);
  });

  test("vendor refuses what that provider refuses, also when faults spare the request", async () => {
    const seen = await call(urlOf("vendor=mistral&status=500&fail_times=0"), { body: { ...plain, seed: 1 } });
    expect([seen.status, seen.text]).toEqual([422, expect.stringContaining('"loc":["body","seed"]')]);
    expect((await call(urlOf("vendor=mistral"), { body: plain })).status).toBe(200);
  });

  test("record keeps the body in the ledger", async () => {
    await call(urlOf("record"), { body: plain });
    expect(JSON.parse(simulator.ledger().at(-1)?.body ?? "")).toEqual(plain);
    await call(urlOf("-"), { body: plain });
    expect(simulator.ledger().at(-1)?.body).toBe(null);
  });
});

test("every key of a script is used by a suite", () => {
  const folder = new URL(".", import.meta.url).pathname;
  const suites = globSync("**/*.test.ts", { cwd: folder }).map((name) => readFileSync(folder + name, "utf8"));
  const used = (key: string) =>
    suites.some((text) => new RegExp(String.raw`["\`&?]${RegExp.escape(key)}[=&"\`]`).test(text));
  expect(Object.keys(SCRIPT).filter((key) => !used(key))).toEqual([]);
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
