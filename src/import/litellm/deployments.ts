import type { ModelConfig, ParametersConfig, PriceConfig, TargetConfig, TimeoutsConfig } from "#schema";
import { join } from "../../config/diagnostics.ts";
import { CAPABILITIES } from "../../dialects/capabilities.ts";
import type { Kind } from "../../kit/index.ts";
import type { Deployment } from "../chains.ts";
import { OPEN_TIER } from "../../config/settings.ts";
import { type Draft, modelPointer } from "../draft.ts";
import { priceOf } from "../prices.ts";
import { kindByName } from "../../dialects/model-lists/kinds.ts";
import type { Named } from "../providers.ts";
import { isSecretKey } from "../secrets.ts";
import { at, type Field, flagOf, numberOf } from "../source.ts";
import { type Destination, type Params, targetOf } from "../target.ts";
import { destinationOf, litellmProvider } from "./destination.ts";

/** A row of `model_list`, read. */
export interface Row extends Deployment {
  readonly name: Field;
  /** Its `litellm_params`. */
  readonly params: Field;
  readonly kind: Kind;
  readonly model: Partial<ModelConfig>;
  readonly isLocal: boolean;
  /** What requests are filled up with. */
  readonly defaults: { readonly set: Defaults; readonly fields: readonly Field[] };
}

const MODES: Readonly<Record<string, Kind>> = {
  chat: "chat",
  completion: "chat",
  responses: "chat",
  embedding: "embedding",
  rerank: "rerank",
  audio_speech: "speech",
  audio_transcription: "transcription",
  image_generation: "image",
};

/** Units of a price, with what LiteLLM's amount is multiplied by, and the kinds that are billed so. */
const COSTS: Readonly<Record<string, readonly [unit: keyof PriceConfig, factor: bigint, kinds: readonly Kind[]]>> = {
  input_cost_per_token: ["input_per_million", 1_000_000n, ["chat", "embedding", "rerank", "image"]],
  output_cost_per_token: ["output_per_million", 1_000_000n, ["chat", "embedding", "rerank", "image"]],
  cache_read_input_token_cost: ["cached_input_per_million", 1_000_000n, ["chat", "embedding", "image"]],
  cache_creation_input_token_cost: ["cache_write_per_million", 1_000_000n, ["chat"]],
  cache_creation_input_token_cost_above_1hr: ["cache_write_1h_per_million", 1_000_000n, ["chat"]],
  output_cost_per_reasoning_token: ["reasoning_per_million", 1_000_000n, ["chat"]],
  input_cost_per_query: ["per_request", 1n, ["rerank"]],
  input_cost_per_request: ["per_request", 1n, ["chat", "embedding", "rerank", "speech", "transcription", "image"]],
  input_cost_per_character: ["per_million_characters", 1_000_000n, ["speech"]],
  input_cost_per_second: ["per_second", 1n, ["transcription"]],
  output_cost_per_image: ["per_image", 1n, ["image"]],
  input_cost_per_image: ["per_image", 1n, ["image"]],
};
/** Both have to be there for a kind, or neither. */
const PAIRS: Partial<Record<Kind, readonly (keyof PriceConfig)[]>> = {
  chat: ["input_per_million", "output_per_million"],
};

const FEATURES: Readonly<Record<string, string>> = {
  supports_function_calling: "tools",
  supports_tool_choice: "tools",
  supports_vision: "vision",
  supports_reasoning: "reasoning",
  supports_pdf_input: "documents",
  supports_response_schema: "json_schema",
  supports_audio_input: "audio",
};

interface RowContext {
  readonly credentials: ReadonlyMap<string, Field>;
  /** The id of a model by its name. */
  readonly idOf: (name: string) => string;
  /** Parameters of all deployments. */
  readonly shared: (key: string) => Field | undefined;
}

/** Reads one row of `model_list`; null, and told, for one that cannot be served here. */
export function readRow(draft: Draft, row: Field, { credentials, idOf, shared }: RowContext): Row | null {
  const { findings } = draft;
  const own = at(row, "litellm_params");
  const info = at(row, "model_info");
  const name = at(row, "model_name");
  const modelField = at(own, "model");
  if (name?.text == null || own?.kind !== "map" || modelField?.text == null) {
    findings.dropped(row, "is no deployment: it needs model_name, and litellm_params with a model");
    return null;
  }
  const credentialField = at(own, "litellm_credential_name");
  const credential = credentialField?.text == null ? undefined : credentials.get(credentialField.text);
  const params: Params = (key) =>
    at(own, key) ?? at(credential, key) ?? (key.startsWith("vertex_") ? shared(key) : undefined);
  if (credentialField !== undefined) {
    if (credential === undefined) findings.lost(credentialField, "names no credential of credential_list");
    else findings.mapped(credentialField, null, "is read from credential_list");
  }
  if (!draft.secrets.isPublic(name.text) || !draft.secrets.isPublic(modelField.text)) {
    findings.dropped(row, "its name looks like a secret, which is not copied: name the model by hand");
    return null;
  }
  const id = idOf(name.text);
  const custom = params("custom_llm_provider");
  const hasBase = (params("api_base") ?? params("base_url"))?.text != null;
  const destination = destinationOf(modelField.text, custom?.text ?? null, hasBase);
  if ("why" in destination) {
    findings.dropped(row, destination.why);
    return null;
  }
  const named = withDeployment(draft, destination, params);
  if (named.model === "") {
    findings.dropped(row, "names no model of its provider");
    return null;
  }
  if (custom !== undefined) findings.mapped(custom, null, "is the dialect of the upstream");
  const kind = kindOf(draft, info, own, named.model, id);
  const provider = litellmProvider(destination.provider);
  if (kind === null || !CAPABILITIES[provider.dialect].served.includes(kind)) {
    const what =
      kind === null
        ? "models of this mode are not served here"
        : `the dialect ${provider.dialect} serves no models of kind ${kind} here`;
    findings.dropped(row, `${what}: it is left out`);
    return null;
  }
  if (at(own, "mock_response") !== undefined) {
    findings.lost(
      at(own, "mock_response"),
      'there are no canned answers: requests go to the provider (base_url: "sim:" is a simulator)',
    );
  }
  const reached = targetOf(draft, params, modelField, { ...named, variable: provider.variable });
  if (reached === null) {
    findings.dropped(row, "has no upstream here, so it is left out");
    return null;
  }
  const pointer = (...keys: readonly (string | number)[]): string => modelPointer(id, ...keys);
  const bare = `is ${id} here: clients ask for it by that name`;
  if (name.text === id) findings.mapped(name, pointer());
  else findings.changed(name, pointer(), bare);
  const timeouts = timeoutsOf(draft, params, pointer("chain"));
  const parameters = parametersOf(draft, own, { provider: destination.provider, kind, pointer: pointer("chain") });
  const defaults = defaultsOf(draft, own);
  const target: TargetConfig = {
    ...reached.target,
    ...(timeouts !== null && { timeouts }),
    ...(parameters !== null && { parameters }),
  };
  const price = pricesOf(draft, [own, info], kind, pointer("price"));
  const isUnpriced = price === null && !reached.isLocal;
  const because = [
    destination.difference,
    isUnpriced ? `has no price in the file, so it is free until you set price of ${id}` : null,
  ];
  const differences = because.filter((one) => one !== null);
  if (differences.length > 0) findings.changed(modelField, pointer("chain"), differences.join("; "));
  else findings.mapped(modelField, pointer("chain"));
  const model = modelOf(draft, info, own, kind, pointer);
  const hidden = at(own, "hide_from_model_list");
  if (flagOf(hidden) === true) model.published = false;
  findings.mapped(hidden, pointer("published"));
  findings.mapped(
    at(own, "drop_params"),
    null,
    "what a provider does not take is dropped, and told in X-Gateway-Dropped",
  );
  for (const key of ["rpm", "tpm"])
    findings.lost(at(row, key), "stands beside litellm_params: an upstream has no limits a minute here");
  const order = numberOf(at(own, "order"));
  if (order !== null) findings.mapped(at(own, "order"), pointer("chain"), "is the order of the steps of the chain");
  return {
    name,
    params: own,
    kind,
    target,
    model,
    price,
    isLocal: reached.isLocal,
    order: order ?? 0,
    weight: null,
    defaults,
  };
}

/** Azure and Bedrock may name what is called beside the model. */
function withDeployment(draft: Draft, destination: Destination, params: Params): Destination {
  const key =
    destination.provider === "azure" ? "deployment_id" : destination.provider === "bedrock" ? "model_id" : null;
  const field = key === null ? undefined : params(key);
  if (field?.text == null || draft.referenceOf(field) !== null || !draft.secrets.isPublic(field.text))
    return destination;
  draft.findings.mapped(field, null, "is the model of the target");
  return { ...destination, model: field.text };
}

function kindOf(draft: Draft, info: Field | undefined, own: Field, model: string, id: string): Kind | null {
  const mode = at(info, "mode") ?? at(own, "mode");
  if (mode?.text == null) {
    const guessed = kindByName(model);
    return guessed === "other" ? null : guessed;
  }
  const kind = Object.hasOwn(MODES, mode.text) ? MODES[mode.text]! : null;
  if (kind === null) draft.findings.lost(mode, "models of this mode are not served here");
  else draft.findings.mapped(mode, modelPointer(id, "kind"));
  return kind;
}

function timeoutsOf(draft: Draft, params: Params, pointer: string): TimeoutsConfig | null {
  const total = secondsOf(params("timeout") ?? params("request_timeout"));
  const first = secondsOf(params("stream_timeout"));
  for (const [key, duration] of [
    ["timeout", total],
    ["request_timeout", total],
    ["stream_timeout", first],
  ] as const) {
    const field = params(key);
    if (field === undefined) continue;
    if (duration === null) draft.findings.lost(field, "is no number of seconds: set timeouts of the step by hand");
    else
      draft.findings.mapped(
        field,
        pointer,
        `is timeouts.${key === "stream_timeout" ? "first_byte" : "total"} of the step`,
      );
  }
  return boundedTimeouts(total, first);
}

/** In milliseconds. Parts are not longer than the whole. */
export function boundedTimeouts(total: number | null, first: number | null): TimeoutsConfig | null {
  if (total === null && first === null) return null;
  const firstByte = total !== null && (first ?? 30_000) > total ? total : first;
  return {
    ...(total !== null && total < 2000 && { connect: durationOf(total) }),
    ...(firstByte !== null && { first_byte: durationOf(firstByte) }),
    ...(total !== null && total < 60_000 && { idle: durationOf(total) }),
    ...(total !== null && { total: durationOf(total) }),
  };
}

const MAX_SECONDS = 86_400;

/** Milliseconds of a positive number of seconds; null for anything else. */
export function secondsOf(field: Field | undefined): number | null {
  const seconds = numberOf(field);
  return seconds !== null && seconds > 0 && seconds <= MAX_SECONDS ? Math.max(1, Math.round(seconds * 1000)) : null;
}

export function durationOf(milliseconds: number): string {
  return milliseconds % 1000 === 0 ? `${milliseconds / 1000}s` : `${milliseconds}ms`;
}

/** Fields of a request that LiteLLM fills in where the client leaves them out, by their names in a chat request. */
const REQUEST_FIELDS =
  /^(?:temperature|top_p|top_k|min_p|presence_penalty|frequency_penalty|repetition_penalty|seed|n|logprobs|top_logprobs|parallel_tool_calls|reasoning_effort|verbosity|dimensions|encoding_format|enable_thinking)$/;
/** Every other text could be a secret, and is not copied. */
const WORDS = new Set(
  "none minimal low medium high xhigh max auto default float base64 enabled disabled adaptive concise detailed price throughput latency allow deny".split(
    " ",
  ),
);
const MAX_BODY_DEPTH = 4;

export type Defaults = Readonly<Record<string, string | number | boolean>>;

/** A number, a flag or one of the words that requests have; null for anything else. */
function plainValue(field: Field): string | number | boolean | null {
  if (field.kind !== "scalar" || field.text === null) return null;
  const value = WORDS.has(field.text) ? field.text : (flagOf(field) ?? numberOf(field));
  return typeof value === "number" && Math.abs(value) > 1e6 ? null : value;
}

/** Fields that requests are filled up with, by JSON pointer, and those of the source that they come from. */
function defaultsOf(draft: Draft, own: Field): Row["defaults"] {
  const set: Record<string, string | number | boolean> = {};
  const fields: Field[] = [];
  for (const [key, field] of own.entries) {
    if (!REQUEST_FIELDS.test(key)) continue;
    const value = plainValue(field);
    if (value === null)
      draft.findings.lost(field, "is not copied, as it could be a secret: set it by the plugin transform");
    else {
      set[`/${key}`] = value;
      fields.push(field);
    }
  }
  return { set, fields };
}

/** Fields of `extra_body`, which go to a server that speaks OpenAI's dialect as they are. */
function parametersOf(
  draft: Draft,
  own: Field,
  { provider, kind, pointer }: { provider: Named; kind: Kind; pointer: string },
): ParametersConfig | null {
  const set: Record<string, string | number | boolean> = {};
  const { findings } = draft;
  const extra = at(own, "extra_body");
  // OpenAI's and Azure's models may be asked at the Responses endpoint, whose body is another.
  const isPlain = kind === "chat" && litellmProvider(provider).dialect === "openai" && provider !== "openai";
  const take = (field: Field, place: string, depth: number): void => {
    if (field.kind === "map" && depth < MAX_BODY_DEPTH && field.entries.size > 0) {
      for (const [key, inner] of field.entries) take(inner, join(place, key), depth + 1);
      return;
    }
    const value = plainValue(field);
    if (!isPlain || value === null || isSecretKey(place) || /^\/(?:model|stream|messages|input)(?:\/|$)/.test(place)) {
      findings.lost(field, "is not copied: set it by parameters of the step, in the words of its dialect");
      return;
    }
    set[place] = value;
    findings.changed(field, pointer, "is always sent, by parameters of the step: a client cannot choose another value");
  };
  for (const [key, field] of extra?.entries ?? []) take(field, join("", key), 1);
  return Object.keys(set).length === 0 ? null : { set };
}

/** Costs stand in `litellm_params` or in `model_info`; the first counts. */
function pricesOf(
  draft: Draft,
  places: readonly (Field | undefined)[],
  kind: Kind,
  pointer: string,
): PriceConfig | null {
  const price: Partial<Record<keyof PriceConfig, number>> = {};
  const told: (() => void)[] = [];
  for (const place of places) {
    for (const [key, field] of place?.entries ?? []) {
      if (!/cost/.test(key)) continue;
      const [unit, factor, kinds] = Object.hasOwn(COSTS, key) ? COSTS[key]! : [];
      const amount = unit === undefined || factor === undefined ? null : priceOf(field, factor);
      if (unit === undefined || kinds?.includes(kind) !== true)
        draft.findings.lost(field, `a price of kind ${kind} has no such unit here`);
      else if (amount === null) draft.findings.lost(field, "is no amount");
      else if (price[unit] !== undefined && price[unit] !== amount)
        draft.findings.lost(field, `another price of the same unit, which stands before it, counts`);
      else {
        price[unit] = amount;
        told.push(() => draft.findings.mapped(field, `${pointer}/${unit}`));
      }
    }
  }
  for (const tell of told) tell();
  if (Object.keys(price).length === 0) return null;
  for (const unit of PAIRS[kind] ?? []) price[unit] ??= 0;
  if (kind === "image" && (price.input_per_million ?? price.output_per_million) !== undefined) {
    price.input_per_million ??= 0;
    price.output_per_million ??= 0;
  }
  return price as PriceConfig;
}

/** What `model_info` says of a model. */
function modelOf(
  draft: Draft,
  info: Field | undefined,
  own: Field,
  kind: Kind,
  pointer: (...keys: readonly string[]) => string,
): Partial<ModelConfig> {
  const { findings } = draft;
  const model: Partial<ModelConfig> = {};
  const features = new Set<string>();
  const input = at(info, "max_input_tokens");
  const output = at(info, "max_output_tokens");
  const either = at(info, "max_tokens");
  const window = kind === "chat" ? countOf(input) : null;
  const longest = kind === "chat" ? (countOf(output) ?? countOf(either)) : null;
  if (window !== null) {
    model.context_window = window + (longest ?? 0);
    const reason = "prompt and answer together: the longest prompt, and the longest answer";
    if (longest === null) findings.mapped(input, pointer("context_window"));
    else findings.changed(input, pointer("context_window"), reason);
  }
  if (longest !== null) {
    model.max_output = longest;
    const from = countOf(output) === null ? either : output;
    findings.changed(from, pointer("max_output"), "a client that asks for more is given this much");
  }
  for (const [key, field] of [...(info?.entries ?? []), ...own.entries]) {
    if (!/^supports_\w+$/.test(key)) continue;
    const flag = flagOf(field);
    if (kind === "chat" && flag === true && Object.hasOwn(FEATURES, key)) {
      features.add(FEATURES[key]!);
      findings.mapped(field, pointer("features"), "is one of features");
    } else
      findings.mapped(field, null, "is not needed: the provider is asked, whatever a list says that the model can do");
  }
  if (features.size > 0) model.features = [...features];
  const groups = at(info, "access_groups");
  const [group] = groups?.kind === "list" ? groups.items : [];
  if (group?.text != null) takeGroup(draft, groups!, group, model);
  for (const [key, [status, reason]] of Object.entries(INFO)) {
    if (status === "lost") findings.lost(at(info, key), reason);
    else findings.mapped(at(info, key), null, reason);
  }
  if (info !== undefined) findings.lost(info, "says something of the model that no key here says");
  for (const [key, reason] of Object.entries(LOST_PARAMS)) findings.lost(at(own, key), reason);
  return model;
}

function takeGroup(draft: Draft, groups: Field, group: Field, model: Partial<ModelConfig>): void {
  const name = group
    .text!.replaceAll(/[^A-Za-z0-9_-]+/g, "-")
    .replace(/^[^A-Za-z]+/, "")
    .slice(0, 64);
  if (name === "" || !draft.secrets.isPublic(group.text!) || name === OPEN_TIER) {
    draft.findings.lost(groups, "cannot be the name of a tier: put the model on a tier by hand");
    return;
  }
  model.tier = name;
  draft.addPlan(name, [OPEN_TIER, name]);
  draft.findings.changed(
    group,
    `/tiers/${name}`,
    `is the model's tier: users on the plan ${name} may call it, and those on ${OPEN_TIER} all models`,
  );
  for (const other of groups.items.slice(1))
    draft.findings.lost(other, "a model is on one tier: add it to access of other plans by hand");
}

export function countOf(field: Field | undefined): number | null {
  const count = numberOf(field);
  return count !== null && Number.isInteger(count) && count >= 1 && count <= 1_000_000_000 ? count : null;
}

/** Values of `model_info` that say nothing a configuration here has to say. */
const INFO: Readonly<Record<string, readonly ["mapped" | "lost", string]>> = {
  id: ["mapped", "is not needed: targets are named by upstream and model"],
  description: ["lost", "models have no description here: display_name is their name in lists"],
  base_model: ["mapped", "is not needed: LiteLLM looks up prices by it, here the price is said"],
  db_model: ["mapped", "is not needed: every model is in the file"],
  litellm_provider: ["mapped", "is the dialect of the upstream"],
  tier: ["lost", "is LiteLLM's own word for paid and free deployments: use plans"],
  health_check_model: ["lost", "health is probed without a billed call"],
  health_check_timeout: ["lost", "set probe.timeout of the upstream"],
  disable_background_health_check: ["lost", "set probe: none on the upstream"],
};

const LOST_PARAMS: Readonly<Record<string, string>> = {
  max_tokens: "is a default of requests without a limit: max_output of the model would bound all of them",
  max_completion_tokens: "is a default of requests without a limit: max_output of the model would bound all of them",
  tags: "there is no routing by tags: give models names of their own",
  max_budget: "there are no budgets of deployments: use credits of users, or the plugin budget",
  budget_duration: "there are no budgets of deployments: use credits of users, or the plugin budget",
  stream: "clients say themselves whether they stream",
  azure_scope: "Azure is signed in to by keys, or a token that something else renews",
  tenant_id: "Azure is signed in to by keys, or a token that something else renews: put a key into api_keys",
  client_id: "Azure is signed in to by keys, or a token that something else renews: put a key into api_keys",
  client_secret: "Azure is signed in to by keys, or a token that something else renews: put a key into api_keys",
  azure_username: "Azure is signed in to by keys, or a token that something else renews: put a key into api_keys",
  azure_password: "Azure is signed in to by keys, or a token that something else renews: put a key into api_keys",
  aws_profile_name: "AWS requests are signed by keys: put them into api_keys",
  aws_role_name: "AWS requests are signed by keys, and no role is taken on: put keys into api_keys",
  aws_session_name: "AWS requests are signed by keys, and no role is taken on: put keys into api_keys",
  aws_web_identity_token: "AWS requests are signed by keys, and no role is taken on: put keys into api_keys",
  use_in_pass_through: "there are no pass-through endpoints",
  cache_control_injection_points: "cache marks come from clients: none are put into their requests",
  merge_reasoning_content_in_choices: "reasoning stays in a field of its own",
  region_name: "is part of the address: write it in base_url",
  thinking: "is a default of requests: clients ask for thinking themselves",
  additional_drop_params: "use parameters.remove of the step",
  allowed_openai_params: "use accepts.fields of the upstream",
  configurable_clientside_auth_params: "clients never choose an address or a key of a provider",
};
