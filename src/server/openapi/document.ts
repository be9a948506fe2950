import type { Json } from "../../kit/index.ts";
import type { Answer, Endpoint } from "../endpoint.ts";
import { ENDPOINTS } from "../endpoints.ts";
import { errorResponses, headerRefs } from "./errors.ts";
import { HEADERS } from "./headers.ts";
import { componentSchemas } from "./schemas.ts";

const SECURITY_SCHEMES = {
  apiKey: { type: "apiKey", in: "header", name: "X-API-Key", description: "An API key, `rk_…`." },
  bearerKey: { type: "http", scheme: "bearer", description: "An API key, `rk_…`; the same as `X-API-Key`." },
  accessToken: { type: "http", scheme: "bearer", bearerFormat: "JWT", description: "From signing in." },
  refreshCookie: {
    type: "apiKey",
    in: "cookie",
    name: "gateway_refresh",
    description: "For browsers; over TLS its name begins with `__Host-`. Calls by cookie need an Origin of this host.",
  },
} as const;

/** Each one is enough. */
const SECURITY: Readonly<Record<Endpoint["credentials"], readonly (keyof typeof SECURITY_SCHEMES | "none")[]>> = {
  none: [],
  "API key": ["apiKey", "bearerKey"],
  "API key or access token": ["apiKey", "bearerKey", "accessToken"],
  "access token": ["accessToken"],
  // Or the token in the body.
  "refresh token": ["refreshCookie", "none"],
};

/** The OpenAPI 3.1 document of the public API, from the schemas that validate and the table of errors. */
export function openApiDocument(): Json {
  const paths = Map.groupBy(ENDPOINTS, ({ path }) => path);
  return {
    openapi: "3.1.1",
    info: {
      title: "Model routing gateway",
      version: "1.0.0",
      description:
        "One address and one key in front of many AI providers. Errors are plain text with the code in `X-Error-Code`, or JSON.",
    },
    servers: [{ url: "/" }],
    tags: [...new Set(ENDPOINTS.map(({ tag }) => tag))].map((name) => ({ name })),
    paths: Object.fromEntries(
      [...paths].map(([path, operations]) => [
        path,
        Object.fromEntries(operations.map((operation) => [operation.method.toLowerCase(), operationObject(operation)])),
      ]),
    ),
    components: { schemas: componentSchemas(), headers: HEADERS, securitySchemes: SECURITY_SCHEMES },
  };
}

function operationObject(operation: Endpoint): Json {
  const { id, tag, summary, description, parameters, request, answers, credentials } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    security: SECURITY[credentials].map((scheme) => (scheme === "none" ? {} : { [scheme]: [] })),
    ...(parameters && { parameters: parameters.map((one) => ({ ...one, required: one.in === "path" })) }),
    ...(request && { requestBody: request }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, answerObject(answer)])),
      ...errorResponses(operation),
    },
  };
}

function answerObject({ description, content, headers = [] }: Answer): Json {
  return { description, headers: headerRefs(["X-Request-Id", ...headers]), ...(content && { content }) };
}
