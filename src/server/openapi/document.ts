import accounts from "../../../schemas/api/accounts.schema.json" with { type: "json" };
import chat from "../../../schemas/api/chat.schema.json" with { type: "json" };
import countTokens from "../../../schemas/api/count-tokens.schema.json" with { type: "json" };
import embeddings from "../../../schemas/api/embeddings.schema.json" with { type: "json" };
import image from "../../../schemas/api/image.schema.json" with { type: "json" };
import messages from "../../../schemas/api/messages.schema.json" with { type: "json" };
import rerank from "../../../schemas/api/rerank.schema.json" with { type: "json" };
import responsesCreate from "../../../schemas/api/responses-create.schema.json" with { type: "json" };
import responses from "../../../schemas/api/responses.schema.json" with { type: "json" };
import speech from "../../../schemas/api/speech.schema.json" with { type: "json" };
import transcription from "../../../schemas/api/transcription.schema.json" with { type: "json" };
import type { ErrorCode, Json } from "../../kit/index.ts";
import type { Endpoint } from "../endpoint.ts";
import { ENDPOINTS } from "../endpoints.ts";
import { ADDRESS_LIMITS, HEADERS, LIFECYCLE, PLAN_LIMITS } from "./headers.ts";
import { type Called, pathsOf, schemasOf } from "./operations.ts";

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
  "none or API key or access token": ["none", "apiKey", "bearerKey", "accessToken"],
  "API key": ["apiKey", "bearerKey"],
  "API key or access token": ["apiKey", "bearerKey", "accessToken"],
  "access token": ["accessToken"],
  // Or the token in the body.
  "refresh token": ["refreshCookie", "none"],
};

/** What every call can meet. */
const COMMON_ERRORS: readonly ErrorCode[] = ["IP_RATE_LIMIT", "INTERNAL"];

/** The OpenAPI 3.1 document of the public API, from the schemas that validate and the table of errors. */
export function openApiDocument(): Json {
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
    paths: pathsOf(ENDPOINTS.map((endpoint) => ({ ...endpoint, ...calledBy(endpoint) }))),
    components: { schemas: schemasOf(FILES), headers: HEADERS, securitySchemes: SECURITY_SCHEMES },
  };
}

function calledBy({ credentials, tag }: Endpoint): Called {
  return {
    security: SECURITY[credentials].map((scheme) => (scheme === "none" ? {} : { [scheme]: [] })),
    commonErrors: COMMON_ERRORS,
    jsonErrors: true,
    limits: [...(tag === "Inference" ? [...PLAN_LIMITS, ...LIFECYCLE] : []), ...ADDRESS_LIMITS],
  };
}

const FILES: readonly Json[] = [
  chat,
  messages,
  countTokens,
  responsesCreate,
  embeddings,
  rerank,
  speech,
  transcription,
  image,
  accounts,
  responses,
];
