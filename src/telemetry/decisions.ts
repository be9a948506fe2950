import type { Decision, DecisionTokens, DecisionUnits } from "#schema";
import {
  type Call,
  type ClientRequest,
  type Exchange,
  GatewayError,
  isJson,
  type Json,
  nanoToString,
  type Outcome,
  type RefusedRequest,
  type Timeline,
  type Units,
  upstreamTime,
  type Usage,
} from "../kit/index.ts";

/** As the quota plugin counts for the hold. */
const BYTES_PER_TOKEN = 4;
const MAX_MODEL_CHARACTERS = 200;
/** Of microseconds: more digits say nothing. */
const ROUNDING_PER_MS = 1_000;

export type Feature = Decision["features"][number];

/** Digests an id; null while it cannot. */
type Digest = (id: string) => string | null;

/** The line of a request that became an exchange. @param features as `featuresOf` read them while the request was whole */
export function decisionOf(
  exchange: Exchange,
  outcome: Outcome,
  { config, features, digest }: { config: string; features: readonly Feature[]; digest: Digest },
): Decision {
  const { principal } = exchange;
  const { bill, target, timeline } = outcome;
  return {
    v: 1,
    time: new Date(exchange.receivedAt).toISOString(),
    id: exchange.id,
    request_id: exchange.requestId,
    config,
    endpoint: exchange.endpoint,
    user: digest(principal.userId),
    key: principal.keyId === null ? null : digest(principal.keyId),
    plan: exchange.tier.name,
    ...callFields(exchange.call),
    features: [...features],
    outcome: outcome.kind,
    status: outcome.status,
    code: outcome.code,
    upstream: target?.upstream ?? null,
    attempts: attemptsOf(timeline),
    dropped: outcome.dropped.length,
    tokens: tokensOf(bill.usage),
    tokens_estimated: bill.estimated,
    charge: nanoToString(bill.charge),
    given_back: outcome.giveBack,
    ...durationsOf(timeline, outcome.endedAt - exchange.receivedAt),
  };
}

/** The line of a request that was refused before it became an exchange. */
export function refusalOf(
  { requestId, endpoint }: ClientRequest,
  error: unknown,
  { principal, call }: RefusedRequest,
  parts: { config: string; receivedAt: number; now: number; digest: Digest },
): Decision {
  const known = error instanceof GatewayError ? error : null;
  const { config, receivedAt, now, digest } = parts;
  return {
    v: 1,
    time: new Date(receivedAt).toISOString(),
    id: null,
    request_id: requestId,
    config,
    endpoint,
    user: principal && digest(principal.userId),
    key: principal?.keyId == null ? null : digest(principal.keyId),
    plan: principal?.tier ?? null,
    ...callFields(call),
    features: call === null ? [] : [...featuresOf(call)],
    outcome: "refused",
    status: known?.status ?? 500,
    code: known?.code ?? "INTERNAL",
    upstream: null,
    attempts: [],
    dropped: 0,
    tokens: { prompt: 0, completion: 0, cached: 0, reasoning: 0 },
    tokens_estimated: false,
    charge: "0",
    given_back: true,
    ...durationsOf(undefined, now - receivedAt),
  };
}

type CallFields = Pick<
  Decision,
  "model" | "stream" | "prompt_bytes" | "max_output" | "answers" | "asked" | "estimated"
>;

function callFields(call: Omit<Call, "body"> | null): CallFields {
  const { promptBytes = 0, maxOutput = null, answers = 1, units = {} } = call ?? {};
  return {
    model: call && call.model.slice(0, MAX_MODEL_CHARACTERS).toWellFormed(),
    stream: call?.stream ?? false,
    prompt_bytes: call && promptBytes,
    max_output: maxOutput,
    answers,
    asked: unitsOf(units),
    estimated: {
      prompt: Math.ceil(promptBytes / BYTES_PER_TOKEN),
      completion: maxOutput,
    },
  };
}

/** Billed counts by the names of the format. */
export function tokensOf({
  prompt,
  completion,
  cached,
  reasoning,
  cacheWrite,
  cacheWrite1h,
  ...units
}: Usage): DecisionTokens {
  return {
    prompt,
    completion,
    cached,
    reasoning,
    ...(cacheWrite !== undefined && { cache_write: cacheWrite }),
    ...(cacheWrite1h !== undefined && { cache_write_1h: cacheWrite1h }),
    ...unitsOf(units),
  };
}

function unitsOf({ characters, milliseconds, images, imageVariant }: Units): DecisionUnits {
  return {
    ...(characters !== undefined && { characters }),
    ...(milliseconds !== undefined && { audio_ms: Math.round(milliseconds) }),
    ...(images !== undefined && { images }),
    ...(imageVariant !== undefined && { image_variant: imageVariant }),
  };
}

function attemptsOf(timeline: Timeline | undefined): Decision["attempts"] {
  return (timeline?.attempts ?? []).map(({ target, start, answered, end, result, status }) => ({
    upstream: target.upstream,
    model: target.model,
    outcome: result ?? "running",
    status,
    start_ms: rounded(start),
    answered_ms: answered === null ? null : rounded(answered),
    end_ms: end === null ? null : rounded(end),
  }));
}

/** Milliseconds of a request, and whose they were. */
export interface Durations {
  readonly body_ms: number | null;
  readonly first_event_ms: number | null;
  readonly upstream_ms: number | null;
  readonly gateway_ms: number | null;
  readonly total_ms: number;
}

/** @param total for a request without a timeline. */
export function durationsOf(timeline: Timeline | undefined, total: number): Durations {
  if (timeline === undefined) {
    return {
      body_ms: null,
      first_event_ms: null,
      upstream_ms: null,
      gateway_ms: null,
      total_ms: rounded(Math.max(0, total)),
    };
  }
  const { waited, firstEvent, end, attempts } = timeline;
  const upstream = upstreamTime(attempts, end);
  return {
    body_ms: rounded(waited),
    first_event_ms: firstEvent === null ? null : rounded(firstEvent),
    upstream_ms: rounded(upstream),
    gateway_ms: rounded(Math.max(0, end - waited - upstream)),
    total_ms: rounded(Math.max(0, end)),
  };
}

function rounded(milliseconds: number): number {
  return Math.max(0, Math.round(milliseconds * ROUNDING_PER_MS) / ROUNDING_PER_MS);
}

const PART_FEATURES: Readonly<Record<string, Feature>> = {
  image_url: "vision",
  input_audio: "audio",
  file: "documents",
};
const FORMAT_FEATURES: Readonly<Record<string, Feature>> = { json_schema: "json_schema", json_object: "json_object" };

/** What a call needs of a model, by the names that models' `features` use. To be asked while the call is whole. */
export function featuresOf({ kind, body }: Call): readonly Feature[] {
  if (kind !== "chat") return [];
  const found = new Set<Feature>();
  if (isFilled(body["tools"]) || isFilled(body["functions"])) found.add("tools");
  const { reasoning_effort: effort, reasoning, response_format: format, logprobs } = body;
  if ((typeof effort === "string" && effort !== "none") || isJson(reasoning)) found.add("reasoning");
  const type = isJson(format) ? format["type"] : null;
  if (typeof type === "string" && Object.hasOwn(FORMAT_FEATURES, type)) found.add(FORMAT_FEATURES[type]!);
  if (logprobs === true) found.add("logprobs");
  for (const part of partsOf(body)) {
    const feature = typeof part["type"] === "string" ? part["type"] : "";
    if (Object.hasOwn(PART_FEATURES, feature)) found.add(PART_FEATURES[feature]!);
  }
  return [...found].toSorted();
}

function isFilled(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

function* partsOf({ messages }: Json): Iterable<Json> {
  if (!Array.isArray(messages)) return;
  for (const message of messages as readonly unknown[]) {
    const content = isJson(message) ? message["content"] : null;
    if (Array.isArray(content)) yield* (content as readonly unknown[]).filter(isJson);
  }
}
