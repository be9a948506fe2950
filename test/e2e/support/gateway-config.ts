import { join } from "node:path";
import { isJson, type Json, type Kind } from "../../../src/kit/index.ts";
import { scriptedUrl } from "../../../src/simulator/server.ts";

export const ADMIN_TOKEN = "admin-token-of-the-test";

const NO_LIMITS = { day: "none", hour: "none", minute: "none", streams: "none" };
/** Far enough not to open by accident. */
const CALM_BREAKER = { consecutive: 100_000, minimum: 1_000_000 };

/** `target` with `patch` merged into it: objects by key, everything else replaced, `null` removes. */
export function merge(target: Json, patch: Json): Json {
  const merged: Record<string, unknown> = { ...target };
  for (const [key, value] of Object.entries(patch)) {
    const before = merged[key];
    if (value === null) delete merged[key];
    else merged[key] = isJson(value) && isJson(before) ? merge(before, value) : value;
  }
  return merged;
}

/** A tier that may call everything, without limits but these. */
export function tier(limits: Json): Json {
  return { access: "all", limits: { ...NO_LIMITS, ...limits } };
}

/** A gateway on free ports with the tiers Free and Max, no limits and a store in `folder`. */
export function baseConfig(folder: string): Json {
  return {
    version: 1,
    server: {
      listen: [
        { host: "127.0.0.1", port: 0 },
        { host: "127.0.0.1", port: 0 },
      ],
      admin: { host: "127.0.0.1", port: 0, token: ADMIN_TOKEN },
      ip_limit: "none",
      cors: { origins: ["*"] },
      body_limit: "256KiB",
    },
    store: { url: `sqlite:${join(folder, "gateway.db")}` },
    auth: { tokens: { secrets: [{ kid: "a", value: "a secret of the test, longer than 32 bytes" }] } },
    tiers: {
      Free: { access: ["Free"], limits: NO_LIMITS },
      Max: tier({}),
    },
    defaults: { upstream: { breaker: CALM_BREAKER } },
    upstreams: {},
    models: {},
    pipeline: ["auth", "plan-check", "quota", "breaker", "stream-relay", "meter"],
  };
}

/** Scripts of a model's upstreams in order, or URLs; with more of the model's settings beside them. */
export type Chain = readonly string[] | ScriptedModel;

interface ScriptedModel {
  readonly scripts: readonly string[];
  readonly [setting: string]: unknown;
}

/** What models cost unless told otherwise: each kind by another unit. */
const PRICES: Readonly<Record<Kind, Json>> = {
  chat: { input_per_million: 1, output_per_million: 2 },
  embedding: { input_per_million: 1 },
  rerank: { per_request: 0.001 },
  speech: { per_million_characters: 10 },
  transcription: { per_second: 0.001 },
  image: { per_image: 0.02 },
};

/** Models by id, with an upstream `<model>-<n>` for each of their scripts; `route/one` is always there. @param origin the simulator's */
export function chainConfig(origin: string, chains: Readonly<Record<string, Chain>>): Json {
  const upstreams: Record<string, Json> = {};
  const models: Record<string, Json> = {};
  for (const [id, chain] of Object.entries({ "route/one": ["-"], ...chains })) {
    const name = id.replace("route/", "");
    const { scripts, ...settings }: ScriptedModel = isList(chain) ? { scripts: chain } : chain;
    for (const [index, script] of scripts.entries()) {
      const base_url = /^https?:/.test(script) ? script : scriptedUrl(origin, script);
      upstreams[`${name}-${index + 1}`] = { dialect: "openai", base_url, api_keys: ["upstream-key"] };
    }
    const kind = (settings["kind"] as Kind | undefined) ?? "chat";
    models[id] = {
      kind,
      tier: "Free",
      owned_by: "simulator",
      price: PRICES[kind],
      chain: scripts.map((_, index) => ({ upstream: `${name}-${index + 1}`, model: `${name}-model` })),
      ...settings,
    };
  }
  return { upstreams, models };
}

function isList(chain: Chain): chain is readonly string[] {
  return Array.isArray(chain);
}
