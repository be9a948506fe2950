import { GatewayError } from "../../../kit/index.ts";
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
  row({
    method: "POST",
    path: "/admin/upstreams/{name}/manual",
    role: "operator",
    id: "setUpstreamManual",
    tag: "Upstreams",
    summary: "Drains, opens or closes an upstream by hand",
    description:
      "On every instance within a second, and on those that start later. It ends by itself. close also ends the cooldowns of the upstream's keys at once.",
    params: { name: "Of the upstream." },
    body: "UpstreamManualRequest",
    answers: { 200: { description: "It is set.", content: json("UpstreamManual") } },
    errors: ["NOT_FOUND", "STORE_UNAVAILABLE", "OVERLOADED"],
    route:
      ({ services, log }) =>
      async ({ params, body, caller }) => {
        const { mode, expires_in_seconds: expiresInSeconds, reason } = body;
        const upstream = params["name"] ?? "";
        const by = caller?.name ?? "";
        const set = await services.setManual({ upstream, mode, expiresInSeconds, reason, by });
        const { until, cooldowns_ended: ended = 0 } = set;
        log.info({ upstream, mode, until, by, ...(ended > 0 && { cooldowns: ended }) }, "upstream override changed");
        return set;
      },
  }),
  row({
    method: "DELETE",
    path: "/admin/upstreams/{name}/manual",
    role: "operator",
    id: "liftUpstreamManual",
    tag: "Upstreams",
    summary: "Ends what was set of an upstream by hand",
    params: { name: "Of the upstream." },
    description: "Also ends the cooldowns of the upstream's keys at once, on every instance and where nothing is set.",
    answers: { 200: { description: "Its breaker decides again.", content: json("UpstreamManualLifted") } },
    errors: ["NOT_FOUND", "STORE_UNAVAILABLE", "OVERLOADED"],
    route:
      ({ services, log }) =>
      async ({ params, caller }) => {
        const upstream = params["name"] ?? "";
        const cleared = await services.liftManual(upstream);
        if (!cleared) throw new GatewayError("NOT_FOUND", "Nothing is set of this upstream");
        const { cooldowns_ended: ended = 0 } = cleared;
        log.info({ upstream, by: caller?.name, ...(ended > 0 && { cooldowns: ended }) }, "upstream override cleared");
        return { lifted: true, ...(ended > 0 && { cooldowns_ended: ended }) };
      },
  }),
];
