import { GatewayError } from "../../kit/index.ts";
import { callerOf } from "../credentials.ts";
import { CALLER_ERRORS, json, type RouteEndpoint } from "../endpoint.ts";
import { jsonResponse, requestIdIn } from "../router.ts";

/** A user's own running streams, wherever they run. Those of others are not there. */
export const STREAMS: readonly RouteEndpoint[] = [
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
      async (_event, { req }) => {
        const { userId } = await callerOf(req, identities);
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
    route:
      ({ identities, streams, log }) =>
      async (event, { req }) => {
        const { userId } = await callerOf(req, identities);
        const id = decodeURIComponent(event.context.params?.["stream_id"] ?? "");
        const { ended, complete } = await streams.endOf(userId, id);
        if (!ended) {
          const where = complete ? "" : " on the instances that answer";
          throw new GatewayError("NOT_FOUND", `No such stream${where}`);
        }
        log.info({ request_id: requestIdIn(event), user: userId, stream: id }, "stream ended by its user");
        return jsonResponse(200, { ended });
      },
  },
];
