import type { BalancedStepConfig, PriceConfig } from "#schema";
import { CAPABILITIES } from "../dialects/capabilities.ts";
import { kindByName } from "../dialects/model-lists/kinds.ts";
import { addModels, type Deployment, type Group } from "./chains.ts";
import { Draft, modelPointer } from "./draft.ts";
import { priceOf } from "./prices.ts";
import { isNamed, type Named, providerNamed } from "./providers.ts";
import { at, type Field, numberOf } from "./source.ts";
import { type Params, targetOf } from "./target.ts";

const REFERENCE = /^\$\{([A-Za-z_]\w*)\}$/;

/** Providers by AISIX's names: https://github.com/api7/aisix/blob/main/docs/configuration/provider-keys.md */
const NAMES: Readonly<Record<string, Named>> = {
  "amazon-bedrock": "bedrock",
  "azure-openai": "azure",
  google: "gemini",
  "google-vertex": "vertex-gemini",
  "google-vertex-anthropic": "vertex-anthropic",
  vertex: "vertex-gemini",
  togetherai: "together",
  "fireworks-ai": "fireworks",
  moonshotai: "moonshot",
  "x-ai": "xai",
};
/** Protocol families, for providers that have no name here. */
const ADAPTERS: Readonly<Record<string, Named>> = {
  openai: "compatible",
  anthropic: "anthropic",
  bedrock: "bedrock",
  vertex: "vertex-gemini",
  "azure-openai": "azure",
};

const STRATEGIES: Readonly<Record<string, readonly [BalancedStepConfig["balance"], string | null]>> = {
  round_robin: ["weighted", null],
  failover: ["weighted", null],
  least_latency: ["latency", null],
  consistent_hash: ["sticky", "keeps each user at one target: there is no key to hash by"],
  least_busy: ["weighted", "spreads requests by weight: those in flight are not compared"],
  least_cost: ["weighted", "spreads requests by weight: order the chain by price to ask the cheapest first"],
};

const KEYS =
  "keys belong to users here: gateway users add, then gateway keys add, with --model for the models of a key";
/** Collections that there is nothing for. */
const LOST: Readonly<Record<string, string>> = {
  api_keys: KEYS,
  guardrails: "use the plugins guard-words and pii-mask, or one of your own",
  guardrail_attachments: "use when of a step of the pipeline",
  mcp_servers: "there is no MCP gateway here",
  mcp_auth_settings: "there is no MCP gateway here",
  a2a_agents: "there are no agents behind the gateway",
  cache_policies: "use the plugin answer-cache",
  observability_exporters: "set telemetry.otlp; metrics are at /metrics of server.admin",
  rate_limit_policies: "set limits of plans",
  oidc_providers: "sign users in with auth.oauth",
  claim_mappings: "sign users in with auth.oauth",
  passthrough_routes: "there are no pass-through endpoints",
};

/** Whether it is a `resources.yaml` of AISIX. */
export function isAisix(root: Field): boolean {
  return root.entries.has("_format_version") || (root.entries.has("provider_keys") && root.entries.has("models"));
}

/** Reads a `resources.yaml` of AISIX: https://github.com/api7/aisix/pull/759 */
export function importAisix(root: Field): Draft {
  const draft = new Draft((text) => REFERENCE.exec(text)?.[1] ?? null);
  const { findings } = draft;
  draft.addSource(root);
  findings.mapped(at(root, "_format_version"), "/version", "is version: 1 of the format here");
  const keys = new Map<string, Field>();
  for (const key of at(root, "provider_keys")?.items ?? []) {
    const name = at(key, "display_name")?.text;
    if (name != null) keys.set(name, key);
  }
  const models = at(root, "models")?.items ?? [];
  const groups = new Map<string, Group>();
  const byName = new Map<string, Group>();
  for (const model of models.filter((one) => !isVirtual(one))) {
    const group = directGroup(draft, model, keys);
    if (group === null) continue;
    groups.set(group.id, group);
    byName.set(at(model, "display_name")!.text!, group);
  }
  for (const model of models.filter(isVirtual)) {
    const group = routingGroup(draft, model, byName);
    if (group !== null) groups.set(group.id, group);
  }
  addModels(draft, groups, { general: new Map(), contentFilter: new Map() });
  for (const key of keys.values()) {
    findings.mapped(at(key, "display_name"), null, "is not needed: the upstream has the key");
    findings.mapped(at(key, "telemetry_tags"), null, "is not needed: the upstream has a name");
    findings.lost(key, "no model that is imported uses it, or an upstream has no such setting");
  }
  for (const [section, reason] of Object.entries(LOST)) findings.lost(at(root, section), reason);
  return draft;
}

function isVirtual(model: Field): boolean {
  return ["routing", "ensemble", "semantic"].some((key) => model.entries.has(key));
}

function directGroup(draft: Draft, model: Field, keys: ReadonlyMap<string, Field>): Group | null {
  const { findings, secrets } = draft;
  const name = at(model, "display_name");
  const inner = at(model, "model_name");
  const reference = at(model, "provider_key") ?? at(model, "provider_key_id");
  const key = keys.get(reference?.text ?? "");
  if (name?.text == null || inner?.text == null || !secrets.isPublic(name.text) || !secrets.isPublic(inner.text)) {
    findings.dropped(model, "is no model: it needs display_name and model_name, of which neither looks like a secret");
    return null;
  }
  if (key === undefined) {
    findings.dropped(model, "names no key of provider_keys that is in the file");
    return null;
  }
  const provider = providerOf(
    at(key, "provider")?.text ?? at(model, "provider")?.text ?? "",
    at(key, "adapter")?.text ?? "",
  );
  const guessed = at(model, "embedding") === undefined ? kindByName(inner.text) : "embedding";
  const { dialect } = providerNamed(provider);
  if (guessed === "other" || !CAPABILITIES[dialect].served.includes(guessed)) {
    findings.dropped(model, `the dialect ${dialect} serves no such model here`);
    return null;
  }
  const reached = targetOf(draft, paramsOf(draft, key, provider), inner, {
    provider,
    model: inner.text,
    difference: null,
    name: nameOf(draft, key) ?? provider,
  });
  if (reached === null) {
    findings.dropped(model, "has no upstream here");
    return null;
  }
  const id = draft.modelId(name.text);
  tellName(draft, name, id);
  for (const field of [reference, at(model, "provider"), at(key, "provider"), at(key, "adapter")])
    findings.mapped(field, modelPointer(id, "chain"), "is the upstream of the chain");
  const price = costOf(draft, at(model, "cost"), modelPointer(id, "price"));
  if (price === null && !reached.isLocal)
    findings.changed(
      inner,
      modelPointer(id, "chain"),
      `has no price in the file, so it is free until you set price of ${id}`,
    );
  else findings.mapped(inner, modelPointer(id, "chain"));
  const timeouts = timeoutsOf(draft, model, modelPointer(id, "chain"));
  findings.lost(at(model, "rate_limit"), "limits are those of plans, for a user: a model has none");
  findings.lost(at(model, "retries"), "set retries of the upstream");
  findings.lost(at(model, "cooldown"), "set breaker of the upstream");
  findings.lost(at(model, "background_model_check"), "set probe of the upstream");
  findings.mapped(at(model, "embedding"), modelPointer(id, "kind"), "is kind: embedding");
  findings.lost(model, "a model has no such setting here");
  const deployment: Deployment = { target: { ...reached.target, ...timeouts }, order: 0, weight: null, price };
  return { id, kind: guessed, deployments: [deployment], model: {}, isLocal: reached.isLocal, balance: "weighted" };
}

function tellName(draft: Draft, field: Field, id: string): void {
  if (field.text === id) draft.findings.mapped(field, modelPointer(id));
  else draft.findings.changed(field, modelPointer(id), `is ${id} here: clients ask for it by that name`);
}

function nameOf(draft: Draft, key: Field): string | null {
  const name = at(key, "display_name")?.text;
  return name != null && draft.secrets.isPublic(name) ? name : null;
}

function providerOf(name: string, adapter: string): Named {
  const known = Object.hasOwn(NAMES, name) ? NAMES[name]! : name;
  if (isNamed(known)) return known;
  return Object.hasOwn(ADAPTERS, adapter) ? ADAPTERS[adapter]! : "compatible";
}

/** A key of `provider_keys` by the names that deployments have. */
function paramsOf(draft: Draft, key: Field, provider: Named): Params {
  const secret = at(key, "api_key") ?? at(key, "secret");
  const isGoogle = provider.startsWith("vertex-");
  if (provider === "bedrock" && secret !== undefined) {
    const reason =
      "is one text with several parts: put them into AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION_NAME";
    draft.findings.changed(secret, null, reason);
  }
  const fields: Readonly<Record<string, Field | undefined>> = {
    api_base: provider === "bedrock" || isGoogle ? undefined : at(key, "api_base"),
    api_key: provider === "bedrock" || isGoogle ? undefined : secret,
    vertex_credentials: isGoogle ? secret : undefined,
    extra_headers: at(key, "request", "default_headers"),
  };
  return (name) => fields[name];
}

/** AISIX's amounts are for a thousand tokens. */
function costOf(draft: Draft, cost: Field | undefined, pointer: string): PriceConfig | null {
  const input = at(cost, "input_per_1k");
  const output = at(cost, "output_per_1k");
  const price = { input_per_million: amountOf(input), output_per_million: amountOf(output) };
  if (price.input_per_million === null && price.output_per_million === null) return null;
  if (price.input_per_million !== null) draft.findings.mapped(input, `${pointer}/input_per_million`);
  if (price.output_per_million !== null) draft.findings.mapped(output, `${pointer}/output_per_million`);
  return { input_per_million: price.input_per_million ?? 0, output_per_million: price.output_per_million ?? 0 };
}

function amountOf(field: Field | undefined): number | null {
  return field === undefined ? null : priceOf(field, 1000n);
}

function timeoutsOf(draft: Draft, model: Field, pointer: string): Pick<Deployment["target"], "timeouts"> {
  const field = at(model, "timeout");
  const total = numberOf(field);
  draft.findings.lost(
    at(model, "stream_timeout"),
    "is the longest gap between two chunks: set timeouts.idle of the step",
  );
  if (total === null || !Number.isInteger(total) || total < 1 || total > 86_400_000) return {};
  draft.findings.mapped(field, pointer, "is timeouts.total of the step");
  const all = `${total}ms`;
  return {
    timeouts: {
      ...(total < 2000 && { connect: all }),
      ...(total < 30_000 && { first_byte: all }),
      ...(total < 60_000 && { idle: all }),
      total: all,
    },
  };
}

/** A model that chooses among others: their deployments in one chain. */
function routingGroup(draft: Draft, model: Field, byName: ReadonlyMap<string, Group>): Group | null {
  const { findings, secrets } = draft;
  const name = at(model, "display_name");
  const routing = at(model, "routing");
  if (routing === undefined || name?.text == null || !secrets.isPublic(name.text)) {
    findings.dropped(model, "ensembles and routing by meaning have no place here: give the models names of their own");
    return null;
  }
  const strategy = at(routing, "strategy");
  const [balance = "weighted", difference = "is no strategy that is known: requests are spread by weight"] =
    STRATEGIES[strategy?.text ?? "failover"] ?? [];
  const isOrdered = (strategy?.text ?? "failover") === "failover";
  const deployments: Deployment[] = [];
  const found: Group[] = [];
  for (const [index, target] of (at(routing, "targets")?.items ?? []).entries()) {
    const group = byName.get(at(target, "model")?.text ?? "");
    if (group === undefined || (found[0] !== undefined && found[0].kind !== group.kind)) {
      findings.dropped(target, "names no model of the same kind that is imported");
      continue;
    }
    found.push(group);
    const priority = numberOf(at(target, "priority")) ?? 0;
    const weight = numberOf(at(target, "weight"));
    findings.mapped(at(target, "model"), "/models", "is a target of the chain");
    findings.mapped(at(target, "priority"), "/models", "is the order of the steps of the chain");
    findings.mapped(at(target, "weight"), "/models", "is the weight of the target");
    for (const deployment of group.deployments) {
      const order = isOrdered ? -priority * 1000 + index : -priority;
      deployments.push({
        ...deployment,
        order,
        weight: weight === null ? null : Math.min(Math.max(weight, 0), 1_000_000),
      });
    }
  }
  if (found.length === 0) {
    findings.dropped(model, "has no target that is imported");
    return null;
  }
  const id = draft.modelId(name.text);
  tellName(draft, name, id);
  if (difference === null) findings.mapped(strategy, modelPointer(id, "chain"));
  else findings.changed(strategy, modelPointer(id, "chain"), difference);
  findings.lost(at(routing, "max_fallbacks"), "a chain is walked to its end: shorten it, or set the model's deadline");
  findings.lost(routing, "set retries and breaker of the upstreams");
  findings.lost(model, "a model has no such setting here");
  const isLocal = found.every((group) => group.isLocal);
  return { id, kind: found[0]!.kind, deployments, model: {}, isLocal, balance };
}
