import type { UpstreamConfig } from "#schema";
import { CAPABILITIES } from "../dialects/capabilities.ts";
import { kindByName } from "../dialects/model-lists/kinds.ts";
import { addModels, type Deployment, type Group } from "./chains.ts";
import { Draft, modelPointer } from "./draft.ts";
import { isNamed, type Named, providerNamed } from "./providers.ts";
import { at, type Field, flagOf, numberOf } from "./source.ts";
import { type Params, targetOf } from "./target.ts";

const REFERENCE = /^env\.([A-Za-z_]\w*)$/;

/** Providers by Bifrost's names: https://docs.getbifrost.ai/providers/supported-providers */
const NAMES: Readonly<Record<string, Named>> = { vertex: "vertex-gemini", parasail: "compatible", sgl: "compatible" };
/** Bifrost appends `/v1/…` to the addresses of these: https://docs.getbifrost.ai/providers/custom-providers */
const SUFFIX = "/v1";

const VIRTUAL_KEYS =
  "keys, teams and budgets belong to users here: gateway users add, then gateway keys add with --model and --budget";
/** Settings that need no code: `m` mapped, `l` lost. */
const CLIENT: Readonly<Record<string, readonly ["m" | "l", string]>> = {
  enable_logging: ["l", "requests are told by the log, by metrics and by the ledger, without prompts"],
  disable_content_logging: ["m", "prompts and answers are never logged"],
  drop_excess_requests: ["l", "set concurrency of the upstreams"],
  initial_pool_size: ["m", "memory is taken as it is needed"],
  log_retention_days: ["l", "set store.retention"],
  enforce_governance_header: ["m", "every request needs a key"],
  enforce_auth_on_inference: ["m", "every request needs a key"],
  allow_direct_keys: ["l", "clients never choose a key of a provider"],
  enable_litellm_fallbacks: ["m", "what a provider does not take is translated or dropped, always"],
  compat: ["m", "what a provider does not take is translated or dropped, always"],
  prometheus_labels: ["l", "labels are tags of the plugin header-tags"],
};
const SECTIONS: Readonly<Record<string, string>> = {
  governance: VIRTUAL_KEYS,
  auth_config: "operators sign in by server.admin.tokens",
  config_store: "the configuration is this file",
  logs_store: "the ledger is in store.url",
  vector_store: "there are no vector stores",
  framework: "prices are those of the file",
  mcp: "there is no MCP gateway here",
  plugins: "plugins of Bifrost cannot be carried over: see the list of the gateway's own",
  cluster_config: "processes share store.url",
  encryption_key: "keys of providers are in variables, not in the store",
};

/** Whether it is a `config.json` of Bifrost. */
export function isBifrost(root: Field): boolean {
  const providers = at(root, "providers");
  return (
    providers?.kind === "map" &&
    [...providers.entries.values()].some((one) => one.entries.has("keys") || one.entries.has("network_config"))
  );
}

/** Reads a `config.json` of Bifrost: https://github.com/maximhq/bifrost/blob/main/transports/config.schema.json */
export function importBifrost(root: Field): Draft {
  const draft = new Draft((text) => REFERENCE.exec(text)?.[1] ?? null);
  const { findings } = draft;
  draft.addSource(root);
  findings.mapped(at(root, "$schema"), null, "is the modeline of the new file");
  findings.mapped(at(root, "version"), "/version", "is version: 1 of the format here");
  const rows: Row[] = [];
  for (const [name, provider] of at(root, "providers")?.entries ?? []) rows.push(...rowsOf(draft, name, provider));
  const groups = new Map<string, Group>();
  for (const [name, same] of Map.groupBy(rows, (row) => row.name)) {
    const id = draft.modelId(name);
    const [first] = same;
    const deployments = same.map((row): Deployment => row.deployment);
    for (const { field, isLocal } of same) {
      const price = isLocal ? "" : ", and has no price in the file, so it is free until you set one";
      findings.changed(field, modelPointer(id), `is ${id} here: clients ask for it by that name${price}`);
    }
    groups.set(id, {
      id,
      kind: first!.kind,
      deployments,
      model: {},
      isLocal: same.every(({ isLocal }) => isLocal),
      balance: "weighted",
    });
  }
  addModels(draft, groups, { general: new Map(), contentFilter: new Map() });
  readClient(draft, at(root, "client"));
  for (const [section, reason] of Object.entries(SECTIONS)) findings.lost(at(root, section), reason);
  findings.lost(at(root, "providers"), "an upstream has no such setting, or no model that is imported uses it");
  return draft;
}

interface Row {
  /** `provider/model`, as clients ask for it. */
  readonly name: string;
  readonly field: Field;
  readonly kind: Group["kind"];
  readonly deployment: Deployment;
  readonly isLocal: boolean;
}

function rowsOf(draft: Draft, name: string, provider: Field): Row[] {
  const { findings } = draft;
  const base = at(provider, "custom_provider_config", "base_provider_type")?.text ?? name;
  const known = Object.hasOwn(NAMES, base) ? NAMES[base]! : base;
  if (!isNamed(known) || !draft.secrets.isPublic(name)) {
    findings.dropped(provider, "is no provider that a dialect here speaks to");
    return [];
  }
  findings.mapped(at(provider, "custom_provider_config", "base_provider_type"), null, "is the dialect of the upstream");
  const keys = at(provider, "keys")?.items ?? [];
  return keys.flatMap((key) => {
    if (flagOf(at(key, "enabled")) === false) {
      findings.dropped(key, "is turned off");
      return [];
    }
    const models = at(key, "models");
    const weight = numberOf(at(key, "weight"));
    if (weight !== null) findings.mapped(at(key, "weight"), "/models", "is the weight of the target");
    for (const unneeded of ["id", "name", "enabled"])
      findings.mapped(at(key, unneeded), null, "is not needed: the upstream has the key");
    const rows = (models?.items ?? []).flatMap((field): Row[] => {
      const row = rowOf(draft, { name, known, provider, key, field });
      return row === null ? [] : [{ ...row, deployment: { ...row.deployment, weight } }];
    });
    if (models === undefined || models.items.length === 0)
      findings.lost(models ?? key, "stands for every model, or none: write the ones you use as models of their own");
    return rows;
  });
}

interface Place {
  readonly name: string;
  readonly known: Named;
  readonly provider: Field;
  readonly key: Field;
  readonly field: Field;
}

function rowOf(draft: Draft, { name, known, provider, key, field }: Place): Row | null {
  const { findings } = draft;
  const model = field.text ?? "";
  if (model === "" || model === "*" || !draft.secrets.isPublic(model)) {
    findings.lost(field, "stands for every model of the provider: write the ones you use as models of their own");
    return null;
  }
  const [deploymentField, inner] = deploymentOf(key, model);
  const vertex = known === "vertex-gemini" && /claude/.test(inner) ? "vertex-anthropic" : known;
  const kind = kindByName(inner);
  const { dialect } = providerNamed(vertex);
  if (kind === "other" || !CAPABILITIES[dialect].served.includes(kind)) {
    findings.lost(field, `the dialect ${dialect} serves no such model here`);
    return null;
  }
  const { settings, tell } = settingsOf(draft, provider);
  const destination = {
    provider: vertex,
    model: inner.replace(/^google\//, ""),
    difference: null,
    name,
    suffix: SUFFIX,
  };
  const reached = targetOf(draft, paramsOf(provider, key), field, destination, settings);
  if (reached === null) {
    findings.lost(field, "has no upstream here");
    return null;
  }
  tell(reached.target.upstream);
  if (deploymentField !== undefined) findings.mapped(deploymentField, "/models", "is the model of the target");
  const isLocal = reached.isLocal;
  return {
    name: `${name}/${model}`,
    field,
    kind,
    deployment: { target: reached.target, order: 0, weight: null, price: null },
    isLocal,
  };
}

/** The provider's own name for a model: `deployments`, or `aliases`, of the key. */
function deploymentOf(key: Field, model: string): readonly [Field | undefined, string] {
  for (const path of [
    ["azure_key_config", "deployments"],
    ["bedrock_key_config", "deployments"],
    ["vertex_key_config", "deployments"],
    ["aliases"],
  ]) {
    const field = at(key, ...path, model);
    if (field?.text != null) return [field, field.text];
  }
  return [undefined, model];
}

/** A value is a text, or a map with the text. */
function valueOf(field: Field | undefined): Field | undefined {
  return field?.kind === "map" ? (at(field, "env_var") ?? at(field, "value")) : field;
}

/** A key and its provider by the names that deployments have. */
function paramsOf(provider: Field, key: Field): Params {
  const azure = at(key, "azure_key_config");
  const bedrock = at(key, "bedrock_key_config");
  const vertex = at(key, "vertex_key_config");
  const own = ["ollama_key_config", "vllm_key_config", "sgl_key_config"]
    .map((config) => at(key, config, "url"))
    .find((url) => url !== undefined);
  const fields: Readonly<Record<string, Field | undefined>> = {
    api_base: valueOf(at(azure, "endpoint") ?? own ?? at(provider, "network_config", "base_url")),
    api_key: valueOf(at(key, "value")),
    api_version: valueOf(at(azure, "api_version")),
    aws_access_key_id: valueOf(at(bedrock, "access_key")),
    aws_secret_access_key: valueOf(at(bedrock, "secret_key")),
    aws_session_token: valueOf(at(bedrock, "session_token")),
    aws_region_name: valueOf(at(bedrock, "region")),
    vertex_project: valueOf(at(vertex, "project_id")),
    vertex_location: valueOf(at(vertex, "region")),
    vertex_credentials: valueOf(at(vertex, "auth_credentials")),
    extra_headers: at(provider, "network_config", "extra_headers"),
    max_parallel_requests: at(provider, "concurrency_and_buffer_size", "concurrency"),
    max_retries: at(provider, "network_config", "max_retries"),
  };
  return (name) => fields[name];
}

/** Times of a provider. */
function settingsOf(
  draft: Draft,
  provider: Field,
): { readonly settings: Partial<UpstreamConfig>; readonly tell: (upstream: string) => void } {
  const field = at(provider, "network_config", "default_request_timeout_in_seconds");
  const seconds = numberOf(field);
  if (seconds === null || !Number.isInteger(seconds) || seconds < 60 || seconds > 86_400)
    return { settings: {}, tell: () => undefined };
  return {
    settings: { timeouts: { total: `${seconds}s` } },
    tell: (upstream) => draft.findings.mapped(field, `/upstreams/${upstream}/timeouts/total`),
  };
}

function readClient(draft: Draft, client: Field | undefined): void {
  const { findings, config } = draft;
  const origins = at(client, "allowed_origins");
  const allowed = (origins?.items ?? []).map(({ text }) => text ?? "");
  const server: { cors?: { origins: string[] }; body_limit?: string } = {};
  if (allowed.length > 0 && allowed.every((origin) => origin === "*" || /^https?:\/\/[\w.-]+(?::\d+)?$/.test(origin))) {
    server.cors = { origins: [...new Set(allowed)] };
    findings.mapped(origins, "/server/cors/origins");
  }
  const size = numberOf(at(client, "max_request_body_size_mb"));
  if (size !== null && Number.isInteger(size) && size >= 1 && size <= 100) {
    server.body_limit = `${size}MiB`;
    findings.mapped(at(client, "max_request_body_size_mb"), "/server/body_limit");
  }
  if (Object.keys(server).length > 0)
    config.server = { ...config.server, ...server } as NonNullable<typeof config.server>;
  for (const [key, field] of client?.entries ?? []) {
    const [status, reason] = CLIENT[key] ?? [];
    if (status === "m") findings.mapped(field, null, reason);
    else if (status === "l") findings.lost(field, reason!);
  }
}
