import type { Plugin } from "#kit";
import auth from "./auth.ts";
import breaker from "./breaker.ts";
import meter from "./meter.ts";
import planCheck from "./plan-check.ts";
import quota from "./quota.ts";
import streamRelay from "./stream-relay.ts";
import transform from "./transform.ts";

const plugins: readonly Plugin[] = [auth, planCheck, quota, breaker, transform, streamRelay, meter];

/** The built-in plugins by the name that `pipeline:` uses. */
export const builtins: Readonly<Record<string, Plugin>> = Object.freeze(
  Object.fromEntries(plugins.map((plugin) => [plugin.name, plugin])),
);
