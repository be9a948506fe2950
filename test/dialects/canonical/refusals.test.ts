import { readdirSync, readFileSync } from "node:fs";
import * as fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import streamRelay from "../../../plugins/stream-relay.ts";
import { readError, refusalClass, refusalReason, reportedError } from "../../../src/dialects/canonical/errors.ts";
import { DIALECTS } from "../../../src/dialects/capabilities.ts";
import type { UpstreamDialect } from "../../../src/dialects/dialect.ts";
import {
  AttemptError,
  type ChainStep,
  type DialectName,
  type Exchange,
  type FailureClass,
  GatewayError,
  type Host,
  type Json,
  type Open,
  type Reply,
  type Target,
  type Vendor,
} from "../../../src/kit/index.ts";
import { refusalFailure } from "../../../src/upstream/send/classify.ts";
import { createUpstreams, type Upstreams, type UpstreamSet } from "../../../src/upstream/upstreams.ts";
import { pluginHost, setUp } from "../../plugins/harness.ts";
import { RUNS } from "../../properties/runs.ts";
import { ManualClock } from "../../support/clock.ts";
import { TestLog } from "../../support/host.ts";
import { call, exchange, read, snapshot, target, upstream } from "../../upstream/support/build.ts";
import {
  answer,
  chunk,
  DONE,
  event,
  LAST_CHUNK,
  RawUpstream,
  response,
  STREAM_HEAD,
} from "../../upstream/support/raw-upstream.ts";

/** A refusal as a provider sends it, and what the gateway makes of it. */
interface Case {
  readonly about: string;
  /** Where the refusal was seen, or is documented. */
  readonly source: string;
  readonly dialect: DialectName;
  readonly vendor?: Vendor;
  /** What the upstream's address ends with; left out: nothing. */
  readonly place?: string;
  /** The target's. */
  readonly model: string;
  /** Fields of the client's request that matter. */
  readonly request?: Json;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Events of a 200, in place of a body: the client asks for a stream. */
  readonly stream?: readonly string[];
  readonly due: {
    readonly failure: FailureClass;
    readonly failover: boolean;
    /** What the client is answered when there is no other target. */
    readonly alone: 400 | 502;
    /** What it is told then, behind "Invalid request: " or "Every upstream failed: "; left out: nothing of the provider's. */
    readonly message?: string;
    /** When the key rests: never, from a second user's refusal on, at once, for as long as a rate limit says. */
    readonly key: "free" | "second_user" | "rests" | "limited";
    /** What the breaker makes of one user's requests. */
    readonly breaker: "none" | "failed";
  };
}

const FOLDER = new URL("refusals/", import.meta.url);
const files = readdirSync(FOLDER).filter((name) => name.endsWith(".json"));
const cases = files.map((name) => ({
  name: name.replace(".json", ""),
  cases: JSON.parse(readFileSync(new URL(name, FOLDER), "utf8")) as readonly Case[],
}));

/** What a log names as the operator's to cure. */
const WARNED: ReadonlySet<FailureClass> = new Set(["credentials", "quota", "declined", "parameter"]);
/** What a later try may cure: the client is told to come back. */
const PASSING: ReadonlySet<FailureClass> = new Set(["status", "timeout"]);
/** Account and key in a provider's words. */
const ACCOUNT = /billing|credit|balance|quota|organi[sz]ation|\borg[-_]|account|spend|sk-|arn:|user_|余额/i;

let refusing: RawUpstream;
let serving: RawUpstream;
/** What the refusing upstream writes. */
let written = "";

beforeAll(async () => {
  refusing = await RawUpstream.start(({ socket }) => socket.write(written));
  serving = await RawUpstream.start(({ socket, body }) => {
    if (!body.includes('"stream":true')) return socket.write(answer("well"));
    return socket.write(
      Buffer.concat(
        [STREAM_HEAD, chunk(event("well", "stop")), chunk(DONE), LAST_CHUNK].map((part) => Buffer.from(part)),
      ),
    );
  });
});
afterAll(() => Promise.all([refusing.close(), serving.close()]));

let upstreams: Upstreams | null = null;
let log: TestLog;
let clock: ManualClock;
beforeEach(() => {
  log = new TestLog();
  clock = new ManualClock();
});
afterEach(async () => {
  await upstreams?.close();
  upstreams = null;
});

const SMALL = 1_000;
const LARGE = 100_000;

/** The chain of a case: what refuses, then what serves. */
function targets({ model }: Case): readonly [Target, Target] {
  return [
    target({ upstream: "refusing", model, contextWindow: SMALL }),
    target({ upstream: "serving", model: "m2", contextWindow: LARGE }),
  ];
}

async function lease({ dialect, vendor, place: end = "" }: Case): Promise<UpstreamSet> {
  const spoken = DIALECTS[dialect];
  if (!spoken) throw new Error(`no dialect ${dialect}`);
  const vendored = (one: UpstreamDialect): UpstreamDialect => (vendor ? { ...one, vendor } : one);
  const asked: UpstreamDialect = { ...vendored(spoken), at: (place) => vendored(spoken.at?.(place) ?? spoken) };
  // Another name keeps the serving one out of the vendor's table.
  const dialects = { jina: DIALECTS.openai!, [dialect]: asked };
  upstreams = createUpstreams({ dialects, now: clock.now, log });
  const keys = [dialect === "bedrock" ? "bearer-token" : "key-1"];
  const base = dialect === "openai" ? `${refusing.origin}/v1` : refusing.origin + end;
  return upstreams.lease(
    snapshot(
      upstream(base, { name: "refusing", dialect, keys }),
      upstream(`${serving.origin}/v1`, { name: "serving", dialect: "jina" }),
    ),
  );
}

/** One request over a chain, as the pipeline's relay and breaker make it. */
async function ask(set: UpstreamSet, one: Case, chain: readonly Target[], userId: string): Promise<Reply> {
  const host: Host = Object.assign(await pluginHost({ clock }), {
    breaker: (name: string) => set.breaker(name),
    order: (step: ChainStep) => step.targets,
  });
  const hooks = await setUp(streamRelay, {}, host as never);
  const asked = call({ stream: one.stream !== undefined });
  const sent = { ...asked, body: { ...asked.body, ...one.request } };
  const plain = exchange({ userId, readAt: clock.now() });
  const steps = chain.map((each): ChainStep => ({ balance: "single", targets: [each] }));
  const exchanged: Exchange = { ...plain, model: { ...plain.model, chain: steps } };
  const open: Open = async (each) => {
    const permit = set.breaker(each.upstream).acquire();
    if (permit === null) throw new AttemptError("skipped", "skipped");
    try {
      const reply = await set.send(each, sent, exchanged);
      permit.end({ ok: true });
      return reply;
    } catch (error) {
      permit.end({ ok: false, error: error as AttemptError });
      throw error;
    }
  };
  return hooks.relay!(exchanged, open);
}

/** How a request ended: served, or with what the client is told. */
async function endOf(
  asking: Promise<Reply>,
): Promise<{ readonly status: number; readonly text: string; readonly wait: number }> {
  try {
    const reply = await asking;
    const text = reply.type === "events" ? (await read(reply.source)).text : reply.target.upstream;
    return { status: 200, text, wait: 0 };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { status: error.status, text: error.message, wait: error.details.retryAfter ?? 0 };
  }
}

function write({ status, headers, body, stream }: Case): void {
  written =
    stream === undefined
      ? response(status, { "content-type": "application/json", ...headers }, JSON.stringify(body))
      : Buffer.concat(
          [STREAM_HEAD, ...stream.map((one) => chunk(`${one}\n\n`))].map((part) => Buffer.from(part)),
        ).toString();
}

/** Every text of a provider's body. */
function textsOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

/** What is seen of a case: with a target behind it, then alone by the same user, then alone by others. */
async function observe(one: Case) {
  const { due } = one;
  write(one);
  const set = await lease(one);
  const [first, second] = targets(one);
  const behind = await endOf(ask(set, one, [first, second], "u1"));
  const warned = log.lines.filter(({ level }) => level === "warn");
  const sentences = [...textsOf(one.body), ...(one.stream ?? [])].filter((text) => text.includes(" "));
  const lines = JSON.stringify(log.lines);

  let asked = refusing.requests.length;
  const again = await endOf(ask(set, one, [first], "u1"));
  const sentAgain = refusing.requests.length > asked;
  // What rests is asked once more ten minutes later.
  const rested = due.key === "rests" || due.key === "limited";
  if (rested) clock.advance(600_000);
  const { text: told, status: alone } = rested ? await endOf(ask(set, one, [first], "u1")) : again;

  asked = refusing.requests.length;
  const others: number[] = [];
  if (!rested) for (const user of ["u2", "u3", "u4"]) others.push((await endOf(ask(set, one, [first], user))).status);
  return {
    failover: behind.status === 200,
    warnings: warned.length,
    gap: warned.some(({ message }) => message.includes("a gap in the table")),
    logged: sentences.filter((sentence) => lines.includes(sentence.slice(0, 40))),
    again: due.key === "limited" ? null : { status: again.status, wait: again.wait, sent: sentAgain },
    alone,
    told:
      due.message === undefined
        ? sentences.filter((words) => alone === 502 && told.includes(words.slice(0, 20)))
        : told,
    account: ACCOUNT.test(told.replace("content management", "")),
    others: due.breaker === "none" ? others : [],
    sentToOthers: due.breaker === "none" ? refusing.requests.length - asked : 0,
    breaker: due.breaker === "none" ? set.breaker("refusing").state : null,
  };
}

/** What is to be seen. */
function expected({ due }: Case): Awaited<ReturnType<typeof observe>> {
  const { alone, message } = due;
  const RESTS = { status: 503, wait: 60, sent: false };
  const others = { free: [alone, alone, alone], second_user: [alone, 503, 503], rests: [], limited: [] }[due.key];
  return {
    failover: due.failover,
    warnings: Number(WARNED.has(due.failure)),
    gap: due.failure === "parameter",
    // Identifiers alone: a log is no place for what a provider may say of anybody.
    logged: [],
    again: {
      free: { status: alone, wait: Number(PASSING.has(due.failure)), sent: true },
      second_user: { status: alone, wait: 0, sent: true },
      rests: RESTS,
      limited: null,
    }[due.key],
    alone,
    told: message === undefined ? [] : `${alone === 400 ? "Invalid request" : "Every upstream failed"}: ${message}`,
    account: false,
    others: due.breaker === "none" ? others : [],
    sentToOthers: due.breaker === "none" ? others.filter((status) => status !== 503).length : 0,
    breaker: due.breaker === "none" ? "closed" : null,
  };
}

describe.each(cases)("$name", (file) => {
  test.each(file.cases)("$about: $due.failure", async (one) => {
    expect(await observe(one)).toEqual(expected(one));
  });
});

test("there are cases enough, each with its source", () => {
  const all = cases.flatMap((file) => file.cases);
  expect(all.length).toBeGreaterThanOrEqual(60);
  expect(all.filter(({ source }) => !/^(https:|@|openai )/.test(source))).toEqual([]);
});

describe("a prompt beyond the window", () => {
  const OVERFLOW = cases.flatMap((file) => file.cases).find(({ due }) => due.failure === "context_overflow")!;

  test.each<[string, number | null, number | null, boolean]>([
    ["a larger one is tried", SMALL, LARGE, true],
    ["one as large is not", SMALL, SMALL, false],
    ["one of unknown size is not", SMALL, null, false],
    ["behind one of unknown size none is", null, LARGE, false],
  ])("%s", async (_name, refusingWindow, servingWindow, served) => {
    write(OVERFLOW);
    const set = await lease(OVERFLOW);
    const [first, second] = targets(OVERFLOW);
    const asked = ask(
      set,
      OVERFLOW,
      [
        { ...first, contextWindow: refusingWindow },
        { ...second, contextWindow: servingWindow },
      ],
      "u1",
    );
    expect(await endOf(asked)).toMatchObject(
      served ? { text: "serving" } : { status: 400, text: `Invalid request: ${OVERFLOW.due.message}` },
    );
  });
});

describe("whatever a provider sends", () => {
  const secret = "org-EXAMPLE balance of the billing account";
  const body = fc.oneof(
    fc.jsonValue(),
    fc.record({
      error: fc.oneof(
        fc.jsonValue(),
        fc.record({
          message: fc.string(),
          type: fc.string(),
          code: fc.oneof(fc.string(), fc.integer()),
          param: fc.string(),
        }),
      ),
    }),
  );

  test("it is read, and classed as something that is known", () => {
    fc.assert(
      fc.property(body, fc.integer({ min: 400, max: 499 }), (value, status) => {
        const error = readError(Buffer.from(JSON.stringify(value)));
        expect(error.text.length).toBeLessThanOrEqual(4_096);
        expect(typeof refusalClass({ dialect: "openai", status, error })).toBe("string");
        expect(refusalReason(error)).toMatch(/^[\w.[\]: -]*$/);
        expect(reportedError(value)).toBeInstanceOf(AttemptError);
      }),
      { numRuns: RUNS },
    );
  });

  test("words about the account are never told, wherever they stand", () => {
    const around = fc.tuple(fc.string(), fc.string()).map(([before, after]) => `${before} ${secret} ${after}`);
    const shaped = around.chain((text) =>
      fc.constantFrom<unknown>(
        { error: { message: text } },
        { error: text },
        { message: text },
        { detail: text },
        { detail: [{ loc: ["body"], msg: text }] },
        { message: { detail: [{ type: "missing", loc: ["body", "x"], msg: text }] } },
        { error: { message: "Provider returned error", metadata: { raw: text } } },
        { err_code: "X", err_msg: text },
        { title: "Bad", detail: text },
      ),
    );
    fc.assert(
      fc.property(shaped, fc.constantFrom(400, 409, 413, 422, 429, 403), (value, status) => {
        const bytes = Buffer.from(JSON.stringify(value));
        const head = new AttemptError("client_fault", "head", { status });
        const refused = { dialect: "openai" as const, status, error: readError(bytes) };
        const failure = refusalFailure(refused, head, DIALECTS.openai!.errorMessage(bytes));
        expect(failure.message).not.toContain("EXAMPLE");
        const inner = (value as Json)["error"] ?? value;
        expect(reportedError(inner).message).not.toContain("EXAMPLE");
      }),
      { numRuns: RUNS },
    );
  });
});
