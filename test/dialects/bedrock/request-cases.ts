import type { Call, Json } from "../../../src/kit/index.ts";
import { CLAUDE } from "./support.ts";

const CLAUDE_35 = "anthropic.claude-3-5-sonnet-20240620-v1:0";
const CLAUDE_46 = "us.anthropic.claude-sonnet-4-6";
export const NOVA = "amazon.nova-2-lite-v1:0";
export const LLAMA = "meta.llama3-3-70b-instruct-v1:0";
export const MISTRAL = "mistral.mistral-large-2407-v1:0";

export interface RequestCase {
  readonly name: string;
  readonly model?: string;
  readonly body: Json;
  readonly call?: Partial<Call>;
  /** What the written body holds. */
  readonly has?: Json;
  /** What it does not hold. */
  readonly lacks?: readonly string[];
  readonly dropped?: readonly string[];
}

const PNG = "data:image/png;base64,iVBORw0KGgo=";
const PDF = "data:application/pdf;base64,JVBERi0=";
const CACHE = { cache_control: { type: "ephemeral" } };
const user = (content: unknown): Json => ({ messages: [{ role: "user", content }] });
const blocks = (...content: readonly Json[]): Json => ({ messages: [{ role: "user", content }] });
const called = (id: string, args = '{"q":1}'): Json => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id, type: "function", function: { name: "find", arguments: args } }],
});
const result = (id: string, more: Json = {}): Json => ({ role: "tool", tool_call_id: id, content: "found", ...more });
const asked: Json = { role: "user", content: "hi" };
const TOOL: Json = { type: "function", function: { name: "find", parameters: { type: "object" } } };
const FIND: Json = { toolSpec: { name: "find", inputSchema: { json: { type: "object" } } } };

/** Taken as it is. */
const SCHEMA: Json = {
  type: "object",
  properties: { a: { type: "string" } },
  required: ["a"],
  additionalProperties: false,
};

export const MESSAGES: readonly RequestCase[] = [
  { name: "a text", body: user("hi"), has: blocks({ text: "hi" }), lacks: ["system", "inferenceConfig", "toolConfig"] },
  {
    name: "system messages, wherever they stand, are the system's",
    body: {
      messages: [
        { role: "system", content: "a" },
        { role: "developer", content: [{ type: "text", text: "b" }] },
        asked,
        { role: "system", content: "c" },
      ],
    },
    has: { system: [{ text: "a" }, { text: "b" }, { text: "c" }], ...blocks({ text: "hi" }) },
  },
  {
    name: "turns of one role become one",
    body: { messages: [asked, { role: "user", content: "there" }] },
    has: blocks({ text: "hi" }, { text: "there" }),
  },
  {
    name: "texts without a visible character are left out",
    body: {
      messages: [{ role: "user", content: " " }, { role: "user", content: [{ type: "text", text: "" }] }, asked],
    },
    has: blocks({ text: "hi" }),
  },
  {
    name: "inlined images and documents",
    body: user([
      { type: "image_url", image_url: { url: PNG, detail: "auto" } },
      { type: "image_url", image_url: "data:image/jpg;base64,/9j/" },
      { type: "file", file: { file_data: PDF, filename: "Q3: report_final.pdf" } },
      { type: "file", file: { file_data: "data:application/json;base64,e30=", filename: "Q3: report_final.pdf" } },
      {
        type: "file",
        file: { file_data: "data:text/markdown;base64,Iw==", title: "T", context: "c", citations: { enabled: true } },
      },
    ]),
    has: blocks(
      { image: { format: "png", source: { bytes: "iVBORw0KGgo=" } } },
      { image: { format: "jpeg", source: { bytes: "/9j/" } } },
      { document: { format: "pdf", name: "Q3 report final", source: { bytes: "JVBERi0=" } } },
      { document: { format: "txt", name: "Q3 report final 2", source: { bytes: "e30=" } } },
      { document: { format: "md", name: "T", source: { bytes: "Iw==" }, context: "c", citations: { enabled: true } } },
      { text: "(see documents)" },
    ),
  },
  {
    name: "a document alone has a text with it",
    body: user([{ type: "file", file: { file_data: PDF, filename: "a.pdf" } }]),
    has: blocks({ document: { format: "pdf", name: "a", source: { bytes: "JVBERi0=" } } }, { text: "(see documents)" }),
  },
  {
    name: "system messages alone are what is asked",
    body: { messages: [{ role: "system", content: "a" }] },
    has: blocks({ text: "a" }),
    lacks: ["system"],
  },
  {
    name: "an answer that Claude is to go on with does not end in white space",
    body: { messages: [asked, { role: "assistant", content: "so: \n" }] },
    has: {
      messages: [
        { role: "user", content: [{ text: "hi" }] },
        { role: "assistant", content: [{ text: "so:" }] },
      ],
    },
  },
  {
    name: "another provider's signature stays behind",
    body: {
      messages: [
        asked,
        {
          role: "assistant",
          content: "so",
          reasoning_details: [{ type: "reasoning.text", text: "hm", signature: "gemini1.h.AAAA" }],
        },
        asked,
      ],
    },
    dropped: ["/messages/1/reasoning_details/0"],
  },
  {
    name: "an image in S3",
    body: user([{ type: "image_url", image_url: { url: "s3://bucket/a.jpg" } }]),
    has: blocks({ image: { format: "jpeg", source: { s3Location: { uri: "s3://bucket/a.jpg" } } } }),
  },
  {
    name: "what is on the web, kept elsewhere or unknown is reported",
    body: user([
      { type: "text", text: "look" },
      { type: "image_url", image_url: { url: "https://example.com/a.png" } },
      { type: "image_url", image_url: { url: "data:image/svg+xml;base64,PA==" } },
      { type: "image_url", image_url: { url: "data:image/png;base64,@" } },
      { type: "file", file: { file_id: "file-1" } },
      { type: "file", file: { file_url: "https://example.com/a.pdf" } },
      { type: "input_audio", input_audio: { data: "AA==", format: "wav" } },
      { type: "native", dialect: "messages", block: { type: "search_result" } },
      { type: "image_url", image_url: { url: PNG, detail: "high" } },
      { type: "text", text: "!", mood: "glad" },
    ]),
    has: blocks({ text: "look" }, { image: { format: "png", source: { bytes: "iVBORw0KGgo=" } } }, { text: "!" }),
    dropped: [
      ...[1, 2, 3, 4, 5, 6, 7].map((index) => `/messages/0/content/${index}`),
      "/messages/0/content/8/image_url/detail",
      "/messages/0/content/9/mood",
    ],
  },
  {
    name: "a call and its result",
    body: { messages: [asked, called("call_1"), result("call_1"), { role: "user", content: "and?" }], tools: [TOOL] },
    has: {
      messages: [
        { role: "user", content: [{ text: "hi" }] },
        { role: "assistant", content: [{ toolUse: { toolUseId: "call_1", name: "find", input: { q: 1 } } }] },
        {
          role: "user",
          content: [{ toolResult: { toolUseId: "call_1", content: [{ text: "found" }] } }, { text: "and?" }],
        },
      ],
      toolConfig: { tools: [FIND] },
    },
  },
  {
    name: "results that are errors, images, empty, several",
    body: {
      messages: [
        asked,
        {
          ...called("a"),
          tool_calls: [...(called("a")["tool_calls"] as Json[]), ...(called("b")["tool_calls"] as Json[])],
        },
        result("a", { is_error: true }),
        result("b", { content: [{ type: "image_url", image_url: { url: PNG } }] }),
        result("b", { content: "" }),
      ],
    },
    has: {
      messages: [
        { role: "user", content: [{ text: "hi" }] },
        {
          role: "assistant",
          content: [
            { toolUse: { toolUseId: "a", name: "find", input: { q: 1 } } },
            { toolUse: { toolUseId: "b", name: "find", input: { q: 1 } } },
          ],
        },
        {
          role: "user",
          content: [
            { toolResult: { toolUseId: "a", content: [{ text: "found" }], status: "error" } },
            {
              toolResult: {
                toolUseId: "b",
                content: [{ image: { format: "png", source: { bytes: "iVBORw0KGgo=" } } }],
              },
            },
            { toolResult: { toolUseId: "b", content: [{ text: "(no output)" }] } },
          ],
        },
      ],
    },
  },
  {
    name: "arguments that are no object are kept as what they are",
    body: { messages: [asked, called("a", '{"q":'), called("b", ""), called("c", "[1]")] },
    has: {
      messages: [
        { role: "user", content: [{ text: "hi" }] },
        {
          role: "assistant",
          content: [
            { toolUse: { toolUseId: "a", name: "find", input: { _raw: '{"q":' } } },
            { toolUse: { toolUseId: "b", name: "find", input: {} } },
            { toolUse: { toolUseId: "c", name: "find", input: { _raw: "[1]" } } },
          ],
        },
      ],
    },
  },
  {
    name: "ids that Converse refuses are rewritten, a call's and its result's alike",
    body: { messages: [asked, called("call.1/ü"), result("call.1/ü"), called("x".repeat(65)), result("x".repeat(65))] },
    has: {
      messages: [
        { role: "user", content: [{ text: "hi" }] },
        { role: "assistant", content: [{ toolUse: { toolUseId: "call00000", name: "find", input: { q: 1 } } }] },
        { role: "user", content: [{ toolResult: { toolUseId: "call00000", content: [{ text: "found" }] } }] },
        { role: "assistant", content: [{ toolUse: { toolUseId: "call00001", name: "find", input: { q: 1 } } }] },
        { role: "user", content: [{ toolResult: { toolUseId: "call00001", content: [{ text: "found" }] } }] },
      ],
    },
  },
  {
    name: "Mistral's models take ids of nine letters and digits",
    model: MISTRAL,
    body: { messages: [asked, called("call_1"), result("call_1", { is_error: true }), called("abcDEF123")] },
    has: {
      messages: [
        { role: "user", content: [{ text: "hi" }] },
        { role: "assistant", content: [{ toolUse: { toolUseId: "call00000", name: "find", input: { q: 1 } } }] },
        { role: "user", content: [{ toolResult: { toolUseId: "call00000", content: [{ text: "found" }] } }] },
        { role: "assistant", content: [{ toolUse: { toolUseId: "abcDEF123", name: "find", input: { q: 1 } } }] },
      ],
    },
    dropped: ["/messages/2/is_error"],
  },
  {
    name: "signed and redacted reasoning goes back verbatim, first in its turn",
    body: {
      messages: [
        asked,
        {
          role: "assistant",
          content: "so",
          reasoning_content: "hm",
          reasoning_details: [
            { type: "reasoning.text", text: "hm", signature: "c2ln" },
            { type: "reasoning.encrypted", data: "cmVk" },
          ],
        },
      ],
    },
    has: {
      messages: [
        { role: "user", content: [{ text: "hi" }] },
        {
          role: "assistant",
          content: [
            { reasoningContent: { reasoningText: { text: "hm", signature: "c2ln" } } },
            { reasoningContent: { redactedContent: "cmVk" } },
            { text: "so" },
          ],
        },
      ],
    },
  },
  {
    name: "reasoning between other blocks stays there",
    body: {
      messages: [
        asked,
        {
          role: "assistant",
          content: [
            { type: "text", text: "" },
            { type: "text", text: "b", ...CACHE },
          ],
          reasoning_details: [
            { type: "reasoning.text", text: "1", signature: "s" },
            { type: "reasoning.text", text: "2", signature: "s" },
          ],
          tool_calls: [{ id: "t", type: "function", function: { name: "find", arguments: "{}" } }],
          block_order: ["content", "reasoning", "content", "reasoning", "tool_call"],
        },
      ],
    },
    has: {
      messages: [
        { role: "user", content: [{ text: "hi" }] },
        {
          role: "assistant",
          content: [
            { reasoningContent: { reasoningText: { text: "1", signature: "s" } } },
            { text: "b" },
            { cachePoint: { type: "default" } },
            { reasoningContent: { reasoningText: { text: "2", signature: "s" } } },
            { toolUse: { toolUseId: "t", name: "find", input: {} } },
          ],
        },
      ],
    },
  },
  {
    name: "reasoning that nobody signed, or another provider did, is reported",
    body: {
      messages: [
        asked,
        { role: "assistant", content: "a", reasoning_content: "hm" },
        {
          role: "assistant",
          content: "b",
          reasoning_details: [
            { type: "reasoning.text", text: "hm" },
            { type: "reasoning.encrypted", data: "x", id: "rs_1" },
            { type: "reasoning.summary", summary: "x" },
          ],
        },
      ],
    },
    has: {
      messages: [
        { role: "user", content: [{ text: "hi" }] },
        { role: "assistant", content: [{ text: "a" }, { text: "b" }] },
      ],
    },
    dropped: [
      "/messages/1/reasoning_content",
      "/messages/2/reasoning_details/0",
      "/messages/2/reasoning_details/1",
      "/messages/2/reasoning_details/2",
    ],
  },
  {
    name: "a model that takes no reasoning back is sent none",
    model: LLAMA,
    body: {
      messages: [
        asked,
        { role: "assistant", content: "a", reasoning_details: [{ type: "reasoning.text", text: "x", signature: "s" }] },
      ],
    },
    dropped: ["/messages/1/reasoning_details/0"],
  },
  {
    name: "an answer that comes back as it was given: nothing is reported",
    body: {
      messages: [
        asked,
        {
          role: "assistant",
          content: "a",
          refusal: null,
          annotations: [{ type: "url_citation" }],
          audio: null,
          function_call: null,
          tool_calls: [{ ...(called("t")["tool_calls"] as Json[])[0], index: 0, extra_content: { google: {} } }],
        },
        result("t"),
      ],
    },
  },
  {
    name: "a refusal is what was said",
    body: { messages: [asked, { role: "assistant", content: null, refusal: "no" }, asked] },
    has: {
      messages: [
        { role: "user", content: [{ text: "hi" }] },
        { role: "assistant", content: [{ text: "no" }] },
        { role: "user", content: [{ text: "hi" }] },
      ],
    },
  },
  {
    name: "names of speakers are reported",
    body: { messages: [{ ...asked, name: "ada" }] },
    dropped: ["/messages/0/name"],
  },
  {
    name: "cache marks become cache points",
    body: {
      messages: [
        { role: "system", content: [{ type: "text", text: "s", cache_control: { type: "ephemeral", ttl: "1h" } }] },
        {
          role: "user",
          content: [
            { type: "text", text: "a", ...CACHE },
            { type: "text", text: "b" },
          ],
        },
        { ...called("t"), ...CACHE },
        result("t", { content: [{ type: "text", text: "r", ...CACHE }] }),
        { role: "user", content: "c", cache_control: { type: "ephemeral", ttl: "2h" } },
      ],
      tools: [{ ...TOOL, ...CACHE }],
    },
    has: {
      system: [{ text: "s" }, { cachePoint: { type: "default", ttl: "1h" } }],
      messages: [
        { role: "user", content: [{ text: "a" }, { cachePoint: { type: "default" } }, { text: "b" }] },
        {
          role: "assistant",
          content: [
            { toolUse: { toolUseId: "t", name: "find", input: { q: 1 } } },
            { cachePoint: { type: "default" } },
          ],
        },
        {
          role: "user",
          content: [
            { toolResult: { toolUseId: "t", content: [{ text: "r" }] } },
            { cachePoint: { type: "default" } },
            { text: "c" },
            { cachePoint: { type: "default" } },
          ],
        },
      ],
      toolConfig: { tools: [FIND, { cachePoint: { type: "default" } }] },
    },
    dropped: ["/messages/4/cache_control/ttl"],
  },
  {
    name: "cache marks for a model that does not cache are reported",
    model: LLAMA,
    body: {
      messages: [{ role: "user", content: [{ type: "text", text: "a", ...CACHE }] }],
      tools: [{ ...TOOL, ...CACHE }],
    },
    has: { ...blocks({ text: "a" }), toolConfig: { tools: [FIND] } },
    dropped: ["/messages/0/content/0/cache_control", "/tools/0/cache_control"],
  },
];

export const FIELDS: readonly RequestCase[] = [
  {
    name: "sampling and limits",
    model: CLAUDE_35,
    body: { max_tokens: 5, max_completion_tokens: 7, temperature: 0.5, top_p: 0.9, stop: ["a", ""] },
    has: {
      inferenceConfig: { maxTokens: 7, temperature: 0.5, topP: 0.9, stopSequences: ["a"] },
      additionalModelResponseFieldPaths: ["/stop_sequence", "/delta/stop_sequence"],
    },
  },
  {
    name: "one of two ways of sampling, where Claude takes only one",
    body: { temperature: 0.5, top_p: 0.9 },
    has: { inferenceConfig: { temperature: 0.5 } },
    dropped: ["/top_p"],
  },
  {
    name: "a temperature above Converse's range is the highest, and reported; stop as one text",
    model: LLAMA,
    body: { max_tokens: 5, temperature: 1.5, stop: "x" },
    has: { inferenceConfig: { maxTokens: 5, temperature: 1, stopSequences: ["x"] } },
    lacks: ["additionalModelResponseFieldPaths"],
    dropped: ["/temperature"],
  },
  {
    name: "what Converse has no field for is reported, what asks for nothing is not",
    body: {
      seed: 1,
      n: 2,
      logprobs: true,
      top_logprobs: 2,
      presence_penalty: 0.5,
      frequency_penalty: 0,
      user: "u",
      logit_bias: {},
      store: false,
      prompt_cache_key: "k",
      modalities: ["audio"],
      stream_options: {},
      guardrail: { a: 1 },
    },
    dropped: "/seed /n /logprobs /top_logprobs /presence_penalty /user /prompt_cache_key /modalities /guardrail".split(
      " ",
    ),
  },
  {
    name: "a Messages client's fields are reported under its own names",
    body: {
      user: "u",
      parallel_tool_calls: false,
      tools: [{ ...TOOL, native: { type: "custom", defer_loading: true } }],
      messages: [{ role: "user", content: [{ type: "text", text: "a", native: { citations: [{ x: 1 }] } }] }],
    },
    model: NOVA,
    call: {
      dialect: "messages",
      native: { context_management: { edits: [1] }, container: null, tools: [{ type: "web_search" }] },
    },
    dropped: [
      "/messages/0/content/0/citations",
      "/tools/0/defer_loading",
      "/tool_choice/disable_parallel_tool_use",
      "/metadata/user_id",
      "/context_management",
      "/tools",
    ],
  },
  {
    name: "tools, described or not",
    body: {
      tools: [
        { type: "function", function: { name: "a", description: "d", parameters: { $schema: "x", properties: {} } } },
        { type: "function", function: { name: "b", description: " ", strict: false } },
        { type: "function", function: { name: "c", strict: true } },
        { type: "custom", custom: { name: "d" } },
      ],
    },
    has: {
      toolConfig: {
        tools: [
          { toolSpec: { name: "a", description: "d", inputSchema: { json: { type: "object", properties: {} } } } },
          { toolSpec: { name: "b", inputSchema: { json: { type: "object" } } } },
          {
            toolSpec: {
              name: "c",
              inputSchema: { json: { type: "object", properties: {}, additionalProperties: false } },
              strict: true,
            },
          },
        ],
      },
    },
    dropped: ["/tools/3"],
  },
  ...(
    [
      ["auto", {}, []],
      ["required", { toolChoice: { any: {} } }, []],
      [{ type: "function", function: { name: "find" } }, { toolChoice: { tool: { name: "find" } } }, []],
      [{ type: "allowed_tools", allowed_tools: {} }, {}, ["/tool_choice"]],
    ] as const
  ).map(([choice, has, dropped]): RequestCase => ({
    name: `tool_choice ${JSON.stringify(choice)}`,
    body: { tools: [TOOL], tool_choice: choice },
    has: { toolConfig: { tools: [FIND], ...has } },
    dropped,
  })),
  {
    name: "no tools are to be called: none are sent",
    body: { tools: [TOOL], tool_choice: "none" },
    lacks: ["toolConfig"],
  },
  {
    name: "no tools are to be called, but some were: Converse wants them, the choice is reported",
    body: { messages: [asked, called("a"), result("a")], tools: [TOOL], tool_choice: "none" },
    has: { toolConfig: { tools: [FIND] } },
    dropped: ["/tool_choice"],
  },
  {
    name: "tools were called that the client lists no more",
    body: { messages: [asked, called("a"), result("a")] },
    has: { toolConfig: { tools: [FIND] } },
  },
  {
    name: "a tool is demanded where there is none",
    body: { tool_choice: "required" },
    lacks: ["toolConfig"],
    dropped: ["/tool_choice"],
  },
  {
    name: "one call at a time is said in Claude's own field, which Converse wants alone",
    body: { tools: [TOOL], tool_choice: "required", parallel_tool_calls: false },
    has: {
      toolConfig: { tools: [FIND] },
      additionalModelRequestFields: { tool_choice: { type: "any", disable_parallel_tool_use: true } },
    },
  },
  {
    name: "one call at a time of a named tool",
    body: { tools: [TOOL], tool_choice: { type: "function", function: { name: "find" } }, parallel_tool_calls: false },
    has: {
      toolConfig: { tools: [FIND] },
      additionalModelRequestFields: { tool_choice: { type: "tool", name: "find", disable_parallel_tool_use: true } },
    },
  },
  {
    name: "a JSON schema for the answer",
    body: {
      response_format: {
        type: "json_schema",
        json_schema: { name: "n", description: "d", strict: true, schema: SCHEMA },
      },
    },
    has: {
      outputConfig: {
        textFormat: {
          type: "json_schema",
          structure: { jsonSchema: { schema: JSON.stringify(SCHEMA), name: "n", description: "d" } },
        },
      },
    },
  },
  {
    name: "a JSON schema, of a model that is made to call a tool",
    model: NOVA,
    body: { response_format: { type: "json_schema", json_schema: { name: "n", schema: SCHEMA } } },
    has: {
      toolConfig: {
        tools: [
          { toolSpec: { name: "json", description: "Respond with a JSON object.", inputSchema: { json: SCHEMA } } },
        ],
        toolChoice: { any: {} },
      },
    },
    lacks: ["outputConfig"],
  },
  {
    name: "a JSON schema, of a model that can only be offered one",
    model: LLAMA,
    body: { response_format: { type: "json_schema", json_schema: { name: "n", schema: SCHEMA } } },
    has: {
      toolConfig: {
        tools: [
          { toolSpec: { name: "json", description: "Respond with a JSON object.", inputSchema: { json: SCHEMA } } },
        ],
      },
    },
    lacks: ["outputConfig"],
  },
  {
    name: "a strict tool",
    model: CLAUDE_46,
    body: { tools: [{ type: "function", function: { name: "find", strict: true, parameters: SCHEMA } }] },
    has: { toolConfig: { tools: [{ toolSpec: { name: "find", inputSchema: { json: SCHEMA }, strict: true } }] } },
  },
  {
    name: "JSON without a schema is reported",
    body: { response_format: { type: "json_object" } },
    lacks: ["outputConfig"],
    dropped: ["/response_format"],
  },
  { name: "text is what there is", body: { response_format: { type: "text" } }, lacks: ["outputConfig"] },
  {
    name: "more than a Claude model can write is all it can, and is reported",
    body: { max_completion_tokens: 100_000 },
    has: { inferenceConfig: { maxTokens: 64_000 } },
    dropped: ["/max_completion_tokens"],
  },
  {
    name: "service tier and metadata",
    body: { service_tier: "flex", metadata: { team: "a b", "x:y": "1" } },
    has: { serviceTier: { type: "flex" }, requestMetadata: { team: "a b", "x:y": "1" } },
  },
  {
    name: "a tier and metadata that Converse would refuse",
    body: { service_tier: "scale", metadata: { team: "ü" } },
    lacks: ["serviceTier", "requestMetadata"],
    dropped: ["/service_tier", "/metadata"],
  },
];

const fields = (additionalModelRequestFields: Json): Json => ({ additionalModelRequestFields });

const thinks = (budget_tokens: number): Json => ({ thinking: { type: "enabled", budget_tokens } });

/** `[model, canonical fields, additionalModelRequestFields, dropped]` */
export const MODEL_FIELDS: readonly RequestCase[] = (
  [
    [CLAUDE, { top_k: 5 }, { top_k: 5 }],
    [MISTRAL, { top_k: 5 }, { top_k: 5 }],
    ["cohere.command-r-v1:0", { top_k: 5 }, { k: 5 }],
    [NOVA, { top_k: 5 }, { inferenceConfig: { topK: 5 } }],
    [LLAMA, { top_k: 5 }, null, ["/top_k"]],
    [
      "arn:aws:bedrock:us-east-1:1:application-inference-profile/abc",
      { thinking: { type: "adaptive" }, top_k: 1, reasoning_effort: "low" },
      { thinking: { type: "adaptive" } },
      ["/reasoning_effort", "/top_k"],
    ],
    [LLAMA, { thinking: { type: "enabled", budget_tokens: 2048 } }, null, ["/thinking"]],
    [LLAMA, { thinking: { type: "disabled" }, reasoning_effort: "none" }, null],
    // Before 3.7 Claude does not think, and refuses to be told anything of it.
    [CLAUDE_35, { reasoning_effort: "high" }, null, ["/reasoning_effort"]],
    [CLAUDE_35, { reasoning_effort: "none", thinking: { type: "disabled" } }, null],
    [CLAUDE_35, { thinking: { type: "enabled", budget_tokens: 2048 } }, null, ["/thinking"]],
    // Before 4.6 it knows budgets and no effort.
    [CLAUDE, { thinking: { type: "enabled", budget_tokens: 2048 } }, thinks(2048)],
    [CLAUDE, { thinking: true }, null, ["/thinking"]],
    [CLAUDE, { reasoning_effort: "high" }, thinks(32_000)],
    [CLAUDE, { reasoning_effort: "low", max_tokens: 10_000 }, thinks(2_000)],
    [CLAUDE, { reasoning_effort: "high", max_tokens: 1_000 }, null, ["/reasoning_effort"]],
    [CLAUDE, { reasoning_effort: "none" }, null],
    [CLAUDE, { reasoning_effort: "toString" }, null, ["/reasoning_effort"]],
    // A forced call leaves no room for thought.
    [CLAUDE, { reasoning_effort: "high", tools: [TOOL], tool_choice: "required" }, null, ["/reasoning_effort"]],
    [
      CLAUDE,
      { reasoning_effort: "high", messages: [{ role: "user", content: "hi" }, called("a"), result("a")] },
      null,
      ["/reasoning_effort"],
    ],
    [CLAUDE, { reasoning_effort: "low", temperature: 0.5, top_k: 5 }, thinks(12_800), ["/temperature", "/top_k"]],
    [CLAUDE_46, { reasoning_effort: "high" }, { thinking: { type: "adaptive" }, output_config: { effort: "high" } }],
    [CLAUDE_46, { reasoning_effort: "max" }, { thinking: { type: "adaptive" }, output_config: { effort: "max" } }],
    [CLAUDE_46, { reasoning_effort: "none" }, { thinking: { type: "disabled" } }],
    [CLAUDE_46, { thinking: { type: "adaptive" } }, { thinking: { type: "adaptive" } }],
    [NOVA, { reasoning_effort: "medium" }, { reasoningConfig: { type: "enabled", maxReasoningEffort: "medium" } }],
    [NOVA, { reasoning_effort: "none" }, { reasoningConfig: { type: "disabled" } }],
    ["amazon.nova-lite-v1:0", { reasoning_effort: "low" }, null, ["/reasoning_effort"]],
    ["openai.gpt-oss-120b-1:0", { reasoning_effort: "xhigh" }, { reasoning_effort: "high" }, ["/reasoning_effort"]],
    ["us.openai.gpt-5.2", { reasoning_effort: "xhigh" }, { reasoning: { effort: "xhigh" } }],
    [LLAMA, { reasoning_effort: "low" }, null, ["/reasoning_effort"]],
  ] as readonly (readonly [string, Json, Json | null, (readonly string[])?])[]
).map(([model, body, has, dropped = []]) => ({
  name: `${model}: ${JSON.stringify(body)}`,
  model,
  body,
  ...(has === null ? { lacks: ["additionalModelRequestFields"] } : { has: fields(has) }),
  dropped,
}));

export const REFUSED: readonly (readonly [string, Json, string])[] = [
  ["no list of messages", { messages: "hi" }, "/messages must be a list"],
  ["a message that is none", { messages: ["hi"] }, "/messages/0 must be an object"],
  [
    "nobody's message",
    { messages: [{ role: "function", content: "x" }] },
    "/messages/0/role must be system, developer, user, assistant or tool",
  ],
  ["nothing to answer", { messages: [{ role: "user", content: " " }] }, "/messages must have a message with content"],
  [
    "content that is none",
    { messages: [{ role: "user", content: 1 }] },
    "/messages/0/content must be a string or a list of parts",
  ],
  ["a part that is none", { messages: [{ role: "user", content: [1] }] }, "/messages/0/content/0 must be an object"],
  [
    "a text part without text",
    { messages: [{ role: "user", content: [{ type: "text" }] }] },
    "/messages/0/content/0/text must be a string",
  ],
  [
    "an image without a URL",
    { messages: [{ role: "user", content: [{ type: "image_url" }] }] },
    "/messages/0/content/0/image_url/url must be a string",
  ],
  [
    "a result of nothing",
    { messages: [{ role: "tool", content: "x" }] },
    "/messages/0/tool_call_id must be a string that is not empty",
  ],
  [
    "calls that are none",
    { messages: [{ role: "assistant", tool_calls: {} }] },
    "/messages/0/tool_calls must be a list",
  ],
  [
    "a call without an id",
    { messages: [{ role: "assistant", tool_calls: [{ function: { name: "x" } }] }] },
    "/messages/0/tool_calls/0/id must be a string that is not empty",
  ],
  [
    "a call without a name",
    { messages: [{ role: "assistant", tool_calls: [{ id: "a", function: {} }] }] },
    "/messages/0/tool_calls/0/function/name must be a string",
  ],
  ["tools that are none", { tools: "x" }, "/tools must be a list"],
  ["a tool without a function", { tools: [{ type: "function" }] }, "/tools/0/function must be an object"],
  ["a tool without a name", { tools: [{ type: "function", function: {} }] }, "/tools/0/function/name must be a string"],
  ["a temperature in words", { temperature: "hot" }, "/temperature must be a number"],
  ["stops that are none", { stop: [1] }, "/stop must be strings"],
];
