// Generated from schemas/*.schema.json by `npm run types`. Do not edit.

export type Port = number;
export type PemFile = string;
export type Flag = boolean;
/**
 * A number and its unit: B, KiB, MiB or GiB.
 */
export type Size = string;
/**
 * A number and its unit: ms, s, m, h or d.
 */
export type PositiveDuration = string;
export type Count = number;
/**
 * A number and its unit: ms, s, m, h or d.
 */
export type Duration = string;
/**
 * This interface was referenced by `ImagePriceConfig`'s JSON-Schema definition
 * via the `patternProperty` "^(?!default$)([1-9][0-9]{0,4}x[1-9][0-9]{0,4}(/[a-z][a-z0-9_-]{0,31})?|[a-z][a-z0-9_-]{0,31})$".
 */
export type Money = number;
export type PartialOutcome = "delivered" | "free";
export type Limit = number | "none";
export type UpstreamConnections = number | "none";
export type Probe = ProbeConfig | "none";
export type Effort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
/**
 * A date, or a date and a time.
 */
export type Moment = string;
/**
 * content_filter: the provider's content filter refused. Without it that is the client's 400.
 */
export type FailOverOn = "content_filter"[];
export type ChainStep = TargetConfig | BalancedStepConfig;
export type Step = string | LocalStep | BuiltInStep;
export type Fail = "closed" | "open";
export type BuiltInStep =
  | AuthStep
  | PlanCheckStep
  | QuotaStep
  | BreakerStep
  | TransformStep
  | PromptPrefixStep
  | GuardWordsStep
  | PiiMaskStep
  | AnswerCacheStep
  | HeaderTagsStep
  | BudgetStep
  | StreamRelayStep
  | MeterStep;

/**
 * gateway.yaml: everything the gateway serves. Any scalar may be a reference: ${env:NAME}, ${env:NAME:-default}, ${file:path}; $$ is a literal $.
 */
export interface GatewayConfig {
  /**
   * Version of this format. The only one is 1.
   */
  version: 1;
  /**
   * More files or globs, relative to this file. Their sections are merged; a name defined twice is an error.
   */
  include?: string[];
  server?: ServerConfig;
  store?: StoreConfig;
  auth?: AuthConfig;
  billing?: BillingConfig;
  /**
   * Plans by name. A user has one plan; it says which models the user may call, and how often. Without it, there is one plan, Open, that may call every model without limits.
   */
  tiers?: {
    [k: string]: TierConfig;
  };
  defaults?: DefaultsConfig;
  /**
   * AI providers by name. The chains of models refer to these names.
   */
  upstreams: {
    [k: string]: UpstreamConfig;
  };
  /**
   * Models by the id that clients send. An id begins with route/. May be absent if an upstream publishes the models of its provider.
   */
  models?: {
    [k: string]: ModelConfig;
  };
  /**
   * Plugins that handle a request, in this order: a plugin's name, the path of a local plugin, or a step with options.
   *
   * @minItems 1
   */
  pipeline?: Step[];
  reload?: ReloadConfig;
  status?: StatusConfig;
  secrets?: SecretsConfig;
  telemetry?: TelemetryConfig;
}
export interface ServerConfig {
  /**
   * Public addresses. All serve the same paths with the same keys. A change needs a restart; renewed certificates do not.
   *
   * @minItems 1
   */
  listen?: AddressConfig[];
  admin?: AdminConfig;
  /**
   * Address under which users reach the gateway. Redirects of sign-in and links use it. Without it the request's Host header counts.
   */
  public_url?: string;
  /**
   * Number of processes that share the addresses. More than 1 needs a Redis store. A change needs a restart.
   */
  workers?: number;
  dashboard?: Flag;
  /**
   * Form of errors that the API documents as plain text.
   */
  error_format?: "auto" | "text";
  body_limit?: Size;
  body_memory?: Size;
  upload_space?: Size;
  count_budget?: Size;
  shed?: ShedConfig;
  /**
   * Addresses and networks (CIDR) of proxies whose X-Forwarded-For header is believed.
   */
  trusted_proxies?: string[];
  connections?: ConnectionsConfig;
  /**
   * How many requests one client address may make in a window. none: no limit.
   */
  ip_limit?: IpLimitConfig | "none";
  cors?: CorsConfig;
  heartbeat?: PositiveDuration;
  drain?: DrainConfig;
}
export interface AddressConfig {
  /**
   * Address or host name to listen on. 0.0.0.0 is every IPv4 address of the machine.
   */
  host: string;
  port: Port;
  tls?: ListenerTlsConfig;
}
/**
 * Certificate of a listener, TLS 1.2 or newer. The files are watched: renewed ones serve new connections without a restart.
 */
export interface ListenerTlsConfig {
  cert: PemFile;
  key: PemFile;
  client_ca?: PemFile;
}
export interface AdminConfig {
  /**
   * Address or host name to listen on. Keep it on loopback, or put TLS in front.
   */
  host: string;
  port: Port;
  /**
   * Bearer token of /admin, for one operator named admin. While it is empty and there are no `tokens`, the listener serves only probes and metrics, and only on loopback.
   */
  token?: string;
  tls?: ListenerTlsConfig;
  behind_tls?: Flag;
  /**
   * Further tokens, each with a name for the audit log.
   *
   * @maxItems 64
   */
  tokens?: AdminTokenConfig[];
}
export interface AdminTokenConfig {
  /**
   * Name that the audit log shows: up to 64 letters, digits, dots, hyphens and underscores.
   */
  name: string;
  /**
   * Bearer token of /admin. An empty one lets nobody in.
   */
  token: string;
  /**
   * What the holder of the token may do.
   */
  role: "viewer" | "operator";
}
export interface ShedConfig {
  loop_delay?: PositiveDuration;
  /**
   * How much of V8's heap may be in use: a share of its limit (--max-old-space-size) from 0 to 1, or a size. Without it, the heap does not count.
   */
  heap?: number | Size;
}
export interface ConnectionsConfig {
  /**
   * Open connections of all clients to one process.
   */
  total?: number;
  /**
   * Open connections of one client address (IPv6: of one /64). none: no limit. Addresses in trusted_proxies are not limited. Leave it at none behind a load balancer: all connections come from its address.
   */
  per_address?: number | "none";
}
export interface IpLimitConfig {
  requests: Count;
  window: PositiveDuration;
}
export interface CorsConfig {
  /**
   * Origins that may call /v1 from a browser. * is any origin.
   */
  origins: string[];
}
export interface DrainConfig {
  delay?: Duration;
  timeout?: Duration;
}
export interface StoreConfig {
  /**
   * sqlite:FILE, memory:, redis://HOST:PORT/DB or rediss://HOST:PORT/DB. A change needs a restart.
   */
  url?: string;
  /**
   * Some nodes of a Redis or Valkey Cluster, as redis:// or rediss:// URLs, instead of `url`. Without it, `url` counts.
   *
   * @minItems 1
   */
  nodes?: string[];
  /**
   * Text that every key in Redis begins with.
   */
  prefix?: string;
  /**
   * What happens to requests while the store cannot be reached.
   */
  on_failure?: "closed" | "open";
  timeout?: PositiveDuration;
  retention?: PositiveDuration;
}
export interface AuthConfig {
  tokens?: TokensConfig;
  /**
   * Who may sign up, and what a new user gets. off: nobody, operators add the users. Without it, every address may.
   */
  signup?: SignupConfig | "off";
  email?: EmailConfig;
  /**
   * OpenID Connect providers, by the name in /auth/oauth/{name}. Register the redirect URI https://HOST/auth/oauth/{name}/callback there. Without it, users sign in by email only.
   */
  oauth?: {
    [k: string]: OAuthProviderConfig;
  };
}
export interface TokensConfig {
  /**
   * Claim iss of access tokens.
   */
  issuer?: string;
  /**
   * Claim aud of access tokens.
   */
  audience?: string;
  access_ttl?: PositiveDuration;
  refresh_ttl?: PositiveDuration;
  /**
   * Signing secrets. The first one signs, all of them verify, so you can rotate them without signing anybody out.
   *
   * @minItems 1
   */
  secrets?: TokenSecretConfig[];
}
export interface TokenSecretConfig {
  /**
   * Key id in the header of tokens, up to 64 characters.
   */
  kid: string;
  /**
   * Secret of at least 32 bytes. Empty: the gateway makes one and keeps it in the store.
   */
  value: string;
}
export interface SignupConfig {
  /**
   * Plan of a new user. Without it, the first plan under tiers, or Open if there are no tiers.
   */
  tier?: string;
  credits?: Money;
  /**
   * Domains of the email addresses that may sign up, without their subdomains. Without it, every address may.
   *
   * @minItems 1
   */
  domains?: string[];
}
export interface EmailConfig {
  /**
   * Sender address of the codes.
   */
  from: string;
  /**
   * smtp:// or smtps:// URL of the mail server, with user and password if it needs them. Empty: codes are written to the log, for trying out.
   */
  smtp?: string;
}
/**
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^[a-z0-9][a-z0-9-]{0,63}$".
 */
export interface OAuthProviderConfig {
  /**
   * Issuer URL: https, or http on loopback. The gateway reads its discovery document.
   */
  issuer: string;
  /**
   * Client id at the provider.
   */
  client_id: string;
  /**
   * Client secret at the provider. Empty: a public client.
   */
  client_secret?: string;
  /**
   * Scopes to ask for.
   */
  scopes?: string[];
}
export interface BillingConfig {
  /**
   * Currency of all prices and credits, as an ISO 4217 code.
   */
  currency?: string;
  cost_multiplier?: Money;
  enforce?: Flag;
  hold_output_tokens?: Count;
  outcomes?: OutcomesConfig;
}
export interface OutcomesConfig {
  client_gone?: PartialOutcome;
  killed?: PartialOutcome;
  upstream_cut?: PartialOutcome;
  /**
   * The client disconnected, or the user stopped the stream, after the request had been sent and before the upstream's first byte. `prompt` charges the estimated prompt, which providers bill: its tokens, characters and seconds, and the price of a request; no output, no images. Either way the request counts against the limits.
   */
  unanswered?: "free" | "prompt";
  /**
   * The upstream reported no usage, or only a part of it.
   */
  no_usage?: "estimate" | "free";
}
/**
 * A plan: which models it may call, and how often.
 *
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^[A-Za-z][A-Za-z0-9_-]{0,63}$".
 */
export interface TierConfig {
  /**
   * Tiers of models that this plan may call, or all.
   */
  access: string[] | "all";
  limits: LimitsConfig;
  /**
   * A number: when server.shed refuses requests, plans with a lower class are refused first. Without it, the plan's place under tiers, from 0.
   */
  class?: number;
}
export interface LimitsConfig {
  day: Limit;
  hour: Limit;
  minute: Limit;
  streams: Limit;
}
export interface DefaultsConfig {
  upstream?: UpstreamDefaultsConfig;
  kinds?: KindsDefaultsConfig;
}
export interface UpstreamDefaultsConfig {
  timeouts?: TimeoutsConfig;
  retries?: RetriesConfig;
  breaker?: BreakerConfig;
  connections?: UpstreamConnections;
  http2?: Flag;
  tls?: UpstreamTlsConfig;
  probe?: Probe;
}
export interface TimeoutsConfig {
  connect?: PositiveDuration;
  first_byte?: PositiveDuration;
  idle?: PositiveDuration;
  total?: PositiveDuration;
}
export interface RetriesConfig {
  /**
   * Attempts at one upstream. 1 means no retry.
   */
  attempts?: number;
  min_delay?: Duration;
  max_delay?: Duration;
}
export interface BreakerConfig {
  consecutive?: Count;
  window?: PositiveDuration;
  /**
   * Share of failed attempts in the window that opens the breaker, above 0 up to 1.
   */
  ratio?: number;
  minimum?: Count;
  open_for?: PositiveDuration;
  max_open_for?: PositiveDuration;
  probes?: Count;
  /**
   * What one breaker is for.
   */
  scope?: "upstream" | "target";
}
/**
 * How an upstream's HTTPS connections are made. Changed files serve new connections after a reload, which comes by itself.
 */
export interface UpstreamTlsConfig {
  ca?: PemFile;
  cert?: PemFile;
  key?: PemFile;
}
export interface ProbeConfig {
  every: PositiveDuration;
  timeout?: PositiveDuration;
}
export interface KindsDefaultsConfig {
  chat?: KindDefaultsConfig;
  embedding?: KindDefaultsConfig;
  rerank?: KindDefaultsConfig;
  speech?: KindDefaultsConfig;
  transcription?: KindDefaultsConfig;
  image?: KindDefaultsConfig;
}
export interface KindDefaultsConfig {
  multipliers?: MultipliersConfig;
  deadline?: PositiveDuration;
}
export interface MultipliersConfig {
  requests?: Count;
  cost?: Money;
}
/**
 * One provider account or server.
 *
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^[A-Za-z][A-Za-z0-9_.-]{0,63}$".
 */
export interface UpstreamConfig {
  /**
   * Wire format of the upstream.
   */
  dialect:
    "openai" | "anthropic" | "gemini" | "azure" | "bedrock" | "cohere" | "jina" | "voyage" | "elevenlabs" | "deepgram";
  /**
   * Base URL that the provider's official SDK takes, with its /v1 where it has one. sim: is the built-in simulator. Vertex AI: https://LOCATION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/LOCATION/publishers/google (dialect gemini) or /publishers/anthropic (dialect anthropic).
   */
  base_url: string;
  /**
   * API keys of the provider; several share the load. sim:, addresses on loopback and the vendors ollama, vllm, lmstudio and llamacpp need none. bedrock: ACCESS_KEY_ID:SECRET[:SESSION_TOKEN] signs requests. Vertex AI: a service account's key file, ${file:PATH}, or application-default.
   */
  api_keys?: string[];
  models?: PublishingConfig;
  /**
   * Names of client headers that are sent on. Credentials, cookies and headers of the connection never are. Without it, none is.
   *
   * @minItems 1
   * @maxItems 50
   */
  forward_headers?: string[];
  /**
   * Further headers of every request to this upstream.
   */
  headers?: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$".
     */
    [k: string]: string;
  };
  /**
   * Name of the provider that users see. Without it, the upstream's own name.
   */
  display_name?: string;
  timeouts?: TimeoutsConfig;
  retries?: RetriesConfig;
  breaker?: BreakerConfig;
  connections?: UpstreamConnections;
  concurrency?: ConcurrencyConfig;
  http2?: Flag;
  tls?: UpstreamTlsConfig;
  /**
   * Proxy for this upstream: http://[USER:PASSWORD@]HOST:PORT or https://… none: connect directly. Without it, the variables HTTPS_PROXY, HTTP_PROXY and NO_PROXY decide.
   */
  proxy?: string;
  probe?: Probe;
  /**
   * For dialect openai: whose server it is, and so which fields, efforts and limits it is sent. Without it, the host of base_url decides, else generic.
   */
  vendor?:
    | "openai"
    | "mistral"
    | "deepseek"
    | "groq"
    | "openrouter"
    | "xai"
    | "moonshot"
    | "together"
    | "fireworks"
    | "cerebras"
    | "perplexity"
    | "alibaba"
    | "zai"
    | "nvidia"
    | "ollama"
    | "vllm"
    | "lmstudio"
    | "llamacpp"
    | "generic";
  accepts?: AcceptsConfig;
  /**
   * For dialects openai and azure: the endpoint that chats are sent to.
   */
  api?: "auto" | "chat" | "responses";
}
/**
 * Which models of a provider's list an upstream publishes, and what they have in common.
 */
export interface PublishingConfig {
  /**
   * Patterns of the provider's names of models; * matches any text, also none.
   *
   * @minItems 1
   */
  include: string[];
  /**
   * Patterns of names that are not published, although `include` matches them. Without it, none.
   */
  exclude?: string[];
  /**
   * Tier that all of them belong to. Required where tiers are defined. Without it, Open.
   */
  tier?: string;
  price?: PriceConfig;
}
export interface PriceConfig {
  input_per_million?: Money;
  output_per_million?: Money;
  cached_input_per_million?: Money;
  cache_write_per_million?: Money;
  cache_write_1h_per_million?: Money;
  reasoning_per_million?: Money;
  per_request?: Money;
  /**
   * Price of an image, in billing.currency, or a map of prices by size and quality. A model whose upstream counts the tokens of images may be priced by tokens instead, or as well. Without it, images are not charged.
   */
  per_image?: number | ImagePriceConfig;
  per_second?: Money;
  per_million_characters?: Money;
  /**
   * Date on which you last compared these prices with the provider's. gateway check warns after 180 days. Without it, it does not.
   */
  verified_at?: string;
}
/**
 * Prices of an image by SIZE/QUALITY, SIZE or QUALITY, as the upstream says them or else the request; the most exact counts.
 */
export interface ImagePriceConfig {
  default: Money;
  [k: string]: Money;
}
export interface ConcurrencyConfig {
  /**
   * Requests in flight at the same time. A stream counts until it ends.
   */
  requests: number;
  /**
   * Requests that may wait for a place, in turn by user. A request beyond them goes to the next target of the chain, or gets 503. 0: none waits.
   */
  queue?: number;
  max_wait?: PositiveDuration;
}
/**
 * Single entries that stand in place of the vendor's.
 */
export interface AcceptsConfig {
  /**
   * Name of the field that limits the tokens of an answer. Without it, the vendor's.
   */
  output_limit?: "max_tokens" | "max_completion_tokens";
  /**
   * Levels of reasoning_effort. Any other level becomes the nearest one below. An empty list: the field is not sent. Without it, the vendor's.
   */
  efforts?: Effort[];
  /**
   * Field in which the reasoning of earlier turns is sent back. Without it, the vendor's.
   */
  reasoning_echo?: "never" | "reasoning_content" | "reasoning_details" | "reasoning";
  unknown_fields?: Flag;
  /**
   * Top-level fields, tools and betas (anthropic-beta:NAME) that would be dropped, such as those that choose another model or rate. Name them only if you trust the clients with that. Without it, none.
   */
  fields?: string[];
  /**
   * What clients may name in a conversation besides data: URLs and URLs of public hosts: addresses of other schemes, private hosts, ids of files and of other content at the provider. * matches any text without an @ before the path. The provider reads them with your account's identity, so every client may read them. Without it, nothing else.
   */
  references?: string[];
  /**
   * Largest number of stop sequences. 0: none are sent. Without it, the vendor's.
   */
  stop?: number;
  /**
   * Most characters in the name of a tool. Longer names are shortened, and restored in the answer. Without it, the vendor's.
   */
  tool_name?: number;
  /**
   * Most characters in the field user. A longer value is replaced by a digest. 0: the field is not sent. Without it, the vendor's.
   */
  user?: number;
  stream_options?: Flag;
  developer_role?: Flag;
  strict_tools?: Flag;
  /**
   * Form of the ids of tool calls. Without it, the vendor's.
   */
  tool_call_ids?: "any" | "mistral";
  sampling?: Flag;
  /**
   * What messages of the user may hold besides text. Any other part becomes a text that says what it was, and is reported. Without it, what is known of the vendor.
   */
  parts?: ("image" | "file" | "audio" | "video")[];
  image_urls?: Flag;
  /**
   * Where system messages may stand. Without it, the vendor's.
   */
  system_role?: "anywhere" | "front" | "first" | "user";
  alternate?: Flag;
  /**
   * How a conversation is sent that ends with the assistant. Without it, the vendor's.
   */
  prefill?: "as_is" | "prefix" | "partial" | "closed";
  /**
   * How a prefix is marked for the provider's prompt cache. Marks that are lost are reported. Without it, the vendor's.
   */
  cache_marks?: "none" | "marks" | "marks_with_ttl" | "breakpoints";
  verbosity?: Flag;
  /**
   * Largest number of tools. Of a longer list the tools that were called are sent, then the first ones; the others are reported. Without it, the vendor's.
   */
  max_tools?: number;
  max_output?: Count;
  /**
   * Keywords of JSON Schema, beyond the common ones, that a schema for structured output may have. Without it, what is known of the vendor.
   */
  schema_keywords?: string[];
}
/**
 * A model as clients see it, and the chain of upstreams behind it.
 *
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^route/[A-Za-z0-9][A-Za-z0-9_.:@-]{0,127}$".
 */
export interface ModelConfig {
  /**
   * What the model does, and so which endpoint serves it.
   */
  kind: "chat" | "embedding" | "rerank" | "speech" | "transcription" | "image";
  /**
   * Tier of the model. Plans list the tiers that they may call. Required where tiers are defined. Without it, Open.
   */
  tier?: string;
  /**
   * Name in the pricing table. Without it, the id without route/.
   */
  display_name?: string;
  /**
   * Owner that the catalogue shows, usually the vendor of the model. Without it, the name of the upstream that the chain tries first.
   */
  owned_by?: string;
  /**
   * Date of the model, for the catalogue. Without it, 1970-01-01.
   */
  created?: string;
  deprecated_at?: Moment;
  sunset_at?: Moment;
  /**
   * Model that serves the requests after sunset_at, under its own name, plan and price. Without it, the model is gone.
   */
  successor?: string;
  published?: Flag;
  context_window?: Count;
  max_output?: Count;
  /**
   * What the model promises, for example tools, vision, reasoning, documents, json_schema. gateway check compares it with what each step's dialect can do.
   */
  features?: string[];
  /**
   * Voices of a speech model. Others are refused. Empty: the upstream decides.
   */
  voices?: string[];
  realtime?: Flag;
  strict?: Flag;
  price?: PriceConfig;
  multipliers?: MultipliersConfig;
  deadline?: PositiveDuration;
  fail_over_on?: FailOverOn;
  /**
   * Upstreams of the model, tried in this order until one serves.
   *
   * @minItems 1
   */
  chain: ChainStep[];
}
export interface TargetConfig {
  /**
   * Name of an upstream, as under upstreams.
   */
  upstream: string;
  /**
   * The upstream's own name of the model.
   */
  model: string;
  /**
   * Weight among the targets of a balanced step: a target of weight 3 gets three times the requests of one of weight 1. 0: none.
   */
  weight?: number;
  timeouts?: TimeoutsConfig;
  context_window?: Count;
  /**
   * What this step can do, where it differs from the model. Without it, the model's.
   */
  features?: string[];
  fail_over_on?: FailOverOn;
  cost?: PriceConfig;
  parameters?: ParametersConfig;
}
/**
 * By JSON pointers into the upstream's body; removed first, then renamed, then set.
 */
export interface ParametersConfig {
  /**
   * Values by JSON pointer. Missing parents become maps, never lists.
   */
  set?: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^(/([^/~]|~[01])*)+$".
     */
    [k: string]: unknown;
  };
  /**
   * JSON pointers of fields to remove. A field that is not there is no error.
   */
  remove?: string[];
  /**
   * New names by JSON pointer, in the same map. A field that is not there is no error.
   */
  rename?: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^(/([^/~]|~[01])*)+$".
     */
    [k: string]: string;
  };
}
export interface BalancedStepConfig {
  /**
   * How requests are spread over the targets.
   */
  balance: "weighted" | "latency" | "sticky";
  fail_over_on?: FailOverOn;
  /**
   * The targets that share this step.
   *
   * @minItems 1
   */
  targets: TargetConfig[];
}
export interface LocalStep {
  /**
   * Path of a plugin file, relative to the folder of the main configuration file.
   */
  use: string;
  /**
   * Options of the plugin. Its own schema checks them.
   */
  options?: {
    [k: string]: unknown;
  };
  when?: ConditionConfig;
  fail?: Fail;
  timeout?: PositiveDuration;
}
export interface ConditionConfig {
  /**
   * Ids of models. * matches any text. Without it, all models.
   *
   * @minItems 1
   */
  models?: string[];
  /**
   * Plans of the caller. Without it, all plans.
   *
   * @minItems 1
   */
  tiers?: string[];
}
export interface AuthStep {
  /**
   * Says who is calling.
   */
  use: "auth";
  options?: AuthOptions;
  when?: ConditionConfig;
  fail?: Fail;
  timeout?: PositiveDuration;
}
/**
 * auth takes no options: credentials are read as the API says.
 */
export interface AuthOptions {}
export interface PlanCheckStep {
  /**
   * Refuses models that the caller's plan may not call.
   */
  use: "plan-check";
  options?: PlanCheckOptions;
  when?: ConditionConfig;
  fail?: Fail;
  timeout?: PositiveDuration;
}
/**
 * plan-check takes no options: plans are declared under tiers.
 */
export interface PlanCheckOptions {}
export interface QuotaStep {
  /**
   * Counts against the plan's limits and holds credits.
   */
  use: "quota";
  options?: QuotaOptions;
  when?: ConditionConfig;
  fail?: Fail;
  timeout?: PositiveDuration;
}
/**
 * quota takes no options: limits are declared under tiers, holds under billing.
 */
export interface QuotaOptions {}
export interface BreakerStep {
  /**
   * Leaves failing upstreams alone for a while.
   */
  use: "breaker";
  options?: BreakerOptions;
  when?: ConditionConfig;
  fail?: Fail;
  timeout?: PositiveDuration;
}
/**
 * breaker takes no options: thresholds are declared under upstreams and defaults.
 */
export interface BreakerOptions {}
export interface TransformStep {
  /**
   * Sets and removes fields of the request that is sent on.
   */
  use: "transform";
  options?: TransformOptions;
  when?: ConditionConfig;
  fail?: Fail;
  timeout?: PositiveDuration;
}
/**
 * Fields of the request body to set and to remove, before it is sent on.
 */
export interface TransformOptions {
  /**
   * Values by JSON pointer. Missing parents are made.
   */
  set?: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^(/([^/~]|~[01])*)+$".
     */
    [k: string]: unknown;
  };
  /**
   * JSON pointers of fields to remove.
   */
  remove?: string[];
}
export interface PromptPrefixStep {
  /**
   * Puts the operator's instructions around the client's own.
   */
  use: "prompt-prefix";
  options?: PromptPrefixOptions;
  when?: ConditionConfig;
  fail?: Fail;
  timeout?: PositiveDuration;
}
/**
 * Instructions that stand around the client's own in every chat request.
 */
export interface PromptPrefixOptions {
  /**
   * Texts, in the order in which they are sent. All that match a request are sent.
   *
   * @minItems 1
   */
  prompts: PromptPrefix[];
}
export interface PromptPrefix {
  /**
   * Text that is sent. The client pays for it as for its own.
   */
  text: string;
  /**
   * Where it is put.
   */
  place?: "before" | "after";
  /**
   * Plans whose users' requests get it. Without it, all plans.
   *
   * @minItems 1
   */
  tiers?: string[];
  /**
   * Models by id that get it. * matches any text. Without it, all models.
   *
   * @minItems 1
   */
  models?: string[];
}
export interface GuardWordsStep {
  /**
   * Refuses or masks words in what is asked and answered.
   */
  use: "guard-words";
  options?: GuardWordsOptions;
  when?: ConditionConfig;
  fail?: Fail;
  timeout?: PositiveDuration;
}
/**
 * Words and expressions that must not be asked or answered.
 */
export interface GuardWordsOptions {
  /**
   * Words and phrases, whatever their case. A space stands for up to eight blanks. Without it, only `patterns` count.
   *
   * @minItems 1
   * @maxItems 2000
   */
  words?: string[];
  /**
   * Regular expressions of bounded length: characters, classes, groups, |, ?, {n}, {n,m}, and \b at the ends. All together may repeat about 128 times where a text continues with one character, so that none slows the others down. Without it, only `words` count.
   *
   * @minItems 1
   * @maxItems 50
   */
  patterns?: string[];
  /**
   * What happens to a request or an answer that has one.
   */
  action?: "refuse" | "mask";
  /**
   * Where the words are looked for.
   *
   * @minItems 1
   */
  in?: ("request" | "answer")[];
  /**
   * Text that replaces what is masked.
   */
  replacement?: string;
  /**
   * true: a word counts only as a whole, not as a part of another. Patterns say it by \b.
   */
  whole_words?: boolean;
}
export interface PiiMaskStep {
  /**
   * Upstreams get placeholders for personal data; answers have it again.
   */
  use: "pii-mask";
  options?: PiiMaskOptions;
  when?: ConditionConfig;
  fail?: Fail;
  timeout?: PositiveDuration;
}
/**
 * Personal data that upstreams get placeholders for, such as [EMAIL_1]; answers have it again.
 */
export interface PiiMaskOptions {
  /**
   * What is masked. Cards and IBANs only with a valid checksum. Without it, all kinds.
   *
   * @minItems 1
   */
  kinds?: ("email" | "phone" | "iban" | "card" | "ip" | "key")[];
}
export interface AnswerCacheStep {
  /**
   * Answers what was asked before from the store.
   */
  use: "answer-cache";
  options?: AnswerCacheOptions;
  when?: ConditionConfig;
  fail?: Fail;
  timeout?: PositiveDuration;
}
/**
 * Answers that are kept, and given again to a request that asks for the very same.
 */
export interface AnswerCacheOptions {
  /**
   * How long an answer is kept, at most 30d.
   */
  ttl?: string;
  /**
   * Who gets a kept answer.
   */
  scope?: "user" | "shared";
  /**
   * Which answers are kept.
   */
  answers?: "deterministic" | "all";
  /**
   * Finish reasons of answers that are not kept. Filtered, broken and refused answers never are.
   */
  except?: ("length" | "tool_calls")[];
  /**
   * Size above which an answer is not kept, at most 2MiB. All kept answers together take up to 64 MiB.
   */
  max_size?: string;
  /**
   * What a kept answer costs.
   */
  charge?: "nothing" | "full";
}
export interface HeaderTagsStep {
  /**
   * Marks requests by their headers, for log, metrics and ledger.
   */
  use: "header-tags";
  options?: HeaderTagsOptions;
  when?: ConditionConfig;
  fail?: Fail;
  timeout?: PositiveDuration;
}
/**
 * Headers of requests that mark them in the log, the ledger and the metrics.
 */
export interface HeaderTagsOptions {
  /**
   * Tags by name: up to 32 of a-z, 0-9, _ and -, a letter first.
   */
  tags: {
    [k: string]: HeaderTag;
  };
}
/**
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^[a-z][a-z0-9_-]{0,31}$".
 */
export interface HeaderTag {
  /**
   * Header that has the value. Case does not matter. Headers with credentials are never read.
   */
  header: string;
  /**
   * Allowed values; any other becomes `other`. Without it, every value is allowed.
   *
   * @minItems 1
   * @maxItems 100
   */
  values?: string[];
  /**
   * Value of a request without the header. Without it, such a request gets no tag.
   */
  default?: string;
  /**
   * true: metrics have the tag, too, for its first hundred values.
   */
  measured?: boolean;
  /**
   * true: a request without the header, or with a value that is not allowed, is refused.
   */
  required?: boolean;
}
export interface BudgetStep {
  /**
   * Refuses what would go beyond a sum per user and month or day.
   */
  use: "budget";
  options?: BudgetOptions;
  when?: ConditionConfig;
  fail?: Fail;
  timeout?: PositiveDuration;
}
/**
 * What a user may spend in a month or a day, besides the credits that there are.
 */
export interface BudgetOptions {
  /**
   * What the amount is for.
   */
  period?: "month" | "day";
  /**
   * What every user may spend in the period, in billing.currency. A plan under `tiers` has its own amount. Without it, only those plans are bounded.
   */
  amount?: number;
  /**
   * What users of a plan may spend in the period, in billing.currency. Without it, `amount` counts for all plans.
   */
  tiers?: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^.+$".
     */
    [k: string]: number;
  };
  /**
   * Percentage of the amount from which answers and the log have a warning.
   */
  warn_at?: string;
}
export interface StreamRelayStep {
  /**
   * Walks the model's chain and relays the answer; one per pipeline.
   */
  use: "stream-relay";
  options?: StreamRelayOptions;
  when?: ConditionConfig;
  fail?: Fail;
}
/**
 * stream-relay takes no options: chains are declared under models.
 */
export interface StreamRelayOptions {}
export interface MeterStep {
  /**
   * Turns usage into a charge, once per request.
   */
  use: "meter";
  options?: MeterOptions;
  when?: ConditionConfig;
  fail?: Fail;
  timeout?: PositiveDuration;
}
/**
 * meter takes no options: prices are declared under models and billing.
 */
export interface MeterOptions {}
export interface ReloadConfig {
  guard?: GuardConfig;
}
export interface GuardConfig {
  /**
   * Percentage of the users that the changed file serves. A hash of the user and the file chooses them: the same ones on all instances.
   */
  share?: string;
  for?: PositiveDuration;
  min_requests?: Count;
  /**
   * The changed file is rolled back if the share of its requests that fail is more than this many times that of the current configuration. 1 % of the requests may always fail.
   */
  max_error_ratio?: number;
  /**
   * The changed file is rolled back if its time to the first token is more than this many times that of the current configuration.
   */
  max_ttft_ratio?: number;
}
export interface StatusConfig {
  /**
   * Incidents that GET /v1/status shows, in this order.
   */
  incidents?: IncidentConfig[];
}
export interface IncidentConfig {
  /**
   * Unique id of the incident.
   */
  id: string;
  /**
   * Title, one line.
   */
  title: string;
  /**
   * What users should know.
   */
  description: string;
  /**
   * How bad it is.
   */
  severity: "warning" | "error";
  /**
   * Whether it is over.
   */
  status: "ongoing" | "resolved";
  /**
   * Date and time at which it began.
   */
  created_at: string;
  /**
   * Date and time at which it was over. null while it is ongoing.
   */
  resolved_at?: string | null;
}
export interface SecretsConfig {
  refresh?: PositiveDuration;
}
export interface TelemetryConfig {
  access_log?: AccessLogConfig;
  /**
   * When an answer has a Server-Timing header with the time that the gateway and the upstream took.
   */
  server_timing?: "on_request" | "always" | "never";
  otlp?: OtlpConfig;
  decision_log?: DecisionLogConfig;
}
export interface AccessLogConfig {
  /**
   * Which requests get a log line.
   */
  lines?: "all" | "failures" | "none";
  users?: Flag;
  addresses?: Flag;
}
export interface OtlpConfig {
  /**
   * Base URL of a receiver of OTLP over HTTP (JSON). /v1/traces and /v1/metrics are appended.
   */
  endpoint: string;
  /**
   * Further headers of what is sent there.
   */
  headers?: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$".
     */
    [k: string]: string;
  };
  /**
   * Share of the traces that begin here which are sent, from 0 to 1. For others the caller has decided.
   */
  sample?: number;
  interval?: PositiveDuration;
}
export interface DecisionLogConfig {
  /**
   * File that lines are appended to, relative to this file's folder. It is opened again at every reload.
   */
  file: string;
  max_size?: Size;
  /**
   * Number of renamed files that are kept. The oldest are deleted.
   */
  keep?: number;
}

/**
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^[a-z][a-z0-9_]*$".
 */
export type ConfigTestSelection = string | (string | number | boolean)[];
export type ConfigTestDuration = string;
/**
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^(\*|\$?[A-Za-z][A-Za-z0-9_.-]{0,63})$".
 *
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^(\*|\$?[A-Za-z][A-Za-z0-9_.-]{0,63})$".
 */
export type ConfigTestFault = ("healthy" | "down" | "unreachable" | "timeout") | number | ConfigTestScript;
export type ConfigTestAmount = number | string;
export type ConfigTestTime = string;

/**
 * Tests of a configuration, run by `gateway test`: offline, on a clock of their own, against simulated upstreams. `$name` stands for a value of `each`, or of `sets`; `$$` is a literal `$`.
 */
export interface ConfigTestFile {
  /**
   * Configuration to test, relative to this file.
   */
  config?: string;
  /**
   * Date and time at which the clock of every test begins.
   */
  clock?: string;
  /**
   * Variables for references in the configuration. They win over those of the process. Without it, only those of the process count.
   */
  env?: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^[A-Za-z_][A-Za-z0-9_]*$".
     */
    [k: string]: string;
  };
  /**
   * Named lists that `each` and `given` use as `$name`. Without it, no name is defined.
   */
  sets?: {
    [k: string]: ConfigTestSelection;
  };
  /**
   * The tests. Each one begins anew, with its own users, counters and breakers.
   *
   * @minItems 1
   */
  tests: ConfigTest[];
}
export interface ConfigTest {
  /**
   * What is tested. `$name` stands for a value of `each`.
   */
  name: string;
  /**
   * Makes a case of every combination: lists of values by name, or rows of several (`model, first, second`). Values of tier, model and upstream are names of the configuration: with `*` in them patterns, with `!` before them exceptions, `$set` the values of a set. A value whose name is a key of `given` is put there. Without it, there is one case.
   */
  each?: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^[a-z][a-z0-9_]*(, *[a-z][a-z0-9_]*)*$".
     */
    [k: string]: string | (string | number | boolean | unknown[])[];
  };
  given?: ConfigTestGiven;
  /**
   * Requests in turn, by the same users with the same counters. Without it, one request.
   *
   * @minItems 1
   */
  steps?: ConfigTestStep[];
  expect?: ConfigTestExpect;
}
export interface ConfigTestGiven {
  /**
   * Plan of the test's users. Without it, that of auth.signup.
   */
  tier?: string;
  /**
   * Credits that users begin with, in billing.currency. Without it, a million.
   */
  credits?: number;
  used?: ConfigTestUsed;
  /**
   * Numbers from 0 to 1 that replace chance, one after the other and then again, for steps that balance targets. Without it, a fixed sequence.
   *
   * @minItems 1
   */
  chance?: number[];
  /**
   * Name of the user who asks. All users of a test have its plan and credits, each with counters of their own. Without it, one user.
   */
  user?: string;
  /**
   * Model that is asked for. For one that is not in the configuration set /model of `body`. Without it, a chat model that the plan may call.
   */
  model?: string;
  /**
   * Endpoint of the gateway. Without it, that of the model's kind.
   */
  endpoint?: "chat" | "messages" | "responses" | "embeddings" | "rerank" | "speech" | "transcription" | "image";
  /**
   * true: asks for a stream of events.
   */
  stream?: boolean;
  /**
   * Text that the model is asked. Without it, a greeting.
   */
  prompt?: string;
  /**
   * Most tokens of the answer, in the endpoint's own field. Without it, the request has no limit.
   */
  max_tokens?: number;
  /**
   * Names of functions that are offered to the model. Without it, none.
   */
  tools?: string[];
  /**
   * Fields over the request's own, or the whole body as text. Without it, the request's own.
   */
  body?:
    | {
        [k: string]: unknown;
      }
    | string;
  /**
   * Headers of the request by name. Without it, only the usual ones.
   */
  headers?: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^[A-Za-z0-9-]+$".
     */
    [k: string]: string;
  };
  /**
   * false: the request has no key.
   */
  credentials?: boolean;
  leave_after?: ConfigTestDuration;
  /**
   * What upstreams do from here on, by name. `*` is every other one. Without it, they are healthy.
   */
  upstreams?: {
    [k: string]: ConfigTestFault;
  };
}
export interface ConfigTestUsed {
  /**
   * Requests in the calendar day (UTC).
   */
  day?: number;
  /**
   * Requests in the calendar hour.
   */
  hour?: number;
  /**
   * Requests in the calendar minute.
   */
  minute?: number;
}
export interface ConfigTestScript {
  /**
   * Answers with this status and an error body.
   */
  status?: number;
  /**
   * Value of a Retry-After header, in seconds or as a date.
   */
  retry_after?: string | number;
  /**
   * Message of the error.
   */
  message?: string;
  first_byte?: ConfigTestDuration;
  first_event?: ConfigTestDuration;
  chunk_delay?: ConfigTestDuration;
  /**
   * Number of events with content.
   */
  chunks?: number;
  /**
   * Bytes that events with content are padded to.
   */
  chunk_bytes?: number;
  /**
   * Goes silent after this many events. 0: after the head.
   */
  stall_after?: number;
  /**
   * Resets the connection after this many events. 0: before the status line.
   */
  reset_after?: number;
  /**
   * Closes the connection without the ending after this many events.
   */
  close_after?: number;
  /**
   * Ends the body cleanly, without the stream's own ending, after this many events.
   */
  end_after?: number;
  /**
   * Sends an event that is not JSON after this many events.
   */
  malformed_after?: number;
  /**
   * Sends an error object and ends after this many events of a 200.
   */
  error_after?: number;
  /**
   * true: no counts of tokens or seconds.
   */
  no_usage?: boolean;
  /**
   * true: no [DONE].
   */
  no_done?: boolean;
  /**
   * true: an HTML page instead of JSON or events.
   */
  html?: boolean;
  /**
   * true: a content-length larger than the body.
   */
  wrong_length?: boolean;
  /**
   * Number of requests that meet the faults. Without it, all do.
   */
  fail_times?: number;
  /**
   * Counts that it reports.
   */
  usage?: {
    /**
     * Prompt tokens.
     */
    prompt?: number;
    /**
     * Completion tokens.
     */
    completion?: number;
    /**
     * Prompt tokens read from a cache.
     */
    cached?: number;
    /**
     * Prompt tokens written to a cache.
     */
    cache_write?: number;
    /**
     * Seconds of a transcribed file.
     */
    seconds?: number;
  };
  /**
   * Why the answer ended, in the dialect's own word.
   */
  finish?: string;
  /**
   * Number of images, whatever was asked for.
   */
  images?: number;
  /**
   * Refuses what this provider refuses, in its words.
   */
  vendor?: string;
}
export interface ConfigTestStep {
  /**
   * What the step is about, for the report. Without it, its number.
   */
  name?: string;
  after?: ConfigTestDuration;
  given?: ConfigTestStepGiven;
  /**
   * Number of requests that are sent, one after the other.
   */
  times?: number;
  every?: ConfigTestDuration;
  /**
   * true: all requests run at once, also while later steps go on; their answers are awaited last.
   */
  background?: boolean;
  expect?: ConfigTestExpect;
}
export interface ConfigTestStepGiven {
  /**
   * Name of the user who asks. All users of a test have its plan and credits, each with counters of their own. Without it, one user.
   */
  user?: string;
  /**
   * Model that is asked for. For one that is not in the configuration set /model of `body`. Without it, a chat model that the plan may call.
   */
  model?: string;
  /**
   * Endpoint of the gateway. Without it, that of the model's kind.
   */
  endpoint?: "chat" | "messages" | "responses" | "embeddings" | "rerank" | "speech" | "transcription" | "image";
  /**
   * true: asks for a stream of events.
   */
  stream?: boolean;
  /**
   * Text that the model is asked. Without it, a greeting.
   */
  prompt?: string;
  /**
   * Most tokens of the answer, in the endpoint's own field. Without it, the request has no limit.
   */
  max_tokens?: number;
  /**
   * Names of functions that are offered to the model. Without it, none.
   */
  tools?: string[];
  /**
   * Fields over the request's own, or the whole body as text. Without it, the request's own.
   */
  body?:
    | {
        [k: string]: unknown;
      }
    | string;
  /**
   * Headers of the request by name. Without it, only the usual ones.
   */
  headers?: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^[A-Za-z0-9-]+$".
     */
    [k: string]: string;
  };
  /**
   * false: the request has no key.
   */
  credentials?: boolean;
  leave_after?: ConfigTestDuration;
  /**
   * What upstreams do from here on, by name. `*` is every other one. Without it, they are healthy.
   */
  upstreams?: {
    [k: string]: ConfigTestFault;
  };
}
export interface ConfigTestExpect {
  /**
   * HTTP status of the answer. 0: the connection broke before one.
   */
  status?: number;
  /**
   * Code of the error table, also of an error whose code is not sent. none: no error.
   */
  code?: string;
  /**
   * How the request ended for the ledger. none: it was refused before it was a request.
   */
  outcome?:
    | "served"
    | "refused"
    | "failed"
    | "client_fault"
    | "upstream_cut"
    | "gateway_error"
    | "client_gone"
    | "killed"
    | "shutdown"
    | "none";
  /**
   * true: the answer came to its end.
   */
  complete?: boolean;
  /**
   * The whole body, or what is in it.
   */
  body?: string | ConfigTestBody;
  /**
   * Headers of the answer. none: there is no such header.
   */
  headers?: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^[A-Za-z0-9-]+$".
     */
    [k: string]: number | string | ConfigTestText;
  };
  events?: ConfigTestAmount;
  /**
   * Upstream that served, or none.
   */
  upstream?: string;
  /**
   * All targets that the chain came to, in order, or their number. An upstream alone says nothing of how the attempt ended.
   */
  attempts?: number | (string | ConfigTestAttempt)[];
  /**
   * JSON pointers of fields that the upstream could not be sent.
   */
  dropped?: string[];
  /**
   * Limit of the plan that refused the request, or none.
   */
  limit?: "day" | "hour" | "minute" | "streams" | "credits" | "none";
  charge?: ConfigTestAmount;
  credits?: ConfigTestAmount;
  used?: ConfigTestUsed;
  left?: ConfigTestLeft;
  took?: ConfigTestTime;
}
export interface ConfigTestBody {
  /**
   * Text, or several texts, that it contains.
   */
  contains?: string | string[];
  /**
   * Regular expression that it matches.
   */
  matches?: string;
  /**
   * Values by JSON pointer into the body.
   */
  json?: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^/".
     */
    [k: string]:
      | string
      | number
      | boolean
      | unknown[]
      | {
          [k: string]: unknown;
        }
      | null;
  };
}
export interface ConfigTestText {
  /**
   * Text, or several texts, that it contains.
   */
  contains?: string | string[];
  /**
   * Regular expression that it matches.
   */
  matches?: string;
}
export interface ConfigTestAttempt {
  /**
   * Upstream of the target.
   */
  upstream?: string;
  /**
   * The model's name there.
   */
  model?: string;
  /**
   * served, skipped, or why it failed.
   */
  outcome?: string;
  /**
   * Its status; 0 without one.
   */
  status?: number;
}
export interface ConfigTestLeft {
  /**
   * Requests left in the calendar day (UTC), or none.
   */
  day?: number | "none";
  /**
   * Requests left in the calendar hour, or none.
   */
  hour?: number | "none";
  /**
   * Requests left in the calendar minute, or none.
   */
  minute?: number | "none";
}

/**
 * Names to replace in prompts before they leave the gateway.
 */
export interface RedactNamesOptions {
  /**
   * Names to replace.
   *
   * @minItems 1
   */
  names: string[];
  /**
   * Text that replaces a name.
   */
  replacement?: string;
}

/**
 * Body of POST /v1/chat/completions. Unknown fields are allowed: they travel to the upstream.
 */
export interface ChatRequest {
  /**
   * Identifier of a chat model.
   */
  model: string;
  /**
   * The conversation so far: with its parts and tool calls at most 50,000 JSON values.
   *
   * @minItems 1
   */
  messages: ChatMessage[];
  /**
   * Sampling temperature.
   */
  temperature?: number | null;
  /**
   * Nucleus sampling.
   */
  top_p?: number | null;
  /**
   * Most tokens of the answer.
   */
  max_tokens?: number | null;
  /**
   * Most tokens of the answer, reasoning included.
   */
  max_completion_tokens?: number | null;
  /**
   * Answer as server-sent events.
   */
  stream?: boolean | null;
  /**
   * Options of the stream.
   */
  stream_options?: {
    /**
     * Send a last event with the usage.
     */
    include_usage?: boolean | null;
    /**
     * Pad events against traffic analysis.
     */
    include_obfuscation?: boolean | null;
    [k: string]: unknown;
  } | null;
  /**
   * Tools the model may call.
   */
  tools?: ChatTool[] | null;
  /**
   * Which tool to call.
   */
  tool_choice?:
    | string
    | {
        [k: string]: unknown;
      }
    | null;
  /**
   * Allow several calls at once.
   */
  parallel_tool_calls?: boolean | null;
  /**
   * Former name of tools.
   */
  functions?:
    | {
        [k: string]: unknown;
      }[]
    | null;
  /**
   * Former name of tool_choice.
   */
  function_call?:
    | string
    | {
        [k: string]: unknown;
      }
    | null;
  /**
   * Number of answers.
   */
  n?: number | null;
  /**
   * Texts that end the answer.
   */
  stop?: string | string[] | null;
  /**
   * Seed for repeatable sampling.
   */
  seed?: number | null;
  /**
   * Penalty on repeated tokens.
   */
  frequency_penalty?: number | null;
  /**
   * Penalty on tokens that occurred.
   */
  presence_penalty?: number | null;
  /**
   * Bias by token id.
   */
  logit_bias?: {
    [k: string]: unknown;
  } | null;
  /**
   * Return log probabilities.
   */
  logprobs?: boolean | null;
  /**
   * How many alternatives per token.
   */
  top_logprobs?: number | null;
  /**
   * Shape of the answer.
   */
  response_format?: {
    [k: string]: unknown;
  } | null;
  /**
   * How much to reason.
   */
  reasoning_effort?: string | null;
  /**
   * How long the answer is to be.
   */
  verbosity?: string | null;
  /**
   * Kinds of output.
   */
  modalities?: string[] | null;
  /**
   * Options of audio output.
   */
  audio?: {
    [k: string]: unknown;
  } | null;
  /**
   * Predicted output.
   */
  prediction?: {
    [k: string]: unknown;
  } | null;
  /**
   * Labels of the caller.
   */
  metadata?: {
    [k: string]: unknown;
  } | null;
  /**
   * Processing class at the provider.
   */
  service_tier?: string | null;
  /**
   * Keep the answer at the provider.
   */
  store?: boolean | null;
  /**
   * Options of the provider's web search.
   */
  web_search_options?: {
    [k: string]: unknown;
  } | null;
  /**
   * Groups prompts for the provider's cache.
   */
  prompt_cache_key?: string | null;
  /**
   * Stable pseudonym of the end user.
   */
  safety_identifier?: string | null;
  /**
   * Identifier of the end user.
   */
  user?: string | null;
  [k: string]: unknown;
}
export interface ChatMessage {
  /**
   * Who speaks: system, developer, user, assistant, tool, function.
   */
  role: string;
  /**
   * Text, or parts.
   */
  content?: string | ChatContentPart[] | null;
  /**
   * Name of the speaker.
   */
  name?: string | null;
  /**
   * Calls the assistant made.
   */
  tool_calls?:
    | {
        [k: string]: unknown;
      }[]
    | null;
  /**
   * The call a tool message answers.
   */
  tool_call_id?: string | null;
  /**
   * A refusal of the assistant.
   */
  refusal?: string | null;
  /**
   * Former name of tool_calls.
   */
  function_call?: {
    [k: string]: unknown;
  } | null;
  /**
   * Reasoning of an earlier answer.
   */
  reasoning_content?: string | null;
  [k: string]: unknown;
}
export interface ChatContentPart {
  /**
   * Kind of the part.
   */
  type: string;
  /**
   * Text of a text part.
   */
  text?: string;
  [k: string]: unknown;
}
export interface ChatTool {
  /**
   * Kind of the tool; function.
   */
  type?: string;
  /**
   * The function.
   */
  function?: {
    /**
     * Name the model calls it by.
     */
    name: string;
    /**
     * What it does.
     */
    description?: string | null;
    /**
     * JSON Schema of its arguments.
     */
    parameters?: {
      [k: string]: unknown;
    } | null;
    /**
     * Hold the model to the schema.
     */
    strict?: boolean | null;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}

/**
 * Entries of a page; 50 when absent.
 */
export type PageLimit = number;
/**
 * From next_cursor of the page before.
 */
export type PageCursor = string;
/**
 * Body of POST /admin/explain: about a request that might come, or with `request` about one of the decision log.
 */
export type ExplainRequest = NewRequestQuestion | PastRequestQuestion;
/**
 * The gateway's name of an endpoint that models serve.
 */
export type InferenceEndpoint =
  "chat" | "messages" | "responses" | "embeddings" | "rerank" | "speech" | "transcription" | "image";
/**
 * drain: no new requests, running ones finish; open: as an open breaker; close: tried whatever its breaker has counted.
 */
export type ManualMode = "drain" | "open" | "close";
/**
 * For the next page; null on the last one.
 */
export type NextCursor = string | null;
/**
 * To either question.
 */
export type ExplainAnswer = Explanation | PastExplanation;
/**
 * open: it is left alone.
 */
export type BreakerState = "closed" | "open" | "half_open";
/**
 * A viewer changes nothing.
 */
export type AdminRole = "viewer" | "operator";

export interface AdminSchemas {
  AuditQuery: AuditQuery;
  RollbackRequest: RollbackRequest;
  ConfigurationDiffQuery: ConfigurationDiffQuery;
  ExplainRequest: ExplainRequest;
  LedgerQuery: LedgerQuery;
  LedgerExportQuery: LedgerExportQuery;
  UsageQuery: UsageQuery;
  AdminSessionRequest: AdminSessionRequest;
  UpstreamManualRequest: UpstreamManualRequest;
  AdminUserQuery: AdminUserQuery;
  NewUserRequest: NewUserRequest;
  UserChangeRequest: UserChangeRequest;
  CreditsRequest: CreditsRequest;
  CreditGrantQuery: CreditGrantQuery;
  AdminKeyRequest: AdminKeyRequest;
  AdminKeyChangeRequest: AdminKeyChangeRequest;
  AdminKeyRollRequest: AdminKeyRollRequest;
}
/**
 * Parameters of GET /admin/audit.
 */
export interface AuditQuery {
  limit?: PageLimit;
  cursor?: PageCursor;
}
/**
 * Body of POST /admin/rollback.
 */
export interface RollbackRequest {
  /**
   * A hash or the beginning of one, or how many generations back; 1 when absent.
   */
  to?: string | number;
}
/**
 * Parameters of GET /admin/config/diff.
 */
export interface ConfigurationDiffQuery {
  /**
   * Hash of a kept generation, or the beginning of one.
   */
  from: string;
  /**
   * The same; what serves when absent.
   */
  to?: string;
}
/**
 * About a request that might come. One of `tier` and `user` is needed, except where there is only one plan and it may call every model.
 */
export interface NewRequestQuestion {
  /**
   * As a client would ask for it.
   */
  model: string;
  /**
   * The plan; the user's when absent, or the only one.
   */
  tier?: string;
  /**
   * Id or address of whose counters and credits it is to meet; somebody who has used nothing when absent.
   */
  user?: string;
  /**
   * Id of an API key of the user's that it would be sent with.
   */
  key?: string;
  endpoint?: InferenceEndpoint;
  /**
   * Whether a stream is asked for.
   */
  stream?: boolean;
  /**
   * Over the least body that the endpoint takes.
   */
  body?: {
    [k: string]: unknown;
  };
  /**
   * Upstreams as if they could not be reached.
   */
  down?: string[];
  /**
   * Upstreams as if their breakers were open, besides those that are.
   */
  open?: string[];
  /**
   * What the upstream will have counted of the prompt; by its size when absent.
   */
  prompt_tokens?: number;
  /**
   * What the upstream will have counted of the answer; what is held when absent.
   */
  output_tokens?: number;
}
/**
 * About a request of the decision log, which says what it was.
 */
export interface PastRequestQuestion {
  /**
   * The id of a request, or its X-Request-Id.
   */
  request: string;
  /**
   * The plan; that of the time when absent.
   */
  tier?: string;
  /**
   * Upstreams as if they could not be reached.
   */
  down?: string[];
  /**
   * Upstreams as if their breakers were open, besides those that were left out then.
   */
  open?: string[];
}
/**
 * Parameters of GET /admin/ledger.
 */
export interface LedgerQuery {
  /**
   * Id of a user.
   */
  user?: string;
  /**
   * Id of an API key.
   */
  key?: string;
  /**
   * Route id of a model.
   */
  model?: string;
  /**
   * Name of an upstream.
   */
  upstream?: string;
  /**
   * How requests ended.
   */
  outcome?:
    | "served"
    | "refused"
    | "failed"
    | "client_fault"
    | "upstream_cut"
    | "gateway_error"
    | "client_gone"
    | "killed"
    | "shutdown";
  /**
   * `name:value` of a tag.
   */
  tag?: string;
  /**
   * Of one request.
   */
  request_id?: string;
  /**
   * Recorded at this time or later; of a date, at its beginning in UTC.
   */
  from?: string;
  /**
   * Recorded before.
   */
  to?: string;
  /**
   * Entries of a page; 50 when absent.
   */
  limit?: number;
  cursor?: PageCursor;
}
/**
 * Parameters of GET /admin/ledger/export.
 */
export interface LedgerExportQuery {
  /**
   * `ndjson` when absent: an entry of GET /admin/ledger a line.
   */
  format?: "ndjson" | "csv";
  /**
   * Id of a user.
   */
  user?: string;
  /**
   * Id of an API key.
   */
  key?: string;
  /**
   * Route id of a model.
   */
  model?: string;
  /**
   * Name of an upstream.
   */
  upstream?: string;
  /**
   * How requests ended.
   */
  outcome?:
    | "served"
    | "refused"
    | "failed"
    | "client_fault"
    | "upstream_cut"
    | "gateway_error"
    | "client_gone"
    | "killed"
    | "shutdown";
  /**
   * `name:value` of a tag.
   */
  tag?: string;
  /**
   * Of one request.
   */
  request_id?: string;
  /**
   * Recorded at this time or later; of a date, at its beginning in UTC.
   */
  from?: string;
  /**
   * Recorded before.
   */
  to?: string;
}
/**
 * Parameters of GET /admin/usage.
 */
export interface UsageQuery {
  /**
   * `day` when absent.
   */
  per?: "hour" | "day";
  /**
   * What has a row of its own, with commas: model, upstream, tier, user, key. Nothing when absent: one row an hour or day.
   */
  by?: string;
  /**
   * Of hours or days that begin then or later; 30 days ago when absent.
   */
  from?: string;
  /**
   * Of those that begin before; now when absent.
   */
  to?: string;
  /**
   * Id of a user.
   */
  user?: string;
  /**
   * Id of an API key.
   */
  key?: string;
  /**
   * Route id of a model.
   */
  model?: string;
  /**
   * Name of an upstream.
   */
  upstream?: string;
  /**
   * Rows of a page; 50 when absent.
   */
  limit?: number;
  cursor?: PageCursor;
}
/**
 * Body of POST /admin/session.
 */
export interface AdminSessionRequest {
  /**
   * One of the tokens of server.admin.
   */
  token: string;
}
/**
 * Body of POST /admin/upstreams/{name}/manual.
 */
export interface UpstreamManualRequest {
  mode: ManualMode;
  /**
   * After which it ends by itself; up to 7 days.
   */
  expires_in_seconds: number;
  /**
   * For those who find it.
   */
  reason: string;
}
/**
 * Parameters of GET /admin/users.
 */
export interface AdminUserQuery {
  /**
   * An id, or how an address begins.
   */
  search?: string;
  /**
   * Only users on this plan.
   */
  tier?: string;
  /**
   * Only those that are disabled, or that are not.
   */
  disabled?: boolean;
  limit?: PageLimit;
  cursor?: PageCursor;
}
/**
 * Body of POST /admin/users.
 */
export interface NewUserRequest {
  /**
   * Address; nobody else has it.
   */
  email: string;
  /**
   * auth.signup.tier when absent.
   */
  plan_tier?: string;
  /**
   * Not negative; auth.signup.credits when absent.
   */
  credits?: number | string;
}
/**
 * Body of PATCH /admin/users/{user_id}.
 */
export interface UserChangeRequest {
  /**
   * One of the configuration.
   */
  plan_tier?: string;
  /**
   * Whether keys and tokens are to stop.
   */
  disabled?: boolean;
}
/**
 * Body of POST /admin/users/{user_id}/credits.
 */
export interface CreditsRequest {
  /**
   * What is given; negative: taken. Of a string no place is lost.
   */
  amount: number | string;
  /**
   * Why; kept with the grant.
   */
  reason: string;
}
/**
 * Parameters of GET /admin/users/{user_id}/credits.
 */
export interface CreditGrantQuery {
  limit?: PageLimit;
  cursor?: PageCursor;
}
/**
 * Body of POST /admin/users/{user_id}/keys.
 */
export interface AdminKeyRequest {
  /**
   * Label, not blank.
   */
  name: string;
  /**
   * Seconds until it ends, or a time such as 12h or 30d.
   */
  expires_in?: number | string | null;
  /**
   * In place of expires_in: when the key ends, in RFC 3339.
   */
  expires_at?: string | null;
  /**
   * The only models that it may call; * matches any text.
   */
  models?: string[] | null;
  /**
   * amount and per: what its requests may cost together in a day, a month, or in total.
   */
  budget?: {
    [k: string]: unknown;
  } | null;
  /**
   * Marks of its requests in log and ledger.
   */
  tags?: {
    [k: string]: string;
  } | null;
  /**
   * What it may be used for: inference endpoints, reading what was used; without them both.
   */
  scopes?: ("inference" | "usage")[] | null;
  /**
   * The only addresses and networks (CIDR) that it may be used from.
   */
  addresses?: string[] | null;
}
/**
 * Body of PATCH /admin/keys/{key_id}: what is absent stays, null takes a limit away.
 */
export interface AdminKeyChangeRequest {
  /**
   * Label, not blank.
   */
  name?: string;
  /**
   * Seconds until it ends, or a time such as 12h or 30d.
   */
  expires_in?: number | string | null;
  /**
   * In place of expires_in: when the key ends, in RFC 3339.
   */
  expires_at?: string | null;
  /**
   * The only models that it may call; * matches any text.
   */
  models?: string[] | null;
  /**
   * amount and per: what its requests may cost together in a day, a month, or in total.
   */
  budget?: {
    [k: string]: unknown;
  } | null;
  /**
   * Marks of its requests in log and ledger.
   */
  tags?: {
    [k: string]: string;
  } | null;
  /**
   * What it may be used for: inference endpoints, reading what was used; without them both.
   */
  scopes?: ("inference" | "usage")[] | null;
  /**
   * The only addresses and networks (CIDR) that it may be used from.
   */
  addresses?: string[] | null;
}
/**
 * Body of POST /admin/keys/{key_id}/roll.
 */
export interface AdminKeyRollRequest {
  /**
   * For how long the old key still serves: seconds, or a time such as 24h; 0 ends it at once; 24h when absent.
   */
  grace?: number | string | null;
}
/**
 * One line of the decision log: what was decided about one request, and on what grounds. Nothing of what it said.
 */
export interface Decision {
  /**
   * Version of this format.
   */
  v: 1;
  /**
   * When the request arrived.
   */
  time: string;
  /**
   * The gateway's own id, that of the charge; null when it was refused before it was one to admit.
   */
  id: string | null;
  /**
   * X-Request-Id.
   */
  request_id: string;
  /**
   * Hash of the configuration that decided.
   */
  config: string;
  /**
   * The gateway's name of the endpoint.
   */
  endpoint: "chat" | "messages" | "responses" | "embeddings" | "rerank" | "speech" | "transcription" | "image";
  /**
   * Keyed digest of the user's id, the same in every line of one store; null when nobody was known.
   */
  user: string | null;
  /**
   * The same of the API key's id; null with an access token.
   */
  key: string | null;
  /**
   * The user's plan tier.
   */
  plan: string | null;
  /**
   * As the client asked for it, at most 200 characters; null when the body was not read.
   */
  model: string | null;
  /**
   * Whether a stream was asked for.
   */
  stream: boolean;
  /**
   * UTF-8 bytes of the prompt's text.
   */
  prompt_bytes: number | null;
  /**
   * Output tokens that the client allowed; null when it did not say.
   */
  max_output: number | null;
  /**
   * Answers asked for (n).
   */
  answers: number;
  asked: DecisionUnits;
  estimated: DecisionEstimate;
  /**
   * What the request needs of a model.
   */
  features: ("tools" | "vision" | "audio" | "documents" | "json_schema" | "json_object" | "reasoning" | "logprobs")[];
  /**
   * How it ended.
   */
  outcome:
    | "served"
    | "refused"
    | "failed"
    | "client_fault"
    | "upstream_cut"
    | "gateway_error"
    | "client_gone"
    | "killed"
    | "shutdown";
  /**
   * Of the answer; 499 for a client that left before one.
   */
  status: number;
  /**
   * The error's code.
   */
  code: string | null;
  /**
   * That served.
   */
  upstream: string | null;
  /**
   * In order, those that a guard skipped included.
   */
  attempts: DecisionAttempt[];
  /**
   * Fields that the upstream could not be asked.
   */
  dropped: number;
  tokens: DecisionTokens;
  /**
   * Whether tokens were estimated in part.
   */
  tokens_estimated: boolean;
  /**
   * In billing.currency, exact.
   */
  charge: string;
  /**
   * Whether the counts of limits were returned.
   */
  given_back: boolean;
  /**
   * For which the body was waited for.
   */
  body_ms: number | null;
  /**
   * Until an upstream's answer or the beginning of its stream; from arrival.
   */
  first_event_ms: number | null;
  /**
   * Of upstreams, overlapping attempts counted once.
   */
  upstream_ms: number | null;
  /**
   * The rest: total without body and upstreams.
   */
  gateway_ms: number | null;
  /**
   * From arrival to the end.
   */
  total_ms: number;
}
/**
 */
export interface DecisionUnits {
  /**
   * Of speech.
   */
  characters?: number;
  /**
   * Milliseconds of audio.
   */
  audio_ms?: number;
  /**
   * Images.
   */
  images?: number;
  /**
   * SIZE/QUALITY by which images are priced.
   */
  image_variant?: string;
}
/**
 */
export interface DecisionEstimate {
  /**
   * Tokens.
   */
  prompt: number;
  /**
   * null when the client did not say: then billing.hold_output_tokens counts.
   */
  completion: number | null;
}
/**
 */
export interface DecisionAttempt {
  /**
   * Name in the configuration.
   */
  upstream: string;
  /**
   * The upstream's name of the model.
   */
  model: string;
  /**
   * ok, the class of the failure, skipped by a guard such as the breaker, or running: the request ended before the attempt.
   */
  outcome: string;
  /**
   * The upstream's status where it failed with one, else 0.
   */
  status: number;
  /**
   * Milliseconds from the request's arrival.
   */
  start_ms: number;
  /**
   * When its stream began, or its answer was there; null when neither came.
   */
  answered_ms: number | null;
  /**
   * null while it ran.
   */
  end_ms: number | null;
}
/**
 */
export interface DecisionTokens {
  /**
   * Those of a cache included.
   */
  prompt: number;
  /**
   * Reasoning included.
   */
  completion: number;
  /**
   * Of prompt, read from a cache.
   */
  cached: number;
  /**
   * Of completion.
   */
  reasoning: number;
  /**
   * Of prompt, written to a cache.
   */
  cache_write?: number;
  /**
   * Of cache_write, kept for an hour.
   */
  cache_write_1h?: number;
  /**
   * Of speech.
   */
  characters?: number;
  /**
   * Milliseconds of audio.
   */
  audio_ms?: number;
  /**
   * Images.
   */
  images?: number;
  /**
   * SIZE/QUALITY by which images are priced.
   */
  image_variant?: string;
}
/**
 * A page of the audit log, the newest first.
 */
export interface AuditPage {
  /**
   * The entries.
   */
  data: AuditEntry[];
  next_cursor: NextCursor;
}
/**
 * A change, a sign-in or an export.
 */
export interface AuditEntry {
  /**
   * Unique.
   */
  id: string;
  /**
   * When it came.
   */
  at: string;
  /**
   * The name of the token; cli for the command line, user for a user, empty where nobody is known.
   */
  name: string;
  /**
   * The role of the token; user for a user, none for a sign-in that failed.
   */
  role: "viewer" | "operator" | "user" | "none";
  /**
   * `operationId` of the call; signIn, signInFailed, signOut, userSignIn or export.
   */
  action: string;
  /**
   * The id or name of what it was about.
   */
  target: string | null;
  /**
   * What was asked for; no secret is among it.
   */
  details: {
    [k: string]: unknown;
  };
  /**
   * begun: its end was not written, as when the process ended meanwhile.
   */
  outcome: "begun" | "done" | "refused" | "failed";
  /**
   * Of the answer; null before there is one, and for a command.
   */
  status: number | null;
  /**
   * The client's IP address; null for a command, and where it was removed with a user's account.
   */
  address: string | null;
  /**
   * SHA-256 over this entry and `previous`; null until its end is written.
   */
  digest: string | null;
  /**
   * `digest` of the entry before; null for the first one.
   */
  previous: string | null;
  /**
   * Target and details were removed with a user's account.
   */
  erased: boolean;
}
/**
 * What one provider listed.
 */
export interface ModelListStatus {
  /**
   * Models in the last list, whether or not they are published; null: there is no list yet.
   */
  listed: number | null;
  /**
   * When the provider gave that list; null: there is none yet.
   */
  listed_at: string | null;
  /**
   * Why the provider gave no list when it was last asked; null: it gave one.
   */
  error: string | null;
}
/**
 * The configuration in force.
 */
export interface ConfigurationState {
  /**
   * Counts the changes of the process that answers.
   */
  generation: number;
  /**
   * Of its text and code.
   */
  hash: string;
  /**
   * Its path.
   */
  file: string;
  /**
   * Since when it serves.
   */
  loaded_at: string;
  /**
   * What is wrong with it, and lets it serve all the same; users whose plan is not defined among them.
   */
  warnings: ConfigurationDiagnostic[];
  /**
   * Sections that differ from what runs: they need a restart.
   */
  pending: string[];
  /**
   * The lists of models that providers gave, by upstream: of those that publish models from their list. Absent where none does.
   */
  model_lists?: {
    [k: string]: ModelListStatus;
  };
  /**
   * Why the file was last refused; null when the last one was taken.
   */
  last_rejection: ConfigurationRejection | null;
  /**
   * The file as it is, while something else serves after a rollback.
   */
  passed_over: PassedOverFile | null;
  /**
   * The latest change that served a share of the users first.
   */
  guard: GuardState | null;
  /**
   * What a rollback can return to, the latest first.
   */
  generations: KeptGeneration[];
  /**
   * All that share the store, as far as they are known.
   */
  instances: InstanceGeneration[];
  /**
   * Whether they have the same configuration; null when that is not known.
   */
  agree: boolean | null;
}
/**
 * One finding, at a place in a file.
 */
export interface ConfigurationDiagnostic {
  /**
   * Its path.
   */
  file: string;
  /**
   * From 1.
   */
  line: number;
  /**
   * From 1.
   */
  column: number;
  /**
   * After the end, when the place ends on the same line.
   */
  endColumn?: number;
  /**
   * JSON pointer into the merged configuration; empty for a file as a whole.
   */
  pointer: string;
  /**
   * See schemas/README.md.
   */
  rule: string;
  /**
   * A warning does not keep it from serving. A note is a suggestion.
   */
  severity: "error" | "warning" | "note";
  /**
   * What is wrong.
   */
  message: string;
  /**
   * What to do about it.
   */
  hint: string | null;
}
/**
 * A file that cannot serve.
 */
export interface ConfigurationRejection {
  /**
   * When it was read.
   */
  at: string;
  /**
   * What is wrong with it.
   */
  diagnostics: ConfigurationDiagnostic[];
}
/**
 * A file that is not tried again until it changes.
 */
export interface PassedOverFile {
  /**
   * Of the file.
   */
  hash: string;
  /**
   * Why.
   */
  reason: string;
  /**
   * Since when.
   */
  at: string;
}
/**
 * A comparison of two configurations.
 */
export interface GuardState {
  /**
   * running, or how it ended.
   */
  state: string;
  /**
   * Hash of what served before.
   */
  base: string;
  /**
   * Hash of what is on trial.
   */
  candidate: string;
  /**
   * Of the users, from 0 to 1.
   */
  share: number;
  /**
   * null before it has begun.
   */
  started_at: string | null;
  /**
   * When it is decided at the latest.
   */
  ends_at: string | null;
  /**
   * null while it runs.
   */
  decided_at: string | null;
  /**
   * Of the decision.
   */
  reason: string | null;
  requests: GuardCounts;
  failures: GuardCounts;
  /**
   * Time to first token, of the candidate by the base's.
   */
  ttft_ratio: number | null;
}
/**
 * Of all instances, as far as they are known.
 */
export interface GuardCounts {
  /**
   * Of what served before.
   */
  base: number;
  /**
   * Of what is on trial.
   */
  candidate: number;
}
/**
 * A configuration that has served.
 */
export interface KeptGeneration {
  /**
   * Of its text and code.
   */
  hash: string;
  /**
   * When it began to serve.
   */
  since: string;
  /**
   * Whether it is in force.
   */
  serves: boolean;
  /**
   * What put it in force; null: a former version of the gateway has not noted it.
   */
  by: "start" | "file" | "reload" | "rollback" | "guard" | null;
}
/**
 * What one instance serves.
 */
export interface InstanceGeneration {
  /**
   * Its name.
   */
  instance: string;
  /**
   * Of its configuration.
   */
  hash: string;
  /**
   * Counts its changes.
   */
  generation: number;
  /**
   * Since when.
   */
  loaded_at: string;
  /**
   * Whether it is about to end.
   */
  draining: boolean;
}
/**
 * What the configuration in force was made of, without its secrets.
 */
export interface ConfigurationSource {
  /**
   * Of its text and code.
   */
  hash: string;
  /**
   * The main file first.
   */
  files: SourceFile[];
  /**
   * Local plugins.
   */
  plugins: SourcePlugin[];
  /**
   * Digest of every file that the local plugins consist of.
   */
  code: {
    [k: string]: string;
  };
  /**
   * The texts that the last rejection is about; null when there is none.
   */
  rejected: RejectedSource | null;
}
/**
 * One file, as it is written.
 */
export interface SourceFile {
  /**
   * From the folder of the main file.
   */
  path: string;
  /**
   * The absolute path.
   */
  file: string;
  /**
   * References are not resolved, secrets are left out.
   */
  value: {
    [k: string]: unknown;
  };
  /**
   * With the lines and columns of the file; a secret in it is as many dots.
   */
  text: string;
}
/**
 * What the linker has to know of a plugin.
 */
export interface SourcePlugin {
  /**
   * Its path, as configured.
   */
  use: string;
  /**
   * Its name.
   */
  name: string;
  /**
   * Where in the pipeline it works.
   */
  stage: string;
  /**
   * Further stages that it works in; absent: none.
   */
  also?: string[];
  /**
   * Plugins before it.
   */
  needs: string[];
  /**
   * Of its options.
   */
  schema: {
    [k: string]: unknown;
  };
}
/**
 * Files that cannot serve.
 */
export interface RejectedSource {
  /**
   * When they were read.
   */
  at: string;
  /**
   * What is wrong with them.
   */
  diagnostics: ConfigurationDiagnostic[];
  /**
   * The main file first.
   */
  files: SourceText[];
}
/**
 * One file.
 */
export interface SourceText {
  /**
   * From the folder of the main file.
   */
  path: string;
  /**
   * The absolute path.
   */
  file: string;
  /**
   * With the lines and columns of the file; a secret in it is as many dots.
   */
  text: string;
}
/**
 * The change was taken.
 */
export interface ConfigurationTaken {
  /**
   * It was.
   */
  ok: true;
  /**
   * Of what serves.
   */
  hash: string;
  /**
   * It serves a share of the users first.
   */
  guarded?: true;
  /**
   * Cooldowns of upstreams' keys that the reload has ended; absent without any.
   */
  cooldowns_ended?: number;
}
/**
 * The change was not taken: what served before serves on.
 */
export interface ConfigurationRefused {
  /**
   * It was not.
   */
  ok: false;
  /**
   * Why.
   */
  diagnostics: ConfigurationDiagnostic[];
}
/**
 * The last generations, and what each of them meant.
 */
export interface GenerationList {
  /**
   * The latest first.
   */
  data: GenerationEffect[];
}
/**
 * A configuration that has served.
 */
export interface GenerationEffect {
  /**
   * Of its text and code.
   */
  hash: string;
  /**
   * When it began to serve.
   */
  since: string;
  /**
   * Whether it is in force.
   */
  serves: boolean;
  /**
   * What put it in force; null: a former version of the gateway has not noted it.
   */
  by: "start" | "file" | "reload" | "rollback" | "guard" | null;
  /**
   * Against the one before; null for the oldest, and where either can no longer be read.
   */
  effect: EffectFrom | null;
}
/**
 * What it meant to go from one configuration to another.
 */
export interface EffectFrom {
  /**
   * Hash of the one before.
   */
  from: string;
  summary: EffectSummary;
  /**
   * The worst first, 100 at most.
   */
  changes: EffectChange[];
}
/**
 * Numbers of changes.
 */
export interface EffectSummary {
  /**
   * Clients notice them as failures.
   */
  breaking: number;
  /**
   * They may.
   */
  risky: number;
  /**
   * They do not.
   */
  safe: number;
}
/**
 * One change, as `gateway diff` tells it.
 */
export interface EffectChange {
  /**
   * What it is.
   */
  kind: string;
  /**
   * How bad it may be.
   */
  class: "breaking" | "risky" | "safe";
  [k: string]: unknown;
}
/**
 * One of the two.
 */
export interface ConfigurationDiffSide {
  /**
   * Of its text and code.
   */
  hash: string;
  /**
   * When it began to serve.
   */
  since: string;
  /**
   * What put it in force; null: a former version of the gateway has not noted it.
   */
  by: "start" | "file" | "reload" | "rollback" | "guard" | null;
}
/**
 * What it means to go from one kept generation to another.
 */
export interface ConfigurationDiff {
  from: ConfigurationDiffSide;
  to: ConfigurationDiffSide;
  summary: EffectSummary;
  /**
   * The worst first.
   */
  changes: EffectChange[];
}
/**
 * What would become of a request, and why. Amounts of money are decimals.
 */
export interface Explanation {
  request: ExplainedSubject;
  answer: ExplainedAnswer;
  /**
   * The pipeline's steps, in order.
   */
  stages: ExplainedStage[];
  /**
   * The model's chain, in order.
   */
  chain: ExplainedStep[];
  limits: ExplainedLimits;
  credits: ExplainedCredits;
  charge: ExplainedCharge;
}
/**
 * A request, with what stands in for what was left out.
 */
export interface ExplainedSubject {
  /**
   * As it is asked for.
   */
  model: string;
  /**
   * Of the model.
   */
  kind: "chat" | "embedding" | "rerank" | "speech" | "transcription" | "image";
  endpoint: InferenceEndpoint;
  /**
   * Whether a stream is asked for.
   */
  stream: boolean;
  /**
   * The plan.
   */
  tier: string;
  /**
   * Id; null: nobody in particular.
   */
  user: string | null;
  /**
   * When it would come.
   */
  at: string;
  /**
   * Of the configuration that decides.
   */
  hash: string;
}
/**
 * What a client would get.
 */
export interface ExplainedAnswer {
  /**
   * Of the answer; 0: the connection ends before one.
   */
  status: number;
  /**
   * The error's code.
   */
  code: string | null;
  /**
   * How it would end.
   */
  outcome:
    | "served"
    | "refused"
    | "failed"
    | "client_fault"
    | "upstream_cut"
    | "gateway_error"
    | "client_gone"
    | "killed"
    | "shutdown";
  /**
   * That serves; null: none.
   */
  upstream: string | null;
  /**
   * By name, in lower case.
   */
  headers: {
    [k: string]: string;
  };
  /**
   * Of a refusal or failure; else empty.
   */
  message: string;
  /**
   * Until the answer's end.
   */
  took_ms: number;
}
/**
 * One step of the pipeline.
 */
export interface ExplainedStage {
  /**
   * Where in the pipeline it works.
   */
  stage: "identify" | "admit" | "guard" | "transform" | "relay" | "account";
  /**
   * Its name.
   */
  plugin: string;
  /**
   * changed: it went on with another call or body; answered: in an upstream's stead; failed: it threw.
   */
  decision:
    | "passed"
    | "changed"
    | "answered"
    | "skipped"
    | "refused"
    | "failed"
    | "does not apply"
    | "not reached"
    | "nothing to decide";
  /**
   * Why; empty where there is nothing to say.
   */
  reason: string;
}
/**
 * One place of a chain.
 */
export interface ExplainedStep {
  /**
   * How its targets share.
   */
  balance: "single" | "weighted" | "latency" | "sticky";
  /**
   * In the order in which they are tried, then those that are not.
   */
  targets: ExplainedTarget[];
}
/**
 * A model of an upstream.
 */
export interface ExplainedTarget {
  /**
   * Its name.
   */
  upstream: string;
  /**
   * The upstream's name of the model.
   */
  model: string;
  /**
   * The wire format.
   */
  dialect: string;
  /**
   * What becomes of it.
   */
  decision: "served" | "failed" | "skipped" | "not tried";
  /**
   * Why; empty for the one that serves.
   */
  reason: string;
  /**
   * That it is sent, retries included.
   */
  requests: number;
  /**
   * For which it is waited for.
   */
  took_ms: number;
  /**
   * JSON pointers of what its dialect cannot be told of the body.
   */
  dropped: string[];
  /**
   * What its dialect cannot be told of what the model promises.
   */
  lost_features: string[];
}
/**
 * Of the plan, with what the user has used.
 */
export interface ExplainedLimits {
  day: ExplainedWindow;
  hour: ExplainedWindow;
  minute: ExplainedWindow;
  streams: AdminUserStreams;
}
/**
 * One window.
 */
export interface ExplainedWindow {
  /**
   * What the plan allows; null: no limit.
   */
  limit: number | null;
  /**
   * This request included, as far as it counts.
   */
  used: number;
  /**
   * Of the limit; null: no limit.
   */
  left: number | null;
  /**
   * When the next one begins.
   */
  resets_at: string;
}
/**
 * Streams of a user.
 */
export interface AdminUserStreams {
  /**
   * How many run.
   */
  running: number;
  /**
   * How many the plan allows; null: no limit.
   */
  limit: number | null;
}
/**
 * Of the user.
 */
export interface ExplainedCredits {
  /**
   * Of all amounts.
   */
  currency: string;
  /**
   * null: nobody in particular, with enough of it.
   */
  balance: string | null;
  /**
   * By requests that run; null as the balance.
   */
  held: string | null;
  /**
   * false: charges are recorded, nobody is refused for credits.
   */
  enforced: boolean;
  /**
   * By this request, while it runs.
   */
  hold: string;
}
/**
 * What is charged when upstreams count as is said, or as is held.
 */
export interface ExplainedCharge {
  /**
   * The amount.
   */
  expected: string;
  usage: DecisionTokens;
  /**
   * Whether tokens are estimated in part.
   */
  estimated: boolean;
}
/**
 * A request of the decision log: what was decided then, and what would be now.
 */
export interface PastExplanation {
  before: Decision;
  /**
   * null: nothing of this configuration can be asked.
   */
  now: Explanation | null;
  /**
   * Between then and now.
   */
  differences: ExplainedDifference[];
  /**
   * What is not known, and what stands in for it.
   */
  notes: string[];
}
/**
 * What is decided in another way.
 */
export interface ExplainedDifference {
  /**
   * result: status and code, or how it ends.
   */
  what: "result" | "upstream" | "charge";
  /**
   * Then.
   */
  before: string;
  /**
   * Now.
   */
  now: string;
}
/**
 * A page of the ledger, the last recorded first.
 */
export interface LedgerPage {
  /**
   * May be shorter than the limit, or empty, though another page follows.
   */
  data: LedgerEntry[];
  next_cursor: NextCursor;
}
/**
 * What one request used and cost.
 */
export interface LedgerEntry {
  /**
   * Unique.
   */
  id: string;
  /**
   * As the answer's `X-Request-Id`.
   */
  request_id: string;
  /**
   * Whose it is.
   */
  user_id: string;
  /**
   * The API key; null for a call with an access token.
   */
  key_id: string | null;
  /**
   * Its route id.
   */
  model: string;
  /**
   * The provider that served; null when none did.
   */
  upstream: string | null;
  /**
   * The plan at the time; null where it is not known.
   */
  tier: string | null;
  /**
   * How the request ended.
   */
  outcome:
    | "served"
    | "refused"
    | "failed"
    | "client_fault"
    | "upstream_cut"
    | "gateway_error"
    | "client_gone"
    | "killed"
    | "shutdown";
  /**
   * Whether tokens were counted by the gateway, as the provider had not.
   */
  estimated: boolean;
  usage: LedgerUsage;
  /**
   * Credits charged.
   */
  cost: string;
  /**
   * Of the request and its key.
   */
  tags: {
    [k: string]: string;
  };
  /**
   * When the request came.
   */
  received_at: string;
  /**
   * When it ended.
   */
  ended_at: string;
  /**
   * When it was charged: the order of the list, and what from and to go by.
   */
  recorded_at: string;
  /**
   * From its coming to its end.
   */
  duration_ms: number;
}
/**
 * What was used.
 */
export interface LedgerUsage {
  /**
   * Tokens of what was asked.
   */
  prompt_tokens: number;
  /**
   * Tokens of the answer.
   */
  completion_tokens: number;
  /**
   * Of the prompt's: read from a cache.
   */
  cached_tokens: number;
  /**
   * Of the answer's: spent on reasoning.
   */
  reasoning_tokens: number;
  /**
   * Of a speech; left out when there are none.
   */
  characters?: number;
  /**
   * Length of what was transcribed; left out when there is none.
   */
  audio_ms?: number;
  /**
   * Images made; left out when there are none.
   */
  images?: number;
  /**
   * Written to a cache; left out when there are none.
   */
  cache_write_tokens?: number;
  /**
   * Of them: for an hour; left out when there are none.
   */
  cache_write_1h_tokens?: number;
}
/**
 * A page of usage, the latest day first.
 */
export interface UsagePage {
  /**
   * May be shorter than the limit, or empty, though another page follows.
   */
  data: UsageRow[];
  next_cursor: NextCursor;
}
/**
 * What was recorded in an hour or a day.
 */
export interface UsageRow {
  /**
   * Of the hour or day, in UTC.
   */
  start: string;
  /**
   * When asked for by model.
   */
  model?: string;
  /**
   * When asked for by upstream; null: none served.
   */
  upstream?: string | null;
  /**
   * When asked for by tier; null: not known.
   */
  tier?: string | null;
  /**
   * When asked for by user or key.
   */
  user_id?: string;
  /**
   * When asked for by key; null: access tokens.
   */
  key_id?: string | null;
  /**
   * Requests recorded.
   */
  requests: number;
  /**
   * Of them: those that no provider served, or that it or the gateway broke off.
   */
  failed: number;
  /**
   * Tokens of what was asked.
   */
  prompt_tokens: number;
  /**
   * Tokens of the answers.
   */
  completion_tokens: number;
  /**
   * Of the prompts': read from a cache.
   */
  cached_tokens: number;
  /**
   * Of the answers': spent on reasoning.
   */
  reasoning_tokens: number;
  /**
   * Credits charged.
   */
  cost: string;
}
/**
 * Milliseconds; null where nothing was measured.
 */
export interface Percentiles {
  /**
   * Half took no longer.
   */
  p50: number | null;
  /**
   * 19 of 20 took no longer.
   */
  p95: number | null;
}
/**
 * What each model's chain did, since each of the processes of this listener started.
 */
export interface ModelList {
  /**
   * Of the configuration in force.
   */
  hash: string;
  /**
   * In the order of the configuration.
   */
  data: ModelOperation[];
}
/**
 * A published model.
 */
export interface ModelOperation {
  /**
   * As clients ask for it.
   */
  id: string;
  /**
   * What it does.
   */
  kind: string;
  /**
   * Attempts that served, at all targets.
   */
  served: number;
  duration_ms: Percentiles;
  /**
   * In the order in which they are tried.
   */
  chain: ModelStep[];
}
/**
 * A step of a chain.
 */
export interface ModelStep {
  /**
   * How its targets share.
   */
  balance: string;
  /**
   * Of what the chain served, from 0 to 1; null before it has served.
   */
  share: number | null;
  /**
   * Of the step.
   */
  targets: ModelTarget[];
}
/**
 * An upstream, and the model's name there.
 */
export interface ModelTarget {
  /**
   * Its name.
   */
  upstream: string;
  /**
   * The model's name there.
   */
  model: string;
  /**
   * Of weighted steps.
   */
  weight: number;
  breaker: BreakerState;
  /**
   * Whether requests are sent to it.
   */
  can_serve: boolean;
  /**
   * What an operator has set; null: nothing.
   */
  manual: UpstreamManual | null;
  /**
   * That have ended.
   */
  attempts: number;
  /**
   * Among them.
   */
  served: number;
  /**
   * By a fault of the upstream.
   */
  failed: number;
  /**
   * Of what the chain served, from 0 to 1; null before it has served.
   */
  share: number | null;
  ttft_ms: Percentiles;
}
/**
 * What an operator has set of an upstream, on all instances.
 */
export interface UpstreamManual {
  mode: ManualMode;
  /**
   * When it was set.
   */
  since: string;
  /**
   * When it ends by itself.
   */
  until: string;
  /**
   * Name of the token.
   */
  by: string;
  /**
   * Why.
   */
  reason: string;
  /**
   * Cooldowns of its keys that this has ended; absent without any.
   */
  cooldowns_ended?: number;
}
/**
 * All that share the store, as far as they are known.
 */
export interface InstanceList {
  /**
   * By name.
   */
  data: Instance[];
  /**
   * Whether all that serve have the same configuration; null when that is not known.
   */
  agree: boolean | null;
  /**
   * Whether these are all of them.
   */
  complete: boolean;
}
/**
 * One process.
 */
export interface Instance {
  /**
   * Its name.
   */
  instance: string;
  /**
   * Where it runs.
   */
  host: string;
  /**
   * Of the process.
   */
  pid: number;
  /**
   * When it started.
   */
  started_at: string;
  /**
   * Of its configuration.
   */
  hash: string;
  /**
   * Counts its changes.
   */
  generation: number;
  /**
   * Since when it serves it.
   */
  loaded_at: string;
  /**
   * Whether it is about to end.
   */
  draining: boolean;
  /**
   * Streamed answers under way.
   */
  streams: number;
  /**
   * Plans of which it refuses new requests, being overloaded.
   */
  shedding: string[];
}
/**
 * The pipeline in force; counts are since each of the processes of this listener started.
 */
export interface PluginList {
  /**
   * Of the configuration in force.
   */
  hash: string;
  /**
   * In the order in which they run.
   */
  data: PluginOperation[];
}
/**
 * A step of the pipeline.
 */
export interface PluginOperation {
  /**
   * Its name.
   */
  plugin: string;
  /**
   * Where in the pipeline it works.
   */
  stage: string;
  /**
   * As it is configured.
   */
  use: string;
  /**
   * Hooks that threw.
   */
  failures: number;
  /**
   * That were called.
   */
  hooks: HookTimes[];
}
/**
 * Calls of one hook.
 */
export interface HookTimes {
  /**
   * Its name.
   */
  hook: string;
  /**
   * How many.
   */
  calls: number;
  /**
   * Together.
   */
  total_ms: number;
  /**
   * Milliseconds that half took at most.
   */
  p50: number | null;
  /**
   * The same of 19 of 20.
   */
  p95: number | null;
}
/**
 * One second, of all processes of this listener.
 */
export interface Figure {
  /**
   * Its end.
   */
  at: string;
  /**
   * That ended in it.
   */
  requests_per_second: number;
  /**
   * Requests under way at its end.
   */
  in_flight: number;
  /**
   * Streamed answers under way at its end.
   */
  streams: number;
  /**
   * Requests that failed in it, by code.
   */
  errors: {
    [k: string]: number;
  };
  ttft_ms: Percentiles;
  overhead_ms: Percentiles;
  /**
   * Charged in it, in the configured currency.
   */
  spend_per_second: string;
}
/**
 * `data` of an event: the latest second, and how everything is.
 */
export interface FigureEvent {
  /**
   * Its end.
   */
  at: string;
  /**
   * That ended in it.
   */
  requests_per_second: number;
  /**
   * Requests under way at its end.
   */
  in_flight: number;
  /**
   * Streamed answers under way at its end.
   */
  streams: number;
  /**
   * Requests that failed in it, by code.
   */
  errors: {
    [k: string]: number;
  };
  ttft_ms: Percentiles;
  overhead_ms: Percentiles;
  /**
   * Charged in it, in the configured currency.
   */
  spend_per_second: string;
  /**
   * By name.
   */
  upstreams: {
    [k: string]: FigureUpstream;
  };
  config: FigureConfig;
  instances: FigureInstances;
}
/**
 * An upstream.
 */
export interface FigureUpstream {
  state: BreakerState;
  /**
   * Of the latest requests.
   */
  health: "healthy" | "degraded" | "unknown";
  /**
   * What an operator has set; null: nothing.
   */
  manual: UpstreamManual | null;
}
/**
 * The configuration in force.
 */
export interface FigureConfig {
  /**
   * Counts its changes.
   */
  generation: number;
  /**
   * Of its text and code.
   */
  hash: string;
  /**
   * Since when it serves.
   */
  loaded_at: string;
  /**
   * The file that was refused last; null when the last one was taken.
   */
  last_rejection: FigureRejection | null;
  /**
   * The latest change that served a share of the users first.
   */
  guard: GuardState | null;
}
/**
 * A file that cannot serve; its findings are in GET /admin/config.
 */
export interface FigureRejection {
  /**
   * When it was read.
   */
  at: string;
  /**
   * How many.
   */
  errors: number;
}
/**
 * All that share the store.
 */
export interface FigureInstances {
  /**
   * As far as they are known.
   */
  count: number;
  /**
   * Whether they have the same configuration; null when that is not known.
   */
  agree: boolean | null;
}
/**
 * The last 15 minutes, and how everything is.
 */
export interface FigureSeries {
  /**
   * Seconds, oldest first.
   */
  data: Figure[];
  /**
   * By name.
   */
  upstreams: {
    [k: string]: FigureUpstream;
  };
  config: FigureConfig;
  instances: FigureInstances;
}
/**
 * The process runs.
 */
export interface Live {
  /**
   * It does.
   */
  status: "live";
}
/**
 * It can serve.
 */
export interface Ready {
  /**
   * It can.
   */
  status: "ready";
}
/**
 * It cannot serve.
 */
export interface Unavailable {
  /**
   * It cannot.
   */
  status: "unavailable";
  /**
   * Why.
   */
  reasons: string[];
}
/**
 * Who calls.
 */
export interface AdminSession {
  /**
   * Of the token in server.admin.tokens; admin for server.admin.token.
   */
  name: string;
  role: AdminRole;
  /**
   * When the cookie ends; null for a call with the token itself.
   */
  expires_at: string | null;
}
/**
 * Settlements that are not in the store.
 */
export interface UnstoredSettlements {
  /**
   * That wait for it.
   */
  pending: number;
  /**
   * That it will never take, the newest first; at most 1,000.
   */
  rejected: RejectedSettlement[];
}
/**
 * Where it cannot be read, some fields are null.
 */
export interface RejectedSettlement {
  /**
   * Of the request's admission.
   */
  id: string;
  /**
   * Whose.
   */
  user_id: string | null;
  /**
   * X-Request-Id.
   */
  request_id: string | null;
  /**
   * As asked for.
   */
  model: string | null;
  /**
   * Nano-units.
   */
  charge: string | null;
  /**
   * Why it is not taken.
   */
  reason: string;
  /**
   * When.
   */
  rejected_at: string;
}
/**
 * The oldest first.
 */
export interface StreamList {
  /**
   * Those whose answer has begun.
   */
  active: number;
  /**
   * Whether every instance has told all of its own.
   */
  complete: boolean;
  /**
   * The streams.
   */
  streams: RunningStream[];
}
/**
 * A request with a streamed answer.
 */
export interface RunningStream {
  /**
   * To end it by.
   */
  id: string;
  /**
   * X-Request-Id of the request.
   */
  request_id: string;
  /**
   * Where it runs.
   */
  instance: string;
  /**
   * Id of the user.
   */
  user: string;
  /**
   * As asked for.
   */
  model: string;
  /**
   * Which serves it, once one does.
   */
  upstream: string | null;
  /**
   * Since it came.
   */
  age_ms: number;
  /**
   * Sent so far.
   */
  events: number;
  /**
   * Sent so far.
   */
  bytes: number;
  /**
   * waiting until the client has been sent the head.
   */
  state: "waiting" | "streaming";
}
/**
 * It ends.
 */
export interface EndedStream {
  /**
   * It does.
   */
  ended: true;
}
/**
 * By name.
 */
export interface UpstreamStates {
  [k: string]: UpstreamState;
}
/**
 * An upstream.
 */
export interface UpstreamState {
  breaker: BreakerState;
  /**
   * By model, of those that were tried; absent where one breaker is for all.
   */
  breakers?: {
    [k: string]: BreakerState;
  };
  /**
   * Of the latest requests.
   */
  health: "healthy" | "degraded" | "unknown";
  /**
   * 0 without data.
   */
  latency_ms: number;
  /**
   * Whether requests are sent to it, and can be expected to be served.
   */
  can_serve: boolean;
  /**
   * State of its breaker by instance.
   */
  instances: {
    [k: string]: BreakerState;
  };
  /**
   * What an operator has set; null: nothing.
   */
  manual: UpstreamManual | null;
  /**
   * The latest 50 changes of each process of this listener, oldest first.
   */
  history: UpstreamChange[];
  /**
   * API keys, as the process that answers sees them.
   */
  keys: UpstreamKey[];
  /**
   * By the upstream's name of the model: those that requests went to since the process started.
   */
  targets: {
    [k: string]: UpstreamTarget;
  };
  /**
   * Requests of the process that answers at the upstream.
   */
  in_flight: number;
  /**
   * Requests of that process that wait for a place with the upstream.
   */
  waiting: number;
  /**
   * What is not asked for a while, as the process that answers sees it.
   */
  cooldowns: UpstreamCooldown[];
}
/**
 * A change of a breaker, or of what operators set.
 */
export interface UpstreamChange {
  /**
   * When.
   */
  at: string;
  state: BreakerState;
  /**
   * manual: set by an operator.
   */
  cause: "failures" | "waited" | "probe_succeeded" | "probe_failed" | "manual" | "manual_lifted" | "manual_ended";
  /**
   * In words.
   */
  detail: string;
  /**
   * Whose breaker it is.
   */
  instance: string;
  /**
   * Whose breaker it is, where each model has its own; absent for the upstream's.
   */
  model?: string;
}
/**
 * An API key of an upstream, without its value.
 */
export interface UpstreamKey {
  /**
   * In the configured list, from 1.
   */
  position: number;
  /**
   * It is not used before, for any model; null: it is used, but for single models perhaps.
   */
  rests_until: string | null;
  /**
   * In a row: each of them doubles its rest.
   */
  refusals: number;
  /**
   * Of requests with this key; null: none so far.
   */
  last_error: UpstreamLastError | null;
}
/**
 * The last failure. It stays when requests are served again.
 */
export interface UpstreamLastError {
  /**
   * When.
   */
  at: string;
  /**
   * The upstream's; null where no answer came.
   */
  status: number | null;
  /**
   * The system's (ECONNREFUSED, CERT_HAS_EXPIRED) or the provider's own (invalid_api_key); null without one.
   */
  code: string | null;
  /**
   * What happened, with host and port where it is a matter of the connection.
   */
  cause: string;
  /**
   * The provider's or the system's words, without keys and URLs.
   */
  message: string;
  /**
   * The request that met it.
   */
  request_id: string;
  /**
   * The first success after it; null: none so far.
   */
  recovered_at: string | null;
}
/**
 * How requests to one model of an upstream fared.
 */
export interface UpstreamTarget {
  /**
   * null: none so far.
   */
  last_error: UpstreamLastError | null;
  /**
   * null: none so far.
   */
  last_success_at: string | null;
}
/**
 * What is not asked for a while, why, and until when.
 */
export interface UpstreamCooldown {
  /**
   * key_model: a key, for one model; key: a key, for all models; target: one model, by its breaker; upstream: all of it, by its breaker.
   */
  scope: "key_model" | "key" | "target" | "upstream";
  /**
   * Its place in the configured list, from 1; for the first two scopes.
   */
  key?: number;
  /**
   * Its name at the upstream; for key_model and target.
   */
  model?: string;
  /**
   * In words, with the provider's status and code.
   */
  reason: string;
  /**
   * When it is asked again. An operator's act (close, clear, reload) ends the cooldowns of keys before.
   */
  until: string;
}
/**
 * What was set is no longer.
 */
export interface UpstreamManualLifted {
  /**
   * Always true: where nothing is set, and no key of the process that answers is cooling down, it is a 404.
   */
  lifted: true;
  /**
   * Cooldowns of its keys that this has ended; absent without any.
   */
  cooldowns_ended?: number;
}
/**
 * A page of users, in the order of their addresses.
 */
export interface AdminUserPage {
  /**
   * The entries.
   */
  data: AdminUser[];
  next_cursor: NextCursor;
}
/**
 * A user.
 */
export interface AdminUser {
  /**
   * Identifier.
   */
  id: string;
  /**
   * Address.
   */
  email: string;
  /**
   * The plan in force.
   */
  plan_tier: string;
  /**
   * The balance, before what running requests hold.
   */
  credits: string;
  /**
   * What running requests hold of it.
   */
  held: string;
  /**
   * Ever given, less what was taken.
   */
  granted: string;
  /**
   * Ever charged.
   */
  charged: string;
  /**
   * When it was made.
   */
  created_at: string;
  /**
   * Since when neither keys nor tokens work; null: they do.
   */
  disabled_at: string | null;
}
/**
 * A user, and what is used of the plan.
 */
export interface AdminUserDetail {
  /**
   * Identifier.
   */
  id: string;
  /**
   * Address.
   */
  email: string;
  /**
   * The plan in force.
   */
  plan_tier: string;
  /**
   * The balance, before what running requests hold.
   */
  credits: string;
  /**
   * What running requests hold of it.
   */
  held: string;
  /**
   * Ever given, less what was taken.
   */
  granted: string;
  /**
   * Ever charged.
   */
  charged: string;
  /**
   * When it was made.
   */
  created_at: string;
  /**
   * Since when neither keys nor tokens work; null: they do.
   */
  disabled_at: string | null;
  windows: AdminUserWindows;
  streams: AdminUserStreams;
  /**
   * Requests that run, streams among them.
   */
  requests_running: number;
}
/**
 * What is used of each window.
 */
export interface AdminUserWindows {
  day: AdminUserWindow;
  hour: AdminUserWindow;
  minute: AdminUserWindow;
}
/**
 * One window.
 */
export interface AdminUserWindow {
  /**
   * Used so far.
   */
  used: number;
  /**
   * What the plan allows; null: no limit.
   */
  limit: number | null;
  /**
   * When the next one begins.
   */
  resets_at: string;
}
/**
 * Credits given to a user.
 */
export interface CreditGrant {
  /**
   * Identifier.
   */
  id: string;
  /**
   * To whom.
   */
  user_id: string;
  /**
   * What was given; negative: taken.
   */
  amount: string;
  /**
   * The balance afterwards.
   */
  credits: string;
  /**
   * Why.
   */
  reason: string;
  /**
   * Name of the operator.
   */
  by: string;
  /**
   * When.
   */
  created_at: string;
}
/**
 * A page of grants, the newest first.
 */
export interface CreditGrantPage {
  /**
   * The entries.
   */
  data: CreditGrant[];
  next_cursor: NextCursor;
}
/**
 * A key, without its secret.
 */
export interface AdminKey {
  /**
   * Identifier.
   */
  id: string;
  /**
   * Whose it is.
   */
  user_id: string;
  /**
   * Label.
   */
  name: string;
  /**
   * The first 11 characters of the secret.
   */
  key_prefix: string;
  /**
   * The plan in force.
   */
  plan_tier: string;
  /**
   * When it was made.
   */
  created_at: string;
  /**
   * Last use; null before the first.
   */
  last_used_at: string | null;
  /**
   * From when on it works no more; null: never.
   */
  expires_at: string | null;
  /**
   * The only models that it may call, * for any text; null: all of the plan.
   */
  models: string[] | null;
  /**
   * What its requests may cost together; null: no more than the user's credits.
   */
  budget: AdminKeyBudget | null;
  /**
   * Marks of its requests in log and ledger.
   */
  tags: {
    [k: string]: string;
  };
  /**
   * What it may be used for: inference endpoints, reading what was used; null: both.
   */
  scopes: ("inference" | "usage")[] | null;
  /**
   * The only addresses and networks that it may be used from; null: any.
   */
  addresses: string[] | null;
  /**
   * Id of the key that took its place when it was rolled; null: it was not.
   */
  replaced_by: string | null;
}
/**
 * The budget of a key, and what is used of it in the period that runs.
 */
export interface AdminKeyBudget {
  /**
   * What may be spent in a period.
   */
  amount: string;
  /**
   * A day or month of UTC, or all time.
   */
  per: "day" | "month" | "total";
  /**
   * What requests of this period have cost.
   */
  spent: string;
  /**
   * What running requests hold.
   */
  held: string;
  /**
   * When the next period begins; null: never.
   */
  resets_at: string | null;
}
/**
 * The live keys of a user.
 */
export interface AdminKeyList {
  /**
   * The entries.
   */
  data: AdminKey[];
  next_cursor: NextCursor;
}
/**
 * The user is deleted.
 */
export interface DeletedUser {
  /**
   * Always the same.
   */
  message: "User deleted";
}
/**
 * A new key: the only answer that ever holds the secret.
 */
export interface CreatedAdminKey {
  /**
   * The secret.
   */
  key: string;
  /**
   * Identifier.
   */
  id: string;
  /**
   * Whose it is.
   */
  user_id: string;
  /**
   * Label.
   */
  name: string;
  /**
   * The first 11 characters of the secret.
   */
  key_prefix: string;
  /**
   * The plan in force.
   */
  plan_tier: string;
  /**
   * When it was made.
   */
  created_at: string;
  /**
   * Last use; null before the first.
   */
  last_used_at: string | null;
  /**
   * From when on it works no more; null: never.
   */
  expires_at: string | null;
  /**
   * The only models that it may call, * for any text; null: all of the plan.
   */
  models: string[] | null;
  /**
   * What its requests may cost together; null: no more than the user's credits.
   */
  budget: AdminKeyBudget | null;
  /**
   * Marks of its requests in log and ledger.
   */
  tags: {
    [k: string]: string;
  };
  /**
   * What it may be used for: inference endpoints, reading what was used; null: both.
   */
  scopes: ("inference" | "usage")[] | null;
  /**
   * The only addresses and networks that it may be used from; null: any.
   */
  addresses: string[] | null;
  /**
   * Id of the key that took its place when it was rolled; null: it was not.
   */
  replaced_by: string | null;
}
/**
 * The key that takes the place of another, with its settings: the only answer that ever holds the secret.
 */
export interface RolledAdminKey {
  /**
   * The secret.
   */
  key: string;
  /**
   * Identifier.
   */
  id: string;
  /**
   * Whose it is.
   */
  user_id: string;
  /**
   * Label.
   */
  name: string;
  /**
   * The first 11 characters of the secret.
   */
  key_prefix: string;
  /**
   * The plan in force.
   */
  plan_tier: string;
  /**
   * When it was made.
   */
  created_at: string;
  /**
   * Last use; null before the first.
   */
  last_used_at: string | null;
  /**
   * From when on it works no more; null: never.
   */
  expires_at: string | null;
  /**
   * The only models that it may call, * for any text; null: all of the plan.
   */
  models: string[] | null;
  /**
   * What its requests may cost together; null: no more than the user's credits.
   */
  budget: AdminKeyBudget | null;
  /**
   * Marks of its requests in log and ledger.
   */
  tags: {
    [k: string]: string;
  };
  /**
   * What it may be used for: inference endpoints, reading what was used; null: both.
   */
  scopes: ("inference" | "usage")[] | null;
  /**
   * The only addresses and networks that it may be used from; null: any.
   */
  addresses: string[] | null;
  /**
   * Id of the key that took its place when it was rolled; null: it was not.
   */
  replaced_by: string | null;
  previous: PreviousAdminKey;
}
/**
 * A key that was rolled.
 */
export interface PreviousAdminKey {
  /**
   * Identifier.
   */
  id: string;
  /**
   * From when on it works no more.
   */
  expires_at: string;
}
/**
 * The user is signed out everywhere.
 */
export interface EndedSessions {
  /**
   * Says so.
   */
  message: string;
}
/**
 * It works no more.
 */
export interface RevokedKey {
  /**
   * Says so.
   */
  message: string;
}
