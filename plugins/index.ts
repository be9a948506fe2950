import type { Plugin } from "#kit";
import auth from "./auth.ts";
import breaker from "./breaker.ts";
import meter from "./meter.ts";
import planCheck from "./plan-check.ts";
import quota from "./quota.ts";
import streamRelay from "./stream-relay.ts";
import transform from "./transform.ts";
import answerCache from "./answer-cache.ts";
import budget from "./budget.ts";
import guardWords from "./guard-words.ts";
import headerTags from "./header-tags.ts";
import piiMask from "./pii-mask.ts";
import promptPrefix from "./prompt-prefix.ts";

const plugins: readonly Plugin[] = [
  auth,
  planCheck,
  quota,
  breaker,
  transform,
  promptPrefix,
  guardWords,
  piiMask,
  answerCache,
  headerTags,
  budget,
  streamRelay,
  meter,
];

/** The built-in plugins by the name that `pipeline:` uses. */
export const builtins: Readonly<Record<string, Plugin>> = Object.freeze(
  Object.fromEntries(plugins.map((plugin) => [plugin.name, plugin])),
);
