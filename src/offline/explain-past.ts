import type { Decision, Explanation, PastExplanation } from "#schema";
import type { Endpoint, Json, Snapshot } from "../kit/index.ts";
import { explain, type Kept, type Question } from "./explain.ts";
import { explanationText } from "./explain-text.ts";
import type { Configuration } from "./offline.ts";
import { InvalidQuestion } from "./room.ts";

type LoggedAttempt = Decision["attempts"][number];

const LIMITED: ReadonlySet<string> = new Set([
  "DAILY_REQUEST_LIMIT_EXCEEDED",
  "RATE_LIMIT_ERROR",
  "INSUFFICIENT_CREDITS",
]);
const LEFT: ReadonlySet<string> = new Set(["client_gone", "killed", "shutdown"]);
const NOT_FAILED: ReadonlySet<string> = new Set(["ok", "running", "aborted", "skipped", "resting"]);
/** Nobody knows until when: longer than any of its requests takes. */
const RESTING_FOR_MS = 300_000;
/** A failure without a status, as the simulator makes it. */
const SCRIPTS: Readonly<Record<string, string>> = {
  connect: "down",
  timeout: "stall_after=0",
  reset: "close_after=0",
  protocol: "malformed_after=0",
};

/**
 * Explains a past request by its envelope: with as much text as it had, at the time at which it came, while the upstreams
 * fail that failed before. Counters and balances of its user are in no log.
 * @param more what is asked besides, such as another plan.
 */
export async function explainPast(
  loaded: Configuration,
  decision: Decision,
  more: Pick<Question, "tier" | "faults" | "open"> = {},
  kept: Kept = {},
): Promise<PastExplanation> {
  const notes = notesOf(decision);
  if (decision.model === null || decision.plan === null) {
    notes.push("it was refused before its plan and model were known: nothing of this configuration decided");
    return { before: decision, now: null, differences: [], notes };
  }
  try {
    const now = await explain(loaded, questionOf(loaded.snapshot, decision, more), kept);
    return { before: decision, now, differences: differencesOf(decision, now), notes };
  } catch (error) {
    if (!(error instanceof InvalidQuestion)) throw error;
    const gone = { what: "result", before: resultOf(decision), now: error.message } as const;
    return { before: decision, now: null, differences: [gone], notes };
  }
}

function notesOf({ code, outcome, tokens, features }: Decision): string[] {
  return [
    ...(LIMITED.has(code ?? "")
      ? ["what its user had used is in no log: this is somebody who has used nothing; gateway replay counts"]
      : []),
    ...(LEFT.has(outcome) ? [`it was ended then (${outcome}): this is one that is not`] : []),
    ...(tokens.prompt + tokens.completion === 0 ? ["no tokens were counted before: they are estimated"] : []),
    ...(features.length > 0 ? [`it needed ${features.join(", ")}, of which the body here has nothing`] : []),
  ];
}

function questionOf(
  snapshot: Snapshot,
  decision: Decision,
  more: Pick<Question, "tier" | "faults" | "open">,
): Question {
  const { model, plan, time, endpoint, stream, attempts, tokens, outcome } = decision;
  const isCounted = tokens.prompt + tokens.completion > 0;
  const known = attempts.filter(({ upstream }) => Object.hasOwn(snapshot.upstreams, upstream));
  const left = (made: string) =>
    known.filter((one) => one.outcome === made).map(({ upstream, model: name }) => ({ upstream, model: name }));
  const until = Date.parse(time) + RESTING_FOR_MS;
  const served = new Set(attempts.filter(({ outcome: made }) => made === "ok").map(({ upstream }) => upstream));
  const failed = known.filter(({ upstream, outcome: made }) => !NOT_FAILED.has(made) && !served.has(upstream));
  const counts = countsOf(decision);
  const faults = Object.keys(snapshot.upstreams).map((name) => [name, counts] as const);
  const failures = failed.map((attempt) => [attempt.upstream, scriptOf(attempt, outcome)] as const);
  return {
    model: model!,
    now: Date.parse(time),
    tier: more.tier ?? plan!,
    endpoint,
    stream,
    body: bodyOf(decision),
    faults: { ...Object.fromEntries([...faults, ...failures]), ...more.faults },
    open: [...left("skipped"), ...(more.open ?? [])],
    resting: left("resting").map((one) => ({ ...one, until, reason: "as it was logged" })),
    ...(isCounted && { promptTokens: tokens.prompt, outputTokens: tokens.completion }),
  };
}

/** What an upstream claims besides prompt and output. */
function countsOf({ tokens: { cached, cache_write: written } }: Decision): string {
  const counts = { "usage.cached": cached, "usage.cache_write": written ?? 0 };
  const claimed = Object.entries(counts).filter(([, count]) => count > 0);
  return claimed.length === 0 ? "-" : `?${claimed.map(([name, count]) => `${name}=${count}`).join("&")}`;
}

function scriptOf({ outcome, status, answered_ms }: LoggedAttempt, ended: Decision["outcome"]): string {
  // It broke off in a stream that had begun.
  if (answered_ms !== null) return ended === "upstream_cut" ? "?close_after=2" : "?close_after=0";
  const script = status >= 400 ? `status=${status}` : (SCRIPTS[outcome] ?? "status=500");
  return script === "down" ? script : `?${script}`;
}

/** A body with as much text, and the fields that sizes were logged of. */
function bodyOf({ endpoint, prompt_bytes, max_output, answers, asked }: Decision): Json {
  const text = "x".repeat(Math.max(1, prompt_bytes ?? 1));
  const messages = [{ role: "user", content: text }];
  const limit = (name: string): Json => (max_output === null ? {} : { [name]: max_output });
  const bodies: Readonly<Record<Endpoint, Json>> = {
    chat: { messages, ...limit("max_tokens"), ...(answers > 1 && { n: answers }) },
    messages: { messages, ...limit("max_tokens") },
    responses: { input: text, ...limit("max_output_tokens") },
    embeddings: { input: text },
    rerank: {},
    speech: { input: "x".repeat(Math.max(1, asked.characters ?? 1)) },
    transcription: {},
    image: { prompt: text, ...(asked.images !== undefined && { n: asked.images }) },
  };
  return bodies[endpoint];
}

function resultOf({ status, code, outcome }: Decision): string {
  return `${status} ${code ?? outcome}`;
}

function differencesOf(before: Decision, { answer, charge }: Explanation): PastExplanation["differences"] {
  const compared: PastExplanation["differences"] = [
    { what: "result", before: resultOf(before), now: `${answer.status} ${answer.code ?? answer.outcome}` },
    { what: "upstream", before: before.upstream ?? "none", now: answer.upstream ?? "none" },
    { what: "charge", before: before.charge, now: charge.expected },
  ];
  // What it would have come to, had nobody ended it, is not known.
  return LEFT.has(before.outcome) ? [] : compared.filter((one) => one.before !== one.now);
}

/** For people: then, what differs, and the explanation of now. */
export function pastText({ before, now, differences, notes }: PastExplanation): string {
  const { request_id, time, model, endpoint, stream, plan, user, config, upstream, charge, tokens, total_ms } = before;
  const asked = `${model ?? "no model"} for ${user ?? "nobody known"}, ${plan ?? "no plan"}, at ${endpoint}`;
  const lines = [
    `then: request ${request_id} at ${time}: ${asked}${stream ? ", streamed" : ""}; configuration ${config.slice(0, 12)}`,
    `→ ${resultOf(before)}${upstream === null ? "" : ` by ${upstream}`} after ${total_ms} ms`,
    ...before.attempts.map(attemptLine),
    `  charged ${charge} for ${tokens.prompt} prompt tokens and ${tokens.completion} output tokens`,
    ...notes.map((note) => `  note: ${note}`),
    "",
    ...(differences.length === 0 ? ["nothing differs now"] : ["different now"]),
    ...differences.map(({ what, before: was, now: is }) => `  ${what}: ${was} → ${is}`),
  ];
  const text = lines.map((line) => line.replaceAll(/\p{C}/gu, "\uFFFD")).join("\n");
  return now === null ? `${text}\n` : `${text}\n\nnow: ${explanationText(now)}`;
}

function attemptLine({ upstream, model, outcome, status, start_ms, end_ms }: LoggedAttempt): string {
  const took = end_ms === null ? "did not end" : `${Math.round(end_ms - start_ms)} ms`;
  return `  ${upstream} ${model}: ${outcome}${status > 0 ? ` ${status}` : ""}, ${took}`;
}
