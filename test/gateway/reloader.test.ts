import { expect, onTestFinished, test, vi } from "vitest";
import { loadConfig, type LoadResult } from "../../src/config/load.ts";
import { type Generation, ProcessState, type ReloadEvent } from "../../src/gateway/generation.ts";
import { ownAgreement } from "../../src/gateway/guard.ts";
import { inBackground } from "../../src/kit/index.ts";
import { Reloader, type ReloaderParts } from "../../src/gateway/reloader.ts";
import { options } from "../config/support.ts";
import { type LogLine, memoryLog } from "../server/support.ts";

const shipped = new URL("../../gateway.yaml", import.meta.url).pathname;
const good = await loadConfig(options(shipped, { mode: "check" }));

function generation(hash: string, retire: () => Promise<void> = () => Promise.resolve()): Generation {
  const snapshot = { ...good.snapshot!, hash };
  return { number: 1, snapshot, loaded: { ...good, ok: true, snapshot }, loadedAt: 0, retire } as unknown as Generation;
}

/** A reloader of the shipped file, which runs under another hash: every reload is a change. */
function reloader({ first = generation("before"), ...parts }: Partial<ReloaderParts> & { first?: Generation }) {
  const told: ReloadEvent[] = [];
  const lines: LogLine[] = [];
  const state = new ProcessState({ snapshot: first.snapshot, startedAt: 0 });
  state.activate(first);
  const made = new Reloader({
    state,
    files: [],
    load: () => Promise.resolve(good),
    build: async () => generation(good.hash),
    fileHash: first.snapshot.hash,
    kept: { list: [], find: () => "nothing is kept", load: () => Promise.resolve(null) },
    agreement: () => ownAgreement(() => 0),
    warnings: () => [],
    listed: (loaded) => Promise.resolve(loaded),
    lists: () => ({}),
    onEvent: (event) => told.push(event),
    afterReload: (result) => result,
    now: () => 0,
    log: memoryLog(lines),
    ...parts,
  });
  return { made, told, lines };
}

const GUARD = { share: 0.5, for: 3_600_000, minRequests: 1, maxErrorRatio: 2, maxTtftRatio: 2 };

function guarded(hash: string, retire?: () => Promise<void>): Generation {
  const { snapshot, ...rest } = generation(hash, retire);
  return { ...rest, snapshot: { ...snapshot, reload: { guard: GUARD } }, trial: { counts: null } };
}

const loadedAs = (hash: string): LoadResult => ({ ...good, hash, snapshot: { ...good.snapshot!, hash } });

test("a candidate that made room for one that cannot be built is tried again when it is the file again", async () => {
  let hash = "candidate";
  const { made } = reloader({
    first: guarded("before"),
    load: async () => loadedAs(hash),
    build: async (loaded) => (loaded.hash === "broken" ? Promise.reject(new Error("no")) : guarded(loaded.hash)),
  });
  onTestFinished(() => made.close(new AbortController().signal));
  expect(await made.reload()).toMatchObject({ ok: true, guarded: true });
  hash = "broken";
  expect(await made.reload()).toMatchObject({ ok: false, diagnostics: [{ rule: "plugin-setup" }] });
  hash = "candidate";
  expect(await made.reload()).toMatchObject({ ok: true, guarded: true });
  expect(made.status).toMatchObject({ passed_over: null, guard: { state: "running", candidate: "candidate" } });
});

test("a beginning that a candidate and a kept generation share chooses neither; case does not matter", async () => {
  const [candidate, former] = [`abcd1${"0".repeat(59)}`, `abcd2${"0".repeat(59)}`];
  const kept = { hash: former, since: "", by: null };
  const { made } = reloader({
    first: guarded("before"),
    load: async () => loadedAs(candidate),
    build: async ({ hash }) => ({ ...guarded(hash), promote() {} }),
    kept: { list: [kept], find: () => kept, load: async () => loadedAs(former) },
  });
  onTestFinished(() => made.close(new AbortController().signal));
  await made.reload();
  expect(await made.rollback("abcd")).toMatchObject({
    ok: false,
    diagnostics: [{ rule: "unknown-generation", message: '"abcd" is the beginning of several hashes' }],
  });
  expect(made.status).toMatchObject({ hash: "before", guard: { state: "running" } });
  expect(await made.rollback("ABCD1")).toMatchObject({ ok: true, hash: candidate });
  expect(made.status).toMatchObject({ hash: candidate, guard: { state: "promoted" } });
});

test.each([
  ["for all users", generation],
  ["for a share of them", guarded],
])("what is built while the gateway stops never serves, %s, and is disposed of", async (_name, first) => {
  const built = Promise.withResolvers<Generation>();
  const building = Promise.withResolvers<void>();
  const retire = vi.fn<() => Promise<void>>(() => Promise.resolve());
  const { made, told } = reloader({
    first: first("before"),
    build: async () => {
      building.resolve();
      return built.promise;
    },
  });
  const reloaded = made.reload();
  const waiting = made.reload();
  await building.promise;
  const closed = made.close(new AbortController().signal);
  built.resolve(guarded(good.hash, retire));
  await closed;
  expect(retire, "before what it was built on is closed").toHaveBeenCalledTimes(1);
  expect([await reloaded, await waiting]).toMatchObject([{ ok: false }, { ok: false }]);
  expect(made.status).toMatchObject({ hash: "before", guard: null });
  expect(told).toEqual([]);
});

test("a stop waits for no reload for longer than it is given", async () => {
  const loading = Promise.withResolvers<void>();
  const { made } = reloader({
    load() {
      loading.resolve();
      return new Promise(() => undefined);
    },
  });
  const giveUp = new AbortController();
  let answered = false;
  inBackground(
    memoryLog([]),
    "a reload",
    made.reload().finally(() => (answered = true)),
  );
  await loading.promise;
  const closed = made.close(giveUp.signal);
  giveUp.abort();
  await closed;
  expect(answered).toBe(false);
});

const unreadable = Object.create(null) as unknown;

test.each([
  ["an error", new TypeError("no such thing"), "no such thing"],
  ["what cannot even be named", unreadable, "an error that cannot be read"],
])("a load that throws %s is a rejected reload; the next one is read again", async (_name, thrown, message) => {
  let broken = true;
  const { made, told } = reloader({ load: async () => (broken ? Promise.reject(thrown) : good) });
  const result = await made.reload();
  const diagnostics = [expect.objectContaining({ rule: "reload-fault", severity: "error", message })];
  expect(result).toEqual({ ok: false, diagnostics });
  expect(told).toEqual([{ type: "rejected", diagnostics }]);
  expect(made.status).toMatchObject({ hash: "before", last_rejection: { diagnostics } });
  broken = false;
  expect(await made.reload()).toMatchObject({ ok: true, changed: true });
  expect(made.status).toMatchObject({ hash: good.hash, last_rejection: null });
});

test("a file that is whole again is told once, also when it equals what runs", async () => {
  const bad: LoadResult = { ...good, ok: false, snapshot: null };
  let loaded: LoadResult = bad;
  const { made, told, lines } = reloader({ first: generation(good.hash), load: async () => loaded });
  expect(await made.reload()).toMatchObject({ ok: false });
  loaded = good;
  for (let count = 0; count < 2; count += 1) {
    expect(await made.reload()).toEqual({ ok: true, hash: good.hash, changed: false });
  }
  expect(told).toHaveLength(1);
  expect(made.status.last_rejection).toBeNull();
  expect(lines).toMatchObject([{ level: "info", message: "configuration is valid again; already serving it" }]);
});

test("a build that throws anything is a rejected reload", async () => {
  const { made } = reloader({ build: async () => Promise.reject(unreadable) });
  expect(await made.reload()).toMatchObject({ ok: false, diagnostics: [{ rule: "plugin-setup" }] });
  expect(made.status.hash).toBe("before");
});

test("a configuration that cannot be retired is told in the log", async () => {
  const { made, lines } = reloader({ first: generation("before", () => Promise.reject(new Error("stuck"))) });
  expect(await made.reload()).toMatchObject({ ok: true });
  await Promise.resolve();
  expect(lines).toMatchObject([{ level: "error", message: "retiring a configuration failed" }]);
});
