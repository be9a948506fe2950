import { createRouter } from "../shared/router.ts";

/** Router of this window. */
export const router = createRouter(window);

/** A filter of the view that is shown, as the URL has it. */
export function filter(name: string): string {
  return router.route.value.query.get(name) ?? "";
}
