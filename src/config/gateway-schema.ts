import gateway from "../../schemas/gateway.schema.json" with { type: "json" };
import auth from "../../schemas/plugins/auth.schema.json" with { type: "json" };
import breaker from "../../schemas/plugins/breaker.schema.json" with { type: "json" };
import meter from "../../schemas/plugins/meter.schema.json" with { type: "json" };
import planCheck from "../../schemas/plugins/plan-check.schema.json" with { type: "json" };
import quota from "../../schemas/plugins/quota.schema.json" with { type: "json" };
import streamRelay from "../../schemas/plugins/stream-relay.schema.json" with { type: "json" };
import transform from "../../schemas/plugins/transform.schema.json" with { type: "json" };
import type { Schema } from "./schema.ts";
import { compileSchema } from "./schema.ts";

/** The schema of gateway.yaml. Compiled with the module, not with each load: it takes as long as a reload may. */
export const GATEWAY_SCHEMA: Schema = compileSchema(gateway, [
  auth,
  breaker,
  meter,
  planCheck,
  quota,
  streamRelay,
  transform,
]);
