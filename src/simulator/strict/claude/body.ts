import {
  anything,
  decimal,
  each,
  either,
  flag,
  integer,
  list,
  map,
  nullable,
  record,
  type Shape,
  tagged,
  text,
  word,
} from "../shape.ts";

/*
 * The body of a message as Anthropic documents it: @anthropic-ai/sdk resources/beta/messages/messages.d.ts,
 * MessageCreateParamsBase and what it refers to. Nothing unknown is taken anywhere.
 */

const CLOSED = { closed: true } as const;
const ID = text({ minimum: 1, pattern: /^[a-zA-Z0-9_-]+$/ });
const TOOL_NAME = text({ minimum: 1, maximum: 128, pattern: /^[a-zA-Z0-9_-]{1,128}$/ });
const MAXIMUM_CALLED_NAME_CHARACTERS = 200;
const MAXIMUM_MESSAGES = 100_000;

/** `scope` comes with a beta that the SDK does not name. */
const mark = nullable(
  tagged("type", { ephemeral: record({ type: text(), ttl: word("5m 1h"), scope: text() }, CLOSED) }),
);

/** A block with its type and its mark. */
function block(fields: Readonly<Record<string, Shape>>, required: string): Shape {
  return record({ type: text(), cache_control: mark, ...fields }, { required, ...CLOSED });
}

const citations = nullable(record({ enabled: flag }, CLOSED));
const textBlock = block({ text: text(), citations: nullable(list(map)) }, "text");
const source = (fields: Readonly<Record<string, Shape>>) =>
  record({ type: text(), ...fields }, { required: Object.keys(fields).join(" "), ...CLOSED });

const image = block(
  {
    source: tagged("type", {
      base64: source({ media_type: text(), data: text() }),
      url: source({ url: text() }),
      file: source({ file_id: text() }),
    }),
    transformations: nullable(record({ oversized_image: word("downsize error") }, CLOSED)),
  },
  "source",
);
const document = block(
  {
    source: tagged("type", {
      base64: source({ media_type: word("application/pdf"), data: text() }),
      text: source({ media_type: word("text/plain"), data: text() }),
      content: source({ content: either(text(), list(tagged("type", { text: textBlock, image }))) }),
      url: source({ url: text() }),
      file: source({ file_id: text() }),
    }),
    citations,
    context: nullable(text()),
    title: nullable(text()),
  },
  "source",
);
const searchResult = block(
  { content: list(tagged("type", { text: textBlock }), 1), source: text(), title: text(), citations },
  "content source title",
);
const reference = block({ tool_name: TOOL_NAME }, "tool_name");

const RESULT_BLOCKS = {
  text: textBlock,
  image,
  search_result: searchResult,
  document,
  tool_reference: reference,
  browser_state: map,
};
/** What Anthropic's own tools and betas leave in a history is passed over. */
const OTHERS =
  "server_tool_use web_search_tool_result web_fetch_tool_result advisor_tool_result code_execution_tool_result " +
  "bash_code_execution_tool_result text_editor_code_execution_tool_result tool_search_tool_result mcp_tool_use " +
  "mcp_tool_result container_upload compaction tool_addition tool_removal mcp_tool_listing fallback mid_conv_system";

const BLOCKS = {
  text: textBlock,
  image,
  document,
  search_result: searchResult,
  thinking: record(
    { type: text(), thinking: text(), signature: text() },
    { required: "thinking signature", ...CLOSED },
  ),
  redacted_thinking: record({ type: text(), data: text() }, { required: "data", ...CLOSED }),
  tool_use: block(
    {
      id: ID,
      name: text({ minimum: 1, maximum: MAXIMUM_CALLED_NAME_CHARACTERS }),
      input: map,
      caller: map,
      toolset_name: nullable(text()),
    },
    "id name input",
  ),
  tool_result: block(
    {
      tool_use_id: ID,
      content: either(text(), list(tagged("type", RESULT_BLOCKS))),
      is_error: flag,
      toolset_name: nullable(text()),
    },
    "tool_use_id",
  ),
  ...each(OTHERS.split(" "), map),
};

const message = record(
  { role: text(), content: either(text(), list(tagged("type", BLOCKS))) },
  { required: "role content", ...CLOSED },
);

const custom = record(
  {
    type: nullable(text()),
    name: TOOL_NAME,
    description: text(),
    input_schema: map,
    cache_control: mark,
    allowed_callers: list(text()),
    defer_loading: flag,
    eager_input_streaming: nullable(flag),
    input_examples: list(map),
    strict: flag,
  },
  { required: "name input_schema", ...CLOSED },
);
/** Anthropic's own: ToolUnion of the same file. */
const PROVIDED =
  "bash_20241022 bash_20250124 browser_toolset_20260801 code_execution_20250522 code_execution_20250825 " +
  "code_execution_20260120 code_execution_20260521 computer_20241022 computer_20250124 computer_20251124 " +
  "computer_toolset_20260801 mcp_toolset memory_20250818 text_editor_20241022 text_editor_20250124 " +
  "text_editor_20250429 text_editor_20250728 advisor_20260301 tool_search_tool_bm25 " +
  "tool_search_tool_bm25_20251119 tool_search_tool_regex tool_search_tool_regex_20251119 web_fetch_20250910 " +
  "web_fetch_20260209 web_fetch_20260309 web_fetch_20260318 web_search_20250305 web_search_20260209 " +
  "web_search_20260318";
const tool = tagged("type", { ...each(PROVIDED.split(" "), map), custom }, "custom");

const parallel = { type: text(), disable_parallel_tool_use: flag };
const toolChoice = tagged("type", {
  any: record(parallel, CLOSED),
  auto: record(parallel, CLOSED),
  none: record({ type: text() }, CLOSED),
  tool: record({ ...parallel, name: text() }, { required: "name", ...CLOSED }),
});

const shown = { type: text(), display: nullable(word("summarized omitted")), block_binding: map };
const thinking = tagged("type", {
  adaptive: record(shown, CLOSED),
  between_tools: record({ type: text() }, CLOSED),
  disabled: record({ type: text() }, CLOSED),
  enabled: record({ ...shown, budget_tokens: integer(1_024) }, { required: "budget_tokens", ...CLOSED }),
});

const format = nullable(
  tagged("type", { json_schema: record({ type: text(), schema: map }, { required: "schema", ...CLOSED }) }),
);

const FIELDS = {
  max_tokens: integer(0),
  messages: list(message, 0, MAXIMUM_MESSAGES),
  model: text(),
  cache_control: mark,
  container: nullable(either(text(), map)),
  diagnostics: nullable(map),
  inference_geo: nullable(text()),
  metadata: record({ user_id: nullable(text()) }, CLOSED),
  output_config: record(
    { effort: nullable(word("low medium high xhigh max")), format, task_budget: nullable(map) },
    CLOSED,
  ),
  service_tier: word("auto standard_only"),
  speed: nullable(word("standard fast")),
  stop_sequences: list(text()),
  stream: flag,
  system: either(
    text(),
    list(record({ type: word("text"), text: text(), cache_control: mark, citations: nullable(list(map)) }, CLOSED)),
  ),
  temperature: decimal(),
  thinking,
  tool_choice: toolChoice,
  tools: list(tool),
  top_k: integer(),
  top_p: decimal(),
  user_profile_id: text(),
};

/** Fields that come with a beta, and how the names of the betas begin that bring them. */
export const BETA_FIELDS: Readonly<Record<string, string>> = {
  billing_policy: "user-profiles-billing",
  compaction: "compact",
  context_management: "context-management compact",
  fallback_credit_token: "fallback-credit",
  fallbacks: "server-side-fallback",
  mcp_servers: "mcp-client",
  output_format: "structured-outputs",
  thread: "message-threads",
};

/** Where some of the fields are not known, or others besides. */
export function messagesBody(without: string, besides: Readonly<Record<string, Shape>> = {}): Shape {
  const lacking = new Set(without.split(" "));
  const all = { ...FIELDS, ...each(Object.keys(BETA_FIELDS), anything), ...besides };
  return record(Object.fromEntries(Object.entries(all).filter(([name]) => !lacking.has(name))), CLOSED);
}
