import { CALLER_ERRORS, json, type Operation } from "./operation.ts";

/** What the gateway tells of itself. */
export const CATALOGUE_OPERATIONS: readonly Operation[] = [
  {
    method: "GET",
    path: "/v1/models",
    credentials: "none",
    id: "listModels",
    tag: "Catalogue",
    summary: "Public model list",
    description: "The same for everyone: credentials are ignored.",
    answers: { 200: { description: "The published models.", content: json("ModelList") } },
    errors: [],
  },
  {
    method: "GET",
    path: "/v1/models/{model_id}",
    credentials: "API key or access token",
    id: "getModel",
    tag: "Catalogue",
    summary: "Model detail",
    parameters: [
      {
        name: "model_id",
        in: "path",
        description: "Identifier of a model. Its slash may be sent as it is or as %2F.",
        schema: { type: "string", pattern: "^route/" },
      },
    ],
    answers: { 200: { description: "The model.", content: json("ModelDetail") } },
    errors: [...CALLER_ERRORS, "INVALID_REQUEST", "MODEL_NOT_FOUND"],
  },
  {
    method: "GET",
    path: "/v1/pricing",
    credentials: "API key or access token",
    id: "listPrices",
    tag: "Catalogue",
    summary: "Static pricing table",
    answers: { 200: { description: "The prices of the published models.", content: json("Pricing") } },
    errors: CALLER_ERRORS,
  },
  {
    method: "GET",
    path: "/v1/status",
    credentials: "none",
    id: "getStatus",
    tag: "Catalogue",
    summary: "Health, models, incidents",
    answers: { 200: { description: "The status at this moment.", content: json("Status") } },
    errors: [],
  },
  {
    method: "GET",
    path: "/v1/settings",
    credentials: "none",
    id: "getSettings",
    tag: "Catalogue",
    summary: "Public settings",
    answers: { 200: { description: "The settings.", content: json("Settings") } },
    errors: [],
  },
  {
    method: "GET",
    path: "/openapi.json",
    credentials: "none",
    id: "getDescription",
    tag: "Catalogue",
    summary: "This document",
    answers: {
      200: {
        description: "An OpenAPI 3.1 document.",
        content: { "application/json": { schema: { type: "object", required: ["openapi", "info", "paths"] } } },
      },
    },
    errors: [],
  },
];
