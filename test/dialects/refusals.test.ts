import { readdirSync, readFileSync } from "node:fs";
import * as fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import streamRelay from "../../plugins/stream-relay.ts";
import { DIALECTS } from "../../src/dialects/capabilities.ts";
import type { UpstreamDialect } from "../../src/dialects/dialect.ts";
import { readError } from "../../src/dialects/error-body.ts";
import { reportedError } from "../../src/dialects/errors.ts";
import { refusalClass, refusalReason } from "../../src/dialects/refusals.ts";
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
} from "../../src/kit/index.ts";
import { refusalFailure } from "../../src/upstream/classify.ts";
import { createUpstreams, type Upstreams, type UpstreamSet } from "../../src/upstream/upstreams.ts";
import { pluginHost, setUp } from "../plugins/harness.ts";
import { ManualClock } from "../support/clock.ts";
import { TestLog } from "../support/host.ts";
import { call, exchange, read, snapshot, target, upstream } from "../upstream/support/build.ts";
import {
  answer,
  chunk,
  DONE,
  event,
  LAST_CHUNK,
  RawUpstream,
  response,
  STREAM_HEAD,
} from "../upstream/support/raw-upstream.ts";

/** A refusal as a provider sends it, and what the gateway makes of it. */
interface Case {
  readonly about: string;
  /** Where the refusal was seen, or is documented. */
  readonly source: string;
  readonly dialect: DialectName;
  readonly vendor?: Vendor;
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
      Buffer.concat([STREAM_HEAD, chunk(event("well", "stop")), chunk(DONE), LAST_CHUNK].map(Buffer.from)),
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

async function lease({ dialect, vendor }: Case): Promise<UpstreamSet> {
  const spoken = DIALECTS[dialect];
  if (!spoken) throw new Error(`no dialect ${dialect}`);
  const vendored = (one: UpstreamDialect): UpstreamDialect => (vendor ? { ...one, vendor } : one);
  const asked: UpstreamDialect = { ...vendored(spoken), at: (place) => vendored(spoken.at?.(place) ?? spoken) };
  // Another name keeps the serving one out of the vendor's table.
  const dialects = { jina: DIALECTS.openai!, [dialect]: asked };
  upstreams = createUpstreams({ dialects, now: clock.now, log });
  const keys = [dialect === "bedrock" ? "bearer-token" : "key-1"];
  const base = dialect === "openai" ? `${refusing.origin}/v1` : refusing.origin;
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
    breaker: set.breaker,
    order: (step: ChainStep) => step.targets,
  });
  const { relay } = await setUp(streamRelay, {}, host as never);
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
  return relay!(exchanged, open);
}

async function refusal(asking: Promise<Reply>): Promise<GatewayError> {
  const error: unknown = await asking.catch((cause: unknown) => cause);
  if (error instanceof GatewayError) return error;
  throw error instanceof Error ? error : new Error("it was served");
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

describe.each(cases)("$name", (file) => {
  test.each(file.cases)("$about: $due.failure", async (one) => {
    const { due } = one;
    write(one);
    const set = await lease(one);
    const [first, second] = targets(one);

    // With a target behind it.
    if (due.failover) {
      const reply = await ask(set, one, [first, second], "u1");
      expect(reply.target).toBe(second);
      if (reply.type === "events") expect(await read(reply.source)).toMatchObject({ text: "well" });
    } else {
      await expect(ask(set, one, [first, second], "u1")).rejects.toMatchObject({ status: 400 });
    }
    const warned = log.lines.filter(({ level }) => level === "warn");
    expect(warned).toHaveLength(WARNED.has(due.failure) ? 1 : 0);
    if (due.failure === "parameter") expect(warned[0]?.message).toContain("a gap in the table");
    // Identifiers alone: a log is no place for what a provider may say of anybody.
    const sentences = [...textsOf(one.body), ...(one.stream ?? [])].filter((text) => text.includes(" "));
    for (const sentence of sentences) expect(JSON.stringify(log.lines)).not.toContain(sentence.slice(0, 40));

    // Alone, by the same user: what is told, and whether the key rests already.
    const asked = refusing.requests.length;
    const verdict = await refusal(ask(set, one, [first], "u1"));
    if (due.key === "rests" || due.key === "limited") {
      expect(verdict).toMatchObject(due.key === "rests" ? { code: "CIRCUIT_BREAKER_OPEN" } : {});
      if (due.key === "rests") expect(verdict.details.retryAfter).toBe(60);
      clock.advance(600_000);
      expect(await refusal(ask(set, one, [first], "u1"))).toMatchObject({ status: due.alone });
    } else {
      expect(verdict.status).toBe(due.alone);
      expect(refusing.requests.length).toBe(asked + 1);
    }
    const told = due.key === "rests" ? "" : verdict.message;
    if (due.message !== undefined)
      expect(told).toBe(`${due.alone === 400 ? "Invalid request" : "Every upstream failed"}: ${due.message}`);
    if (due.message === undefined && due.alone === 502) {
      for (const sentence of sentences) expect(told).not.toContain(sentence.slice(0, 20));
    }
    expect(told.replace("content management", "")).not.toMatch(ACCOUNT);

    // By other users.
    if (due.key === "second_user") {
      await refusal(ask(set, one, [first], "u2"));
      const before = refusing.requests.length;
      const resting = await refusal(ask(set, one, [first], "u3"));
      expect(resting).toMatchObject({
        status: 503,
        message: "Circuit breaker open for an upstream",
        details: { retryAfter: 60 },
      });
      expect(refusing.requests.length).toBe(before);
    }
    if (due.key === "free" && due.breaker === "none") {
      for (const user of ["u2", "u3", "u4"])
        expect((await refusal(ask(set, one, [first], user))).status).toBe(due.alone);
    }
    if (due.breaker === "none") expect(set.breaker("refusing").state).toBe("closed");
    expect(set.breaker("serving").state).toBe("closed");
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
    if (served) expect((await asked).target.upstream).toBe("serving");
    else expect((await refusal(asked)).message).toBe(`Invalid request: ${OVERFLOW.due.message}`);
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
      { numRuns: 2_000 },
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
      { numRuns: 2_000 },
    );
  });
});
