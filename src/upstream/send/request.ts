import type { UpstreamRequest } from "../../dialects/dialect.ts";
import { isUnwritten } from "./bodies.ts";
import { isJson, type Parameters, pathOf, withName, withoutValue, withValue } from "../../kit/index.ts";

type Headers = Readonly<Record<string, string>>;

/** Where an upstream is, and the headers that its operator configured for every request. */
export interface Address {
  /** With the port when that is not the protocol's own. */
  readonly host: string;
  /** Path of the base URL, without a trailing slash. */
  readonly basePath: string;
  /** As configured; names in lower case. */
  readonly headers: Headers;
}

/** The dialect's request with the upstream's path prefix and headers. */
export function addressRequest(request: UpstreamRequest, address: Address, requestId: string): UpstreamRequest {
  return {
    method: request.method,
    path: joinPath(address.basePath, request.path),
    headers: {
      "user-agent": "route-gateway",
      ...request.headers,
      ...address.headers,
      // Last, so that no configuration can ask for a compressed answer or replace the request id.
      "accept-encoding": "identity",
      "x-request-id": requestId,
    },
    body: request.body,
  };
}

const VERSION = String.raw`/v\d+(?:(?:alpha|beta)\d*)?`;
/** The path of a publisher's models in Google's Vertex AI; the version comes before the project. */
const PUBLISHER = "/projects/[^/]+/locations/[^/]+/publishers/[^/]+";
const VERSIONED_BASE = new RegExp(`${VERSION}(?:${PUBLISHER})?$`);
const PATH_VERSION = new RegExp(`^${VERSION}(?=[/?]|$)`);

/**
 * The base URL's path (no trailing slash) and a dialect's; a version that the base ends with stands for the path's own.
 */
export function joinPath(basePath: string, path: string): string {
  const own = PATH_VERSION.exec(path)?.[0];
  return basePath + (own !== undefined && VERSIONED_BASE.test(basePath) ? path.slice(own.length) : path);
}

export function withLowerCaseNames(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/**
 * Applies the target's `parameters` to the body: removes, then renames, then sets. Must be the last change before the
 * request is signed, or the signature does not match. A body that is not text, such as an upload form, stays as it is.
 */
export function withParameters(request: UpstreamRequest, parameters: Parameters): UpstreamRequest {
  const { set, remove, rename } = parameters;
  const long = isUnwritten(request.body);
  if (!long && typeof request.body !== "string") return request;
  let body: unknown = long ? request.body.json : JSON.parse(request.body);
  for (const pointer of remove) body = withoutValue(body, pathOf(pointer));
  for (const [pointer, name] of Object.entries(rename)) body = withName(body, pathOf(pointer), name);
  for (const [pointer, value] of Object.entries(set)) body = withValue(body, pathOf(pointer), value);
  return { ...request, body: long && isJson(body) ? { json: body } : JSON.stringify(body) };
}
