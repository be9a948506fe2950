import { CAPABILITIES } from "../dialects/capabilities.ts";
import { kindByName } from "../dialects/model-lists/kinds.ts";
import { addModels, type Deployment, type Group } from "./chains.ts";
import { Draft, modelPointer } from "./draft.ts";
import { type Named, providerNamed } from "./providers.ts";
import { at, type Field, ImportError, numberOf, parseSource } from "./source.ts";
import { type Params, targetOf } from "./target.ts";

/** Types of channels that both have: https://github.com/songquanpeng/one-api/blob/main/relay/channeltype/define.go */
const SHARED: Readonly<Record<number, Named>> = {
  1: "openai",
  3: "azure",
  6: "compatible",
  7: "compatible",
  8: "compatible",
  14: "anthropic",
  17: "alibaba",
  20: "openrouter",
  24: "gemini",
  25: "moonshot",
  33: "bedrock",
};
const ONE_API: Readonly<Record<number, Named>> = {
  27: "minimax",
  28: "mistral",
  29: "groq",
  30: "ollama",
  35: "cohere",
  36: "deepseek",
  39: "together",
  40: "volcengine",
  41: "novita",
  42: "vertex-gemini",
  44: "siliconflow",
  45: "xai",
  50: "compatible",
};
/** https://github.com/QuantumNous/new-api/blob/main/constant/channel.go */
const NEW_API: Readonly<Record<number, Named>> = {
  4: "ollama",
  26: "zai",
  27: "perplexity",
  34: "cohere",
  35: "minimax",
  38: "jina",
  40: "siliconflow",
  41: "vertex-gemini",
  42: "mistral",
  43: "deepseek",
  45: "volcengine",
  47: "compatible",
  48: "xai",
};
/** Fields that only new-api's channels have. */
const OF_NEW_API = ["channel_info", "auto_ban", "setting", "settings", "param_override", "tag", "openai_organization"];

const ENABLED = 1;
const STATISTICS =
  /^(?:id|created_time|test_time|response_time|balance|balance_updated_time|used_quota|test_model|remark|auto_ban|need_reconcile|other_info|channel_info|config|name|status|type)$/;

/**
 * The channels of a file: the answer of `GET /api/channel/`, which has them below `data` or `data.items`, or a list of rows
 * of the table `channels`.
 */
function channelsOf(root: Field): readonly Field[] {
  const list = [root, at(root, "data"), at(root, "data", "items"), at(root, "channels")].find(
    (one) => one?.kind === "list",
  );
  return list?.items ?? [];
}

export function isOneApi(root: Field): boolean {
  return channelsOf(root).some((channel) => channel.entries.has("type") && channel.entries.has("models"));
}

/** Reads channels of one-api or new-api: https://github.com/songquanpeng/one-api/blob/main/model/channel.go */
export function importOneApi(root: Field): Draft {
  const draft = new Draft(() => null);
  const { findings } = draft;
  draft.addSource(root);
  for (const key of ["success", "message"]) findings.mapped(at(root, key), null, "is the frame of the answer");
  for (const key of ["total", "page", "page_size", "type_counts"])
    findings.mapped(at(root, "data", key), null, "is the frame of the answer");
  const rows = channelsOf(root).flatMap((channel) => rowsOf(draft, channel));
  const groups = new Map<string, Group>();
  for (const [name, all] of Map.groupBy(rows, (row) => row.name)) {
    const id = draft.modelId(name);
    const [first] = all;
    const same = all.filter(({ kind }) => kind === first!.kind);
    for (const { field, isLocal } of same) {
      const price = isLocal ? "" : "; none has a price in the file, so they are free until you set one";
      findings.changed(
        field,
        modelPointer(id),
        `are models named route/…: clients ask for them by these names${price}`,
      );
    }
    const deployments = same.map((row): Deployment => row.deployment);
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
  return draft;
}

interface Row {
  readonly name: string;
  readonly field: Field;
  readonly kind: Group["kind"];
  readonly deployment: Deployment;
  readonly isLocal: boolean;
}

function rowsOf(draft: Draft, channel: Field): Row[] {
  const { findings, secrets } = draft;
  const type = numberOf(at(channel, "type")) ?? -1;
  const isNew = OF_NEW_API.some((key) => channel.entries.has(key));
  const provider = SHARED[type] ?? (isNew ? NEW_API[type] : ONE_API[type]);
  const models = at(channel, "models");
  if (numberOf(at(channel, "status")) !== ENABLED && at(channel, "status") !== undefined) {
    findings.dropped(channel, "the channel is turned off");
    return [];
  }
  if (provider === undefined || models?.text == null) {
    findings.dropped(channel, "no dialect here speaks to channels of this type");
    return [];
  }
  const mapping = mappingOf(draft, at(channel, "model_mapping"));
  const weight = numberOf(at(channel, "weight"));
  const order = -(numberOf(at(channel, "priority")) ?? 0);
  const named = at(channel, "name")?.text ?? "";
  const name = named !== "" && secrets.isPublic(named) && /[A-Za-z]/.test(named) ? named : provider;
  const variable = `CHANNEL_${name}_KEY`.toUpperCase();
  const rows: Row[] = [];
  for (const model of models.text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "")) {
    if (!secrets.isPublic(model)) continue;
    const inner = mapping.get(model) ?? model;
    const kind = kindByName(inner);
    const { dialect } = providerNamed(provider);
    if (kind === "other" || !CAPABILITIES[dialect].served.includes(kind)) {
      findings.lost(
        models,
        `some of the models are of a kind that the dialect ${dialect} does not serve here: they are left out`,
      );
      continue;
    }
    const destination = { provider, model: inner, difference: null, name, variable, suffix: "/v1" };
    const reached = targetOf(draft, paramsOf(draft, channel, provider), models, destination);
    if (reached === null) break;
    const share = weight === null ? null : Math.min(Math.max(weight, 0), 1_000_000);
    rows.push({
      name: model,
      field: models,
      kind,
      deployment: { target: reached.target, order, weight: share, price: null },
      isLocal: reached.isLocal,
    });
  }
  if (rows.length === 0) {
    findings.dropped(channel, "has no model and address that can be used here");
    return [];
  }
  findings.mapped(at(channel, "weight"), "/models", "is the weight of the target");
  findings.mapped(at(channel, "priority"), "/models", "is the order of the steps of the chain");
  for (const [key, field] of channel.entries)
    if (STATISTICS.test(key)) findings.mapped(field, null, "is not needed: it describes the channel");
  for (const key of ["group", "groups"])
    findings.lost(at(channel, key), "users are on plans: put models on tiers, and access of plans on them");
  for (const key of [
    "other",
    "setting",
    "settings",
    "status_code_mapping",
    "param_override",
    "header_override",
    "system_prompt",
    "tag",
  ]) {
    const field = at(channel, key);
    if (["", "{}", "[]", null].includes(field?.text?.trim() ?? null)) findings.mapped(field, null, "is empty");
    else findings.lost(field, "set parameters, headers or accepts of the upstream");
  }
  findings.lost(channel, "a channel has no such field that is known here");
  return rows;
}

/** A channel by the names that deployments have. Lists of channels come without their keys. */
function paramsOf(draft: Draft, channel: Field, provider: Named): Params {
  const key = at(channel, "key");
  const isPlain = provider !== "bedrock" && provider !== "vertex-gemini";
  if (!isPlain)
    draft.findings.changed(
      key,
      null,
      "has several parts, and is not copied: put them into the variables of the upstream",
    );
  const base = at(channel, "base_url");
  const fields: Readonly<Record<string, Field | undefined>> = {
    api_base: isPlain && base?.text != null && base.text !== "" ? base : undefined,
    api_key: isPlain && key?.text != null && key.text !== "" ? key : undefined,
    openai_organization: at(channel, "openai_organization"),
    api_version:
      provider === "azure" && /^\d{4}-\d\d-\d\d/.test(at(channel, "other")?.text ?? "")
        ? at(channel, "other")
        : undefined,
  };
  draft.findings.mapped(
    base?.text === "" || base?.text === null ? base : undefined,
    null,
    "is the provider's own address",
  );
  return (name) => fields[name];
}

/** `model_mapping` is JSON in a text: names of clients to the provider's. */
function mappingOf(draft: Draft, field: Field | undefined): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const text = field?.text?.trim() ?? "";
  if (field === undefined || text === "") {
    draft.findings.mapped(field, null, "is empty");
    return found;
  }
  try {
    for (const [name, { text: inner }] of parseSource(text, field.path).entries)
      if (inner !== null && inner !== "" && draft.secrets.isPublic(inner)) found.set(name, inner);
    draft.findings.mapped(field, "/models", "are the models of the targets");
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    draft.findings.lost(field, "is no JSON");
  }
  return found;
}
