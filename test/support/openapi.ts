import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import type { IncomingHttpHeaders } from "node:http";
import { isJson, type Json } from "../../src/kit/index.ts";

/** An answer as it came over the wire. */
export interface Answered {
  readonly method: string;
  /** With or without a query. */
  readonly path: string;
  readonly status: number;
  readonly contentType: string | null;
  readonly body: string | Uint8Array;
  readonly headers: Headers | IncomingHttpHeaders;
}

/** A 200 with JSON unless said otherwise. */
export function answered(
  method: string,
  path: string,
  { headers, ...more }: Partial<Omit<Answered, "headers">> & { readonly headers?: Record<string, string> },
): Answered {
  const all = new Headers({ "X-Request-Id": "r-1", ...headers });
  return { method, path, status: 200, contentType: "application/json", body: "", ...more, headers: all };
}

const VALIDATORS = new WeakMap<Json, Ajv2020>();

/** What an OpenAPI document of ours says against an answer, one line each; empty when the answer is as described. */
export function conforms(document: Json, answered: Answered): string[] {
  const { method, status, contentType, body, headers } = answered;
  const path = templateOf(document, answered.path.split("?", 1)[0]!);
  const at = ["paths", path ?? "", method.toLowerCase(), "responses", String(status)];
  const response = find(document, at);
  if (!isJson(response)) return [`${method} ${path ?? answered.path} has no answer ${status}`];
  const said = headersFaults(document, at, headers);
  const { content } = response;
  const mediaType = contentType?.split(";", 1)[0]!.trim().toLowerCase() ?? null;
  if (!isJson(content)) return body.length === 0 ? said : [...said, "there is a body"];
  const described = Object.keys(content).find(
    (type) => type === mediaType || type === mediaType?.replace(/\/.*/, "/*"),
  );
  if (described === undefined)
    return [...said, `its type is ${String(mediaType)}, not ${Object.keys(content).join(" or ")}`];
  if (mediaType === "text/plain" && status >= 400 && find(document, [...at, "headers", "X-Error-Code"]) !== null) {
    if (valueOf(headers, "x-error-code") === null) said.push("X-Error-Code is missing");
  }
  return [...said, ...bodyFaults(document, [...at, "content", described, "schema"], described, body)];
}

function bodyFaults(document: Json, at: readonly string[], mediaType: string, body: string | Uint8Array): string[] {
  if (mediaType.endsWith("/*")) return body.length > 0 ? [] : ["the body is empty"];
  const text = typeof body === "string" ? body : new TextDecoder().decode(body);
  if (mediaType === "text/event-stream") return eventFaults(document, [...at, "contentSchema"], text);
  if (mediaType === "application/x-ndjson") {
    const lines = text.split("\n").filter((line) => line !== "");
    return lines.flatMap((line) => jsonFaults(document, [...at, "contentSchema"], line));
  }
  return mediaType.startsWith("text/") ? faults(document, at, text) : jsonFaults(document, at, text);
}

function eventFaults(document: Json, at: readonly string[], text: string): string[] {
  // Events with a name have their ending in it; the others end in [DONE].
  const named = isJson(find(document, [...at, "properties", "type"]));
  const lines = text.split("\n").filter((line) => {
    return line !== "" && !line.startsWith(":") && !(named && line.startsWith("event: "));
  });
  const strange = lines.filter((line) => !line.startsWith("data: ")).map((line) => `a line of the stream: ${line}`);
  const events = lines.filter((line) => line.startsWith("data: ")).map((line) => line.slice("data: ".length));
  const last = named || events.at(-1) === "[DONE]" ? [] : ["the stream does not end in [DONE]"];
  return [
    ...strange,
    ...last,
    ...events.filter((data) => data !== "[DONE]").flatMap((data) => jsonFaults(document, at, data)),
  ];
}

function jsonFaults(document: Json, at: readonly string[], text: string): string[] {
  try {
    return faults(document, at, JSON.parse(text));
  } catch {
    return [`not JSON: ${text.slice(0, 80)}`];
  }
}

function headersFaults(document: Json, at: readonly string[], headers: Answered["headers"]): string[] {
  const described = find(document, [...at, "headers"]);
  return Object.entries(isJson(described) ? described : {}).flatMap(([name, header]) => {
    const reference = isJson(header) ? header["$ref"] : undefined;
    const place = typeof reference === "string" ? reference.slice(2).split("/") : [...at, "headers", name];
    const { required, schema } = find(document, place) as { required?: boolean; schema: Json };
    const value = valueOf(headers, name);
    if (value === null) return required === true ? [`${name} is missing`] : [];
    const read = schema["type"] === "integer" && /^-?\d+$/.test(value) ? Number(value) : value;
    return faults(document, [...place, "schema"], read).map((fault) => `${name}: ${fault}`);
  });
}

function valueOf(headers: Answered["headers"], name: string): string | null {
  if (headers instanceof Headers) return headers.get(name);
  return headers[name.toLowerCase()]?.toString() ?? null;
}

/** What the schema at a place of the document says against a value. */
export function faults(document: Json, at: readonly string[], value: unknown): string[] {
  const ajv = VALIDATORS.get(document) ?? compile(document);
  const pointer = at.map((name) => encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/");
  const validate = ajv.getSchema(`openapi.json#/${pointer}`);
  if (!validate) return [`there is no schema at ${at.join("/")}`];
  if (validate(value) === true) return [];
  return (validate.errors ?? []).map(({ instancePath, message, params }) => {
    return `${instancePath === "" ? "/" : instancePath} ${message ?? ""} ${JSON.stringify(params)}`;
  });
}

function compile(document: Json): Ajv2020 {
  // The document holds schemas, but is none.
  const ajv = new Ajv2020({ strict: false, validateSchema: false, allErrors: true });
  formats.default(ajv, ["date-time"]);
  ajv.addFormat("binary", true);
  ajv.addSchema({ ...document, $id: "openapi.json" });
  VALIDATORS.set(document, ajv);
  return ajv;
}

/** The path of the document that a request's path belongs to. */
function templateOf(document: Json, path: string): string | null {
  const templates = Object.keys(document["paths"] as Json);
  return (
    templates.find((template) => template === path) ??
    templates.find((template) => fits(document, template, path)) ??
    null
  );
}

/** A parameter stands for one segment, or for several when its pattern has a slash. */
function fits(document: Json, template: string, path: string): boolean {
  const operations = Object.values(find(document, ["paths", template]) as Record<string, Json>);
  const long = operations
    .flatMap(({ parameters }) => (parameters ?? []) as Json[])
    .filter(({ schema }) => {
      return String((schema as Json)["pattern"]).includes("/");
    });
  const pattern = template.replaceAll(/\{(\w+)\}/g, (_, name) =>
    long.some((one) => one["name"] === name) ? ".+" : "[^/]+",
  );
  return new RegExp(`^${pattern}$`).test(path);
}

function find(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) => (isJson(inner) && Object.hasOwn(inner, name) ? inner[name] : null),
    value,
  );
}
