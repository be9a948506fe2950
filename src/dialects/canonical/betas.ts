import type { Call, Json } from "../../kit/index.ts";
import { list, omit } from "./json.ts";

/*
 * Anthropic's betas, which clients name in the header `anthropic-beta` or in the fields `anthropic_beta` and `betas` of a
 * body. A beta may change what a request costs, so only those of the table are sent: they change form, not rate. The names
 * are those of @anthropic-ai/sdk resources/beta/beta.d.ts (AnthropicBeta), of
 * https://platform.claude.com/docs/en/api/beta-headers, of https://github.com/BerriAI/litellm
 * litellm/anthropic_beta_headers_config.json, and of what Claude Code sends.
 */

/** Where a beta is described, and the betas that this says are form alone. */
type Row = readonly [source: string, names: string];

const FORM: readonly Row[] = [
  // Who asks, and with what kind of key: the key is the operator's.
  [
    "https://code.claude.com/docs/en/llm-gateway",
    "claude-code-20250219 oauth-2025-04-20 afk-mode-2026-01-31 context-hint-2026-04-09",
  ],
  // How thoughts are shown and sent back. What was thought is charged as told, shown or not: of `redact-thinking` that it
  // "does not impact thinking itself" (https://news.ycombinator.com/item?id=47664442).
  [
    "https://platform.claude.com/docs/en/build-with-claude/extended-thinking",
    "interleaved-thinking-2025-05-14 dev-full-thinking-2025-05-14 redact-thinking-2026-02-12 " +
      "thinking-token-count-2026-05-13 thinking-resumption-2026-07-17 thinking-binding-controls-2026-08-01 " +
      "thinking-display-updates-2026-08-18 summarize-connector-text-2026-03-13",
  ],
  // What is cut from a conversation. A compaction tells its own tokens (`usage.iterations`).
  [
    "https://platform.claude.com/docs/en/build-with-claude/context-editing",
    "context-management-2025-06-27 compact-2026-01-12 compact-2026-09-04 model-context-window-exceeded-2025-08-26",
  ],
  // Caching. How long a cache lives is said by the marks, whose tokens are told by lifetime.
  [
    "https://platform.claude.com/docs/en/build-with-claude/prompt-caching",
    "prompt-caching-2024-07-31 prompt-caching-scope-2026-01-05 prompt-caching-evict-2026-05-12 " +
      "extended-cache-ttl-2025-04-11 cache-diagnosis-2026-04-07",
  ],
  // What a conversation may hold, and where in it.
  [
    "https://platform.claude.com/docs/en/api/beta-headers",
    "pdfs-2024-09-25 token-counting-2024-11-01 mid-conversation-system-2026-04-07 " +
      "mid-conversation-tool-changes-2026-07-01 mid-conversation-output-config-2026-07-01 " +
      "mid-conversation-system-clear-at-2026-08-21 inline-tools-2026-09-15 per-turn-control-2026-07-01",
  ],
  // Files are read at the rate of tokens: which of them may be named is another rule.
  ["https://platform.claude.com/docs/en/build-with-claude/files#file-storage-and-limits", "files-api-2025-04-14"],
  // These shape the answer.
  [
    "https://platform.claude.com/docs/en/build-with-claude/structured-outputs",
    "structured-outputs-2025-11-13 structured-outputs-2025-12-15 effort-2025-11-24 task-budgets-2026-03-13 " +
      "output-128k-2025-02-19 output-300k-2026-03-24",
  ],
  // Tools that the client runs, and servers of tools: "no additional charges" but tokens.
  [
    "https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview",
    "advanced-tool-use-2025-11-20 tool-search-tool-2025-10-19 tool-examples-2025-10-29 " +
      "fine-grained-tool-streaming-2025-05-14 token-efficient-tools-2025-02-19 token-efficient-tools-2026-03-28 " +
      "dangerous-tool-use-2026-09-03 computer-use-2024-10-22 computer-use-2025-01-24 computer-use-2025-11-24 " +
      "mcp-client-2025-04-04 mcp-client-2025-11-20 mcp-client-2026-09-15 mcp-servers-2025-12-04",
  ],
  // The searches are billed, and they are a tool that stays behind by itself. Fetching a page is free.
  [
    "https://platform.claude.com/docs/en/about-claude/pricing#specific-tool-pricing",
    "web-search-2025-03-05 web-fetch-2025-09-10",
  ],
];

/** Betas that change the form of requests and answers, and not what they cost. */
export const FORM_BETAS: ReadonlySet<string> = new Set(FORM.flatMap(([, names]) => names.split(" ")));

/** Betas of what is billed apart or at another rate, and the field or kind of tool by which an upstream accepts that. */
const PAID: readonly (readonly [beta: RegExp, accepted: string])[] = [
  [/^fast-mode-/, "speed"],
  [/^server-side-fallback-/, "fallbacks"],
  [/^fallback-credit-/, "fallback_credit_token"],
  [/^user-profiles-billing-/, "billing_policy"],
  [/^skills-/, "container"],
  [/^code-execution-/, "code_execution"],
  [/^advisor-tool-/, "advisor"],
];

const HEADER = "anthropic-beta";
/** Top-level fields that name betas where there is no header: of Bedrock and Vertex AI, and of the SDKs. */
const FIELDS = ["anthropic_beta", "betas"];

/** As the report of what is dropped has it. */
export function betaPointer(name: string): string {
  return `${HEADER}:${name}`;
}

/** Whether `accepts.fields` lets a beta through: by its name, or by what it is for. */
export function acceptsBeta(name: string, accepted: ReadonlySet<string>): boolean {
  if (accepted.has(name) || accepted.has(betaPointer(name))) return true;
  const paid = PAID.find(([beta]) => beta.test(name))?.[1];
  // A tool may be named with its version.
  return paid !== undefined && [...accepted].some((one) => one === paid || one.startsWith(`${paid}_20`));
}

/** The betas that a call asks for, each once. Only a Messages client has the header. */
export function askedBetas({ dialect, headers, body, native = {} }: Call): readonly string[] {
  const header = dialect === "messages" ? headers?.[HEADER] : undefined;
  const fields = FIELDS.flatMap((field) => [body[field], native[field]]);
  return [...new Set([header, ...fields].flatMap(namesOf))];
}

function namesOf(value: unknown): readonly string[] {
  const names = typeof value === "string" ? value.split(",") : list(value);
  return names.flatMap((name) => (typeof name === "string" ? [name.trim()] : [])).filter((name) => name !== "");
}

/** A call with those of its betas that are sent. */
interface FittedBetas {
  readonly call: Call;
  /** The names of those that are not. */
  readonly lost: readonly string[];
  /** The same as they are reported, and the fields that name no betas. */
  readonly dropped: readonly string[];
}

/**
 * For a dialect that has betas of its own, or none: they are in the header of the call, and in no field.
 * @param sentAs the name under which a beta is sent; undefined: it is not.
 */
export function withHeaderBetas(call: Call, sentAs: (name: string) => string | undefined): FittedBetas {
  const asked = askedBetas(call);
  const { headers, body, native } = call;
  const sent = [...new Set(asked.map(sentAs).filter((name) => name !== undefined))].join(",");
  const unreadable = [body, native ?? {}].flatMap(unreadableFields);
  const inFields = [body, native ?? {}].some((object) => FIELDS.some((field) => Object.hasOwn(object, field)));
  if (!inFields && sent === (headers?.[HEADER] ?? "")) return { call, lost: [], dropped: [] };
  const { [HEADER]: _header, ...others } = headers ?? {};
  const lost = asked.filter((name) => sentAs(name) === undefined);
  return {
    call: {
      ...call,
      body: withoutFields(body),
      ...(native !== undefined && { native: withoutFields(native) }),
      headers: sent === "" ? others : { ...others, [HEADER]: sent },
    },
    lost,
    dropped: [...lost.map(betaPointer), ...unreadable],
  };
}

/** For a server that may know them as fields of a chat client's body: these have only what is sent. No header is sent. */
export function withFieldBetas(call: Call, isSent: (name: string) => boolean): FittedBetas {
  const asked = askedBetas(call);
  const { body, native } = call;
  const objects = native === undefined ? [body] : [body, native];
  const inBody = new Set(FIELDS.flatMap((field) => namesOf(body[field])));
  const lost = asked.filter((name) => !inBody.has(name) || !isSent(name));
  const dropped = [...lost.map(betaPointer), ...objects.flatMap(unreadableFields)];
  if (dropped.length === 0) return { call, lost, dropped };
  const kept = FIELDS.flatMap((field): readonly (readonly [string, unknown])[] => {
    const sent = namesOf(body[field]).filter(isSent);
    if (sent.length === 0) return [];
    return [[field, typeof body[field] === "string" ? sent.join(",") : sent]];
  });
  const changed = objects.some((object) => withoutFields(object) !== object);
  const fitted = {
    ...call,
    body: { ...withoutFields(body), ...Object.fromEntries(kept) },
    ...(native !== undefined && { native: withoutFields(native) }),
  };
  return { call: changed ? fitted : call, lost, dropped };
}

/** Pointers of the fields that hold anything but names. */
function unreadableFields(object: Json): readonly string[] {
  return FIELDS.filter((field) => {
    const value = object[field] ?? null;
    const isRead = typeof value === "string" || value === null;
    return !isRead && !(Array.isArray(value) && value.every((name) => typeof name === "string"));
  }).map((field) => `/${field}`);
}

function withoutFields(object: Json): Json {
  return FIELDS.some((field) => Object.hasOwn(object, field)) ? omit(object, new Set(FIELDS)) : object;
}
