import type { UpstreamRequest } from "../dialect.ts";

/** A request with ElevenLabs' key; no header for an empty one. */
export function withKey<Request extends { readonly headers: UpstreamRequest["headers"] }>(
  request: Request,
  apiKey: string,
): Request {
  return apiKey === "" ? request : { ...request, headers: { ...request.headers, "xi-api-key": apiKey } };
}
