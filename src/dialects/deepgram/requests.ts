import type { UpstreamRequest } from "../dialect.ts";

/** A request with Deepgram's key, which is no Bearer; no header for an empty one. */
export function withToken<Request extends { readonly headers: UpstreamRequest["headers"] }>(
  request: Request,
  apiKey: string,
): Request {
  return apiKey === "" ? request : { ...request, headers: { ...request.headers, authorization: `Token ${apiKey}` } };
}
