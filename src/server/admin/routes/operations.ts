import { HTTPResponse } from "h3";
import { json, schemaRef } from "../../endpoint.ts";
import { type AdminEndpoint, row } from "../endpoint.ts";

const EVENT_HEADERS = {
  "Content-Type": "text/event-stream",
  // A proxy that buffers would hold events back.
  "X-Accel-Buffering": "no",
};

/** How models, plugins and instances do, and the figures of each second. */
export const OPERATIONS: readonly AdminEndpoint[] = [
  row({
    method: "GET",
    path: "/admin/models",
    role: "viewer",
    id: "listModels",
    tag: "Operations",
    summary: "What each model's chain did",
    answers: { 200: { description: "With the share that each step served.", content: json("ModelList") } },
    errors: [],
    route:
      ({ models }) =>
      () =>
        models(),
  }),
  row({
    method: "GET",
    path: "/admin/plugins",
    role: "viewer",
    id: "listPlugins",
    tag: "Operations",
    summary: "The pipeline, with the time of each hook",
    answers: { 200: { description: "In the order in which they run.", content: json("PluginList") } },
    errors: [],
    route:
      ({ plugins }) =>
      () =>
        plugins(),
  }),
  row({
    method: "GET",
    path: "/admin/instances",
    role: "viewer",
    id: "listInstances",
    tag: "Operations",
    summary: "The processes that share the store",
    answers: { 200: { description: "As far as they are known.", content: json("InstanceList") } },
    errors: [],
    route:
      ({ instances }) =>
      () =>
        instances(),
  }),
  row({
    method: "GET",
    path: "/admin/figures",
    role: "viewer",
    id: "getFigures",
    tag: "Operations",
    summary: "Figures of the last 15 minutes",
    answers: { 200: { description: "A second each.", content: json("FigureSeries") } },
    errors: [],
    route:
      ({ figures }) =>
      () =>
        figures(),
  }),
  row({
    method: "GET",
    path: "/admin/events",
    role: "viewer",
    id: "followFigures",
    tag: "Operations",
    summary: "Figures of each second, as they come",
    description:
      "Server-sent events named `figures`, one a second; `data` is JSON. A reader that is too slow is cut off, and connects anew.",
    answers: {
      200: {
        description: "Ends with the process.",
        content: { "text/event-stream": { schema: schemaRef("FigureEvent") } },
      },
    },
    errors: ["OVERLOADED"],
    route:
      ({ events }) =>
      ({ req }) =>
        // Nobody would read it.
        new HTTPResponse(req.method === "HEAD" ? null : events(), { status: 200, headers: EVENT_HEADERS }),
  }),
];
