import { isSecretHeader } from "../../config/secrets.ts";
import type { Draft } from "../draft.ts";
import { at, type Field, flagOf, numberOf } from "../source.ts";
import { durationOf, secondsOf } from "./deployments.ts";
import type { Setting } from "./routing.ts";

/** What becomes of a setting that needs no code. `m`: mapped, `c`: changed, `l`: lost. */
type Told = readonly [status: "m" | "c" | "l", reason: string];

const CALLBACKS =
  "requests are told by the log, by metrics and by traces (OTLP) alone: point the receiver at telemetry.otlp, or read the decision log";
const IN_STORE = "users, keys and spend are in the gateway's own store: move them with gateway users and gateway keys";
const REDIS =
  "state that processes share is in store.url: set it to redis:// to run several (the data are lasting: use a Redis that keeps them)";
const NO_MCP = "there is no MCP gateway here";
const NO_DATABASE = "there is no database of LiteLLM's here: the gateway keeps its own store";
const OPERATORS = "operators sign in by server.admin.tokens";
const ALERTS = "alerts are rules of your monitoring on /metrics";

/** By section and key. What stands in none of these and is read nowhere else is lost as unknown. */
const SETTINGS: Readonly<Record<string, Readonly<Record<string, Told>>>> = {
  litellm_settings: {
    set_verbose: ["c", "is --log-level debug of gateway serve"],
    json_logs: ["m", "logs of gateway serve are JSON"],
    callbacks: ["l", CALLBACKS],
    success_callback: ["l", CALLBACKS],
    failure_callback: ["l", CALLBACKS],
    service_callback: ["l", CALLBACKS],
    service_callbacks: ["l", CALLBACKS],
    langfuse_default_tags: ["l", CALLBACKS],
    datadog_params: ["l", CALLBACKS],
    s3_callback_params: ["l", CALLBACKS],
    turn_off_message_logging: ["m", "prompts and answers are never logged"],
    redact_messages_in_exceptions: ["m", "prompts and answers are never logged"],
    redact_user_api_key_info: ["m", "logs name no user unless telemetry.access_log says so"],
    default_internal_user_params: ["l", "new users are on the plan of auth.signup: set its tier, credits and limits"],
    max_internal_user_budget: ["l", "new users are on the plan of auth.signup: set its credits, or the plugin budget"],
    internal_user_budget_duration: [
      "l",
      "new users are on the plan of auth.signup: set its credits, or the plugin budget",
    ],
    max_end_user_budget: ["l", "users of one key are not told apart"],
    max_budget: ["l", "there is no budget of the whole gateway: use credits of users, or the plugin budget"],
    budget_duration: ["l", "there is no budget of the whole gateway: use credits of users, or the plugin budget"],
    default_team_settings: ["l", "there are no settings by team"],
    default_team_params: ["l", "there are no settings by team"],
    upperbound_key_generate_params: ["l", "limits are those of the user's plan, which no key can pass"],
    default_key_generate_params: ["l", "limits are those of the user's plan, which no key can pass"],
    key_generation_settings: ["l", "every user may make keys of their own"],
    telemetry: ["m", "the gateway tells nobody of itself"],
    modify_params: ["m", "requests are fitted to each provider always"],
    enable_json_schema_validation: ["l", "answers are not checked against their schema"],
    forward_traceparent_to_llm_provider: ["l", "providers get no trace of the gateway's"],
    ssl_verify: [
      "l",
      "certificates are always verified: trust a CA of your own by tls.ca of the upstream, or NODE_EXTRA_CA_CERTS",
    ],
    ssl_certificate: ["l", "set tls of the upstream"],
    force_ipv4: ["l", "addresses are those of the system's resolver"],
    enable_preview_features: ["m", "there are no preview features"],
    public_model_groups: ["c", "every model of the file is listed, unless it has published: false"],
    mcp_aliases: ["l", NO_MCP],
    custom_provider_map: [
      "l",
      "providers in Python code cannot be carried over: write a dialect or an OpenAI-compatible server",
    ],
    cost_discount_config: ["l", "set the price of the models"],
    cost_margin_config: ["l", "set the price of the models"],
    model_cost_map_url: ["l", "prices are those of the file"],
    tag_budget_config: ["l", "there are no budgets by tag"],
    max_ui_session_budget: ["l", "there are no budgets of pages"],
    add_function_to_prompt: ["m", "tools are put into the words of each provider"],
    drop_params: ["m", "what a provider does not take is dropped, and told in X-Gateway-Dropped"],
    guardrails: ["l", "use the plugins guard-words and pii-mask, or one of your own"],
    allowed_fails_policy: ["l", "the breaker counts failures of every kind alike: set breaker of the upstream"],
    disable_token_counter: ["l", "tokens are counted where a provider says nothing of them"],
    enable_end_user_cost_tracking_prometheus_only: ["l", "users of one key are not told apart"],
    disable_end_user_cost_tracking: ["m", "users of one key are not told apart"],
    disable_end_user_cost_tracking_prometheus_only: ["m", "users of one key are not told apart"],
  },
  router_settings: {
    redis_host: ["l", REDIS],
    redis_port: ["l", REDIS],
    redis_password: ["l", REDIS],
    redis_url: ["l", REDIS],
    redis_db: ["l", REDIS],
    cache_kwargs: ["l", REDIS],
    enable_pre_call_checks: ["m", "a prompt that is too long for a step goes to a later one with a larger window"],
    enable_pre_call_check: ["m", "a prompt that is too long for a step goes to a later one with a larger window"],
    enable_tag_filtering: ["l", "there is no routing by tags: give models names of their own"],
    tag_filtering_match_any: ["l", "there is no routing by tags: give models names of their own"],
    retry_policy: ["l", "retries are the same for every failure that a retry can help: set retries of the upstream"],
    model_group_retry_policy: [
      "l",
      "retries are the same for every failure that a retry can help: set retries of the upstream",
    ],
    allowed_fails_policy: ["l", "the breaker counts failures of every kind alike: set breaker of the upstream"],
    disable_cooldowns: ["l", "breakers cannot be turned off: set breaker.consecutive of the upstream high"],
    routing_strategy_args: ["l", "the strategy has no settings here"],
    provider_budget_config: ["l", "there are no budgets of providers"],
    default_litellm_params: ["l", "set parameters of the steps"],
    default_max_parallel_requests: ["l", "set concurrency of the upstreams"],
    max_fallbacks: ["l", "a chain is walked to its end: shorten it, or set the model's deadline"],
    default_priority: ["l", "plans have classes, which server.shed looks at"],
    polling_interval: ["l", "requests wait in the queue of concurrency"],
    client_ttl: ["m", "connections are kept as long as they live"],
    debug_level: ["c", "is --log-level of gateway serve"],
    set_verbose: ["c", "is --log-level debug of gateway serve"],
    caching_groups: ["l", "the plugin answer-cache keeps answers by model"],
    cache_responses: ["l", "use the plugin answer-cache"],
    optional_pre_call_checks: ["l", "there are no such checks: a balanced step can be sticky by user"],
    deployment_affinity_ttl_seconds: ["l", "use balance: sticky"],
    ignore_invalid_deployments: ["m", "gateway check names what is wrong before a start"],
    search_tools: ["l", "there are no search tools"],
    guardrail_list: ["l", "use the plugins guard-words and pii-mask, or one of your own"],
    alerting_config: ["l", ALERTS],
    assistants_config: ["l", "there is no Assistants API"],
    num_retries_per_request: ["l", "set retries of the upstream"],
  },
  general_settings: {
    database_url: ["l", NO_DATABASE],
    database_type: ["l", NO_DATABASE],
    database_args: ["l", NO_DATABASE],
    database_connection_pool_limit: ["l", NO_DATABASE],
    database_connection_timeout: ["l", NO_DATABASE],
    disable_prisma_schema_update: ["l", NO_DATABASE],
    use_redis_transaction_buffer: ["l", REDIS],
    proxy_batch_write_at: ["m", "every charge is written when its request ends"],
    proxy_batch_polling_interval: ["l", "there is no batch API"],
    proxy_budget_rescheduler_min_time: ["m", "windows of limits end by the clock"],
    proxy_budget_rescheduler_max_time: ["m", "windows of limits end by the clock"],
    disable_spend_logs: ["l", "every request of a user is in the ledger: store.retention says how long"],
    disable_error_logs: ["l", "use telemetry.access_log.lines"],
    disable_spend_updates: ["l", "billing.enforce: false charges nobody"],
    store_prompts_in_spend_logs: ["l", "prompts and answers are never kept"],
    maximum_spend_logs_retention_interval: ["m", "entries are deleted as they expire"],
    store_model_in_db: ["l", "models are in the file: those that stand in LiteLLM's database are not imported"],
    supported_db_objects: ["l", "models are in the file: those that stand in LiteLLM's database are not imported"],
    alerting: ["l", ALERTS],
    alerting_threshold: ["l", ALERTS],
    alerting_args: ["l", ALERTS],
    alert_types: ["l", ALERTS],
    alert_to_webhook_url: ["l", ALERTS],
    spend_report_frequency: ["l", ALERTS],
    completion_model: ["l", "a request names its model"],
    embedding_model: ["l", "a request names its model"],
    image_generation_model: ["l", "a request names its model"],
    moderation_model: ["l", "there is no moderation endpoint"],
    custom_auth: ["l", "code in Python cannot be carried over: write a plugin of the stage identify"],
    custom_sso: ["l", "code in Python cannot be carried over: use auth.oauth"],
    custom_key_generate: ["l", "code in Python cannot be carried over"],
    allow_user_auth: ["l", IN_STORE],
    enable_jwt_auth: ["l", "sign users in with auth.oauth"],
    litellm_jwtauth: ["l", "sign users in with auth.oauth"],
    enable_oauth2_auth: ["l", "sign users in with auth.oauth"],
    enable_oauth2_proxy_auth: ["l", "sign users in with auth.oauth"],
    oauth2_config_mappings: ["l", "sign users in with auth.oauth"],
    ui_access_mode: ["l", OPERATORS],
    admin_only_routes: ["l", OPERATORS],
    public_routes: ["l", "which routes need a key is fixed"],
    allowed_routes: ["l", "which routes there are is fixed"],
    enforced_params: ["l", "no field of a request can be made required"],
    enforce_user_param: ["l", "no field of a request can be made required"],
    allowed_ips: ["l", "keys can be bound to addresses: gateway keys set --address"],
    use_x_forwarded_for: ["l", "name your proxies in server.trusted_proxies"],
    global_max_parallel_requests: ["l", "server.shed bounds what a process does, and limits.streams a user's streams"],
    max_parallel_requests: ["l", "set concurrency of the upstreams"],
    max_response_size_mb: ["l", "answers are streamed on, and have no bound of size"],
    infer_model_from_keys: ["l", "a request names its model"],
    litellm_key_header_name: ["l", "a key comes as Authorization: Bearer or X-API-Key"],
    pass_through_endpoints: ["l", "there are no pass-through endpoints"],
    use_client_credentials_pass_through_routes: ["l", "there are no pass-through endpoints"],
    forward_client_headers_to_llm_api: ["l", "name the headers in forward_headers of the upstreams"],
    forward_openai_org_id: ["l", "name the header in forward_headers of the upstream"],
    key_management_system: ["l", "secrets come from ${env:NAME} and ${file:PATH}"],
    key_management_settings: ["l", "secrets come from ${env:NAME} and ${file:PATH}"],
    use_azure_key_vault: ["l", "secrets come from ${env:NAME} and ${file:PATH}"],
    use_google_kms: ["l", "secrets come from ${env:NAME} and ${file:PATH}"],
    user_api_key_cache_ttl: ["m", "a key that is revoked is refused within a second"],
    allow_requests_on_db_unavailable: ["c", "is store.on_failure: open"],
    litellm_license: ["m", "there is nothing to be licensed"],
    disable_master_key_return: ["m", "no token is ever shown"],
    disable_adding_master_key_hash_to_db: ["m", "admin tokens are not in the store"],
    disable_reset_budget: ["l", "windows of limits end by the clock"],
    default_team_disabled: ["l", "there are no settings by team"],
    service_account_settings: ["l", "there are no settings by team"],
    health_check_details: ["m", "GET /v1/status tells users what they may know"],
    user_mcp_management_mode: ["l", NO_MCP],
    allow_client_side_credentials: ["l", "clients never choose an address or a key of a provider"],
    reject_clientside_metadata_tags: ["m", "tags come from headers that the operator names, or from keys"],
    disable_responses_id_security: ["l", "answers of one user are nobody else's"],
    disable_retry_on_max_parallel_request_limit_error: ["l", "set retries of the upstream"],
    coding_agent_alias: ["l", "there is no such setting"],
  },
};

/** Whole sections that there is nothing for. */
const SECTIONS: Readonly<Record<string, string>> = {
  guardrails: "use the plugins guard-words and pii-mask, or one of your own",
  policies: "use the plugins guard-words and pii-mask, or one of your own",
  policy_attachments: "use the plugins guard-words and pii-mask, or one of your own",
  mcp_servers: NO_MCP,
  mcp_tools: NO_MCP,
  agents: "there are no agents behind the gateway",
  vector_store_registry: "there are no vector stores",
  vector_stores: "there are no vector stores",
  search_tools: "there are no search tools",
  files_settings: "there is no Files API",
  finetune_settings: "there is no fine-tuning API",
  batches_settings: "there is no batch API",
  assistant_settings: "there is no Assistants API",
  prompts: "prompts are the clients' own: the plugin prompt-prefix puts text around them",
  callback_settings: CALLBACKS,
  tag_budgets: "there are no budgets by tag",
  worker_registry: "there is no such setting",
};

/** Tells of every setting that is not of models and routing. */
export function readSettings(draft: Draft, root: Field, setting: Setting): void {
  const { findings, config } = draft;
  const general = at(root, "general_settings");
  readMasterKey(draft, at(general, "master_key"));
  readCache(draft, at(root, "litellm_settings"));
  readCallbacks(draft, root);
  const size = numberOf(at(general, "max_request_size_mb"));
  if (size !== null && size >= 1 && size <= 256) {
    config.server = { ...config.server, body_limit: `${Math.floor(size)}MiB` } as NonNullable<typeof config.server>;
    findings.mapped(at(general, "max_request_size_mb"), "/server/body_limit");
  }
  if (flagOf(at(general, "allow_requests_on_db_unavailable")) === true)
    config.store = { ...config.store, on_failure: "open" };
  const retention = /^(\d+)([smhd])$/.exec(at(general, "maximum_spend_logs_retention_period")?.text ?? "");
  if (retention !== null && Number(retention[1]) > 0) {
    config.store = { ...config.store, retention: retention[0] };
    findings.mapped(at(general, "maximum_spend_logs_retention_period"), "/store/retention");
  }
  readProbes(draft, general);
  readTags(draft, at(root, "litellm_settings", "extra_spend_tag_headers"));
  const drop = at(root, "litellm_settings", "drop_params");
  if (flagOf(drop) === false) {
    for (const model of Object.values(config.models ?? {})) if (model.kind === "chat") model.strict = true;
    findings.mapped(drop, "/models", "is strict: true of every chat model");
  }
  for (const [section, rows] of Object.entries(SETTINGS)) {
    for (const [key, field] of at(root, section)?.entries ?? []) {
      const [status, reason] = rows[key] ?? [];
      if (status === "m") findings.mapped(field, null, reason);
      else if (status === "c") findings.changed(field, null, reason!);
      else if (status === "l") findings.lost(field, reason!);
    }
  }
  for (const [section, reason] of Object.entries(SECTIONS)) findings.lost(at(root, section), reason);
  readVariables(draft, at(root, "environment_variables"));
  // Routing keys that were not of use where they stand.
  for (const key of [
    "fallbacks",
    "context_window_fallbacks",
    "content_policy_fallbacks",
    "default_fallbacks",
    "model_group_alias",
  ]) {
    const field = setting(key);
    if (field !== undefined) findings.lost(field, "has nothing that can be read");
  }
}

function readMasterKey(draft: Draft, field: Field | undefined): void {
  if (field?.text == null) return;
  const { text, tell } = draft.secret(field, "LITELLM_MASTER_KEY");
  draft.config.server = {
    ...draft.config.server,
    listen: [{ host: "127.0.0.1", port: 4000 }],
    admin: { host: "127.0.0.1", port: 9090, token: text },
  };
  draft.note("/server/listen", "LiteLLM's port; listen on 0.0.0.0 to be reached from other machines.");
  draft.note(
    "/server/admin",
    "The master key is the operator's here, and calls no model: make keys with gateway keys add.",
  );
  tell("/server/admin/token");
}

/** `cache: true` is the plugin that answers again what was asked before. */
function readCache(draft: Draft, settings: Field | undefined): void {
  const { findings } = draft;
  const cache = at(settings, "cache");
  const params = at(settings, "cache_params");
  const type = at(params, "type")?.text ?? "local";
  const isOn = flagOf(cache) === true && at(params, "mode")?.text !== "default_off" && !/semantic/.test(type);
  if (isOn) {
    const ttl = secondsOf(at(params, "ttl"));
    const options = {
      answers: "all",
      scope: "shared",
      ...(ttl !== null && ttl >= 1000 && { ttl: durationOf(Math.round(ttl / 1000) * 1000) }),
    };
    draft.addStep({ use: "answer-cache", options });
    findings.changed(
      cache,
      "/pipeline",
      "is the plugin answer-cache, which gives answers again to every user: scope: user keeps them apart",
    );
    if (ttl !== null && ttl >= 1000) findings.mapped(at(params, "ttl"), "/pipeline", "is ttl of answer-cache");
  } else if (flagOf(cache) === false) findings.mapped(cache, null, "without the plugin answer-cache nothing is kept");
  else
    findings.lost(
      cache,
      "no answer is kept unless a request asks for it, or by its meaning, which there is nothing for here",
    );
  if (params !== undefined) findings.lost(params, "answers are kept in store.url");
}

const TELEMETRY: Readonly<Record<string, readonly [status: "mapped" | "changed", reason: string]>> = {
  prometheus: ["changed", "metrics are at /metrics of server.admin, under names of their own"],
  prometheus_system: ["changed", "metrics are at /metrics of server.admin, under names of their own"],
  otel: ["changed", "traces go by OTLP: set telemetry.otlp, or OTEL_EXPORTER_OTLP_ENDPOINT"],
};

function readCallbacks(draft: Draft, root: Field): void {
  for (const key of ["callbacks", "success_callback", "failure_callback", "service_callback", "service_callbacks"]) {
    const field = at(root, "litellm_settings", key);
    for (const item of field?.kind === "list" ? field.items : field === undefined ? [] : [field]) {
      const [status, reason] = TELEMETRY[item.text ?? ""] ?? [];
      if (status === "changed") draft.findings.changed(item, "/telemetry", reason!);
    }
  }
}

/** Headers that mark requests are tags of the plugin `header-tags`. */
function readTags(draft: Draft, field: Field | undefined): void {
  const tags: Record<string, { readonly header: string }> = {};
  for (const item of field?.items ?? []) {
    const header = item.text ?? "";
    const name = header
      .toLowerCase()
      .replace(/^x-/, "")
      .replaceAll(/[^a-z0-9_-]+/g, "-")
      .replace(/^[^a-z]+/, "")
      .slice(0, 32);
    const isTag = /^[A-Za-z0-9-]{1,64}$/.test(header) && name !== "" && Object.keys(tags).length < 16;
    if (!isTag || !draft.secrets.isPublic(header) || isSecretHeader(header)) {
      draft.findings.lost(item, "is no header that can be a tag");
      continue;
    }
    tags[name] = { header };
    draft.findings.changed(item, "/pipeline", `is the tag ${name} of the plugin header-tags`);
  }
  if (Object.keys(tags).length > 0) draft.addStep({ use: "header-tags", options: { tags } }, "plan-check");
}

function readProbes(draft: Draft, general: Field | undefined): void {
  const { findings, config } = draft;
  const field = at(general, "background_health_checks");
  const every = secondsOf(at(general, "health_check_interval"));
  const isOn = flagOf(field);
  if (isOn === true && every !== null) {
    config.defaults = {
      ...config.defaults,
      upstream: { ...config.defaults?.upstream, probe: { every: durationOf(every) } },
    };
  }
  findings.changed(field, "/defaults/upstream/probe", "probes ask for no model, and so are never billed");
  findings.changed(
    at(general, "health_check_interval"),
    "/defaults/upstream/probe",
    "is the time between probes, if background health checks are on",
  );
}

/** Values are not copied: they are as good as secrets. */
function readVariables(draft: Draft, field: Field | undefined): void {
  for (const [name, value] of field?.entries ?? []) {
    if (value.kind !== "scalar") draft.findings.lost(value, "is no value of a variable");
    else
      draft.findings.changed(
        value,
        null,
        `is not copied: put ${draft.secrets.isPublic(name) ? name : "it"} into .env beside the configuration, if the configuration uses it`,
      );
  }
}
