import type { AdminEndpoint } from "./endpoint.ts";
import { AUDIT } from "./routes/audit.ts";
import { CONFIGURATION } from "./routes/configuration.ts";
import { LEDGER } from "./routes/ledger.ts";
import { OPERATIONS } from "./routes/operations.ts";
import { DESCRIPTION, PROBES } from "./routes/probes.ts";
import { SESSION } from "./routes/session.ts";
import { STREAMS } from "./routes/streams.ts";
import { UPSTREAMS } from "./routes/upstreams.ts";
import { USERS } from "./routes/users.ts";

/**
 * The whole admin listener. What is served, its OpenAPI document, what a viewer may not do and what the audit log calls
 * actions are made of this table; the guide's is compared with it.
 */
export const ADMIN_ENDPOINTS: readonly AdminEndpoint[] = Object.freeze([
  ...PROBES,
  ...SESSION,
  ...CONFIGURATION,
  ...UPSTREAMS,
  ...OPERATIONS,
  ...STREAMS,
  ...USERS,
  ...LEDGER,
  ...AUDIT,
  DESCRIPTION,
]);
