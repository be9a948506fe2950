import type { DialectName, FailureClass, Vendor } from "../../kit/index.ts";

/** What one kind of refusal means; everything that is given must hold. The first row that holds decides. */
export interface RefusalRow {
  readonly failure: FailureClass;
  readonly dialect?: DialectName;
  readonly vendor?: Vendor;
  /** Left out: any. An error inside a 200 that names no status has them all. */
  readonly status?: readonly number[];
  /** Against each identifier of the error, in lower case. */
  readonly code?: RegExp;
  /** Against the provider's words. */
  readonly text?: RegExp;
  /** Against the field that the provider names. */
  readonly parameter?: RegExp;
  /** Where the refusal was seen, or is documented. */
  readonly source: string;
}

const GITHUB = "https://github.com";
const BAD_REQUEST = [400, 413, 422] as const;

/*
 * Words can be a client's own, quoted by a provider. A row that goes by words alone may therefore send a request on, but
 * gives no class that rests a key at once: that needs an identifier (`code`), which only the provider writes.
 */
export const REFUSALS: readonly RefusalRow[] = [
  // The prompt does not fit: another model may have a larger window.
  {
    failure: "context_overflow",
    code: /^(context_length_exceeded|exceed_context_size_error|context_exceeded|context_window_exceeded)$/,
    source: `${GITHUB}/crewAIInc/crewAI-examples/issues/121, ${GITHUB}/ggml-org/llama.cpp/pull/15780`,
  },
  { failure: "context_overflow", vendor: "mistral", code: /^3051$/, source: "https://docs.mistral.ai/api" },
  { failure: "context_overflow", vendor: "zai", code: /^1261$/, source: "https://docs.z.ai/api-reference/api-code" },
  {
    failure: "context_overflow",
    status: BAD_REQUEST,
    text: /maximum context length|prompt is too long|prompt exceeds max|input is too long for requested model|exceeds? (the |this )?(model'?s? )?(available )?context (window|limit|length|size)|input token count.{0,40}exceeds the maximum|maximum prompt length is \d|reduce the length of the messages|too large for model with \d+ max|greater than the context length|context window exceeds limit|exceeded model token limit|exceed context limit|range of input length should be|too many (input )?tokens|tokens. \+ .max_new_tokens. must be/i,
    source: "the cases of test/dialects/refusals, each with its own",
  },

  // Larger than the account may ask for in a minute, or ever: nothing that waiting cures, and no other request is hurt.
  {
    failure: "declined",
    status: [413, 429],
    text: /^request too large for|extra usage is required for long context/i,
    source: `${GITHUB}/bklieger-groq/NotebookLlama-Groq/issues/1, ${GITHUB}/anthropics/claude-code/issues/44863`,
  },
  // Google says "exceeded your current quota" of every rate limit.
  {
    failure: "rate_limited",
    status: [429],
    code: /^resource_exhausted$/,
    source: `${GITHUB}/google-gemini/gemini-cli/issues/10925`,
  },
  {
    failure: "declined",
    code: /^(unsupported_country_region_territory|request_forbidden)$/,
    source: `${GITHUB}/home-assistant/core/issues/120072`,
  },
  {
    failure: "declined",
    status: [400],
    code: /^failed_precondition$/,
    source: `https://ai.google.dev/gemini-api/docs/troubleshooting (location, free tier without billing), ${GITHUB}/yym68686/uni-api/issues/41 (Claude on Vertex AI)`,
  },
  {
    failure: "declined",
    status: [400, 403],
    text: /(location|country|region|territory)[^.]{0,30} (is )?not supported|not available in your (country|region)/i,
    source: `${GITHUB}/poenl/gemini-api/issues/4`,
  },
  // Anthropic's own key errors are authentication_error and permission_error.
  {
    failure: "declined",
    status: [403],
    code: /^forbidden$/,
    text: /request not allowed/i,
    source: `${GITHUB}/corbt/agent.exe/issues/15`,
  },
  // What one request provokes: a file of somebody else's.
  {
    failure: "declined",
    status: [403],
    text: /permission to access the file/i,
    source: `${GITHUB}/googleapis/python-genai/issues/1218`,
  },

  // Reasoning that another account, or another provider, has encrypted: a target behind it may be the one.
  {
    failure: "declined",
    status: [400],
    code: /^invalid_encrypted_content$/,
    source: `${GITHUB}/openai/codex/issues/8128`,
  },

  // Nothing left in the account.
  {
    failure: "quota",
    code: /^(insufficient_quota|billing_hard_limit_reached|billing_not_active|account_deactivated|billing_error|exceeded_current_quota_error|arrearage|insufficient_balance|insufficient_credits|insufficient_user_quota|allocationquota\..*)$/,
    source: `https://platform.openai.com/docs/guides/error-codes, ${GITHUB}/MoonshotAI/kimi-code/pull/1857, ${GITHUB}/QuantumNous/new-api/pull/1401`,
  },
  {
    failure: "quota",
    vendor: "zai",
    code: /^(1110|1111|1112|1113|1308|1309)$/,
    source: "https://docs.z.ai/api-reference/api-code",
  },
  {
    failure: "quota",
    vendor: "fireworks",
    status: [412],
    code: /^precondition_failed$/,
    source: `${GITHUB}/pollinations/pollinations/issues/12136`,
  },
  {
    failure: "credentials",
    code: /^(invalid_api_key|api_key_invalid|api_key_service_blocked|invalid_authentication(_error)?|authentication_error|unauthenticated|permission_error|account_not_active)$/,
    source: `${GITHUB}/google/timesketch/pull/3703; @anthropic-ai/sdk resources/shared (ErrorObject)`,
  },
  {
    failure: "credentials",
    status: [400, 401, 402, 403, 412, 422, 429],
    text: /(incorrect|invalid)( |%20)api( |%20)key|api key (is )?(not valid|expired)|credit balance is too low|specified api usage limits|used all available credits|monthly spending limit|insufficient (account )?(balance|credit|fund|quota)|exceeded your current quota|billing hard limit|requires more credits|run out of credits|account\b.{0,80} (is )?(suspended|not active|in good standing)|余额不足/i,
    source: `${GITHUB}/anthropics/claude-code/issues/66314, ${GITHUB}/continuedev/continue/issues/10373, ${GITHUB}/i-am-bee/beeai-framework/issues/447`,
  },

  // Not here, whoever asks: a model that is unknown, retired or not let.
  {
    failure: "declined",
    status: [400, 403, 404, 410, 422],
    code: /^(model_not_found|model_decommissioned|model_not_available|invalid_model|unknown_model|model_not_supported|model_terms_required|deploymentnotfound|invalid_model_id)$/,
    source: `${GITHUB}/atiilla/sqlmap-ai/issues/3, ${GITHUB}/HeyPuter/puter/issues/3168, ${GITHUB}/FerroxLabs/wayland/issues/603`,
  },
  { failure: "declined", vendor: "zai", code: /^(1211|1220)$/, source: "https://docs.z.ai/api-reference/api-code" },
  {
    failure: "declined",
    status: [400, 403, 422],
    text: /^model not exist|is not a valid model|model identifier is invalid|^invalid model\b|unknown model\b|has been decommissioned|reached its end of life|^(the )?model .{1,100} (does not exist|not found|is not available)|unable to access non-serverless model|on-demand throughput isn.t supported/i,
    source: `${GITHUB}/ConardLi/easy-dataset/issues/9, ${GITHUB}/langchain-ai/open_deep_research/issues/224, ${GITHUB}/terricain/aioboto3/issues/352`,
  },

  // Fields and values that this model does not take, and that the gateway should have mapped or left out for it.
  {
    failure: "parameter",
    status: [400, 422],
    code: /^(unsupported_parameter|unsupported_value|unknown_parameter|extra_forbidden|unknown_field)$/,
    source: `${GITHUB}/microsoft/clarity-agent/issues/59, ${GITHUB}/editor-code-assistant/eca/issues/231`,
  },
  // Lengths that the gateway shortens to (ids, names, `user`, stops).
  {
    failure: "parameter",
    status: [400],
    parameter:
      /^(user|safety_identifier|stop|tools\[\d+\]\.function\.name|messages\[\d+\]\.(tool_call_id|tool_calls\[\d+\]\.(id|function\.name)))$/,
    text: /(string|array) too long/i,
    source: `${GITHUB}/home-assistant/core/issues/121325, ${GITHUB}/mrexodia/ida-pro-mcp/issues/129`,
  },
  {
    failure: "parameter",
    status: [400, 422],
    text: /extra inputs are not permitted|unrecognized request argument|unsupported (parameter|value)\b|unknown (field|parameter|name)\b|property '[^']{1,200}' is unsupported|unsupported json schema fields|is not a valid field|are not supported for \S+ in \/v1\/|extraneous key|(argument|feature|parameter)?[^.]{0,40}\bnot supported (with|by|on|in|for|when using) (this|the) (model|endpoint|api)|\bdoes ?n[o']t support (the )?(parameter|tool|function|thinking|reasoning|image|vision|audio|system|stream|response_format|structured|temperature|stop|\w+ effort)|must be passed back to the api|unknown variant `(developer|image_url|input_audio|file|video_url)`|only 1 is allowed for this model|must be one of `none` or `default`|length of the tool name cannot exceed/i,
    source: `${GITHUB}/amrit110/oli/issues/7, ${GITHUB}/fanenr/chatbot/issues/21, ${GITHUB}/BerriAI/litellm/pull/16265, ${GITHUB}/decolua/9router/issues/773`,
  },
  {
    failure: "parameter",
    status: [400],
    text: /^output_(config\.)?format\.schema: |which is the maximum allowed number of output tokens|tokens you requested exceeds the model limit|this model supports at most \d+ completion tokens|range of max_tokens should be|valid range of max_tokens is|only works in thinking mode/i,
    source: `${GITHUB}/veryfront/veryfront-code/issues/3918, ${GITHUB}/anthropics/claude-code/issues/24451, ${GITHUB}/open-webui/open-webui/issues/10507`,
  },

  {
    failure: "timeout",
    code: /^(timeout_error|deadline_exceeded)$/,
    source: "@anthropic-ai/sdk resources/shared (GatewayTimeoutError), https://cloud.google.com/apis/design/errors",
  },

  // Exceptions of AWS, in the header `x-amzn-errortype` and in event streams.
  // https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html#API_runtime_ConverseStream_Errors
  {
    failure: "rate_limited",
    dialect: "bedrock",
    code: /^(throttling|servicequotaexceeded|modelnotready)exception$/,
    source: "ConverseStream, Errors",
  },
  { failure: "timeout", dialect: "bedrock", code: /^modeltimeoutexception$/, source: "ConverseStream, Errors" },
  { failure: "declined", dialect: "bedrock", code: /^resourcenotfoundexception$/, source: "ConverseStream, Errors" },
  {
    failure: "credentials",
    dialect: "bedrock",
    code: /^(accessdenied|unrecognizedclient|expiredtoken|invalidsignature)exception$/,
    source: "ConverseStream, Errors",
  },
  {
    failure: "client_fault",
    dialect: "bedrock",
    status: [400, 422],
    code: /^validationexception$/,
    source: "ConverseStream, Errors",
  },
  { failure: "status", dialect: "bedrock", status: [400, 422], code: /exception$/, source: "ConverseStream, Errors" },
];

/** Statuses of the errors that come inside a 200 and name none. */
export const TYPES: readonly (readonly [RegExp, number])[] = [
  [/^(invalid_request_error|badrequesterror|validationexception|invalid_argument)$/, 400],
  [/^(authentication_error|unrecognizedclientexception|expiredtokenexception)$/, 401],
  [/^billing_error$/, 402],
  [/^(permission_error|permission_denied|accessdeniedexception)$/, 403],
  [/^(not_found_error|resourcenotfoundexception)$/, 404],
  [/^request_too_large$/, 413],
  [/^(rate_limit_(error|exceeded|reached_error)|resource_exhausted|throttlingexception|too_many_requests)$/, 429],
  [/^(overloaded_error|api_error|server_error|internal(_server)?_error|timeout_error|unavailable)$/, 500],
];
