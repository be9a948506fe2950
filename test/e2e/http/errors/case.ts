import type { Endpoint, ErrorCode, Json, KeyLimits, KeyScope } from "../../../../src/kit/index.ts";
import { ALL_ENDPOINTS } from "../../support/formats.ts";
import type { Sent } from "../../support/http.ts";

/** An inference endpoint, or a method and a path. */
export type Where = Endpoint | `${"GET" | "POST" | "DELETE" | "PUT" | "PATCH"} /${string}`;

/** Status, `X-Error-Code`, content type, body. */
export type Shown = readonly [number, string | undefined, string, string];

/** One error of the API, and what brings it about. */
export interface ErrorCase {
  readonly code: ErrorCode;
  readonly when: string;
  readonly on: readonly Where[];
  readonly answer: Shown;
  /**
   * Which gateway: one that is well, one whose store is away, one that is stopped meanwhile, one that limits addresses, one
   * that holds as many bodies as it may.
   */
  readonly at?: "away" | "ending" | "strict" | "full";
  readonly tier?: string;
  readonly credits?: string;
  /** Of the user's key. */
  readonly limits?: KeyLimits;
  /** `<key>`, `<token>` and `<unknown>` stand for the user's; left out: the user's key. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Of the model, see stage.ts. */
  readonly suffix?: string;
  readonly changes?: Json;
  readonly sent?: Sent;
  /** Requests like it that are made before. */
  readonly before?: number;
  /** Another request that is made before: the same, changed so. */
  readonly earlier?: Json;
  /** Seconds, or between which; a window: until it ends. */
  readonly retryAfter?: number | readonly [number, number] | "day" | "hour" | "minute";
  /** The chain has been tried: a client's library must not try it again. */
  readonly final?: true;
  /** The address's limit is told in headers and body. */
  readonly address?: true;
}

export const TEXT = "text/plain; charset=utf-8";
export const JSON_TYPE = "application/json";
export const text = (status: number, code: ErrorCode, body: string): Shown => [status, code, TEXT, body];
export const json = (status: number, body: Json): Shown => [status, undefined, JSON_TYPE, JSON.stringify(body)];
export const message = (status: number, what: string): Shown => json(status, { message: what });
export const apiError = (status: number, code: ErrorCode, what: string): Shown => {
  return [status, code, JSON_TYPE, JSON.stringify({ error: { message: what, type: "api_error" } })];
};

export const INFERENCE = ALL_ENDPOINTS;
/** The endpoints of chat models. */
export const CHATS = ["chat", "messages", "responses"] as const satisfies readonly Endpoint[];
export const NO_IMAGES = INFERENCE.filter((endpoint) => endpoint !== "image");
export const WITH_JSON = INFERENCE.filter((endpoint) => endpoint !== "transcription");
/** Counts the tokens of a Messages request. */
export const COUNT = "POST /v1/messages/count_tokens";
/** A good request to it, but for its model. */
export const counted = (model: string): Json => ({ model, messages: [{ role: "user", content: "Hello there" }] });
/** Key or access token. */
export const KEYED: readonly Where[] = [
  "GET /v1/models?available=true",
  "GET /v1/models/route/one",
  "GET /v1/pricing",
  "GET /v1/user",
  "GET /v1/user/requests",
  "GET /v1/user/requests/hourly",
  "POST /v1/user/streams/kill",
  "GET /v1/user/streams",
  "DELETE /v1/user/streams/stream_123",
  "GET /v1/user/ledger",
  "GET /v1/user/usage",
];
const ONE_KEY = ["PATCH /v1/user/key/key_123", "POST /v1/user/key/key_123/roll"] as const;
export const KEYS: readonly Where[] = [
  "POST /v1/user/key",
  "GET /v1/user/key",
  "DELETE /v1/user/key/key_123",
  ...ONE_KEY,
];
/** Which scope a key needs there; any key will do elsewhere. */
export const SCOPED: readonly (readonly [KeyScope, readonly Where[]])[] = [
  ["inference", ["POST /v1/user/streams/kill", "DELETE /v1/user/streams/stream_123"]],
  [
    "usage",
    [
      "GET /v1/user",
      "GET /v1/user/requests",
      "GET /v1/user/requests/hourly",
      "GET /v1/user/streams",
      "GET /v1/user/ledger",
      "GET /v1/user/usage",
    ],
  ],
];
export const BODIES: readonly Where[] = [
  "POST /v1/user/key",
  ...ONE_KEY,
  "POST /auth/login",
  "POST /auth/login/verify",
  "POST /auth/refresh",
];
/** Errors are wanted in the Messages format. */
export const VERSION = { "anthropic-version": "2023-06-01" };
export const TOKEN = { authorization: "Bearer <token>" };
export const typed = (headers: Record<string, string> = {}) => ({ "content-type": JSON_TYPE, ...headers });

export function of(
  code: ErrorCode,
  when: string,
  on: readonly Where[] = INFERENCE,
): Pick<ErrorCase, "code" | "when" | "on"> {
  return { code, when, on };
}
