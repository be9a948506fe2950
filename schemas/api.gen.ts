// Generated from schemas/*.schema.json by `npm run types`. Do not edit.

export interface PublicApi {
  [k: string]: unknown;
}
/**
 * Body of POST /auth/login.
 */
export interface LoginRequest {
  /**
   * Where to send a sign-in code; an account is made at the first sign-in.
   */
  email: string;
  [k: string]: unknown;
}
/**
 * Body of POST /auth/login/verify.
 */
export interface VerifyRequest {
  /**
   * The address the code was sent to.
   */
  email: string;
  /**
   * The code from the mail: six digits.
   */
  code: string;
  [k: string]: unknown;
}
/**
 * Body of POST /auth/refresh and POST /auth/logout. A browser sends the cookie instead, and no body.
 */
export interface RefreshRequest {
  /**
   * The latest refresh token; it is used up by this call.
   */
  refresh_token?: string;
  [k: string]: unknown;
}
/**
 * Body of POST /v1/user/key.
 */
export interface ApiKeyRequest {
  /**
   * Label of the key, not blank.
   */
  name: string;
  /**
   * Seconds until the key ends, or a time such as 12h or 30d; at most 10 years.
   */
  expires_in?: number | string | null;
  /**
   * In place of expires_in: when the key ends, in RFC 3339.
   */
  expires_at?: string | null;
  /**
   * The only models that it may call; * matches any text.
   *
   * @minItems 1
   * @maxItems 50
   */
  models?: string[] | null;
  /**
   * What its requests may cost together in a day or month of UTC, or in all.
   */
  budget?: {
    /**
     * More than 0; a string keeps each of up to 9 places.
     */
    amount: number | string;
    /**
     * The period.
     */
    per: "day" | "month" | "total";
    [k: string]: unknown;
  } | null;
  /**
   * Marks of its requests in log and ledger, up to 8 names of a-z, 0-9, _ and -, with values of up to 128 characters. A client's mark of the same name gives way.
   */
  tags?: {
    [k: string]: string;
  } | null;
  /**
   * What it may be used for: inference endpoints, reading what was used; without them both.
   *
   * @minItems 1
   */
  scopes?: ("inference" | "usage")[] | null;
  /**
   * The only addresses and networks (CIDR) that it may be used from, up to 50.
   *
   * @minItems 1
   * @maxItems 50
   */
  addresses?: string[] | null;
  [k: string]: unknown;
}
/**
 * Body of PATCH /v1/user/key/{key_id}: what is absent stays, null takes a limit away.
 */
export interface ApiKeyChange {
  /**
   * Label of the key, not blank.
   */
  name?: string;
  /**
   * Seconds until the key ends, or a time such as 12h or 30d; at most 10 years.
   */
  expires_in?: number | string | null;
  /**
   * In place of expires_in: when the key ends, in RFC 3339.
   */
  expires_at?: string | null;
  /**
   * The only models that it may call; * matches any text.
   *
   * @minItems 1
   * @maxItems 50
   */
  models?: string[] | null;
  /**
   * What its requests may cost together in a day or month of UTC, or in all.
   */
  budget?: {
    /**
     * More than 0; a string keeps each of up to 9 places.
     */
    amount: number | string;
    /**
     * The period.
     */
    per: "day" | "month" | "total";
    [k: string]: unknown;
  } | null;
  /**
   * Marks of its requests in log and ledger, up to 8 names of a-z, 0-9, _ and -, with values of up to 128 characters. A client's mark of the same name gives way.
   */
  tags?: {
    [k: string]: string;
  } | null;
  /**
   * What it may be used for: inference endpoints, reading what was used; without them both.
   *
   * @minItems 1
   */
  scopes?: ("inference" | "usage")[] | null;
  /**
   * The only addresses and networks (CIDR) that it may be used from, up to 50.
   *
   * @minItems 1
   * @maxItems 50
   */
  addresses?: string[] | null;
}
/**
 * Body of POST /v1/user/key/{key_id}/roll; may be left out.
 */
export interface ApiKeyRoll {
  /**
   * For how long the old key still serves: seconds, or a time such as 24h; 0 ends it at once; 24h when absent.
   */
  grace?: number | string | null;
  [k: string]: unknown;
}
/**
 * A complete answer. Fields of the upstream travel on.
 */
export interface ChatCompletion {
  /**
   * Identifier of the answer.
   */
  id: string;
  /**
   * Always chat.completion.
   */
  object: "chat.completion";
  /**
   * Unix seconds.
   */
  created: number;
  /**
   * The route identifier that was asked for.
   */
  model: string;
  /**
   * The answers.
   */
  choices: ChatChoice[];
  usage: ChatUsage;
  /**
   * Milliseconds from the request's arrival to its answer.
   */
  latency_ms: number;
  /**
   * The upstream that served it.
   */
  provider: string;
  [k: string]: unknown;
}
/**
 * One answer.
 */
export interface ChatChoice {
  /**
   * Place among the answers.
   */
  index?: number;
  message: ChatAnswer;
  /**
   * Why it ended: stop, length, tool_calls, content_filter.
   */
  finish_reason?: string | null;
  [k: string]: unknown;
}
/**
 * What the model said.
 */
export interface ChatAnswer {
  /**
   * Who speaks: assistant.
   */
  role?: string;
  /**
   * The text; null or empty beside tool calls, or when reasoning took all tokens.
   */
  content?: string | unknown[] | null;
  /**
   * Reasoning, of models that show it.
   */
  reasoning_content?: string | null;
  /**
   * Why the model refused.
   */
  refusal?: string | null;
  /**
   * Tools the model wants called.
   */
  tool_calls?:
    | {
        [k: string]: unknown;
      }[]
    | null;
  [k: string]: unknown;
}
/**
 * Tokens of a request.
 */
export interface ChatUsage {
  /**
   * Tokens of the prompt, cached ones included.
   */
  prompt_tokens: number;
  /**
   * Tokens of the answer, reasoning included.
   */
  completion_tokens: number;
  /**
   * Both together.
   */
  total_tokens: number;
  [k: string]: unknown;
}
/**
 * One event of a streamed answer. Fields of the upstream travel on.
 */
export interface ChatCompletionChunk {
  /**
   * Identifier of the answer, the same in every event.
   */
  id?: string;
  /**
   * As a rule chat.completion.chunk.
   */
  object?: string;
  /**
   * Unix seconds.
   */
  created?: number;
  /**
   * The route identifier that was asked for.
   */
  model: string;
  /**
   * What is new; empty in the event that brings the usage.
   */
  choices: ChatChunkChoice[];
  /**
   * Tokens; only with stream_options.include_usage, in the last event.
   */
  usage?: ChatUsage | null;
  [k: string]: unknown;
}
/**
 * What is new in one answer.
 */
export interface ChatChunkChoice {
  /**
   * Place among the answers.
   */
  index?: number;
  delta?: ChatDelta;
  /**
   * Why it ended; null until then.
   */
  finish_reason?: string | null;
  [k: string]: unknown;
}
/**
 * An increment.
 */
export interface ChatDelta {
  /**
   * Who speaks; in the first event.
   */
  role?: string | null;
  /**
   * More of the text.
   */
  content?: string | unknown[] | null;
  /**
   * More of the reasoning.
   */
  reasoning_content?: string | null;
  /**
   * More of the tool calls.
   */
  tool_calls?:
    | {
        [k: string]: unknown;
      }[]
    | null;
  [k: string]: unknown;
}
/**
 * Vectors, one for each input, in the order of the inputs.
 */
export interface EmbeddingList {
  /**
   * Always list.
   */
  object: "list";
  /**
   * The vectors.
   */
  data: Embedding[];
  /**
   * The route identifier that was asked for.
   */
  model: string;
  usage: EmbeddingUsage;
  /**
   * The upstream that served it.
   */
  provider: string;
}
/**
 * The vector of one input.
 */
export interface Embedding {
  /**
   * Always embedding.
   */
  object: "embedding";
  /**
   * Numbers; with encoding_format base64 their little-endian 32-bit floats in base64.
   */
  embedding: number[] | string;
  /**
   * Which input.
   */
  index: number;
}
/**
 * Tokens of the inputs.
 */
export interface EmbeddingUsage {
  /**
   * Tokens of the inputs.
   */
  prompt_tokens: number;
  /**
   * The same.
   */
  total_tokens: number;
}
/**
 * Documents by relevance, best first, at most top_n.
 */
export interface RerankResult {
  /**
   * The documents.
   */
  results: RankedDocument[];
  /**
   * The route identifier that was asked for.
   */
  model: string;
  /**
   * The upstream that served it.
   */
  provider: string;
}
/**
 * One document of the request.
 */
export interface RankedDocument {
  /**
   * Its place in the request.
   */
  index: number;
  /**
   * How relevant it is; scales differ between models.
   */
  relevance_score: number;
  document?: ReturnedDocument;
}
/**
 * A document of the request.
 */
export interface ReturnedDocument {
  /**
   * Its text.
   */
  text: string;
}
/**
 * What was said.
 */
export interface Transcription {
  /**
   * The whole text.
   */
  text: string;
  /**
   * Its parts with their times, where the upstream gives them.
   */
  segments: TranscriptSegment[];
  /**
   * Code or name of the language; empty when nobody knows it.
   */
  language: string;
  /**
   * Always transcribe; with response_format verbose_json.
   */
  task?: string;
  /**
   * Seconds of audio; with response_format verbose_json.
   */
  duration?: number;
  /**
   * Words with their times; with verbose_json and timestamp_granularities[] word.
   */
  words?: TranscriptWord[];
}
/**
 * A part of a transcript. Fields of the upstream travel on.
 */
export interface TranscriptSegment {
  /**
   * Seconds from the beginning.
   */
  start: number;
  /**
   * Seconds from the beginning.
   */
  end: number;
  /**
   * What was said.
   */
  text: string;
  [k: string]: unknown;
}
/**
 * A word of a transcript. Fields of the upstream travel on.
 */
export interface TranscriptWord {
  /**
   * The word.
   */
  word: string;
  /**
   * Seconds from the beginning.
   */
  start: number;
  /**
   * Seconds from the beginning.
   */
  end: number;
  [k: string]: unknown;
}
/**
 * Generated images.
 */
export interface ImageList {
  /**
   * Unix seconds.
   */
  created: number;
  /**
   * The images.
   *
   * @minItems 1
   */
  data: Image[];
  /**
   * The upstream that served it.
   */
  provider: string;
  /**
   * The route identifier that was asked for.
   */
  model: string;
}
/**
 * One image.
 */
export interface Image {
  /**
   * Where it is; null when it is in b64_json alone.
   */
  url: string | null;
  /**
   * The image in base64; empty when there is only a url.
   */
  b64_json: string;
  /**
   * The prompt as the model took it.
   */
  revised_prompt?: string;
}
/**
 * The published catalogue, the same for everyone.
 */
export interface ModelList {
  /**
   * Always list.
   */
  object: "list";
  /**
   * The models.
   */
  data: ModelEntry[];
}
/**
 * A published model.
 */
export interface ModelEntry {
  /**
   * The identifier to send as model.
   */
  id: string;
  /**
   * Always model.
   */
  object: "model";
  /**
   * Unix seconds; 0 when unknown.
   */
  created: number;
  /**
   * Vendor family.
   */
  owned_by: string;
  /**
   * The tier the model belongs to.
   */
  tier: string;
  /**
   * Name to show.
   */
  display_name?: string;
  /**
   * What it does: chat, embedding, rerank, image, speech or transcription.
   */
  kind?: string;
  /**
   * Tokens of prompt and answer together; null when its providers alone know.
   */
  context_window?: number | null;
  /**
   * Tokens of an answer at most; null when its providers alone know.
   */
  max_output?: number | null;
  /**
   * What it can do beside its kind, such as tools or vision.
   */
  features?: string[];
  /**
   * The plans that may call it.
   */
  plans?: string[];
}
/**
 * A model, and whether the caller may use it.
 */
export interface ModelDetail {
  /**
   * The identifier to send as model.
   */
  id: string;
  /**
   * Always model.
   */
  object: "model";
  /**
   * Unix seconds; 0 when unknown.
   */
  created: number;
  /**
   * Vendor family.
   */
  owned_by: string;
  /**
   * The tier the model belongs to.
   */
  tier: string;
  /**
   * Name to show.
   */
  display_name?: string;
  /**
   * What it does: chat, embedding, rerank, image, speech or transcription.
   */
  kind?: string;
  /**
   * Tokens of prompt and answer together; null when its providers alone know.
   */
  context_window?: number | null;
  /**
   * Tokens of an answer at most; null when its providers alone know.
   */
  max_output?: number | null;
  /**
   * What it can do beside its kind, such as tools or vision.
   */
  features?: string[];
  /**
   * The plans that may call it.
   */
  plans?: string[];
  /**
   * From when it should not be used for anything new; left out where no end is planned.
   */
  deprecated_at?: string;
  /**
   * From when there is no such model, or its successor serves.
   */
  sunset_at?: string;
  /**
   * The model to use in its place.
   */
  successor?: string;
  /**
   * Whether the caller's plan may call it.
   */
  allowed: boolean;
}
/**
 * Prices before multipliers, in the gateway's currency.
 */
export interface Pricing {
  /**
   * One entry for each published model.
   */
  models: ModelPrice[];
}
/**
 * Prices of one model.
 */
export interface ModelPrice {
  /**
   * Identifier of the model.
   */
  model: string;
  /**
   * Name to show.
   */
  display_name: string;
  /**
   * The model's tier in lower case.
   */
  tier: string;
  /**
   * A million prompt tokens; 0 for a model that is priced otherwise.
   */
  input_per_million: number;
  /**
   * A million tokens of answers; 0 for a model that is priced otherwise.
   */
  output_per_million: number;
  /**
   * A million prompt tokens the provider had cached.
   */
  cached_input_per_million?: number;
  /**
   * A million prompt tokens written to the provider's cache.
   */
  cache_write_per_million?: number;
  /**
   * A million prompt tokens written to the provider's cache for an hour.
   */
  cache_write_1h_per_million?: number;
  /**
   * A million tokens of reasoning.
   */
  reasoning_per_million?: number;
  /**
   * A request.
   */
  per_request?: number;
  /**
   * An image; or prices by size and quality, and `default` for all others.
   */
  per_image?:
    | number
    | {
        [k: string]: number;
      };
  /**
   * A second of audio.
   */
  per_second?: number;
  /**
   * A million characters of text.
   */
  per_million_characters?: number;
}
/**
 * Health of upstreams and models, and incidents.
 */
export interface Status {
  /**
   * Upstreams.
   */
  providers: ProviderStatus[];
  /**
   * Published models.
   */
  models: ModelStatus[];
  /**
   * Incidents, as the operator wrote them.
   */
  incidents: Incident[];
  /**
   * Times within the last 24 hours in which upstreams were left alone after failures, as the process that answers has met them since its start; the latest first, 50 at most.
   *
   * @maxItems 50
   */
  outages: Outage[];
  /**
   * The gateway's clock at the request.
   */
  last_updated: string;
}
/**
 * Health of one upstream.
 */
export interface ProviderStatus {
  /**
   * Its name, as in provider.
   */
  name: string;
  /**
   * degraded: slow or failing; unknown: no data in the last 5 minutes.
   */
  status: "healthy" | "degraded" | "unknown";
  /**
   * Milliseconds of the last probe; 0 without data.
   */
  latency_ms: number;
}
/**
 * Whether a model can be served.
 */
export interface ModelStatus {
  /**
   * Identifier of the model.
   */
  id: string;
  /**
   * Name to show.
   */
  name: string;
  /**
   * The tier the model belongs to.
   */
  tier: string;
  /**
   * degraded: by a fallback only; offline: not at all.
   */
  status: "online" | "degraded" | "offline";
}
/**
 * Something users should know.
 */
export interface Incident {
  /**
   * Unique identifier.
   */
  id: string;
  /**
   * One line.
   */
  title: string;
  /**
   * What happened.
   */
  description: string;
  /**
   * How bad it is.
   */
  severity: "warning" | "error";
  /**
   * Whether it is over.
   */
  status: "ongoing" | "resolved";
  /**
   * When it began.
   */
  created_at: string;
  /**
   * When it was over; null while it is ongoing.
   */
  resolved_at: string | null;
}
/**
 * A time in which an upstream was left alone.
 */
export interface Outage {
  /**
   * Its name, as in providers.
   */
  provider: string;
  /**
   * When its circuit opened.
   */
  from: string;
  /**
   * When it served again; null: not yet.
   */
  to: string | null;
}
/**
 * Public settings.
 */
export interface Settings {
  /**
   * Times every charge.
   */
  cost_multiplier: number;
  /**
   * Of credits and prices.
   */
  currency?: string;
  /**
   * The ways in for people: a code by mail always, and these.
   */
  sign_in?: {
    /**
     * Names of identity providers: GET /auth/oauth/{provider} begins there.
     */
    providers: string[];
  };
}
/**
 * The user, and what is used of the plan. Amounts are exact decimals.
 */
export interface Account {
  /**
   * Identifier.
   */
  id: string;
  /**
   * Address.
   */
  email: string;
  /**
   * The plan in force.
   */
  plan_tier: string;
  /**
   * The balance, before what running requests hold.
   */
  credits: string;
  /**
   * What running requests hold of it.
   */
  held: string;
  windows: AccountWindows;
  streams: AccountStreams;
}
/**
 * Requests in the running windows of the calendar in UTC; a request may count for several in the day.
 */
export interface AccountWindows {
  day: AccountWindow;
  hour: AccountWindow;
  minute: AccountWindow;
}
/**
 * One window.
 */
export interface AccountWindow {
  /**
   * Used so far.
   */
  used: number;
  /**
   * What the plan allows; null: no limit.
   */
  limit: number | null;
  /**
   * When the next one begins.
   */
  resets_at: string;
}
/**
 * Streams at the same time.
 */
export interface AccountStreams {
  /**
   * How many run.
   */
  running: number;
  /**
   * How many the plan allows; null: no limit.
   */
  limit: number | null;
}
/**
 * Counters of the user, shared by all keys. Windows are calendar windows in UTC.
 */
export interface UsageCounters {
  /**
   * Units used in this day.
   */
  requests_used_today: number;
  /**
   * Units a day has; 0 without a limit.
   */
  requests_limit_today: number;
  /**
   * Units left in this day; 0 without a limit.
   */
  requests_remaining: number;
  /**
   * Requests made in this hour.
   */
  requests_used_this_hour: number;
  /**
   * Requests an hour has; 0 without a limit.
   */
  requests_limit_this_hour: number;
  /**
   * Requests left in this hour; 0 without a limit.
   */
  requests_remaining_this_hour: number;
  /**
   * Requests made in this minute.
   */
  requests_used_this_minute: number;
  /**
   * Requests a minute has; 0 without a limit.
   */
  requests_limit_per_minute: number;
  /**
   * Requests left in this minute; 0 without a limit.
   */
  requests_remaining_this_minute: number;
  /**
   * The plan in force.
   */
  plan_tier: string;
}
/**
 * The hour's counter of the user.
 */
export interface HourlyUsage {
  /**
   * Requests an hour has; 0 without a limit.
   */
  limit: number;
  /**
   * Requests made in this hour.
   */
  used: number;
  /**
   * Requests left in this hour; 0 without a limit.
   */
  remaining: number;
  /**
   * The plan in force.
   */
  plan_tier: string;
}
/**
 * The user's own entries of the ledger, the last recorded first.
 */
export interface UserLedger {
  /**
   * May be shorter than the limit, or empty, though another page follows.
   */
  data: UserLedgerEntry[];
  /**
   * For the next page; null on the last one.
   */
  next_cursor: string | null;
}
/**
 * What one request used and cost.
 */
export interface UserLedgerEntry {
  /**
   * Unique.
   */
  id: string;
  /**
   * As the answer's `X-Request-Id`.
   */
  request_id: string;
  /**
   * The API key; null for a call with an access token.
   */
  key_id: string | null;
  /**
   * Its route id.
   */
  model: string;
  /**
   * The provider that served; null when none did.
   */
  upstream: string | null;
  /**
   * The plan at the time; null where it is not known.
   */
  tier: string | null;
  /**
   * How the request ended.
   */
  outcome:
    | "served"
    | "refused"
    | "failed"
    | "client_fault"
    | "upstream_cut"
    | "gateway_error"
    | "client_gone"
    | "killed"
    | "shutdown";
  /**
   * Whether tokens were counted by the gateway, as the provider had not.
   */
  estimated: boolean;
  usage: UserLedgerUsage;
  /**
   * Credits charged.
   */
  cost: string;
  /**
   * Of the request and its key.
   */
  tags: {
    [k: string]: string;
  };
  /**
   * When the request came.
   */
  received_at: string;
  /**
   * When it ended.
   */
  ended_at: string;
  /**
   * When it was charged: the order of the list, and what from and to go by.
   */
  recorded_at: string;
  /**
   * From its coming to its end.
   */
  duration_ms: number;
}
/**
 * What was used.
 */
export interface UserLedgerUsage {
  /**
   * Tokens of what was asked.
   */
  prompt_tokens: number;
  /**
   * Tokens of the answer.
   */
  completion_tokens: number;
  /**
   * Of the prompt's: read from a cache.
   */
  cached_tokens: number;
  /**
   * Of the answer's: spent on reasoning.
   */
  reasoning_tokens: number;
  /**
   * Of a speech; left out when there are none.
   */
  characters?: number;
  /**
   * Length of what was transcribed; left out when there is none.
   */
  audio_ms?: number;
  /**
   * Images made; left out when there are none.
   */
  images?: number;
  /**
   * Written to a cache; left out when there are none.
   */
  cache_write_tokens?: number;
  /**
   * Of them: for an hour; left out when there are none.
   */
  cache_write_1h_tokens?: number;
}
/**
 * What the user's requests add up to, the latest day first.
 */
export interface UserUsage {
  /**
   * May be shorter than the limit, or empty, though another page follows.
   */
  data: UserUsageRow[];
  /**
   * For the next page; null on the last one.
   */
  next_cursor: string | null;
}
/**
 * What was recorded in an hour or a day.
 */
export interface UserUsageRow {
  /**
   * Of the hour or day, in UTC.
   */
  start: string;
  /**
   * When asked for by model.
   */
  model?: string;
  /**
   * When asked for by upstream; null: none served.
   */
  upstream?: string | null;
  /**
   * When asked for by tier; null: not known.
   */
  tier?: string | null;
  /**
   * When asked for by key; null: access tokens.
   */
  key_id?: string | null;
  /**
   * Requests recorded.
   */
  requests: number;
  /**
   * Of them: those that no provider served, or that it or the gateway broke off.
   */
  failed: number;
  /**
   * Tokens of what was asked.
   */
  prompt_tokens: number;
  /**
   * Tokens of the answers.
   */
  completion_tokens: number;
  /**
   * Of the prompts': read from a cache.
   */
  cached_tokens: number;
  /**
   * Of the answers': spent on reasoning.
   */
  reasoning_tokens: number;
  /**
   * Credits charged.
   */
  cost: string;
}
/**
 * What a stop reached.
 */
export interface KilledStreams {
  /**
   * Running streams of the user that were told to end.
   */
  killed_streams: number;
}
/**
 * The user's running streams.
 */
export interface UserStreams {
  /**
   * The oldest first.
   */
  data: UserStream[];
  /**
   * There are no more than these.
   */
  next_cursor: null;
  /**
   * false: not every process of the gateway has answered.
   */
  complete: boolean;
}
/**
 * A request with a streamed answer, under way.
 */
export interface UserStream {
  /**
   * By which it can be ended.
   */
  id: string;
  /**
   * As it was asked for.
   */
  model: string;
  /**
   * waiting: the answer has not begun.
   */
  state: "waiting" | "streaming";
  /**
   * When the request came.
   */
  started_at: string;
  /**
   * For how long it has run.
   */
  age_ms: number;
}
/**
 * A stream that was told to end.
 */
export interface EndedStream {
  /**
   * Always true: a stream that there is not is a 404.
   */
  ended: true;
}
/**
 * A key, without its secret.
 */
export interface ApiKey {
  /**
   * Identifier, for revoking it.
   */
  id: string;
  /**
   * The first 11 characters of the secret.
   */
  key_prefix: string;
  /**
   * Label chosen at creation.
   */
  name: string;
  /**
   * The plan in force.
   */
  plan_tier: string;
  /**
   * When it was made.
   */
  created_at: string;
  /**
   * Last use, accurate to a minute; null before the first.
   */
  last_used_at: string | null;
  /**
   * From when on it works no more; null: never.
   */
  expires_at: string | null;
  /**
   * The only models that it may call, * for any text; null: all of the plan.
   */
  models: string[] | null;
  /**
   * What its requests may cost together; null: no more than the user's credits.
   */
  budget: KeyBudget | null;
  /**
   * Marks of its requests in log and ledger.
   */
  tags: {
    [k: string]: string;
  };
  /**
   * What it may be used for: inference endpoints, reading what was used; null: both.
   */
  scopes: ("inference" | "usage")[] | null;
  /**
   * The only addresses and networks that it may be used from; null: any.
   */
  addresses: string[] | null;
  /**
   * Id of the key that took its place when it was rolled; null: it was not.
   */
  replaced_by: string | null;
}
/**
 * The budget of a key, and what is used of it in the period that runs. Amounts are exact decimals.
 */
export interface KeyBudget {
  /**
   * What may be spent in a period.
   */
  amount: string;
  /**
   * The period: a day or month of UTC, or all time.
   */
  per: "day" | "month" | "total";
  /**
   * What requests of this period have cost.
   */
  spent: string;
  /**
   * What running requests hold.
   */
  held: string;
  /**
   * When the next period begins; null: never.
   */
  resets_at: string | null;
}
/**
 * A new key: the only answer that ever holds the secret.
 */
export interface CreatedApiKey {
  /**
   * The secret.
   */
  key: string;
  /**
   * Identifier, for revoking it.
   */
  id: string;
  /**
   * The first 11 characters of the secret.
   */
  key_prefix: string;
  /**
   * Label chosen at creation.
   */
  name: string;
  /**
   * The plan in force.
   */
  plan_tier: string;
  /**
   * When it was made.
   */
  created_at: string;
  /**
   * Last use, accurate to a minute; null before the first.
   */
  last_used_at: string | null;
  /**
   * From when on it works no more; null: never.
   */
  expires_at: string | null;
  /**
   * The only models that it may call, * for any text; null: all of the plan.
   */
  models: string[] | null;
  /**
   * What its requests may cost together; null: no more than the user's credits.
   */
  budget: KeyBudget | null;
  /**
   * Marks of its requests in log and ledger.
   */
  tags: {
    [k: string]: string;
  };
  /**
   * What it may be used for: inference endpoints, reading what was used; null: both.
   */
  scopes: ("inference" | "usage")[] | null;
  /**
   * The only addresses and networks that it may be used from; null: any.
   */
  addresses: string[] | null;
  /**
   * Id of the key that took its place when it was rolled; null: it was not.
   */
  replaced_by: string | null;
}
/**
 * The key that takes the place of another, with its settings: the only answer that ever holds the secret.
 */
export interface RolledApiKey {
  /**
   * The secret.
   */
  key: string;
  /**
   * Identifier, for revoking it.
   */
  id: string;
  /**
   * The first 11 characters of the secret.
   */
  key_prefix: string;
  /**
   * Label chosen at creation.
   */
  name: string;
  /**
   * The plan in force.
   */
  plan_tier: string;
  /**
   * When it was made.
   */
  created_at: string;
  /**
   * Last use, accurate to a minute; null before the first.
   */
  last_used_at: string | null;
  /**
   * From when on it works no more; null: never.
   */
  expires_at: string | null;
  /**
   * The only models that it may call, * for any text; null: all of the plan.
   */
  models: string[] | null;
  /**
   * What its requests may cost together; null: no more than the user's credits.
   */
  budget: KeyBudget | null;
  /**
   * Marks of its requests in log and ledger.
   */
  tags: {
    [k: string]: string;
  };
  /**
   * What it may be used for: inference endpoints, reading what was used; null: both.
   */
  scopes: ("inference" | "usage")[] | null;
  /**
   * The only addresses and networks that it may be used from; null: any.
   */
  addresses: string[] | null;
  /**
   * Id of the key that took its place when it was rolled; null: it was not.
   */
  replaced_by: string | null;
  /**
   * The key that was rolled.
   */
  previous: {
    /**
     * Its id.
     */
    id: string;
    /**
     * From when on it works no more.
     */
    expires_at: string;
  };
}
/**
 * The live keys of the user.
 */
export interface ApiKeyList {
  /**
   * The keys.
   */
  data: ApiKey[];
}
/**
 * The user is signed out everywhere.
 */
export interface SessionsEnded {
  /**
   * Always the same.
   */
  message: "All sessions ended";
}
/**
 * The key works no more.
 */
export interface Revoked {
  /**
   * Always the same.
   */
  message: "API key revoked";
}
/**
 * The same whether or not the account exists.
 */
export interface LoginAccepted {
  /**
   * Always the same.
   */
  message: "Verification code sent";
}
/**
 * A signed-in user.
 */
export interface Session {
  /**
   * For Authorization: Bearer on key management; a JWT.
   */
  access_token: string;
  /**
   * Always Bearer.
   */
  token_type: "Bearer";
  /**
   * Seconds the access token lives.
   */
  expires_in: number;
  /**
   * Good for one POST /auth/refresh.
   */
  refresh_token: string;
  user: SessionUser;
}
/**
 * Who signed in.
 */
export interface SessionUser {
  /**
   * Identifier.
   */
  id: string;
  /**
   * Address.
   */
  email: string;
  /**
   * The plan in force.
   */
  plan_tier: string;
}
/**
 * A refusal in JSON.
 */
export interface MessageError {
  /**
   * What is wrong.
   */
  message: string;
  error?: JsonFailure;
}
/**
 * What went wrong.
 */
export interface JsonFailure {
  /**
   * What to tell the caller.
   */
  message: string;
  /**
   * The class of the error.
   */
  type: string;
  /**
   * The upstream's code where it is a standard one, such as context_length_exceeded, else X-Error-Code in lower case.
   */
  code: string | null;
  /**
   * The field that is wrong.
   */
  param: string | null;
}
/**
 * Too many requests of one address.
 */
export interface RateLimitMessage {
  /**
   * What is wrong.
   */
  message: string;
  /**
   * Seconds until a retry makes sense.
   */
  retry_after: number;
  error?: JsonFailure;
}
/**
 * An error, for clients that ask for JSON: the words of the plain text, and what programs go by.
 */
export interface JsonError {
  error: JsonFailure;
}
/**
 * No such model here.
 */
export interface ModelNotFound {
  /**
   * Always the same.
   */
  error: "Model not found";
}
/**
 * A failure behind the gateway.
 */
export interface ApiError {
  error: ApiFailure;
}
/**
 * A failure behind the gateway.
 */
export interface ApiFailure {
  /**
   * What happened.
   */
  message: string;
  /**
   * Always api_error.
   */
  type: "api_error";
  /**
   * The upstream's code, where it is a standard one.
   */
  code?: string | null;
  /**
   * The field that is wrong.
   */
  param?: string | null;
}
/**
 * An answer in the Messages format.
 */
export interface Message {
  /**
   * Of this answer.
   */
  id: string;
  /**
   * Always message.
   */
  type: "message";
  /**
   * Always assistant.
   */
  role: "assistant";
  /**
   * The route identifier.
   */
  model: string;
  /**
   * Blocks in the order in which they were produced.
   */
  content: MessageBlock[];
  /**
   * Why the answer ended.
   */
  stop_reason: string | null;
  /**
   * The sequence that ended it.
   */
  stop_sequence: string | null;
  usage: MessageUsage;
  [k: string]: unknown;
}
/**
 */
export interface MessageBlock {
  /**
   * Kind of the block: text, thinking, tool_use and others.
   */
  type: string;
  [k: string]: unknown;
}
/**
 */
export interface MessageUsage {
  /**
   * Prompt tokens, without those read from or written to a cache.
   */
  input_tokens: number;
  /**
   * Tokens of the answer.
   */
  output_tokens: number;
  /**
   * Prompt tokens read from a cache.
   */
  cache_read_input_tokens?: number | null;
  /**
   * Prompt tokens written to a cache.
   */
  cache_creation_input_tokens?: number | null;
  [k: string]: unknown;
}
/**
 * An error, for requests that carry an anthropic-version header.
 */
export interface MessagesError {
  /**
   * Always error.
   */
  type: "error";
  /**
   * What went wrong.
   */
  error: {
    /**
     * The class of the error.
     */
    type: string;
    /**
     * What to tell the caller.
     */
    message: string;
  };
  /**
   * As in X-Request-Id.
   */
  request_id: string;
}
/**
 * Tokens of a request, by the gateway's own tokenizer.
 */
export interface TokenCount {
  /**
   * Prompt tokens.
   */
  input_tokens: number;
}
/**
 * An answer in the Responses format.
 */
export interface Response {
  /**
   * Of this answer; it is not stored.
   */
  id: string;
  /**
   * Always response.
   */
  object: "response";
  /**
   * Unix seconds.
   */
  created_at: number;
  /**
   * How it ended.
   */
  status: "completed" | "incomplete" | "failed" | "in_progress";
  /**
   * The route identifier.
   */
  model: string;
  /**
   * Items in the order in which they were produced.
   */
  output: ResponseItem[];
  /**
   * Tokens.
   */
  usage: ResponseUsage | null;
  [k: string]: unknown;
}
/**
 */
export interface ResponseItem {
  /**
   * Kind of the item: message, function_call, reasoning and others.
   */
  type: string;
  [k: string]: unknown;
}
/**
 */
export interface ResponseUsage {
  /**
   * Prompt tokens.
   */
  input_tokens: number;
  /**
   * Tokens of the answer.
   */
  output_tokens: number;
  /**
   * Both.
   */
  total_tokens: number;
  [k: string]: unknown;
}
