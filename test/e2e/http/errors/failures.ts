import type { Endpoint } from "../../../../src/kit/index.ts";
import {
  apiError,
  CHATS,
  COUNT,
  type ErrorCase,
  INFERENCE,
  KEYED,
  KEYS,
  NO_IMAGES,
  of,
  TEXT,
  text,
  TOKEN,
  typed,
} from "./case.ts";

const FAILED = "Every upstream failed: upstream answered 500; upstream answered 503";
const MIXED = "Every upstream failed: upstream timed out waiting for the first byte; upstream answered 500";
const GONE = "upstream does not serve this model or request";
const LOCKED = `Every upstream failed: ${GONE} (404); ${GONE} (410)`;
const SLOW = "Every upstream timed out: upstream timed out waiting for the first byte";
const OPEN = "Circuit breaker open for an upstream";

/** What is behind the gateway, or the gateway, fails. */
export const OF_FAILURES: readonly ErrorCase[] = [
  {
    ...of("INTERNAL", "a plugin that throws"),
    suffix: "-throws",
    answer: [500, undefined, TEXT, "Internal server error"],
  },
  ...failing(NO_IMAGES, text),
  ...failing(CHATS, text).map((one) => ({
    ...one,
    when: `${one.when} before a stream began`,
    changes: { stream: true },
  })),
  ...failing(["image"], apiError),
  {
    ...of("PROVIDER_ERROR", "an identity provider that is away", ["GET /auth/oauth/corp"]),
    retryAfter: 1,
    answer: text(502, "PROVIDER_ERROR", "Identity provider unavailable"),
  },
  {
    ...of("STORE_UNAVAILABLE", "the store is away", [...INFERENCE, ...KEYED, COUNT, "POST /auth/login"]),
    at: "away",
    retryAfter: 1,
    sent: { headers: typed(), body: { email: "x@example.com" } },
    answer: text(503, "STORE_UNAVAILABLE", "Store unavailable"),
  },
  {
    ...of("STORE_UNAVAILABLE", "the store is away", [
      "POST /auth/login/verify",
      "POST /auth/refresh",
      "POST /auth/logout",
    ]),
    at: "away",
    headers: typed(),
    retryAfter: 1,
    sent: { body: { email: "x@example.com", code: "123456", refresh_token: `rt_${"x".repeat(43)}` } },
    answer: text(503, "STORE_UNAVAILABLE", "Store unavailable"),
  },
  {
    ...of("STORE_UNAVAILABLE", "the store is away", KEYS),
    at: "away",
    headers: TOKEN,
    retryAfter: 1,
    answer: text(503, "STORE_UNAVAILABLE", "Store unavailable"),
  },
  {
    ...of("OVERLOADED", "bodies and uploads in flight take all the room"),
    at: "full",
    retryAfter: 1,
    answer: text(503, "OVERLOADED", "Server is busy"),
  },
  {
    ...of("SHUTTING_DOWN", "a stop before the answer"),
    at: "ending",
    retryAfter: 1,
    answer: text(503, "SHUTTING_DOWN", "Server is shutting down"),
  },
];

/** What upstreams do to a request; `shown` is how an endpoint writes it. Of a stream that has not begun nothing is told otherwise. */
function failing(on: readonly Endpoint[], shown: typeof text): readonly ErrorCase[] {
  const open = { before: 1, retryAfter: [2_800, 3_600], suffix: "-open" } as const;
  return [
    {
      ...of("PROVIDER_ERROR", "every upstream failed", on),
      retryAfter: 1,
      suffix: "-broken",
      answer: shown(502, "PROVIDER_ERROR", FAILED),
    },
    {
      ...of("PROVIDER_ERROR", "every upstream refuses for good", on),
      final: true,
      suffix: "-locked",
      answer: shown(502, "PROVIDER_ERROR", LOCKED),
    },
    {
      ...of("PROVIDER_ERROR", "one upstream timed out, another failed", on),
      retryAfter: 1,
      suffix: "-mixed",
      answer: shown(502, "PROVIDER_ERROR", MIXED),
    },
    {
      ...of("CIRCUIT_BREAKER_OPEN", "every circuit is open", on),
      ...open,
      answer: shown(503, "CIRCUIT_BREAKER_OPEN", OPEN),
    },
    {
      ...of("PROVIDER_TIMEOUT", "every upstream timed out", on),
      retryAfter: 1,
      suffix: "-slow",
      answer: shown(504, "PROVIDER_TIMEOUT", SLOW),
    },
  ];
}
