import { json } from "../../endpoint.ts";
import { type AdminEndpoint, row } from "../endpoint.ts";

export const UPSTREAMS: readonly AdminEndpoint[] = [
  row({
    method: "GET",
    path: "/admin/upstreams",
    role: "viewer",
    id: "listUpstreams",
    tag: "Upstreams",
    summary: "The state of the upstreams",
    answers: { 200: { description: "By name.", content: json("UpstreamStates") } },
    errors: [],
    route:
      ({ upstreams }) =>
      () =>
        upstreams(),
  }),
];
