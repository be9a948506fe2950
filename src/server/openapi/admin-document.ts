import { schemas as adminSchemas } from "../../../schemas/admin-schemas.gen.js";
import responses from "../../../schemas/api/responses.schema.json" with { type: "json" };
import { type ErrorCode, isJson, type Json } from "../../kit/index.ts";
import type { AdminEndpoint } from "../admin/endpoint.ts";
import { ADMIN_ENDPOINTS } from "../admin/endpoints.ts";
import { BODY_ERRORS, json, type Parameter } from "../endpoint.ts";
import { HEADERS } from "./headers.ts";
import { type Called, pathsOf, schemasOf } from "./operations.ts";

const SECURITY_SCHEMES = {
  adminToken: { type: "http", scheme: "bearer", description: "A token of `server.admin`." },
  adminSession: {
    type: "apiKey",
    in: "cookie",
    name: "gateway_admin",
    description: "From `POST /admin/session`; over TLS its name begins with `__Host-`.",
  },
} as const;

/** The OpenAPI 3.1 document of the admin listener, from its table and the schemas that validate. */
export function adminDocument(): Json {
  const paths = pathsOf(ADMIN_ENDPOINTS.map((endpoint) => ({ ...described(endpoint), ...calledBy(endpoint) })));
  // Of errors, the public API's.
  const schemas = { ...schemasOf([responses]), ...adminSchemas };
  return {
    openapi: "3.1.1",
    info: {
      title: "Model routing gateway: administration",
      version: "1.0.0",
      description: "Errors are plain text with the code in `X-Error-Code`, or JSON.",
    },
    servers: [{ url: "/" }],
    tags: [...new Set(ADMIN_ENDPOINTS.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: used(paths, "schemas", schemas),
      headers: used(paths, "headers", HEADERS),
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

function described(endpoint: AdminEndpoint) {
  const { method, path, id, tag, summary, role, answers, errors, body, bodyIs } = endpoint;
  const whose = role === "operator" ? ["For operators; written to the audit log."] : [];
  const description = [endpoint.description ?? [], whose].flat().join(" ");
  return {
    method,
    path,
    id,
    tag,
    summary,
    ...(description !== "" && { description }),
    parameters: parametersOf(endpoint),
    ...(body && { request: { required: bodyIs === undefined, content: json(body) } }),
    answers,
    errors: body ? [...errors, ...BODY_ERRORS] : errors,
  };
}

function parametersOf({ params = {}, headers = {}, query }: AdminEndpoint): readonly Parameter[] {
  const text = { type: "string" };
  const inPath = Object.entries(params).map(([name, description]) => {
    return { name, in: "path", description, schema: text } as const;
  });
  const inHeaders = Object.entries(headers).map(([name, { description, required = false }]) => {
    return { name, in: "header", description, required, schema: text } as const;
  });
  if (query === undefined) return [...inPath, ...inHeaders];
  const { properties, required = [] } = adminSchemas[query] ?? {};
  const inQuery = Object.entries(isJson(properties) ? properties : {}).map(([name, schema]) => {
    const own = schema as Json;
    const target = typeof own["$ref"] === "string" ? adminSchemas[own["$ref"].split("/").at(-1) ?? ""] : own;
    const isRequired = (required as readonly string[]).includes(name);
    return {
      name,
      in: "query",
      description: String(target?.["description"]),
      required: isRequired,
      schema: own,
    } as const;
  });
  return [...inPath, ...inHeaders, ...inQuery];
}

/** What every call with a token can meet. */
const CALLER_ERRORS: readonly ErrorCode[] = [
  "INVALID_REQUEST",
  "AUTHENTICATION_REQUIRED",
  "INVALID_TOKEN",
  "FORBIDDEN",
  "UNKNOWN_PATH",
  "UNSUPPORTED_MEDIA_TYPE",
  "TOO_MANY_REQUESTS",
  "OVERLOADED",
  "STORE_UNAVAILABLE",
  "REQUEST_TOO_LARGE",
  "INTERNAL",
];

function calledBy({ role, anyHost }: AdminEndpoint): Called {
  const open = { security: [], limits: [], errorTexts: ERROR_TEXTS };
  if (anyHost) return { ...open, commonErrors: ["INVALID_REQUEST", "INTERNAL"], jsonErrors: false };
  if (role === "none")
    return { ...open, commonErrors: ["INVALID_REQUEST", "REQUEST_TOO_LARGE", "INTERNAL"], jsonErrors: false };
  return {
    ...open,
    security: [{ adminToken: [] }, { adminSession: [] }],
    commonErrors: CALLER_ERRORS,
    jsonErrors: false,
  };
}

const ERROR_TEXTS: Called["errorTexts"] = {
  NOT_FOUND: "Nothing has that id.",
  UNKNOWN_PATH: "No such path, or no token is configured.",
  TOO_MANY_REQUESTS: "Too many wrong tokens of one address.",
  OVERLOADED: "No worker answers, or one is at it already.",
};

/** Those components that the paths lead to. */
function used(paths: Json, section: string, components: Readonly<Record<string, unknown>>): Json {
  const found = new Set<string>();
  const look = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(look);
    else if (isJson(value)) {
      const name = new RegExp(`^#/components/${section}/(.+)$`).exec(String(value["$ref"]))?.[1];
      if (name !== undefined && !found.has(name)) {
        found.add(name);
        look(components[name]);
      }
      Object.values(value).forEach(look);
    }
  };
  look(paths);
  return Object.fromEntries(Object.entries(components).filter(([name]) => found.has(name)));
}
