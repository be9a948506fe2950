import type { Endpoint, Format, RouteEndpoint, RouteParts } from "./endpoint.ts";
import type { Route } from "./router.ts";
import { KEYS, SESSIONS, USAGE } from "./routes/account.ts";
import { CATALOGUE, DESCRIPTION } from "./routes/catalogue.ts";
import { INFERENCE } from "./routes/inference.ts";
import { OWN_LEDGER } from "./routes/ledger.ts";
import { SIGN_IN } from "./routes/sign-in.ts";
import { COUNT_TOKENS } from "./routes/token-count.ts";

const ROUTES: readonly RouteEndpoint[] = [
  COUNT_TOKENS,
  ...CATALOGUE,
  ...USAGE,
  ...OWN_LEDGER,
  ...KEYS,
  ...SESSIONS,
  ...SIGN_IN,
  DESCRIPTION,
];

/**
 * The whole public API. What is served, the OpenAPI document and the endpoints in metrics are made of this table, and
 * README's is compared with it.
 */
export const ENDPOINTS: readonly Endpoint[] = Object.freeze([...INFERENCE, ...ROUTES]);

/** The formats of the inference endpoints, by path. */
export const FORMATS: ReadonlyMap<string, Format> = new Map(INFERENCE.map(({ path, format }) => [path, format]));

/** Everything beside inference, for the router. */
export function createRoutes(parts: RouteParts): Route[] {
  return ROUTES.map((endpoint) => ({
    method: endpoint.method,
    path: patternOf(endpoint),
    secret: endpoint.secret === true,
    handle: endpoint.route(parts),
  }));
}

/** The path as the router and the metrics have it: `:name` for a part of it, `**` for the rest. */
function patternOf({ path, matchesRest }: RouteEndpoint): string {
  return (matchesRest ? path.replace(/\{\w+\}$/, "**") : path).replaceAll(/\{(\w+)\}/g, ":$1");
}
