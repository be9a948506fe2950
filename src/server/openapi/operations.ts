import { KEY_OPERATIONS, SIGN_IN_OPERATIONS, USAGE_OPERATIONS } from "./accounts.ts";
import { CATALOGUE_OPERATIONS } from "./catalogue.ts";
import { INFERENCE_OPERATIONS } from "./inference.ts";
import type { Operation } from "./operation.ts";

/** The whole public API; its paths are those of ENDPOINTS. */
export const OPERATIONS: readonly Operation[] = Object.freeze([
  ...INFERENCE_OPERATIONS,
  ...CATALOGUE_OPERATIONS,
  ...USAGE_OPERATIONS,
  ...KEY_OPERATIONS,
  ...SIGN_IN_OPERATIONS,
]);
