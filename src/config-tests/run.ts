import type { ConfigTestExpect, ConfigTestGiven, ConfigTestStep } from "#schema";
import { find } from "../config/node.ts";
import type { Diagnostic, Place } from "../config/diagnostics.ts";
import { milliseconds } from "../config/settings.ts";
import { createTokenizer } from "../gateway/tokenizer.ts";
import { loadOffline } from "../offline/load.ts";
import { type OfflineOptions, openOffline, sequence } from "../offline/offline.ts";
import type { Snapshot } from "../kit/index.ts";
import type { Offline, StartedRequest } from "../offline/room.ts";
import { validateBody } from "../server/body-schemas.ts";
import { readTestFile, testFileSchema, type TestCase, type TestFile } from "./cases.ts";
import { type Mismatch, mismatches, wayOf } from "./expectations.ts";
import { faultsOf, givenOf, requestOf, userOf } from "./given.ts";

/** Why a case failed: the first answer that is not as expected. */
export interface Failure {
  /** Which of the case's requests it was: `step 2, request 101 of 101, at 61s`; empty when there is only one. */
  readonly request: string;
  readonly mismatches: readonly (Mismatch & { readonly place: Place })[];
  /** What became of the request, a line each. */
  readonly way: readonly string[];
}

export interface CaseResult extends Pick<TestCase, "name" | "group" | "pointer"> {
  readonly place: Place;
  /** null: passed. */
  readonly failure: Failure | null;
  /** Of real time. */
  readonly durationMs: number;
}

export interface FileResult {
  readonly path: string;
  readonly text: string;
  /** Why it could not be run. */
  readonly diagnostics: readonly Diagnostic[];
  readonly cases: readonly CaseResult[];
}

export interface TestOptions {
  /** In place of the configuration that each file names. */
  readonly config?: string;
  /** Only tests whose name contains it, in any case of letters. */
  readonly filter?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Told once of each list of models that the configurations publish from. */
  readonly tell?: (line: string) => void;
  /** Of real time, in milliseconds. */
  readonly clock: () => number;
}

/** Runs the tests of files, offline. Never throws for what the files hold. */
export async function runTests(files: readonly string[], options: TestOptions): Promise<readonly FileResult[]> {
  const loading = new Map<string, ReturnType<typeof loadOffline>>();
  const told = new Set<string>();
  const tell = (line: string): void => {
    if (!told.has(line)) options.tell?.(line);
    told.add(line);
  };
  const load = (file: string, env: Readonly<Record<string, string>>): ReturnType<typeof loadOffline> => {
    const key = JSON.stringify([file, env]);
    const loaded = loading.get(key) ?? loadOffline({ file, env: { ...options.env, ...env }, tell });
    loading.set(key, loaded);
    return loaded;
  };
  const schema = testFileSchema();
  const tokenizer = createTokenizer();
  const shared = { tokenizer, validateBody };
  const results: FileResult[] = [];
  try {
    for (const path of files) {
      const file = await readTestFile(path, {
        schema,
        ...(options.config !== undefined && { config: options.config }),
        load,
      });
      const rooms = new Rooms(file, shared);
      const cases: CaseResult[] = [];
      for (const one of file.cases)
        if (isWanted(one, options.filter)) cases.push(await runCase(one, rooms, options.clock));
      await rooms.close();
      results.push({ path: file.path, text: file.text, diagnostics: file.diagnostics, cases });
    }
  } finally {
    await tokenizer.close();
  }
  return results;
}

function isWanted({ name, group }: TestCase, filter = ""): boolean {
  return [name, group].some((text) => text.toLowerCase().includes(filter.toLowerCase()));
}

async function runCase(one: TestCase, rooms: Rooms, clock: TestOptions["clock"]): Promise<CaseResult> {
  const startedAt = clock();
  let failure: Failure | null;
  try {
    const run = new Run(one, await rooms.open(one));
    failure = await run.run();
    await rooms.leave(failure === null && run.isClean);
  } catch (error) {
    failure = faultOf(error, one);
    await rooms.close();
  }
  const { name, group, pointer, node } = one;
  return { name, group, pointer, place: node.place, failure, durationMs: clock() - startedAt };
}

/** For a case that could not be run to its end, such as when a plugin's setup fails. */
function faultOf(error: unknown, { node }: TestCase): Failure {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const actual = cause instanceof Error ? cause.message : String(cause);
  return { request: "", mismatches: [{ pointer: "", expected: "an answer", actual, place: node.place }], way: [] };
}

/** Plugins of which a request leaves nothing that another user's request could meet. */
const STATELESS: ReadonlySet<string> = new Set([
  "auth",
  "plan-check",
  "quota",
  "breaker",
  "transform",
  "stream-relay",
  "meter",
]);
/** Users of a room are kept until it closes. */
const MAX_CASES_PER_ROOM = 500;

type Shared = Required<Pick<OfflineOptions, "tokenizer" | "validateBody">>;

/** Each case has a room of its own, or one that is as new: opening one takes as long as several requests. */
class Rooms {
  readonly #file: TestFile;
  readonly #shared: Shared;
  #room: Offline | null = null;
  /** Names of the cases that the room has had: users are called after them. */
  readonly #names = new Set<string>();
  #keepsNothing: boolean | null = null;
  #draw: () => number = () => 0;

  constructor(file: TestFile, shared: Shared) {
    this.#file = file;
    this.#shared = shared;
  }

  async open({ name, test }: TestCase): Promise<Offline> {
    const { loaded, now } = this.#file;
    const chance = test.given?.chance;
    let draws = 0;
    this.#draw = chance === undefined ? sequence() : () => chance[draws++ % chance.length]!;
    if (this.#names.has(name)) await this.close();
    this.#names.add(name);
    return (this.#room ??= await openOffline(loaded!, { now, random: () => this.#draw(), ...this.#shared }));
  }

  /** @param isClean whether the case left the upstreams and the clock as they were. */
  async leave(isClean: boolean): Promise<void> {
    this.#keepsNothing ??= keepsNothing(this.#file.loaded!.snapshot);
    if (!isClean || !this.#keepsNothing || this.#names.size >= MAX_CASES_PER_ROOM) await this.close();
  }

  async close(): Promise<void> {
    const room = this.#room;
    this.#room = null;
    this.#names.clear();
    await room?.close();
  }
}

/** Whether requests leave nothing that another user's could meet: no plugin's state, no times by which targets are chosen. */
function keepsNothing({ pipeline, models }: Snapshot): boolean {
  const choosesByTime = Object.values(models).some(({ chain }) => chain.some(({ balance }) => balance === "latency"));
  return !choosesByTime && pipeline.every(({ use }) => STATELESS.has(use));
}

/** A request that is under way. */
interface Sent {
  readonly started: StartedRequest;
  readonly index: number;
  readonly label: string;
}

/** One case in its room. */
class Run {
  readonly #case: TestCase;
  readonly #room: Offline;
  readonly #startedAt: number;
  readonly #background: (() => Promise<Failure | null>)[] = [];
  #touched = false;

  constructor(one: TestCase, room: Offline) {
    this.#case = one;
    this.#room = room;
    this.#startedAt = room.now();
  }

  /** Nothing but its users is left of it in the room. */
  get isClean(): boolean {
    return !this.#touched && this.#room.now() === this.#startedAt;
  }

  async run(): Promise<Failure | null> {
    const { test } = this.#case;
    this.#setFaults(test.given);
    for (const [index, step] of (test.steps ?? [{}]).entries()) {
      const failure = await this.#step(step, test.steps === undefined ? "" : `/steps/${index}`, index);
      if (failure !== null) return failure;
    }
    for (const end of this.#background) {
      const failure = await end();
      if (failure !== null) return failure;
    }
    return null;
  }

  async #step(step: ConfigTestStep, at: string, index: number): Promise<Failure | null> {
    const { after, every, times = 1, background = false } = step;
    if (after !== undefined) await this.#room.advance(milliseconds(after));
    this.#setFaults(step.given);
    const given = givenOf(this.#case.test.given, step.given);
    const name = step.name === undefined ? `step ${index + 1}` : `step ${index + 1} (${step.name})`;
    const sent: Sent[] = [];
    for (let count = 1; count <= times; count += 1) {
      if (count > 1 && every !== undefined) await this.#room.advance(milliseconds(every));
      const labels = [at === "" ? "" : name, times === 1 ? "" : `request ${count} of ${times}`, this.#time()];
      const one = {
        started: await this.#send(given, background),
        index: count,
        label: labels.filter(Boolean).join(", "),
      };
      if (background) sent.push(one);
      else {
        const failure = await this.#failure(one, step, at, count === times);
        if (failure !== null) return failure;
      }
    }
    if (background) this.#background.push(() => this.#failureOf(sent, step, at));
    return null;
  }

  #time(): string {
    const seconds = (this.#room.now() - this.#startedAt) / 1_000;
    return seconds === 0 ? "" : `at ${seconds}s`;
  }

  #setFaults(given: Pick<ConfigTestGiven, "upstreams"> = {}): void {
    if (given.upstreams === undefined) return;
    this.#touched = true;
    const faults = faultsOf(given.upstreams, Object.keys(this.#room.snapshot.upstreams));
    for (const [upstream, fault] of faults) this.#room.fault(upstream, fault);
  }

  async #send(given: ConfigTestGiven, background: boolean): Promise<StartedRequest> {
    // Also what sticky balancing goes by: the same in each run, and another one for each case and user.
    const user = `${this.#case.name}/${encodeURIComponent(given.user ?? "")}`;
    await this.#room.user(user, { id: user, ...userOf(given, this.#startedAt) });
    const kind = this.#room.snapshot.models[given.model ?? ""]?.kind ?? "chat";
    const request = requestOf(given, user, kind);
    return background ? this.#room.start(request) : { result: () => this.#room.request(request) };
  }

  async #failureOf(sent: readonly Sent[], step: ConfigTestStep, at: string): Promise<Failure | null> {
    for (const one of sent) {
      const failure = await this.#failure(one, step, at, one.index === sent.length);
      if (failure !== null) return failure;
    }
    return null;
  }

  async #failure({ started, label }: Sent, step: ConfigTestStep, at: string, isLast: boolean): Promise<Failure | null> {
    const result = await started.result();
    if (result.attempts.some(({ outcome }) => outcome !== "served")) this.#touched = true;
    const expected: ConfigTestExpect = { ...this.#case.test.expect, ...step.expect };
    const found = mismatches(expected, result, isLast);
    if (found.length === 0) return null;
    const placed = found.map((one) => ({ ...one, place: this.#placeOf(one.pointer, at) }));
    return { request: label, mismatches: placed, way: wayOf(result) };
  }

  /** Where the step says it, else where the test does. */
  #placeOf(pointer: string, at: string): Place {
    const { node } = this.#case;
    return (find(node, `${at}/expect${pointer}`) ?? find(node, `/expect${pointer}`))?.node.place ?? node.place;
  }
}
