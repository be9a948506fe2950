import type { Json } from "../../kit/index.ts";
import { bearer, type JsonRequest, postJson } from "../canonical/requests.ts";
import type { UpstreamRequest } from "../dialect.ts";

const VERSION = "/v1beta";
/** How an OAuth access token of Google begins; anything else is an API key. */
const ACCESS_TOKEN = "ya29.";

/** No header for an empty key. */
function credentials(apiKey: string): Readonly<Record<string, string>> {
  if (apiKey === "" || apiKey.startsWith(ACCESS_TOKEN)) return bearer(apiKey);
  return { "x-goog-api-key": apiKey };
}

/** The full resource name of a model: `models/…` unless it names its collection, as `tunedModels/…` does. */
export function resourceOf(model: string): string {
  return model.includes("/") ? model : `models/${model}`;
}

/** @param method of the model, with its query: `generateContent`. */
export function post(model: string, method: string, apiKey: string, body: Json, accept?: string): JsonRequest {
  const path = resourceOf(model).split("/").map(encodeURIComponent).join("/");
  const request = postJson(`${VERSION}/${path}:${method}`, "", body, accept);
  return { ...request, headers: { ...credentials(apiKey), ...request.headers } };
}

export function get(path: string, apiKey: string): UpstreamRequest {
  const headers = { ...credentials(apiKey), accept: "application/json" };
  return { method: "GET", path: `${VERSION}${path}`, headers, body: null };
}
