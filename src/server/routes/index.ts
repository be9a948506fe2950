import { type Route, textResponse } from "../app.ts";
import { catalogueRoutes } from "./catalogue.ts";
import { keyRoutes } from "./keys.ts";
import type { RouteParts } from "./parts.ts";
import { signInRoutes } from "./sign-in.ts";
import { statusRoutes } from "./status.ts";
import { tokenCountRoutes } from "./token-count.ts";
import { usageRoutes } from "./usage.ts";

/** Every public route beside inference. */
export function createRoutes(parts: RouteParts): Route[] {
  return [
    ...catalogueRoutes(parts),
    ...statusRoutes(parts),
    ...usageRoutes(parts),
    ...tokenCountRoutes(parts),
    ...keyRoutes(parts),
    ...signInRoutes(parts),
    {
      method: "GET",
      path: "/openapi.json",
      handle: () => textResponse(200, "application/json", parts.openApi()),
    },
  ];
}
