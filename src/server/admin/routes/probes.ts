import { json } from "../../endpoint.ts";
import { jsonResponse, textResponse } from "../../router.ts";
import { type AdminEndpoint, row } from "../endpoint.ts";

/** For anyone who reaches the listener. */
export const PROBES: readonly AdminEndpoint[] = [
  row({
    method: "GET",
    path: "/livez",
    role: "none",
    anyHost: true,
    id: "live",
    tag: "Probes",
    summary: "Whether the process runs",
    answers: { 200: { description: "It does.", content: json("Live") } },
    errors: [],
    route: () => () => ({ status: "live" }),
  }),
  row({
    method: "GET",
    path: "/readyz",
    role: "none",
    anyHost: true,
    id: "ready",
    tag: "Probes",
    summary: "Whether it can serve",
    answers: {
      200: { description: "It can.", content: json("Ready") },
      503: { description: "It cannot.", content: json("Unavailable") },
    },
    errors: [],
    route:
      ({ notReady }) =>
      async () => {
        const reasons = await notReady();
        if (reasons.length === 0) return { status: "ready" };
        return jsonResponse(503, { status: "unavailable", reasons });
      },
  }),
  row({
    method: "GET",
    path: "/metrics",
    role: "none",
    anyHost: true,
    id: "metrics",
    tag: "Probes",
    summary: "Metrics for Prometheus",
    answers: { 200: { description: "All series.", content: { "text/plain": { schema: { type: "string" } } } } },
    errors: [],
    route:
      ({ metrics }) =>
      async () => {
        const { contentType, body } = await metrics();
        return textResponse(200, contentType, body);
      },
  }),
];

export const DESCRIPTION = row({
  method: "GET",
  path: "/admin/openapi.json",
  role: "viewer",
  id: "describe",
  tag: "Description",
  summary: "This document",
  answers: {
    200: { description: "OpenAPI 3.1.", content: { "application/json": { schema: { type: "object" } } } },
  },
  errors: [],
  route:
    ({ openApi }) =>
    async () =>
      textResponse(200, "application/json", await openApi()),
});
