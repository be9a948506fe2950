import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { KeptLists } from "../../src/gateway/kept-lists.ts";
import { ModelLists } from "../../src/gateway/model-lists.ts";
import type { ListedModel, ModelListing, Snapshot, Upstream } from "../../src/kit/index.ts";
import { Secret } from "../../src/kit/index.ts";
import { type LogLine, memoryLog } from "../server/support.ts";
import { snapshot, upstream } from "../upstream/support/build.ts";

const HOUR = 3_600_000;
const START = Date.parse("2026-01-15T12:00:00Z");

function model(id: string): ListedModel {
  return { id, kind: "chat" };
}

const listing = (...ids: readonly string[]): ModelListing => ({ ok: true, models: ids.map(model) });
const failing = (reason: string): ModelListing => ({ ok: false, reason });

function publishing(name: string, changes: Partial<Upstream> = {}): Upstream {
  const publishes = { include: ["*"], exclude: [], kinds: {}, served: [] };
  return { ...upstream(`https://${name}.example/v1`), name, publishes, ...changes };
}

interface Asked {
  readonly upstream: Upstream;
  readonly signal: AbortSignal;
  readonly answer: (listing: ModelListing) => void;
}

interface Kit {
  readonly lists: ModelLists;
  readonly kept: KeptLists;
  readonly asked: Asked[];
  readonly lines: LogLine[];
  /** How often `onChange` was called. */
  readonly changes: () => number;
  /** Milliseconds until the calls that are planned. */
  readonly planned: () => readonly number[];
  /** Passes to the next planned call. */
  next(): Promise<void>;
  readonly now: () => number;
}

/** The lists of providers that the test answers for, on a clock that it moves. */
async function open(folder: string | null = null, writes = folder !== null): Promise<Kit> {
  let now = START;
  const planned = new Map<() => void, number>();
  const asked: Asked[] = [];
  const lines: LogLine[] = [];
  let changes = 0;
  const kept = await KeptLists.open(folder);
  const lists = new ModelLists({
    ask: (one, signal) => {
      const { promise, resolve } = Promise.withResolvers<ModelListing>();
      asked.push({ upstream: one, signal, answer: resolve });
      return promise;
    },
    kept,
    writes,
    now: () => now,
    schedule(at, callback) {
      planned.set(callback, at);
      return () => planned.delete(callback);
    },
    log: memoryLog(lines),
  });
  lists.start(() => {
    changes += 1;
  });
  changes = 0;
  onTestFinished(() => lists.close());
  return {
    lists,
    kept,
    asked,
    lines,
    changes: () => changes,
    planned: () => [...planned.values()].map((at) => at - now).toSorted((a, b) => a - b),
    async next() {
      const [[callback, at] = []] = [...planned].toSorted(([, a], [, b]) => a - b);
      if (callback === undefined || at === undefined) throw new Error("nothing is planned");
      planned.delete(callback);
      now = at;
      callback();
      await turn();
    },
    now: () => now,
  };
}

/** Lets what was resolved go on. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Serves a configuration of these upstreams, whose providers answer so. */
async function serve(kit: Kit, upstreams: readonly Upstream[], ...answers: readonly ModelListing[]): Promise<Snapshot> {
  const of = snapshot(...upstreams);
  const refreshed = kit.lists.refresh(of);
  for (const [index, answer] of answers.entries()) kit.asked[index]?.answer(answer);
  await refreshed;
  kit.lists.follow(of);
  return of;
}

describe("the hour", () => {
  test("each provider is asked again within an hour, at its own moment of every hour", async () => {
    const kit = await open();
    const [alpha, beta] = [publishing("alpha"), publishing("beta")];
    await serve(kit, [alpha, beta], listing("a"), listing("b"));
    expect(kit.planned()).toHaveLength(2);
    expect(kit.planned().every((wait) => wait > 0 && wait <= HOUR)).toBe(true);
    expect(kit.planned()[0]).not.toBe(kit.planned()[1]);
    await kit.next();
    const first = kit.now();
    const { upstream: asked, answer } = kit.asked[2]!;
    answer(listing("new"));
    await turn();
    expect(kit.lists.known(asked)).toEqual([model("new")]);
    expect(kit.changes()).toBeGreaterThan(0);
    // The other one's turn, and then this one's again: exactly an hour later.
    await kit.next();
    kit.asked[3]!.answer(listing("b"));
    await turn();
    await kit.next();
    expect(kit.now() - first).toBe(HOUR);
    expect(kit.asked[4]!.upstream.name).toBe(asked.name);
  });

  test("another process asks at the same moment", async () => {
    const [one, other] = [await open(), await open()];
    await serve(one, [publishing("alpha")], listing("a"));
    await serve(other, [publishing("alpha")], listing("a"));
    expect(one.planned()).toEqual(other.planned());
  });

  test("the same list again is no change", async () => {
    const kit = await open();
    await serve(kit, [publishing("alpha")], listing("a"));
    const before = kit.changes();
    await kit.next();
    kit.asked[1]!.answer(listing("a"));
    await turn();
    expect(kit.changes()).toBe(before);
  });
});

describe("a provider that gives no list", () => {
  test("is asked again soon, later and later, and at least each minute; the log says it once", async () => {
    const kit = await open();
    const of = await serve(kit, [publishing("alpha")], failing("alpha.example answered 503"));
    const waits: number[] = [];
    for (let at = 1; at <= 6; at += 1) {
      waits.push(kit.planned()[0]!);
      await kit.next();
      kit.asked[at]!.answer(failing("alpha.example answered 503"));
      await turn();
    }
    expect(waits).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
    expect(kit.lines.filter(({ level }) => level === "warn").map(({ message }) => message)).toEqual([
      "no list of models from alpha, none of its models is published: alpha.example answered 503",
    ]);
    expect(kit.lists.status(of)).toEqual({
      alpha: { listed: null, listed_at: null, error: "alpha.example answered 503" },
    });
    await kit.next();
    kit.asked[7]!.answer(listing("a"));
    await turn();
    expect(kit.lists.status(of)).toMatchObject({ alpha: { listed: 1, error: null } });
    expect(kit.planned()[0]).toBeLessThanOrEqual(HOUR);
    expect(kit.lines.at(-1)?.message).toBe("the provider lists its models again");
  });

  test("keeps the last one: after a failure, nonsense and an empty list alike", async () => {
    const kit = await open();
    const of = await serve(kit, [publishing("alpha")], listing("a"));
    for (const [at, answer] of [failing("no"), listing()].entries()) {
      await kit.next();
      kit.asked[at + 1]!.answer(answer);
      await turn();
      expect(kit.lists.known(of.upstreams["alpha"]!)).toEqual([model("a")]);
    }
    expect(kit.lists.status(of)).toMatchObject({ alpha: { listed: 1, error: "its list is empty" } });
    expect(kit.lines.map(({ message }) => message)).toContain(
      "no new list of models from alpha, the one of 2026-01-15T12:00:00.000Z stays: no",
    );
  });

  test("does not keep a start waiting for more than three seconds; its list comes later", async () => {
    const kit = await open();
    const of = snapshot(publishing("alpha"));
    const refreshed = kit.lists.refresh(of);
    expect(kit.planned()).toEqual([3_000]);
    await kit.next();
    await refreshed;
    kit.lists.follow(of);
    expect(kit.changes()).toBe(0);
    kit.asked[0]!.answer(listing("a"));
    await turn();
    expect(kit.changes()).toBe(1);
    expect(kit.planned()).toHaveLength(1);
  });

  test("that throws is one that gives none", async () => {
    const kit = await open();
    const lists = new ModelLists({
      ask: () => Promise.reject(new Error("a bug")),
      kept: kit.kept,
      writes: false,
      now: kit.now,
      schedule: () => () => undefined,
      log: memoryLog(),
    });
    const of = snapshot(publishing("alpha"));
    await lists.refresh(of);
    expect(lists.status(of)).toMatchObject({ alpha: { error: "a bug" } });
  });
});

describe("a change of the configuration", () => {
  test("while a question is under way joins it, unless key or address are others", async () => {
    const kit = await open();
    const first = kit.lists.refresh(snapshot(publishing("alpha")));
    const same = kit.lists.refresh(snapshot(publishing("alpha")));
    expect(kit.asked).toHaveLength(1);
    const other = kit.lists.refresh(snapshot(publishing("alpha", { apiKeys: [new Secret("other")] })));
    expect(kit.asked).toHaveLength(2);
    expect(kit.asked[0]!.signal.aborted).toBe(true);
    // What the old key was answered counts no more.
    kit.asked[0]!.answer(listing("old"));
    kit.asked[1]!.answer(listing("new"));
    await Promise.all([first, same, other]);
    expect(kit.lists.known(publishing("alpha"))).toEqual([model("new")]);
  });

  test("ends the questions for upstreams that publish no more", async () => {
    const kit = await open();
    await serve(kit, [publishing("alpha")], listing("a"));
    kit.lists.follow(snapshot(upstream("https://alpha.example/v1")));
    expect(kit.planned()).toEqual([]);
  });

  test("a list says nothing about another address, or another account", async () => {
    const kit = await open();
    await serve(kit, [publishing("alpha")], listing("a"));
    expect(kit.lists.known(publishing("alpha"))).toEqual([model("a")]);
    expect(kit.lists.known(publishing("alpha", { baseUrl: "https://other.example/v1" }))).toBeNull();
    expect(kit.lists.known(publishing("alpha", { name: "second" }))).toBeNull();
  });

  test("a stop gives up what is asked, and nothing is asked afterwards", async () => {
    const kit = await open();
    const of = snapshot(publishing("alpha"));
    const refreshed = kit.lists.refresh(of);
    await kit.lists.close();
    expect(kit.asked[0]!.signal.aborted).toBe(true);
    kit.asked[0]!.answer(failing("given up"));
    await refreshed;
    kit.lists.follow(of);
    expect([kit.planned(), kit.lines]).toEqual([[], []]);
  });
});

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "model-lists-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

describe("the lists on disk", () => {
  test("outlive the process; the file is the owner's alone, and holds neither address nor key", async () => {
    const path = join(await folder(), "data");
    const kit = await open(path);
    await serve(kit, [publishing("alpha"), publishing("beta")], listing("a"), listing("b"));
    await kit.lists.close();
    const file = join(path, "model-lists.json");
    const text = await readFile(file, "utf8");
    expect([(await stat(file)).mode & 0o777, text.includes("example"), text.includes("key-1")]).toEqual([
      0o600,
      false,
      false,
    ]);
    const again = await KeptLists.open(path);
    expect(again.of(publishing("alpha"))).toEqual({ upstream: "alpha", models: [model("a")], at: START });
    expect(again.of(publishing("beta"))?.models).toEqual([model("b")]);
  });

  test("of a configuration that has other upstreams now are written without the former ones", async () => {
    const path = await folder();
    const kit = await open(path);
    await serve(kit, [publishing("alpha")], listing("a"));
    kit.lists.follow(snapshot(publishing("beta")));
    const refreshed = kit.lists.refresh(snapshot(publishing("beta")));
    kit.asked.at(-1)!.answer(listing("b"));
    await refreshed;
    await kit.lists.close();
    const again = await KeptLists.open(path);
    expect([again.of(publishing("alpha")), again.of(publishing("beta"))?.models]).toEqual([null, [model("b")]]);
  });

  test("are written by one process of several alone", async () => {
    const path = await folder();
    const kit = await open(path, false);
    await serve(kit, [publishing("alpha")], listing("a"));
    await kit.lists.close();
    expect((await KeptLists.open(path)).of(publishing("alpha"))).toBeNull();
  });

  test("are none where the file is none of theirs", async () => {
    const path = await folder();
    const file = join(path, "model-lists.json");
    const alpha = publishing("alpha");
    const kit = await open(path);
    await serve(kit, [alpha], listing("a"));
    await kit.lists.close();
    const good = await readFile(file, "utf8");
    expect((await KeptLists.open(path)).of(alpha)).not.toBeNull();
    const bad = [
      "",
      "{",
      "[]",
      "null",
      '{"version":2,"lists":{}}',
      '{"version":1,"lists":[]}',
      good.replace('"chat"', '"nothing"'),
      good.replace('"id":"a"', '"id":7'),
      good.replace('"kind"', '"contextWindow":-1,"kind"'),
      good.replace('"kind"', '"displayName":{},"kind"'),
      good.replace(/"at":\d+/, '"at":"now"'),
    ];
    for (const text of bad) {
      await writeFile(file, text);
      expect([text, (await KeptLists.open(path)).of(alpha)]).toEqual([text, null]);
    }
  });

  test("that cannot be written are a line of log", async () => {
    const path = await folder();
    await writeFile(join(path, "file"), "");
    const kit = await open(join(path, "file"));
    await serve(kit, [publishing("alpha")], listing("a"));
    await kit.lists.close();
    expect(kit.lines.map(({ message }) => message)).toEqual([
      "the lists of models could not be kept: a restart has to ask for them",
    ]);
  });
});
