import type { Location } from "../dialects/dialect.ts";
import type { Upstream } from "../kit/index.ts";
import { withLowerCaseNames } from "./send/request.ts";

/** The part of an upstream's configuration that selects its dialect variant. */
export function locationOf(base: URL, { headers, vendor, accepts, api }: Upstream): Location {
  return {
    baseUrl: base.href.replace(/\/+$/, ""),
    headers: withLowerCaseNames(headers),
    ...(vendor && { vendor }),
    ...(accepts && { accepts }),
    ...(api && { api }),
  };
}
