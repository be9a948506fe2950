import type { H3Event } from "h3";
import { userBody, userUse } from "../../accounts/users.ts";
import { changeKey, createKey, keyBody, listKeys, revokeKey, rolledBody, rollKey } from "../../accounts/api-keys.ts";
import { parseKeyChange, parseKeyLimits } from "../../accounts/key-limits.ts";
import { type ErrorCode, GatewayError, tierOf, type WindowState } from "../../kit/index.ts";
import { callerOf, sessionOf } from "../credentials.ts";
import { BODY_ERRORS, CALLER_ERRORS, json, type Parameter, type RouteEndpoint, type RouteParts } from "../endpoint.ts";
import { readObject, readOptionalObject } from "../request-body.ts";
import { jsonResponse, requestIdIn, type RouteContext } from "../router.ts";

const SESSION_ERRORS: readonly ErrorCode[] = ["RATE_LIMIT_ERROR", "INVALID_TOKEN", "STORE_UNAVAILABLE"];

const KEY_ID: Parameter = {
  name: "key_id",
  in: "path",
  description: "`id` of the key.",
  schema: { type: "string" },
};

/** A user's own counters and streams; all keys of a user share them. Streams of others are not there. */
export const USAGE: readonly RouteEndpoint[] = [
  {
    method: "GET",
    path: "/v1/user",
    credentials: "API key or access token",
    id: "getAccount",
    tag: "Usage",
    summary: "The user's account",
    description: "Credits, what is used of the plan's limits and when they begin afresh.",
    answers: { 200: { description: "The account.", content: json("Account") } },
    errors: CALLER_ERRORS,
    secret: true,
    route:
      ({ store, snapshot, identities }) =>
      async (_event, context) => {
        const { userId, tier } = await callerOf(context, identities, "usage");
        const { limits } = tierOf(snapshot(), tier);
        const [user, windows, { streams }] = await Promise.all([
          store.findUser(userId),
          store.windows(userId, limits),
          store.running(userId),
        ]);
        if (user === null) throw new GatewayError("AUTHENTICATION_ERROR", "Authentication failed");
        return jsonResponse(200, { ...userBody(user), ...userUse(windows, streams, limits.streams) });
      },
  },
  {
    method: "GET",
    path: "/v1/user/requests",
    credentials: "API key or access token",
    id: "getUsage",
    tag: "Usage",
    summary: "Usage counters",
    answers: { 200: { description: "The counters of the running windows.", content: json("UsageCounters") } },
    errors: CALLER_ERRORS,
    secret: true,
    route: (parts) => async (_event, context) => {
      const { tier, day, hour, minute } = await counters(context, parts);
      return jsonResponse(200, {
        requests_used_today: day.used,
        requests_limit_today: day.limit,
        requests_remaining: day.remaining,
        requests_used_this_hour: hour.used,
        requests_limit_this_hour: hour.limit,
        requests_remaining_this_hour: hour.remaining,
        requests_used_this_minute: minute.used,
        requests_limit_per_minute: minute.limit,
        requests_remaining_this_minute: minute.remaining,
        plan_tier: tier,
      });
    },
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
    secret: true,
    route: (parts) => async (_event, context) => {
      const { tier, hour } = await counters(context, parts);
      return jsonResponse(200, { ...hour, plan_tier: tier });
    },
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
    secret: true,
    route:
      ({ identities, kill }) =>
      async (_event, context) => {
        const { userId } = await callerOf(context, identities, "inference");
        return jsonResponse(200, { killed_streams: await kill(userId) });
      },
  },
  {
    method: "GET",
    path: "/v1/user/streams",
    credentials: "API key or access token",
    id: "listStreams",
    tag: "Usage",
    summary: "The user's active streams",
    answers: { 200: { description: "All that run, the oldest first.", content: json("UserStreams") } },
    errors: CALLER_ERRORS,
    secret: true,
    route:
      ({ identities, streams, now }) =>
      async (_event, context) => {
        const { userId } = await callerOf(context, identities, "usage");
        const { streams: own, complete } = await streams.listOf(userId);
        const at = now();
        const data = own
          .toSorted((a, b) => b.age_ms - a.age_ms)
          .map(({ id, model, state, age_ms }) => {
            return { id, model, state, started_at: new Date(at - age_ms).toISOString(), age_ms };
          });
        return jsonResponse(200, { data, next_cursor: null, complete });
      },
  },
  {
    method: "DELETE",
    path: "/v1/user/streams/{stream_id}",
    credentials: "API key or access token",
    id: "endStream",
    tag: "Usage",
    summary: "Stop one of the user's active streams",
    parameters: [{ name: "stream_id", in: "path", description: "`id` of the stream.", schema: { type: "string" } }],
    answers: { 200: { description: "It ends within about a second.", content: json("EndedStream") } },
    errors: [...CALLER_ERRORS, "INVALID_REQUEST", "NOT_FOUND"],
    secret: true,
    route: (parts) => async (event, context) => {
      const { identities, streams, log } = parts;
      const { userId } = await callerOf(context, identities, "inference");
      const id = decodeURIComponent(event.context.params?.["stream_id"] ?? "");
      const { ended, complete } = await streams.endOf(userId, id);
      if (!ended) {
        const where = complete ? "" : " on the instances that answer";
        throw new GatewayError("NOT_FOUND", `No such stream${where}`);
      }
      log.info({ ...loggedIds(event, parts, { user: userId }), stream: id }, "stream ended by its user");
      return jsonResponse(200, { ended });
    },
  },
];

/** The user's own sessions. */
export const SESSIONS: readonly RouteEndpoint[] = [
  {
    method: "DELETE",
    path: "/v1/user/sessions",
    credentials: "access token",
    id: "endSessions",
    tag: "Sign-in",
    summary: "Sign out everywhere",
    description:
      "Refresh tokens and access tokens issued before are void within a second, the one of this call among them. API keys stay.",
    answers: { 200: { description: "All sessions have ended.", content: json("SessionsEnded") } },
    errors: SESSION_ERRORS,
    secret: true,
    route:
      ({ store, identities }) =>
      async (_event, { req }) => {
        const { userId } = await sessionOf(req, identities);
        await store.endSessions(userId);
        return jsonResponse(200, { message: "All sessions ended" });
      },
  },
];

/** A user's API keys; for sessions only, never for a key. Without a Bearer they answer 429, as the API's contract says. */
export const KEYS: readonly RouteEndpoint[] = [
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
    secret: true,
    route:
      (parts) =>
      async (event, { req }) => {
        const { store, identities, now, log } = parts;
        const { userId } = await sessionOf(req, identities);
        const { name, ...limits } = await readObject(req);
        const { body } = await createKey(store, { userId, name, limits: parseKeyLimits(limits, now()) });
        log.info(loggedIds(event, parts, { user: userId, key: body.id }), "API key made");
        return jsonResponse(200, body);
      },
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
    secret: true,
    route:
      ({ store, identities }) =>
      async (_event, { req }) => {
        const { userId, tier } = await sessionOf(req, identities);
        return jsonResponse(200, { data: await listKeys(store, { userId, tier }) });
      },
  },
  {
    method: "PATCH",
    path: "/v1/user/key/{key_id}",
    credentials: "access token",
    id: "changeKey",
    tag: "Keys",
    summary: "Change API key",
    description:
      "Name, models, budget, tags, expiry, scopes and addresses; within a second on every instance. Spending goes on as it was.",
    parameters: [KEY_ID],
    request: { required: true, content: json("ApiKeyChange") },
    answers: { 200: { description: "The key as it is now.", content: json("ApiKey") } },
    errors: [...BODY_ERRORS, ...SESSION_ERRORS, "NOT_FOUND"],
    secret: true,
    route:
      (parts) =>
      async (event, { req }) => {
        const { store, identities, now, log } = parts;
        const { userId, tier } = await sessionOf(req, identities);
        const keyId = keyIdIn(event);
        const change = parseKeyChange(await readObject(req), now());
        const key = await changeKey(store, { userId, keyId }, change);
        log.info(loggedIds(event, parts, { user: userId, key: keyId }), "API key changed");
        return jsonResponse(200, keyBody(key, tier));
      },
  },
  {
    method: "POST",
    path: "/v1/user/key/{key_id}/roll",
    credentials: "access token",
    id: "rollKey",
    tag: "Keys",
    summary: "Roll API key",
    description:
      "Makes a key with a new id and the settings of this one, which serves until the grace is over. Both spend of one budget.",
    parameters: [KEY_ID],
    request: { required: false, content: json("ApiKeyRoll") },
    answers: { 200: { description: "The new key; its secret is shown this once.", content: json("RolledApiKey") } },
    errors: [...BODY_ERRORS, ...SESSION_ERRORS, "NOT_FOUND"],
    secret: true,
    route:
      (parts) =>
      async (event, { req }) => {
        const { store, identities, now, log } = parts;
        const { userId, tier } = await sessionOf(req, identities);
        const keyId = keyIdIn(event);
        const { grace } = await readOptionalObject(req);
        const rolled = await rollKey(store, { userId, keyId, grace }, now());
        const ids = { user: userId, key: keyId, next: rolled.key.id };
        log.info(loggedIds(event, parts, ids), "API key rolled");
        return jsonResponse(200, rolledBody(keyId, rolled, tier));
      },
  },
  {
    method: "DELETE",
    path: "/v1/user/key/{key_id}",
    credentials: "access token",
    id: "revokeKey",
    tag: "Keys",
    summary: "Revoke API key",
    parameters: [KEY_ID],
    answers: { 200: { description: "The key works no more.", content: json("Revoked") } },
    errors: [...SESSION_ERRORS, "INVALID_REQUEST", "NOT_FOUND"],
    secret: true,
    route:
      (parts) =>
      async (event, { req }) => {
        const { store, identities, log } = parts;
        const { userId } = await sessionOf(req, identities);
        const keyId = keyIdIn(event);
        await revokeKey(store, { userId, keyId });
        log.info(loggedIds(event, parts, { user: userId, key: keyId }), "API key revoked");
        return jsonResponse(200, { message: "API key revoked" });
      },
  },
];

/** What a line of log may have of ids: their digests, where lines tell users apart. */
function loggedIds(event: H3Event, { digestOf }: RouteParts, ids: Readonly<Record<string, string>>): object {
  const digests = Object.entries(ids).flatMap(([name, id]) => {
    const digest = digestOf?.(id) ?? null;
    return digest === null ? [] : [[name, digest] as const];
  });
  return { request_id: requestIdIn(event), ...Object.fromEntries(digests) };
}

function keyIdIn(event: H3Event): string {
  return decodeURIComponent(event.context.params?.["key_id"] ?? "");
}

async function counters(context: RouteContext, { store, snapshot, identities }: RouteParts) {
  const { userId, tier } = await callerOf(context, identities, "usage");
  const windows = await store.windows(userId, tierOf(snapshot(), tier).limits);
  return { tier, day: counter(windows.day), hour: counter(windows.hour), minute: counter(windows.minute) };
}

/** Without a limit both limit and remaining are 0, as the API's contract shows for a plan without an hourly limit. */
function counter({ used, limit }: WindowState) {
  return { limit: limit ?? 0, used, remaining: Math.max(0, (limit ?? 0) - used) };
}
