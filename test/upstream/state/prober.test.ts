import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Prober, type ProbeResult, type ProbeSubject } from "../../../src/upstream/state/states.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const GONE = { status: 0, cause: "the name does not resolve (ENOTFOUND nowhere.example:443)" };

/** Probes that a test ends by hand; `at` tells when they began. */
class Subject implements ProbeSubject {
  readonly at: number[] = [];
  readonly signals: AbortSignal[] = [];
  #end: (result: ProbeResult) => void = () => undefined;
  readonly fingerprint: string;
  readonly every: number;

  constructor(every: number, fingerprint = "a") {
    this.every = every;
    this.fingerprint = fingerprint;
  }

  probe(signal: AbortSignal): Promise<ProbeResult> {
    this.at.push(performance.now());
    this.signals.push(signal);
    return new Promise((resolve) => (this.#end = resolve));
  }

  async end(result: ProbeResult): Promise<void> {
    this.#end(result);
    await vi.advanceTimersByTimeAsync(0);
  }
}

function prober(random = 0.5): { prober: Prober; results: (number | null | "refused")[]; lines: string[] } {
  const results: (number | null | "refused")[] = [];
  const lines: string[] = [];
  const line =
    (level: string) =>
    (_fields: object, message: string): void =>
      void lines.push(`${level} ${message}`);
  const log = { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
  const options = {
    upstream: "alpha",
    random: () => random,
    onResult: (one: number | null | "refused") => results.push(one),
    log,
  };
  return { prober: new Prober(options), results, lines };
}

const pass = (milliseconds: number): Promise<unknown> => vi.advanceTimersByTimeAsync(milliseconds);

describe("the first probe", () => {
  it.each([
    [30_000, 0, 0],
    [30_000, 0.5, 500],
    [30_000, 0.999, 999],
    [200, 0.5, 100],
  ])("every %i ms, chance %d: after %i ms", async (every, random, expected) => {
    const subject = new Subject(every);
    prober(random).prober.setSubject(subject);
    await pass(Math.max(0, expected - 1));
    expect(subject.at).toEqual(expected === 0 ? [0] : []);
    await pass(1);
    expect(subject.at).toEqual([expected]);
  });
});

describe("the next probes", () => {
  it("begin as long after one another as asked, however long each takes", async () => {
    const subject = new Subject(1_000);
    prober(0).prober.setSubject(subject);
    for (const took of [0, 1, 400, 999]) {
      await pass(took);
      await subject.end(1);
      await pass(1_000 - took);
    }
    expect(subject.at).toEqual([0, 1_000, 2_000, 3_000, 4_000]);
  });

  it("never overlap: one that is due waits for the one that runs", async () => {
    const subject = new Subject(1_000);
    prober(0).prober.setSubject(subject);
    await pass(3_500);
    expect(subject.at).toEqual([0]);
    await subject.end(1);
    expect(subject.at).toEqual([0, 3_500]);
  });

  it("survive an interval that no timer can wait for", async () => {
    const subject = new Subject(60 * 86_400_000);
    prober(0).prober.setSubject(subject);
    await pass(0);
    await subject.end(1);
    await pass(1_000_000);
    expect(subject.at).toHaveLength(1);
  });
});

describe("what is followed", () => {
  it("keeps its rhythm when it is the same as before", async () => {
    const { prober: one } = prober(0);
    const first = new Subject(1_000);
    one.setSubject(first);
    await pass(0);
    await first.end(1);
    await pass(600);
    const again = new Subject(1_000);
    one.setSubject(again);
    await pass(399);
    expect(again.at).toEqual([]);
    await pass(1);
    expect(again.at).toEqual([1_000]);
    expect(first.at).toEqual([0]);
  });

  it("when it changes is probed soon, and what ran for the old one is given up and says nothing", async () => {
    const { prober: one, results } = prober(0.1);
    const old = new Subject(1_000, "old");
    one.setSubject(old);
    await pass(100);
    const changed = new Subject(5_000, "new");
    one.setSubject(changed);
    expect(old.signals.map(({ aborted }) => aborted)).toEqual([true]);
    await old.end(GONE);
    await pass(500);
    expect(changed.at).toEqual([200]);
    expect(results).toEqual([]);
    await changed.end(7);
    await pass(10_000);
    expect(results).toEqual([7]);
    expect(old.at).toHaveLength(1);
  });

  it("stops with null and starts again", async () => {
    const { prober: one } = prober(0);
    const subject = new Subject(1_000);
    one.setSubject(subject);
    one.setSubject(null);
    await pass(5_000);
    expect(subject.at).toEqual([]);
    one.setSubject(subject);
    await pass(0);
    expect(subject.at).toEqual([5_000]);
    one.setSubject(null);
    expect(subject.signals[0]!.aborted).toBe(true);
    await subject.end(GONE);
    await pass(5_000);
    expect(subject.at).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is nothing once it is closed", async () => {
    const { prober: one } = prober(0);
    const subject = new Subject(1_000);
    one.setSubject(subject);
    one.close();
    one.setSubject(new Subject(1_000, "b"));
    await pass(5_000);
    expect(subject.at).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

it("tells what it learnt, and logs only what changed", async () => {
  const { prober: one, results, lines } = prober(0);
  const subject = new Subject(1_000);
  one.setSubject(subject);
  const [down, refused] = [
    { status: 503, cause: "upstream answered 503" },
    { status: 401, cause: "upstream answered 401" },
  ];
  for (const result of [3, 4, GONE, GONE, "inconclusive", down, refused, refused, 5, 6] as const) {
    await pass(1_000);
    await subject.end(result);
  }
  expect(results).toEqual([3, 4, null, null, null, "refused", "refused", 5, 6]);
  expect(lines).toEqual([
    "warn probe failed: the upstream is not reachable",
    "warn probe failed: the upstream is reachable, and answers 503",
    "warn probe was refused: the upstream is reachable, and answers 401 to each of its keys",
    "info probe succeeded again",
  ]);
});

it("its timers do not keep the process alive", () => {
  vi.useRealTimers();
  const timers = vi.spyOn(globalThis, "setTimeout");
  const { prober: one } = prober(0.5);
  one.setSubject(new Subject(30_000));
  expect((timers.mock.results[0]!.value as NodeJS.Timeout).hasRef()).toBe(false);
  one.close();
});
