import type { ErrorCode } from "../../kit/index.ts";
import { type Answer, BODY_ERRORS, CALLER_ERRORS, json, type Operation, type Parameter } from "./operation.ts";

const SESSION_ERRORS: readonly ErrorCode[] = ["RATE_LIMIT_ERROR", "INVALID_TOKEN", "STORE_UNAVAILABLE"];
const SIGNED_IN: Answer = { description: "Signed in.", content: json("Session"), headers: ["Set-Cookie"] };

const PROVIDER: Parameter = {
  name: "provider",
  in: "path",
  description: "Name of an identity provider in the gateway's configuration.",
  schema: { type: "string" },
};

/** A user's counters and streams; all keys of a user share them. */
export const USAGE_OPERATIONS: readonly Operation[] = [
  {
    method: "GET",
    path: "/v1/user/requests",
    credentials: "API key or access token",
    id: "getUsage",
    tag: "Usage",
    summary: "Usage counters",
    answers: { 200: { description: "The counters of the running windows.", content: json("UsageCounters") } },
    errors: CALLER_ERRORS,
  },
  {
    method: "GET",
    path: "/v1/user/requests/hourly",
    credentials: "API key or access token",
    id: "getHourlyUsage",
    tag: "Usage",
    summary: "Hourly usage only",
    answers: { 200: { description: "The counter of the running hour.", content: json("HourlyUsage") } },
    errors: CALLER_ERRORS,
  },
  {
    method: "POST",
    path: "/v1/user/streams/kill",
    credentials: "API key or access token",
    id: "killStreams",
    tag: "Usage",
    summary: "Stop the user's active streams",
    answers: { 200: { description: "Each ends within about a second.", content: json("KilledStreams") } },
    errors: CALLER_ERRORS,
  },
];

/** Without a Bearer they answer 429, as the API's specification says. */
export const KEY_OPERATIONS: readonly Operation[] = [
  {
    method: "POST",
    path: "/v1/user/key",
    credentials: "access token",
    id: "createKey",
    tag: "Keys",
    summary: "Create API key",
    request: { required: true, content: json("ApiKeyRequest") },
    answers: { 200: { description: "The key; its secret is shown this once.", content: json("CreatedApiKey") } },
    errors: [...BODY_ERRORS, ...SESSION_ERRORS, "NOT_FOUND"],
  },
  {
    method: "GET",
    path: "/v1/user/key",
    credentials: "access token",
    id: "listKeys",
    tag: "Keys",
    summary: "List API keys",
    answers: { 200: { description: "The live keys, oldest first.", content: json("ApiKeyList") } },
    errors: SESSION_ERRORS,
  },
  {
    method: "DELETE",
    path: "/v1/user/key/{key_id}",
    credentials: "access token",
    id: "revokeKey",
    tag: "Keys",
    summary: "Revoke API key",
    parameters: [{ name: "key_id", in: "path", description: "`id` of the key.", schema: { type: "string" } }],
    answers: { 200: { description: "The key works no more.", content: json("Revoked") } },
    errors: [...SESSION_ERRORS, "INVALID_REQUEST", "NOT_FOUND"],
  },
];

/** Signing in by mail code or OpenID Connect, and keeping the session. */
export const SIGN_IN_OPERATIONS: readonly Operation[] = [
  {
    method: "POST",
    path: "/auth/login",
    credentials: "none",
    id: "requestCode",
    tag: "Sign-in",
    summary: "Ask for a sign-in code by mail",
    request: { required: true, content: json("LoginRequest") },
    answers: { 202: { description: "A code is on its way.", content: json("LoginAccepted") } },
    errors: [...BODY_ERRORS, "TOO_MANY_REQUESTS", "STORE_UNAVAILABLE"],
  },
  {
    method: "POST",
    path: "/auth/login/verify",
    credentials: "none",
    id: "verifyCode",
    tag: "Sign-in",
    summary: "Sign in with a code",
    request: { required: true, content: json("VerifyRequest") },
    answers: { 200: SIGNED_IN },
    errors: [...BODY_ERRORS, "INVALID_CODE", "TOO_MANY_REQUESTS", "STORE_UNAVAILABLE"],
  },
  {
    method: "GET",
    path: "/auth/oauth/{provider}",
    credentials: "none",
    id: "beginOAuth",
    tag: "Sign-in",
    summary: "Sign in at an identity provider",
    description: "For browsers: OpenID Connect, the code flow with PKCE.",
    parameters: [
      PROVIDER,
      {
        name: "redirect_to",
        in: "query",
        description: "Path on this host to come back to; anything else is ignored.",
        schema: { type: "string" },
      },
    ],
    answers: { 302: { description: "To the identity provider.", headers: ["Location", "Set-Cookie"] } },
    errors: ["INVALID_REQUEST", "UNKNOWN_PATH", "PROVIDER_ERROR", "STORE_UNAVAILABLE"],
  },
  {
    method: "GET",
    path: "/auth/oauth/{provider}/callback",
    credentials: "none",
    id: "completeOAuth",
    tag: "Sign-in",
    summary: "Come back from an identity provider",
    parameters: [
      PROVIDER,
      { name: "code", in: "query", description: "From the provider.", schema: { type: "string" } },
      { name: "state", in: "query", description: "From the provider.", schema: { type: "string" } },
    ],
    answers: {
      200: { ...SIGNED_IN, description: "Signed in; with `Accept: application/json`." },
      302: { description: "Signed in; on to `redirect_to`.", headers: ["Location", "Set-Cookie"] },
    },
    errors: ["INVALID_REQUEST", "SIGN_IN_FAILED", "UNKNOWN_PATH", "STORE_UNAVAILABLE"],
  },
  {
    method: "POST",
    path: "/auth/refresh",
    credentials: "refresh token",
    id: "refreshSession",
    tag: "Sign-in",
    summary: "Renew a session",
    description: "The refresh token is used up: a token that is used twice ends its session.",
    request: { required: false, content: json("RefreshRequest") },
    answers: { 200: SIGNED_IN },
    errors: [...BODY_ERRORS, "INVALID_TOKEN", "STORE_UNAVAILABLE"],
  },
  {
    method: "POST",
    path: "/auth/logout",
    credentials: "refresh token",
    id: "endSession",
    tag: "Sign-in",
    summary: "End a session",
    request: { required: false, content: json("RefreshRequest") },
    answers: { 204: { description: "The session has ended, if there was one.", headers: ["Set-Cookie"] } },
    errors: ["STORE_UNAVAILABLE"],
  },
];
