import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type Exchange, nanoToString, type Outcome, upstreamTime } from "../../src/kit/index.ts";
import { createLog, withConfig } from "../../src/telemetry/log.ts";
import { RequestLines } from "../../src/telemetry/request-line.ts";
import { PATIENCE, RUNS } from "../properties/runs.ts";
import { exchange, outcome } from "./support.ts";

/** Lines of a log, one by the template and one by pino, redaction and scrubbing. */
function bothLines(template: string, fields: object): { byHand: string; byPino: string } {
  const lines: string[] = [];
  const plain = createLog({ level: "info", pretty: false, destination: { write: (line) => lines.push(line) } });
  // As in the gateway: a generation's inside the process's own.
  const log = withConfig(
    withConfig(plain, () => "process"),
    () => "abcdef012345",
  );
  log.requestLine!(template);
  log.info(fields, "request");
  const [byHand = "", byPino = ""] = lines;
  return { byHand, byPino };
}

function rounded(ms: number): number {
  return Math.max(0, Math.round(ms * 1_000) / 1_000);
}

function failuresOf(timeline: Outcome["timeline"]): readonly object[] | undefined {
  const failed = (timeline?.attempts ?? []).filter(
    ({ result }) => !["ok", "skipped", "aborted", null].includes(result),
  );
  if (failed.length === 0) return undefined;
  return failed.map(({ target: { upstream, model }, result, status, detail }) => {
    return { upstream, model, result, ...(status > 0 && { status }), ...(detail && { cause: detail }) };
  });
}

/** What is in the line of a request, as an object. */
function fieldsOf(of: Exchange, ended: Outcome, user: string | undefined): object {
  const { bill, target, firstEventAt, timeline, dropped } = ended;
  const upstream = timeline && upstreamTime(timeline.attempts, timeline.end);
  return {
    request_id: of.requestId,
    id: of.id,
    trace_id: of.trace?.traceId,
    endpoint: of.endpoint,
    model: of.model.id,
    tier: of.tier.name,
    user,
    stream: of.call.stream,
    tags: of.tags && Object.fromEntries(of.tags.map(({ name, value }) => [name, value])),
    outcome: ended.kind,
    status: ended.status,
    code: ended.code ?? undefined,
    upstream: target?.upstream,
    answered_by: ended.answeredBy,
    attempts: ended.attempts,
    failures: failuresOf(timeline),
    dropped: dropped.length > 0 ? dropped.slice(0, 1_000) : undefined,
    prompt_tokens: bill.usage.prompt,
    completion_tokens: bill.usage.completion,
    characters: bill.usage.characters,
    audio_ms: bill.usage.milliseconds,
    images: bill.usage.images,
    estimated: bill.estimated || undefined,
    cost: nanoToString(bill.charge),
    first_event_ms: firstEventAt === null ? undefined : Math.max(0, firstEventAt - of.receivedAt),
    upstream_ms: upstream === undefined ? undefined : rounded(upstream),
    gateway_ms: timeline && rounded(Math.max(0, timeline.end - timeline.waited - upstream!)),
    latency_ms: Math.max(0, ended.endedAt - of.receivedAt),
  };
}

const SECRETS = [
  `rk_${"0123456789abcdef".repeat(4)}`,
  `RK_${"0123456789ABCDEF".repeat(4)}`,
  `rt_${"x".repeat(43)}`,
  "sk-proj-abcdefghijklmnopqrstuvwxyz",
  "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl",
  "hunter2hunter2",
];
const SECRET = fc.constantFrom(...SECRETS.slice(0, -1), "redis://user:hunter2hunter2@host:6379/0");
/** Anybody's: what JSON escapes, and secrets at their beginning, in the midst and at their end. */
const TEXT = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.uuid(),
  fc.constantFrom('"', "\\", "\n\u2028\u0000", "\ud800", "rk_", "://", "sk-1", "", "x".repeat(3_000)),
  fc.tuple(fc.string(), SECRET, fc.constantFrom("", " ", '"', "\\", "\n", "@")).map(([a, b, c]) => `${a} ${b}${c}`),
);
const TAG_NAME = fc.oneof(
  fc.constantFrom("team", "token", "password", "secret", "api_key", "cookie"),
  fc.stringMatching(/^[a-z][a-z0-9_-]{0,31}$/),
);
const COUNT = fc.nat();
const MS = fc.oneof(fc.double({ min: 0, max: 1e6 }), fc.constantFrom(0, 1e21, Number.NaN, Infinity));
const TARGET = fc.record({ upstream: TEXT, model: TEXT }) as fc.Arbitrary<NonNullable<Outcome["target"]>>;
const TRACE = TEXT.map((traceId) => ({ traceId }) as NonNullable<Exchange["trace"]>);
const AT = fc.integer({ min: 0, max: 1e13 });

const EXCHANGE = fc.record(
  {
    id: TEXT,
    requestId: TEXT,
    receivedAt: AT,
    endpoint: fc.constantFrom("chat", "image"),
    model: TEXT.map((id) => ({ id }) as Exchange["model"]),
    tier: TEXT.map((name) => ({ name }) as Exchange["tier"]),
    trace: TRACE,
    tags: fc.uniqueArray(fc.record({ name: TAG_NAME, value: TEXT }), { selector: ({ name }) => name, maxLength: 4 }),
  },
  { requiredKeys: ["id", "requestId", "receivedAt", "model", "tier"] },
) as fc.Arbitrary<Partial<Exchange>>;

const USAGE = fc.record(
  {
    prompt: COUNT,
    completion: COUNT,
    cached: COUNT,
    reasoning: COUNT,
    characters: COUNT,
    milliseconds: MS,
    images: COUNT,
  },
  { requiredKeys: ["prompt", "completion", "cached", "reasoning"] },
);

const OUTCOME = fc.record(
  {
    kind: fc.constantFrom("served", "failed", "client_gone"),
    status: fc.constantFrom(200, 499, 502),
    code: fc.constantFrom("PROVIDER_ERROR", null),
    target: fc.option(TARGET),
    answeredBy: TEXT,
    attempts: COUNT,
    dropped: fc.oneof(
      fc.array(TEXT, { maxLength: 5 }),
      // More than one line may have.
      TEXT.map((pointer) => Array.from({ length: 1_200 }, (_, at) => `/${at}${pointer}`)),
    ),
    firstEventAt: fc.option(AT),
    endedAt: AT,
    bill: fc.record({
      usage: USAGE,
      estimated: fc.boolean(),
      charge: fc.bigInt({ min: -(10n ** 12n), max: 10n ** 20n }),
    }),
    timeline: fc.record({
      waited: MS,
      firstEvent: fc.option(MS),
      end: MS,
      attempts: fc.array(
        fc.record({
          target: TARGET,
          start: MS,
          answered: fc.option(MS),
          end: fc.option(MS),
          result: fc.constantFrom("ok", "status"),
          status: fc.constant(0),
          detail: TEXT,
          spanId: fc.constant(null),
        }),
        { maxLength: 3 },
      ),
    }),
  },
  { requiredKeys: ["target", "bill"] },
) as fc.Arbitrary<Partial<Outcome>>;

/** What a line says but for its time, in its order, and what it must not hold. */
function facts(line: string): object {
  const { time, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const secrets = SECRETS.filter((secret) => line.includes(secret));
  return { time: typeof time, fields, names: Object.keys(fields), breaks: line.match(/\n/g)?.length, secrets };
}

test(
  "the line by hand says what pino would have said, and no secret, whatever is in the record",
  () => {
    // One for all of them: what it remembers of one request must not be in another's.
    const lines = new RequestLines();
    fc.assert(
      fc.property(EXCHANGE, OUTCOME, fc.option(TEXT, { nil: undefined }), (changes, ending, user) => {
        const [of, ended] = [exchange(changes), outcome(ending)];
        const { byHand, byPino } = bothLines(lines.finished(of, ended, user), fieldsOf(of, ended, user));
        expect(facts(byHand)).toEqual({ ...facts(byPino), breaks: 1, secrets: [] });
      }),
      { numRuns: RUNS },
    );
  },
  PATIENCE,
);

test(
  "so does that of a request which was answered without the pipeline",
  () => {
    const ANSWERED = fc.record({
      requestId: TEXT,
      trace: fc.option(TRACE),
      endpoint: TEXT,
      outcome: fc.constantFrom("served", "refused"),
      status: fc.constantFrom(200, 401),
      code: fc.option(TEXT),
      durationMs: MS,
    });
    fc.assert(
      fc.property(ANSWERED, (line) => {
        const { requestId, trace, endpoint, outcome, status, code, durationMs } = line;
        const { byHand, byPino } = bothLines(new RequestLines().answered(line, outcome, code), {
          request_id: requestId,
          trace_id: trace?.traceId,
          endpoint,
          outcome,
          status,
          code: code ?? undefined,
          latency_ms: durationMs,
        });
        expect(facts(byHand)).toEqual({ ...facts(byPino), breaks: 1, secrets: [] });
      }),
      { numRuns: RUNS },
    );
  },
  PATIENCE,
);
