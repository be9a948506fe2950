import { mkdirSync, readdirSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { poll } from "../support/child.ts";
import { ask } from "../support/configuration.ts";
import { wav } from "../support/form.ts";
import { kindsConfiguration } from "../support/kind-models.ts";
import { type Account, type GatewayProcess, type SimProcess, Workspace } from "../support/process.ts";

const STREAMS = 6;
const DONE = "data: [DONE]\n\n";

let workspace: Workspace;
let sim: SimProcess;
let gateway: GatewayProcess;
let user: Account;

const hosts = new Workspace();

beforeAll(async () => {
  sim = await hosts.sim();
});
afterAll(() => hosts.close());

beforeEach(async () => {
  workspace = new Workspace();
  await sim.forget();
  const config = kindsConfiguration(sim.origin);
  const listen = [0, 0].map((port) => ({ host: "127.0.0.1", port }));
  const streams = { day: "none", hour: "none", minute: "none", streams: STREAMS } as const;
  workspace.write("gateway.yaml", {
    ...config,
    server: { ...config.server, listen, drain: { delay: "0s", timeout: "200ms" } },
    tiers: { ...config.tiers, Free: { access: ["Free"], limits: streams } },
  });
  mkdirSync(workspace.path("tmp"));
  workspace.env["TMPDIR"] = workspace.path("tmp");
  gateway = await workspace.serve();
  user = await workspace.account();
});
afterEach(() => workspace.close());

/** Requests of every kind, each with an upstream that keeps it: some before its answer, speech and a stream in the middle. */
const KEPT: Readonly<Record<string, (id: string) => Promise<Response>>> = {
  embeddings: (id) => call("embeddings", id, { model: "route/embed", input: "x", sim: { first_byte: "1h" } }),
  image: (id) => call("images/generations", id, { model: "route/paint", prompt: "x", sim: { first_byte: "1h" } }),
  speech: (id) =>
    call("audio/speech", id, {
      model: "route/voice",
      voice: "sage",
      input: "Say it.",
      sim: { chunks: 9, stall_after: 3 },
    }),
  transcription(id) {
    const form = new FormData();
    form.set("model", "route/listen");
    form.set("sim", "?first_byte=1h");
    // Long enough not to be kept in memory.
    form.set("file", new File([new Uint8Array(wav(200_000))], "said.wav", { type: "audio/wav" }));
    return call("audio/transcriptions", id, form);
  },
  stream: (id) => call("chat/completions", id, ask("x", { stream: true, sim: { stall_after: 3 } })),
};
const KINDS = Object.keys(KEPT);
/** Of the day. */
const UNITS: Readonly<Record<string, number>> = { embeddings: 1, image: 5, speech: 5, transcription: 5, stream: 1 };
const NO_LIMITS = { day: null, hour: null, minute: null, streams: null };

function call(path: string, id: string, body: object): Promise<Response> {
  const headers: Record<string, string> = { authorization: `Bearer ${user.key}`, "x-request-id": id };
  if (!(body instanceof FormData)) headers["content-type"] = "application/json";
  return fetch(`${gateway.origin}/v1/${path}`, {
    method: "POST",
    headers,
    body: body instanceof FormData ? body : JSON.stringify(body),
  });
}

/** Three requests of every kind under way; what becomes of each is its status, or "broken". */
async function startAll(): Promise<{ readonly ids: readonly string[]; readonly ends: Promise<readonly unknown[]> }> {
  const ids = KINDS.flatMap((kind) => [1, 2, 3].map((count) => `${kind}-${count}`));
  const ends = ids.map(async (id) => {
    try {
      const response = await KEPT[id.split("-")[0]!]!(id);
      await response.arrayBuffer();
      return response.status;
    } catch {
      return "broken";
    }
  });
  await poll(async () => {
    const seen = new Set((await sim.ledger()).map(({ requestId }) => requestId));
    return ids.every((id) => seen.has(id));
  });
  await poll(() => workspace.onStore(async (store) => (await store.running(user.id)).requests === ids.length));
  return { ids, ends: Promise.all(ends) };
}

async function killStreams(origin = gateway.origin): Promise<number> {
  const response = await fetch(`${origin}/v1/user/streams/kill`, {
    method: "POST",
    headers: { "x-api-key": user.key },
  });
  return ((await response.json()) as { killed_streams: number }).killed_streams;
}

/** As many as the plan allows, over both addresses; resolved with their texts when they end. */
async function openStreams(): Promise<Promise<string>[]> {
  const streams = Array.from({ length: STREAMS }, async (_, index) => {
    const origin = gateway.origins[index % 2];
    const sim = index < 2 ? { first_byte: "1h" } : { chunk_delay: "10ms", chunks: 100_000 };
    return (await gateway.chat(user.key, ask("x", { stream: true, sim }), { origin, requestId: `s-${index}` })).text();
  });
  await poll(() => workspace.onStore(async (store) => (await store.running(user.id)).streams === STREAMS));
  await poll(async () => (await sim.ledger()).filter(({ events }) => events > 2).length === STREAMS - 2);
  return streams;
}

test("streams are killed through either address, and by another process's stop token; their slots are free", async () => {
  const byAnother = async () => {
    // Of those that another process serves it counts what is in the file.
    await workspace.recorded(STREAMS);
    return (await workspace.onStore((store) => store.stopStreams(user.id))).streams;
  };
  for (const kill of [...gateway.origins.map((origin) => () => killStreams(origin)), byAnother]) {
    const streams = await openStreams();
    const from = performance.now();
    expect(await kill()).toBe(STREAMS);
    for (const text of await Promise.all(streams)) expect(text.endsWith(DONE)).toBe(true);
    expect(performance.now() - from).toBeLessThan(5_000);
    await sim.forget();
  }
  expect(await killStreams()).toBe(0);
  const { running, drift, ledger } = await workspace.books(user.id);
  expect([running, drift]).toEqual([{ requests: 0, streams: 0, held: 0n }, 0n]);
  expect(ledger.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 3 * STREAMS }, () => "killed"));
  // Those that had not begun cost their prompt.
  expect(ledger.filter(({ usage }) => usage.completion === 0)).toHaveLength(3 * 2);
  expect(ledger.every(({ charge }) => charge > 0n)).toBe(true);
  expect((await gateway.chat(user.key, ask("x", { stream: true }))).status).toBe(200);
});

test("kill -9 while requests of every kind run: afterwards no reservation is left and the books balance", async () => {
  const { ids, ends } = await startAll();
  await workspace.recorded(ids.length);
  await gateway.stop("SIGKILL");
  // The heads of speech and streams were out.
  expect(new Set(await ends)).toEqual(new Set(["broken"]));
  expect(readdirSync(workspace.path("tmp"))).toEqual([]);
  gateway = await workspace.serve();
  const { running, drift, ledger, user: found } = await workspace.books(user.id);
  expect([running, found.held, drift]).toEqual([{ requests: 0, streams: 0, held: 0n }, 0n, 0n]);
  expect(ledger.map(({ outcome, charge }) => [outcome, charge])).toEqual(ids.map(() => ["shutdown", 0n]));
  // Nobody knows any more what had been sent of those that had not begun: they count, like those that had.
  const { day } = await workspace.onStore((store) => store.windows(user.id, NO_LIMITS));
  expect(day.used).toBe(ids.reduce((sum, id) => sum + UNITS[id.split("-")[0]!]!, 0));
  expect(ledger.map(({ model }) => model).toSorted()).toEqual(
    ["embed", "listen", "one", "paint", "voice"].flatMap((name) => [1, 2, 3].map(() => `route/${name}`)),
  );
  await poll(async () => (await sim.ledger()).every(({ closedAt }) => closedAt !== null));
  // Everything works again, up to the last slot.
  for (let count = 0; count < STREAMS; count += 1) {
    const response = await gateway.chat(user.key, ask("x", { stream: true }));
    expect([response.status, (await response.text()).endsWith(DONE)]).toEqual([200, true]);
  }
  const made = await call("embeddings", "after", { model: "route/embed", input: "x" });
  expect(made.status).toBe(200);
  expect((await workspace.books(user.id)).drift).toBe(0n);
});

test("kill -9 while an upload is on its way: it never was", async () => {
  // More than the kernel takes on its way: most of it has been written away. Then nothing more comes.
  const pieces = 200;
  let sent = 0;
  const stopped = new ReadableStream<Uint8Array>({
    start: (controller) =>
      controller.enqueue(Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n')),
    pull(controller) {
      sent += 1;
      if (sent <= pieces) controller.enqueue(Buffer.alloc(64 * 1024));
      else return new Promise(() => undefined);
    },
  });
  const headers = { authorization: `Bearer ${user.key}`, "content-type": "multipart/form-data; boundary=b" };
  const upload = fetch(`${gateway.origin}/v1/audio/transcriptions`, {
    method: "POST",
    headers,
    body: stopped,
    duplex: "half",
  }).catch(() => "broken");
  await poll(() => sent > pieces);
  await gateway.stop("SIGKILL");
  expect(await upload).toBe("broken");
  expect(readdirSync(workspace.path("tmp"))).toEqual([]);
  gateway = await workspace.serve();
  const { running, ledger } = await workspace.books(user.id);
  expect([running, ledger]).toEqual([{ requests: 0, streams: 0, held: 0n }, []]);
});

test("SIGTERM while requests of every kind run: each is ended and settled, and the exit is clean", async () => {
  const { ends } = await startAll();
  const { code } = await gateway.stop();
  expect(code).toBe(0);
  const statuses = await ends;
  expect(new Set(statuses)).toEqual(new Set([200, 503, "broken"]));
  const { running, drift, ledger } = await workspace.books(user.id);
  expect([running, drift]).toEqual([{ requests: 0, streams: 0, held: 0n }, 0n]);
  // What had begun is charged, what had not is given back.
  const ended = ledger.map(({ model, outcome }) => `${outcome} ${model}`);
  expect(ended.toSorted()).toEqual(["one", "voice"].flatMap((name) => [1, 2, 3].map(() => `shutdown route/${name}`)));
  expect(ledger.every(({ charge }) => charge > 0n)).toBe(true);
  expect(readdirSync(workspace.path("tmp"))).toEqual([]);
});
