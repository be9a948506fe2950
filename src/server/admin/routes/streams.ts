import { GatewayError } from "../../../kit/index.ts";
import { json } from "../../endpoint.ts";
import { type AdminEndpoint, row } from "../endpoint.ts";

export const STREAMS: readonly AdminEndpoint[] = [
  row({
    method: "GET",
    path: "/admin/streams",
    role: "viewer",
    id: "listStreams",
    tag: "Streams",
    summary: "The running streams",
    answers: { 200: { description: "Of all users, on all instances.", content: json("StreamList") } },
    errors: [],
    route:
      ({ streams }) =>
      () =>
        streams(),
  }),
  row({
    method: "DELETE",
    path: "/admin/streams/{stream_id}",
    role: "operator",
    id: "endStream",
    tag: "Streams",
    summary: "Ends a stream",
    params: { stream_id: "`id` of the stream." },
    answers: { 200: { description: "It ends.", content: json("EndedStream") } },
    errors: ["NOT_FOUND"],
    changesNoStore: true,
    route:
      ({ endStream, log }) =>
      async ({ params }) => {
        const id = params["stream_id"] ?? "";
        const { ended, complete } = await endStream(id);
        log.info({ id, ended }, "stream end requested over the admin listener");
        if (ended) return { ended };
        throw new GatewayError(
          "NOT_FOUND",
          complete ? "No such stream" : "No such stream on the instances that answer",
        );
      },
  }),
  row({
    method: "GET",
    path: "/admin/settlements",
    role: "viewer",
    id: "listSettlements",
    tag: "Streams",
    summary: "Settlements that are not in the store",
    answers: {
      200: { description: "Those that wait, and those that it will never take.", content: json("UnstoredSettlements") },
    },
    errors: [],
    route:
      ({ settlements }) =>
      () =>
        settlements(),
  }),
];
