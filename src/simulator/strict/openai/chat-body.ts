import {
  anything,
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
  tagged,
  text,
  word,
} from "../shape.ts";

/*
 * The body of a chat completion as OpenAI documents it: fixtures openai-openapi openapi.json, CreateChatCompletionRequest.
 * Messages, parts and tools may have fields that nobody knows; the body may not.
 */

const MAXIMUM_TEXT_CHARACTERS = 10_485_760;
const MAXIMUM_NAME_CHARACTERS = 64;

const NAME = text({ minimum: 1, maximum: MAXIMUM_NAME_CHARACTERS, pattern: /^[^\s<|\\/>]+$/ });
const breakpoint = record({ mode: word("explicit") }, { required: "mode" });

const textPart = record(
  { text: text({ maximum: MAXIMUM_TEXT_CHARACTERS }), prompt_cache_breakpoint: breakpoint },
  { required: "text" },
);
const imagePart = record(
  {
    image_url: record({ url: text(), detail: word("auto low high") }, { required: "url" }),
    prompt_cache_breakpoint: breakpoint,
  },
  { required: "image_url" },
);
const audioPart = record(
  {
    input_audio: record({ data: text(), format: word("wav mp3") }, { required: "data format" }),
    prompt_cache_breakpoint: breakpoint,
  },
  { required: "input_audio" },
);
const filePart = record(
  { file: record(each("filename file_data file_id".split(" "), text())), prompt_cache_breakpoint: breakpoint },
  { required: "file" },
);
const refusalPart = record({ refusal: text() }, { required: "refusal" });

/** OpenAI names all of them whatever the role; who may send which is another rule. */
const part = tagged("type", {
  text: textPart,
  image_url: imagePart,
  input_audio: audioPart,
  refusal: refusalPart,
  audio: map,
  file: filePart,
});
const content = either(text({ maximum: MAXIMUM_TEXT_CHARACTERS }), list(part, 1));

const call = tagged("type", {
  function: record(
    { id: text(), function: record({ name: text(), arguments: text() }, { required: "name arguments" }) },
    { required: "id function" },
  ),
  custom: record(
    { id: text(), custom: record({ name: text(), input: text() }, { required: "name input" }) },
    { required: "id custom" },
  ),
});

const message = tagged("role", {
  system: record({ content, name: NAME }, { required: "content" }),
  assistant: record({
    content: nullable(content),
    refusal: nullable(text()),
    name: NAME,
    audio: nullable(record({ id: text() }, { required: "id" })),
    tool_calls: list(call, 1),
    function_call: nullable(record({ name: text(), arguments: text() }, { required: "arguments name" })),
  }),
  user: record({ content, name: NAME }, { required: "content" }),
  function: record({ content: nullable(text()), name: text() }, { required: "content name" }),
  tool: record({ content, tool_call_id: text() }, { required: "content tool_call_id" }),
  developer: record({ content, name: NAME }, { required: "content" }),
});

const functionTool = record(
  { name: text(), description: text(), parameters: map, strict: nullable(flag) },
  { required: "name" },
);
const grammar = record({ definition: text(), syntax: word("lark regex") }, { required: "definition syntax" });
const customTool = record(
  {
    name: text(),
    description: text(),
    format: tagged("type", { text: map, grammar: record({ grammar }, { required: "grammar" }) }),
  },
  { required: "name" },
);
const tool = tagged("type", {
  function: record({ function: functionTool }, { required: "function" }),
  custom: record({ custom: customTool }, { required: "custom" }),
});

const named = record({ name: text() }, { required: "name" });
const toolChoice = either(
  word("none auto required"),
  tagged("type", {
    function: record({ function: named }, { required: "function" }),
    custom: record({ custom: named }, { required: "custom" }),
    allowed_tools: record(
      { allowed_tools: record({ mode: word("auto required"), tools: list(map) }, { required: "mode tools" }) },
      { required: "allowed_tools" },
    ),
  }),
);

const responseFormat = tagged("type", {
  text: map,
  json_object: map,
  json_schema: record(
    {
      json_schema: record(
        { name: text(), description: text(), schema: map, strict: nullable(flag) },
        { required: "name" },
      ),
    },
    { required: "json_schema" },
  ),
});

const area = record(each("country region city timezone".split(" "), text()));

/** Fields that Azure has besides: https://learn.microsoft.com/azure/ai-foundry/openai/reference */
export const AZURE_FIELDS = "data_sources enhancements user_security_context";

export const CHAT_FIELDS = {
  messages: list(message, 1),
  model: text(),
  audio: nullable(
    record(
      {
        voice: either(text(), record({ id: text() }, { required: "id", closed: true })),
        format: word("wav aac mp3 flac opus pcm16"),
      },
      { required: "voice format" },
    ),
  ),
  frequency_penalty: nullable(decimal(-2, 2)),
  function_call: either(word("none auto"), named),
  functions: list(record({ name: text(), description: text(), parameters: map }, { required: "name" }), 1, 128),
  logit_bias: nullable(mapOf(integer(-100, 100))),
  logprobs: nullable(flag),
  max_completion_tokens: nullable(integer(1)),
  max_tokens: nullable(integer(1)),
  metadata: nullable(mapOf(text())),
  modalities: nullable(list(word("text audio"))),
  moderation: nullable(record({ model: text(), policy: nullable(map) }, { required: "model" })),
  n: nullable(integer(1, 128)),
  parallel_tool_calls: flag,
  prediction: nullable(
    tagged("type", { content: record({ content: either(text(), list(textPart, 1)) }, { required: "content" }) }),
  ),
  presence_penalty: nullable(decimal(-2, 2)),
  prompt_cache_key: nullable(text()),
  prompt_cache_options: record({ ttl: word("30m"), mode: word("implicit explicit") }),
  prompt_cache_retention: nullable(word("in_memory 24h")),
  reasoning_effort: nullable(text()),
  response_format: responseFormat,
  safety_identifier: nullable(text({ maximum: 64 })),
  seed: nullable(integer(-(2 ** 63), 2 ** 63)),
  service_tier: nullable(word("auto default flex scale priority fast")),
  stop: nullable(either(text(), list(text(), 1, 4))),
  store: nullable(flag),
  stream: nullable(flag),
  stream_options: nullable(record(each("include_usage include_obfuscation".split(" "), flag))),
  temperature: nullable(decimal(0, 2)),
  tool_choice: toolChoice,
  tools: list(tool, 1, 128),
  top_logprobs: nullable(integer(0, 20)),
  top_p: nullable(decimal(0, 1)),
  user: text({ maximum: 64 }),
  verbosity: nullable(word("low medium high")),
  web_search_options: record({
    user_location: nullable(record({ type: word("approximate"), approximate: area }, { required: "type approximate" })),
    search_context_size: word("low medium high"),
  }),
  ...each(AZURE_FIELDS.split(" "), anything),
};

export const CHAT_BODY = record(CHAT_FIELDS, { required: "messages" });
