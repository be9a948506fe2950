import { afterAll, beforeAll, expect, test } from "vitest";
import { Ledger } from "../../src/simulator/ledger.ts";
import { type LedgerEntry, scriptedUrl, type Simulator, startSimulator } from "../../src/simulator/server.ts";
import { SimulatorOnDemand } from "../../src/simulator/on-demand.ts";
import { call, chat, eventually, RawCall } from "./support.ts";

let simulator: Simulator;
beforeAll(async () => (simulator = await startSimulator()));
afterAll(() => simulator.close());

const ask = (body: object, id = "", script = "-") =>
  call(`${scriptedUrl(simulator.origin, script)}/chat/completions`, { body, headers: { "x-request-id": id } });

test("what was served is entered by request id, remembered answers too", async () => {
  const body = chat("one two", { stream: true, stream_options: { include_usage: true } });
  for (const id of ["a", "b"]) await ask(body, id);
  await eventually(() => simulator.ledger().every((entry) => entry.closedAt !== null));
  const facts = {
    path: "/sim/-/v1/chat/completions",
    model: "m",
    stream: true,
    status: 200,
    events: 12,
    tokens: 9,
    requestBytes: JSON.stringify(body).length,
    units: { prompt: 2, characters: 0, milliseconds: 0, images: 0 },
    upload: null,
    claimed: { prompt: 2, completion: 9, cached: 0 },
    ending: "end",
    aborted: false,
  };
  expect(simulator.ledger().slice(-2)).toMatchObject([
    { ...facts, requestId: "a" },
    { ...facts, requestId: "b" },
  ]);
});

test("a scripted answer is entered as the same, remembered or not", async () => {
  const body = chat("same facts", { stream: true, stream_options: { include_usage: true } });
  const seen = await ask(body);
  const played = await ask(body, "", "first_byte=1ms");
  expect(played.text).toBe(seen.text);
  const [whole, slow] = simulator.ledger().slice(-2);
  const keys = ["events", "bytes", "tokens", "units", "claimed", "status", "model", "requestBytes"] as const;
  for (const key of keys) expect(slow?.[key]).toEqual(whole?.[key]);
  expect(whole?.bytes).toBe(seen.body.length);
});

test.each([
  ["stall_after=0", 0],
  ["error_first", 0],
  ["reset_after=1", 1],
  ["usage.prompt=99", 1],
])("%s: the prompt is used once something of the answer is written", async (script, prompt) => {
  const url = `${scriptedUrl(simulator.origin, script)}/chat/completions`;
  const raw = new RawCall(url, chat("hi", { stream: true, max_tokens: 1 }));
  await raw.until("HTTP/1.1 200");
  await eventually(() => simulator.ledger().at(-1)?.ending !== null || script.startsWith("stall"));
  expect(simulator.ledger().at(-1)?.units.prompt).toBe(prompt);
  raw.leave();
});

test("clients that leave at any moment, half a request included, leave nothing behind", async () => {
  const scripts = [
    "-",
    "first_byte=5ms",
    "chunk_delay=1ms",
    "drip=20/1ms",
    "stall_after=1",
    "reset_after=2",
    "status=500",
  ];
  const before = simulator.ledger().length;
  const calls = Array.from({ length: 140 }, async (_, index) => {
    const raw = new RawCall(
      `${scriptedUrl(simulator.origin, scripts[index % scripts.length] ?? "-")}/chat/completions`,
      chat("hi", { stream: index % 3 > 0 }),
      index % 5 === 0 ? 30 : 0,
    );
    await raw.connected;
    await new Promise((resolve) => setTimeout(resolve, index % 13));
    raw.leave();
    await raw.over();
  });
  await Promise.all(calls);
  await eventually(() => simulator.ledger().length > before);
  await eventually(() => simulator.ledger().every((entry) => entry.closedAt !== null));
  expect(simulator.open()).toBe(0);
  expect((await ask(chat("still there"))).status).toBe(200);
});

test("it is readable and erasable over HTTP", async () => {
  const get = async (path: string) =>
    JSON.parse((await call(`${simulator.origin}${path}`, { method: "GET" })).text) as unknown;
  await ask(chat("hi"), "over-http");
  expect(await get("/sim/open")).toBe(0);
  expect((await get("/sim/ledger")) as LedgerEntry[]).toEqual(simulator.ledger());
  expect((await call(`${simulator.origin}/sim/ledger`, { method: "DELETE" })).status).toBe(204);
  expect(await get("/sim/ledger")).toEqual([]);
});

test("it keeps the newest 20,000 at least, and is bounded", () => {
  const ledger = new Ledger();
  for (let index = 0; index < 100_000; index++) ledger.close(ledger.begin(String(index), "/"), true);
  expect(ledger.entries.length).toBeGreaterThanOrEqual(20_000);
  expect(ledger.entries.length).toBeLessThan(40_000);
  expect(ledger.entries.at(-1)?.requestId).toBe("99999");
});

test("closing cuts what is open and frees the port", async () => {
  const other = await startSimulator();
  const raw = new RawCall(
    `${scriptedUrl(other.origin, "stall_after=1")}/chat/completions`,
    chat("hi", { stream: true }),
  );
  await raw.until("data: ");
  await other.close();
  await raw.over();
  const again = await startSimulator({ port: Number(new URL(other.origin).port) });
  expect(again.origin).toBe(other.origin);
  await expect(startSimulator({ port: Number(new URL(again.origin).port) })).rejects.toThrow("EADDRINUSE");
  await again.close();
});

test("on demand it starts once, with the first address, and again where it could not", async () => {
  const starts = [() => Promise.reject(new Error("no port")), () => Promise.resolve(simulator)];
  const addresses = new SimulatorOnDemand(() => starts.shift()?.() ?? Promise.reject(new Error("too often")));
  await expect(addresses.baseUrl("", "openai")).rejects.toThrow("no port");
  expect(await addresses.baseUrl("?first_byte=3ms&name=a/b", "openai")).toBe(
    `${simulator.origin}/sim/first_byte%3D3ms%26name%3Da%2Fb/v1`,
  );
  expect(await addresses.baseUrl("", "gemini")).toBe(`${simulator.origin}/sim/-`);
});
