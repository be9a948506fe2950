/** How the value of a header or field is written. */
export type Form =
  | "milliseconds"
  /** RFC 9110: seconds, or an HTTP date. */
  | "seconds-or-date"
  /** Seconds, `1m30s`, `6ms`, a date, or a Unix time in seconds or milliseconds: by their shape. */
  | "any"
  /** A protobuf duration in JSON: `7s`. */
  | "protobuf"
  /** `"default";r=0;t=30`, and `limit=10, remaining=0, reset=30` of the earlier drafts. */
  | "ietf";

interface ResetRow {
  /** `explicit`: the time to wait. `window`: when one of several limits is full again. */
  readonly kind: "explicit" | "window";
  /** The header's name, in lower case. */
  readonly header?: RegExp;
  /** A field of the error, or of an object within it. */
  readonly field?: string;
  readonly form: Form;
  /** Where it was seen, or is documented. */
  readonly source: string;
}

const GITHUB = "https://github.com";

/** Every header and field in which providers tell when to come back. The first explicit one that can be read decides. */
export const RESETS: readonly ResetRow[] = [
  {
    kind: "explicit",
    header: /^retry-after-ms$/,
    form: "milliseconds",
    source: `${GITHUB}/Azure/azure-openai-benchmark/issues/31; openai and @anthropic-ai/sdk, client.ts`,
  },
  {
    kind: "explicit",
    header: /^x-ms-retry-after-ms$/,
    form: "milliseconds",
    source: `${GITHUB}/Azure/azure-sdk-for-rust/issues/1516`,
  },
  {
    kind: "explicit",
    header: /^x-amz-retry-after$/,
    form: "milliseconds",
    source: `${GITHUB}/aws/aws-sdk-java-v2/pull/6914`,
  },
  {
    kind: "explicit",
    header: /^retry-after$/,
    form: "seconds-or-date",
    source: "https://www.rfc-editor.org/rfc/rfc9110#field.retry-after",
  },
  {
    kind: "explicit",
    field: "retryDelay",
    form: "protobuf",
    source: `google.rpc.RetryInfo, which Google sends in place of a header: ${GITHUB}/dcdpr/jp/pull/1061`,
  },
  {
    kind: "explicit",
    field: "retry_after",
    form: "any",
    source: "this gateway's own 429s in JSON, where one stands behind another",
  },
  {
    kind: "explicit",
    field: "resets_in_seconds",
    form: "any",
    source: `${GITHUB}/router-for-me/CLIProxyAPI/issues/1666`,
  },
  { kind: "explicit", field: "resets_at", form: "any", source: `${GITHUB}/router-for-me/CLIProxyAPI/issues/1666` },
  // OpenAI, Groq, Azure, Cerebras, SambaNova (Unix time), Together, GitHub (Unix time), OpenRouter (in milliseconds).
  {
    kind: "window",
    header: /^(x-)?rate-?limit(bysize)?(-[a-z0-9-]{1,60})?-reset(-[a-z0-9-]{1,60})?$/,
    form: "any",
    source: [
      "https://platform.openai.com/docs/guides/rate-limits#rate-limits-in-headers",
      "https://console.groq.com/docs/rate-limits",
      "https://inference-docs.cerebras.ai/support/rate-limits.md",
      "https://docs.sambanova.ai/docs/en/models/rate-limits.md",
      `${GITHUB}/everruns/everruns/pull/2280 (OpenRouter)`,
      `${GITHUB}/mistralai/client-ts/issues/169 (Mistral)`,
    ].join(", "),
  },
  {
    kind: "window",
    header: /^anthropic-[a-z0-9-]{1,60}-reset$/,
    form: "any",
    source: `https://docs.claude.com/en/api/rate-limits#response-headers, ${GITHUB}/brainlid/langchain/issues/302`,
  },
  {
    kind: "window",
    header: /^ratelimit$/,
    form: "ietf",
    source: "https://www.ietf.org/archive/id/draft-ietf-httpapi-ratelimit-headers-08.html (Cloudflare, Hugging Face)",
  },
];

/** `1m30s`, `644ms`, `2 minutes and 5 seconds`. */
const PART = String.raw`\d{1,12}(?:\.\d{1,9})?\s?(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)\b`;
const PARTS = String.raw`(?:\d{1,12}(?:\.\d{1,9})?(?:ms|s|m|h|d))*${PART}(?:(?:,? and |, | )${PART})*`;
interface TextRow {
  readonly text: RegExp;
  /** `at`: the match is a date and a time. */
  readonly is: "wait" | "at";
  readonly source: string;
}

/** The words with which providers tell it. */
export const RESET_TEXTS: readonly TextRow[] = [
  {
    text: new RegExp(
      String.raw`\b(?:try|retry)(?: your request)?(?: again)? (?:in|after) (?:about |approximately )?(${PARTS})`,
      "i",
    ),
    is: "wait",
    source: `OpenAI ${GITHUB}/FoundationAgents/MetaGPT/issues/523, ${GITHUB}/BuilderIO/micro-agent/issues/86; Azure ${GITHUB}/openai/openai-node/issues/1108; Moonshot ${GITHUB}/LLM-Red-Team/kimi-cc/issues/16; Gemini ${GITHUB}/diegosouzapw/OmniRoute/issues/9504`,
  },
  {
    text: new RegExp(String.raw`\bwait (?:for )?(?:about |approximately )?(${PARTS})(?: before| and| to)`, "i"),
    is: "wait",
    source: `GitHub Models ${GITHUB}/microsoft/vscode-copilot-release/issues/3519`,
  },
  {
    text: new RegExp(String.raw`\b(?:will )?resets? (?:in|after) (?:about |approximately )?(${PARTS})`, "i"),
    is: "wait",
    source: `Gemini ${GITHUB}/google-gemini/gemini-cli/issues/10925`,
  },
  {
    text: /\b(?:again|access|resets?)(?: on| at) (\d{4}-\d\d-\d\d(?:T|,? (?:at )?)\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)? ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))/i,
    is: "at",
    source: `Anthropic ${GITHUB}/anthropics/claude-code/issues/66314`,
  },
];
