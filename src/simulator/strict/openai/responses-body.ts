import {
  decimal,
  each,
  either,
  flag,
  integer,
  list,
  map,
  mapOf,
  nullable,
  record,
  type Shape,
  tagged,
  text,
  word,
} from "../shape.ts";

/* The body of a response as OpenAI documents it: fixtures openai-openapi openapi.json, CreateResponse. */

const MAXIMUM_TEXT_CHARACTERS = 10_485_760;
const MAXIMUM_IMAGE_CHARACTERS = 20_971_520;
const MAXIMUM_FILE_CHARACTERS = 73_400_320;
const MAXIMUM_METADATA_CHARACTERS = 512;
const MINIMUM_OUTPUT_TOKENS = 16;
const MAXIMUM_TOOLS = 128;
const MINIMUM_COMPACTED_TOKENS = 1_000;

const breakpoint = nullable(record({ mode: word("explicit") }, { required: "mode" }));
const longText = text({ maximum: MAXIMUM_TEXT_CHARACTERS });
const part = tagged("type", {
  input_text: record({ text: longText, prompt_cache_breakpoint: breakpoint }, { required: "text" }),
  input_image: record({
    image_url: nullable(text({ maximum: MAXIMUM_IMAGE_CHARACTERS })),
    file_id: nullable(text()),
    detail: nullable(word("low high auto original")),
    prompt_cache_breakpoint: breakpoint,
  }),
  output_text: record({ text: text(), annotations: list(map), logprobs: list(map) }, { required: "text" }),
  refusal: record({ refusal: text() }, { required: "refusal" }),
  input_file: record({
    ...each(["file_id", "filename", "file_url"], nullable(text())),
    file_data: nullable(text({ maximum: MAXIMUM_FILE_CHARACTERS })),
    detail: word("auto low high"),
    prompt_cache_breakpoint: breakpoint,
  }),
  computer_screenshot: map,
  summary_text: record({ text: text() }, { required: "text" }),
});
const content = either(longText, list(part));
const status = nullable(word("in_progress completed incomplete"));
const CALL_ID = text({ minimum: 1, maximum: 64 });

/** Items whose fields matter; others are known by their type alone. */
const ITEMS: Readonly<Record<string, Shape>> = {
  message: record({ content, status, phase: nullable(word("commentary final_answer")) }, { required: "role content" }),
  function_call: record(
    { call_id: CALL_ID, name: text(), arguments: text(), status, namespace: text() },
    { required: "call_id name arguments" },
  ),
  function_call_output: record({ call_id: CALL_ID, output: content, status }, { required: "call_id output" }),
  reasoning: record({ summary: list(map), content: list(map), encrypted_content: nullable(text()) }),
  custom_tool_call: record({ call_id: CALL_ID, name: text(), input: text() }, { required: "call_id name input" }),
  custom_tool_call_output: record({ call_id: CALL_ID, output: content }, { required: "call_id output" }),
};

/** Items by type; a message need not name its type. */
const item: Shape = {
  ...map,
  check: (value, path) => {
    const { type, role } = value as Readonly<Record<string, unknown>>;
    const kind = type ?? (role === undefined ? "" : "message");
    const shape = typeof kind === "string" && Object.hasOwn(ITEMS, kind) ? ITEMS[kind] : undefined;
    return shape?.check(value, path);
  },
};

const functionTool = record({
  name: text(),
  description: nullable(text()),
  parameters: nullable(map),
  strict: nullable(flag),
  defer_loading: flag,
});
const customTool = record(
  {
    name: text(),
    description: text(),
    format: tagged("type", {
      text: map,
      grammar: record({ definition: text(), syntax: word("lark regex") }, { required: "definition syntax" }),
    }),
  },
  { required: "name" },
);
const PROVIDED =
  "apply_patch code_interpreter computer computer_use_preview file_search image_generation local_shell mcp namespace " +
  "programmatic_tool_calling shell tool_search web_search web_search_2025_08_26 web_search_preview " +
  "web_search_preview_2025_03_11";
const tool = tagged("type", { function: functionTool, custom: customTool, ...each(PROVIDED.split(" "), map) });

const named = record({ name: text() }, { required: "name" });
const CHOSEN =
  "file_search web_search_preview web_search computer computer_use_preview computer_use " +
  "web_search_preview_2025_03_11 image_generation code_interpreter programmatic_tool_calling apply_patch shell";
const toolChoice = either(
  word("none auto required"),
  tagged("type", {
    function: named,
    custom: named,
    allowed_tools: record({ mode: word("auto required"), tools: list(map) }, { required: "mode tools" }),
    mcp: record({ server_label: text(), name: nullable(text()) }, { required: "server_label" }),
    ...each(CHOSEN.split(" "), map),
  }),
);

const INCLUDED =
  "file_search_call.results web_search_call.results web_search_call.action.sources message.input_image.image_url " +
  "computer_call_output.output.image_url code_interpreter_call.outputs reasoning.encrypted_content " +
  "message.output_text.logprobs";
const summary = nullable(word("auto concise detailed"));
const identified = record({ id: text() }, { required: "id" });

export const RESPONSE_BODY = record({
  background: nullable(flag),
  context_management: nullable(
    list(
      record({ type: text(), compact_threshold: nullable(integer(MINIMUM_COMPACTED_TOKENS)) }, { required: "type" }),
      1,
    ),
  ),
  conversation: nullable(either(text(), identified)),
  include: nullable(list(word(INCLUDED))),
  input: nullable(either(longText, list(item))),
  instructions: nullable(text()),
  max_output_tokens: nullable(integer(MINIMUM_OUTPUT_TOKENS)),
  max_tool_calls: nullable(integer()),
  metadata: nullable(mapOf(text({ maximum: MAXIMUM_METADATA_CHARACTERS }))),
  model: text(),
  moderation: nullable(map),
  parallel_tool_calls: nullable(flag),
  previous_response_id: nullable(text()),
  prompt: nullable(identified),
  prompt_cache_key: nullable(text()),
  prompt_cache_options: record({ ttl: word("30m"), mode: word("implicit explicit") }),
  prompt_cache_retention: nullable(word("in_memory 24h")),
  reasoning: nullable(
    record({
      mode: text(),
      effort: nullable(text()),
      summary,
      generate_summary: summary,
      context: nullable(word("auto current_turn all_turns")),
    }),
  ),
  safety_identifier: nullable(text({ maximum: 64 })),
  service_tier: nullable(word("auto default flex scale priority fast ultrafast")),
  store: nullable(flag),
  stream: nullable(flag),
  stream_options: nullable(record({ include_obfuscation: flag })),
  temperature: nullable(decimal(0, 2)),
  text: record({
    format: tagged("type", {
      text: map,
      json_object: map,
      json_schema: record({ name: text(), description: text(), schema: map, strict: nullable(flag) }),
    }),
    verbosity: nullable(word("low medium high")),
  }),
  tool_choice: toolChoice,
  tools: list(tool, 0, MAXIMUM_TOOLS),
  top_logprobs: nullable(integer(0, 20)),
  top_p: nullable(decimal(0, 1)),
  truncation: nullable(word("auto disabled")),
  user: text({ maximum: 64 }),
});
