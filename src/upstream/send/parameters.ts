import type { UpstreamRequest } from "../../dialects/dialect.ts";
import { type Parameters, pathOf, withName, withoutValue, withValue } from "../../kit/index.ts";

/**
 * A request with what its target's `parameters` make of the body: removed first, then renamed, then set. To be done last
 * of all, but before the request is signed. A body that is no text, such as a form with a file, is left as it is.
 */
export function withParameters(request: UpstreamRequest, parameters: Parameters): UpstreamRequest {
  if (typeof request.body !== "string") return request;
  const { set, remove, rename } = parameters;
  let body: unknown = JSON.parse(request.body);
  for (const pointer of remove) body = withoutValue(body, pathOf(pointer));
  for (const [pointer, name] of Object.entries(rename)) body = withName(body, pathOf(pointer), name);
  for (const [pointer, value] of Object.entries(set)) body = withValue(body, pathOf(pointer), value);
  return { ...request, body: JSON.stringify(body) };
}
