import type { Json } from "../../../src/kit/index.ts";

/** A field of a client's body that may name something. */
export interface Field {
  /** JSON pointer to it, in the body. */
  readonly at: string;
  /** The fields of a body with this value there. */
  readonly body: (value: string) => Json;
}

type Format = "chat" | "messages" | "responses";
type Fields = Readonly<Record<Format, readonly Field[]>>;
type Make = (value: string) => Json;

/** A field of a part of the user's message, beside a text. */
function chatPart(at: string, part: Make): Field {
  const text = { type: "text", text: "what is this?" };
  return {
    at: `/messages/0/content/1${at}`,
    body: (value) => ({ messages: [{ role: "user", content: [text, part(value)] }] }),
  };
}

function chatTurn(at: string, message: Make): Field {
  const messages = (value: string): readonly Json[] => [
    { role: "user", content: "go on" },
    message(value),
    { role: "user", content: "and?" },
  ];
  return { at: `/messages/1${at}`, body: (value) => ({ messages: messages(value) }) };
}

const CALL = { id: "call_1", type: "function", function: { name: "look", arguments: "{}" } };

function chatResult(at: string, part: Make): Field {
  return {
    at: `/messages/2/content/0${at}`,
    body: (value) => ({
      messages: [
        { role: "user", content: "look" },
        { role: "assistant", content: null, tool_calls: [CALL] },
        { role: "tool", tool_call_id: "call_1", content: [part(value)] },
      ],
    }),
  };
}

const chatTop = (at: string, fields: Make): Field => ({ at, body: fields });

function block(at: string, made: Make, role = "user"): Field {
  const text = { type: "text", text: "what is this?" };
  return {
    at: `/messages/0/content/1${at}`,
    body: (value) => ({ messages: [{ role, content: [text, made(value)] }] }),
  };
}

/** In what a tool gave, at the depth at which documents may hold more. */
function resultBlock(at: string, made: Make): Field {
  return {
    at: `/messages/2/content/0/content/0${at}`,
    body: (value) => ({
      messages: [
        { role: "user", content: "look" },
        { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "look", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: [made(value)] }] },
      ],
    }),
  };
}

function inputPart(at: string, part: Make): Field {
  const text = { type: "input_text", text: "what is this?" };
  return {
    at: `/input/0/content/1${at}`,
    body: (value) => ({ input: [{ role: "user", content: [text, part(value)] }] }),
  };
}

/** An item behind a call that it may answer. */
function item(at: string, made: Make): Field {
  const call = { type: "function_call", call_id: "call_1", name: "look", arguments: "{}" };
  return { at: `/input/2${at}`, body: (value) => ({ input: [{ role: "user", content: "look" }, call, made(value)] }) };
}

const output = (part: Json): Json => ({ type: "function_call_output", call_id: "call_1", output: [part] });
const urlSource = (url: string): Json => ({ type: "url", url });

/** Fields that hold addresses, those of every vendor and some that nobody knows. */
export const ADDRESS_FIELDS: Fields = {
  chat: [
    chatPart("/image_url/url", (url) => ({ type: "image_url", image_url: { url } })),
    chatPart("/image_url", (image_url) => ({ type: "image_url", image_url })),
    chatPart("/video_url/url", (url) => ({ type: "video_url", video_url: { url } })),
    chatPart("/audio_url/url", (url) => ({ type: "audio_url", audio_url: { url } })),
    chatPart("/file/file_url", (file_url) => ({ type: "file", file: { filename: "a.pdf", file_url } })),
    chatPart("/file/file_data", (file_data) => ({ type: "file", file: { filename: "a.pdf", file_data } })),
    chatPart("/input_audio/data", (data) => ({ type: "input_audio", input_audio: { data, format: "wav" } })),
    // https://docs.mistral.ai/capabilities/document_ai/document_qna
    chatPart("/document_url", (document_url) => ({ type: "document_url", document_url })),
    // https://www.alibabacloud.com/help/en/model-studio/vision
    chatPart("/video/1", (frame) => ({ type: "video", video: ["https://media.example/1.png", frame] })),
    chatPart("/image", (image) => ({ type: "image", image })),
    chatPart("/source/url", (url) => ({ type: "image", source: urlSource(url) })),
    chatPart("/fileData/fileUri", (fileUri) => ({ type: "file", fileData: { mimeType: "image/png", fileUri } })),
    chatPart("/image/source/s3Location/uri", (uri) => ({ type: "x", image: { source: { s3Location: { uri } } } })),
    chatPart("/unheard/of/0", (of) => ({ type: "unheard", unheard: { of: [of] } })),
    chatResult("/image_url/url", (url) => ({ type: "image_url", image_url: { url } })),
    chatTurn("/content/0/image_url/url", (url) => ({
      role: "assistant",
      content: [{ type: "image_url", image_url: { url } }],
    })),
    chatTurn("/images/0/image_url/url", (url) => ({
      role: "assistant",
      content: "here",
      images: [{ type: "image_url", image_url: { url } }],
    })),
    chatTop("/tools/0/server_url", (server_url) => ({ tools: [{ type: "mcp", server_label: "a", server_url }] })),
    chatTop("/search_parameters/sources/0/links/0", (link) => ({
      search_parameters: { sources: [{ type: "rss", links: [link] }] },
    })),
    chatTop("/data_sources/0/parameters/endpoint", (endpoint) => ({
      data_sources: [{ type: "azure_search", parameters: { endpoint } }],
    })),
    chatTop("/any~1thing/of_mine", (of_mine) => ({ "any/thing": { of_mine } })),
    chatTop("/callback_url", (callback_url) => ({ callback_url })),
  ],
  messages: [
    block("/source/url", (url) => ({ type: "image", source: urlSource(url) })),
    block("/source/url", (url) => ({ type: "document", source: urlSource(url), title: "a" })),
    block("/source/content/0/source/url", (url) => ({
      type: "document",
      source: { type: "content", content: [{ type: "image", source: urlSource(url) }] },
    })),
    block("/source/data", (data) => ({
      type: "document",
      source: { type: "base64", media_type: "application/pdf", data },
    })),
    block("/source/url", (url) => ({ type: "image", source: urlSource(url) }), "assistant"),
    block("/content/source/url", (url) => ({ type: "unheard_of", content: { source: urlSource(url) } })),
    block("/image_url/url", (url) => ({ type: "image_url", image_url: { url } })),
    resultBlock("/source/url", (url) => ({ type: "image", source: urlSource(url) })),
    resultBlock("/source/url", (url) => ({ type: "document", source: urlSource(url) })),
    { at: "/mcp_servers/0/url", body: (url) => ({ mcp_servers: [{ type: "url", url, name: "a" }] }) },
    { at: "/system/0/source/url", body: (url) => ({ system: [{ type: "image", source: urlSource(url) }] }) },
    { at: "/tools/0/server_url", body: (server_url) => ({ tools: [{ type: "unheard_of_1", name: "a", server_url }] }) },
    { at: "/unheard/of", body: (of) => ({ unheard: { of } }) },
  ],
  responses: [
    inputPart("/image_url", (image_url) => ({ type: "input_image", image_url })),
    inputPart("/file_url", (file_url) => ({ type: "input_file", file_url })),
    inputPart("/file_data", (file_data) => ({ type: "input_file", filename: "a.pdf", file_data })),
    inputPart("/input_audio/data", (data) => ({ type: "input_audio", input_audio: { data, format: "wav" } })),
    item("/output/0/image_url", (image_url) => output({ type: "input_image", image_url })),
    item("/output/0/file_url", (file_url) => output({ type: "input_file", file_url })),
    item("/output/image_url", (image_url) => ({
      type: "computer_call_output",
      call_id: "call_1",
      output: { type: "computer_screenshot", image_url },
    })),
    item("/outputs/0/url", (url) => ({ type: "code_interpreter_call", id: "ci_1", outputs: [{ type: "image", url }] })),
    { at: "/tools/0/server_url", body: (server_url) => ({ tools: [{ type: "mcp", server_label: "a", server_url }] }) },
    {
      at: "/tools/0/input_image_mask/image_url",
      body: (image_url) => ({ tools: [{ type: "image_generation", input_image_mask: { image_url } }] }),
    },
    { at: "/unheard/of", body: (of) => ({ unheard: { of } }) },
  ],
};

/** Fields that hold ids of what a provider keeps. */
export const ID_FIELDS: Fields = {
  chat: [
    chatPart("/file/file_id", (file_id) => ({ type: "file", file: { file_id } })),
    chatPart("/file_id", (file_id) => ({ type: "file", file_id })),
    chatPart("/file/file_data", (file_data) => ({ type: "file", file: { file_data } })),
    chatPart("/image_url/url", (url) => ({ type: "image_url", image_url: { url } })),
    chatPart("/uuid", (uuid) => ({ type: "image_url", image_url: null, uuid })),
    chatPart("/attachments/0/fileIds/0", (id) => ({ type: "x", attachments: [{ fileIds: [id] }] })),
    chatTurn("/file/id", (id) => ({ role: "assistant", content: null, file: { id } })),
    chatTurn("/content", (id) => ({ role: "cache", content: `cache_id=${id}` })),
    chatTurn("/content", (id) => ({ role: "system", content: `fileid://${id}` })),
    chatTop("/container", (container) => ({ container })),
    chatTop("/previous_response_id", (previous_response_id) => ({ previous_response_id })),
    chatTop("/tools/0/vector_store_ids/0", (id) => ({ tools: [{ type: "file_search", vector_store_ids: [id] }] })),
    chatTop("/tools/0/retrieval/knowledge_id", (knowledge_id) => ({
      tools: [{ type: "retrieval", retrieval: { knowledge_id } }],
    })),
    chatTop("/tools/0/library_ids/0", (id) => ({ tools: [{ type: "document_library", library_ids: [id] }] })),
    chatTop("/google/cached_content", (cached_content) => ({ google: { cached_content } })),
    chatTop("/data_sources/0/parameters/index_name", (index_name) => ({
      data_sources: [{ type: "azure_search", parameters: { index_name } }],
    })),
    chatTop("/input_file_id", (input_file_id) => ({ input_file_id })),
    chatTop("/batch_id", (batch_id) => ({ batch_id })),
  ],
  messages: [
    block("/source/file_id", (file_id) => ({ type: "document", source: { type: "file", file_id } })),
    block("/source/file_id", (file_id) => ({ type: "image", source: { type: "file", file_id } })),
    block("/file_id", (file_id) => ({ type: "container_upload", file_id })),
    block("/content/content/0/file_id", (file_id) => ({
      type: "bash_code_execution_tool_result",
      tool_use_id: "srvtoolu_1",
      content: { type: "bash_code_execution_result", content: [{ type: "bash_code_execution_output", file_id }] },
    })),
    block("/source/content/0/source/file_id", (file_id) => ({
      type: "document",
      source: { type: "content", content: [{ type: "image", source: { type: "file", file_id } }] },
    })),
    resultBlock("/source/file_id", (file_id) => ({ type: "image", source: { type: "file", file_id } })),
    { at: "/container", body: (container) => ({ container }) },
    { at: "/container/id", body: (id) => ({ container: { id } }) },
    {
      at: "/container/skills/0/skill_id",
      body: (skill_id) => ({ container: { skills: [{ type: "custom", skill_id, version: "latest" }] } }),
    },
  ],
  responses: [
    inputPart("/file_id", (file_id) => ({ type: "input_image", file_id })),
    inputPart("/file_id", (file_id) => ({ type: "input_file", file_id })),
    item("/output/0/file_id", (file_id) => output({ type: "input_image", file_id })),
    item("/output/0/file_id", (file_id) => output({ type: "input_file", file_id })),
    item("/output/file_id", (file_id) => ({
      type: "computer_call_output",
      call_id: "call_1",
      output: { type: "computer_screenshot", file_id },
    })),
    item("/container_id", (container_id) => ({ type: "code_interpreter_call", id: "ci_1", code: "1", container_id })),
    item("/id", (id) => ({ type: "image_generation_call", id })),
    item("/results/0/file_id", (file_id) => ({ type: "file_search_call", id: "fs_1", results: [{ file_id }] })),
    { at: "/tools/0/container", body: (container) => ({ tools: [{ type: "code_interpreter", container }] }) },
    {
      at: "/tools/0/container/file_ids/0",
      body: (id) => ({ tools: [{ type: "code_interpreter", container: { type: "auto", file_ids: [id] } }] }),
    },
    { at: "/tools/0/vector_store_ids/0", body: (id) => ({ tools: [{ type: "file_search", vector_store_ids: [id] }] }) },
    {
      at: "/tools/0/input_image_mask/file_id",
      body: (file_id) => ({ tools: [{ type: "image_generation", input_image_mask: { file_id } }] }),
    },
    { at: "/tools/0/tunnel_id", body: (tunnel_id) => ({ tools: [{ type: "mcp", server_label: "a", tunnel_id }] }) },
  ],
};

/** One of each kind of what a client may not name. `test/dialects/references/address.test.ts` has the rest. */
export const NOT_PUBLIC: readonly string[] = [
  "s3://bucket/a.png",
  "S3://bucket/a.png",
  "gs://bucket/a.png",
  "file:///etc/passwd",
  "ftp://media.example/a.png",
  "blob:https://media.example/550e8400",
  "oss://bucket/a.png",
  "https://generativelanguage.googleapis.com/v1beta/files/abc",
  "https://GenerativeLanguage.googleapis.com.:443/v1beta/files/abc",
  "http://localhost/",
  "http://metadata/",
  "http://10.0.0.1/",
  "http://2130706433/",
  "http://0x7f.1/",
  "http://[::ffff:7f00:1]/",
  "http://[64:ff9b::a9fe:a9fe]/",
  "https://metadata.google.internal/",
  "https://a.svc.cluster.local/",
  "https:/media.example/a.png",
  "https://media.example\\@10.0.0.1/",
  "http://media.example/\n",
  "https://media.example@10.0.0.1/",
  " https://media.example/",
  "//169.254.169.254/",
];

export const PUBLIC: readonly string[] = [
  "https://media.example/a.png?x=http://localhost/&y=s3://b#z",
  "http://203.0.113.7:8080/a.png",
  "https://[2001:db8::1]/a.pdf",
  "data:image/png;base64,iVBORw0KGgo=",
];

const SAYS = "s3://bucket/a.png";
const SCHEMA = {
  $schema: "http://json-schema.org/draft-07/schema#",
  type: "object",
  properties: { url: { type: "string", default: "http://localhost/", enum: ["s3://a", "file:///b"] } },
};
const ARGUMENTS = { url: "http://localhost/", file_id: "file-1", nested: { image_url: SAYS } };

/** Requests that say such things and name nothing. */
export const ORDINARY: Readonly<Record<Format, readonly Json[]>> = {
  chat: [
    {
      messages: [
        { role: "system", content: "file:///etc/hosts is a file" },
        { role: "user", content: SAYS },
      ],
    },
    { messages: [{ role: "user", content: [{ type: "text", text: "http://169.254.169.254/ is what?" }] }] },
    {
      messages: [
        { role: "user", content: "go" },
        {
          role: "assistant",
          content: SAYS,
          annotations: [{ type: "url_citation", url_citation: { url: "http://intranet/", title: "a" } }],
          tool_calls: [
            { id: "file_1", type: "function", function: { name: "a", arguments: JSON.stringify(ARGUMENTS) } },
          ],
        },
        { role: "tool", tool_call_id: "file_1", content: "gs://bucket/b" },
      ],
      tools: [{ type: "function", function: { name: "a", description: SAYS, parameters: SCHEMA } }],
    },
    {
      response_format: { type: "json_schema", json_schema: { name: "a", schema: SCHEMA } },
      stop: ["http://", "s3://"],
      user: "https://id.corp/users/7",
      metadata: { page: "http://localhost:3000/a", file_id: "file-1" },
      prompt_cache_key: "s3://key",
      prediction: { type: "content", content: "file:///a" },
    },
    {
      messages: [
        { role: "user", content: "a" },
        { role: "assistant", audio: { id: "audio_1" } },
        { role: "user", content: "b" },
      ],
    },
    { messages: [{ role: "user", content: "cwd" }], environment: { cwd: "C:\\Users\\a", home: "/home/a" } },
  ],
  messages: [
    { system: SAYS, messages: [{ role: "user", content: [{ type: "text", text: "http://10.0.0.1/" }] }] },
    {
      messages: [
        { role: "user", content: "go" },
        { role: "assistant", content: [{ type: "tool_use", id: "file_1", name: "a", input: ARGUMENTS }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "file_1", content: "http://localhost/" }] },
      ],
      tools: [{ name: "a", description: SAYS, input_schema: SCHEMA, input_examples: [ARGUMENTS] }],
      stop_sequences: ["s3://"],
      metadata: { user_id: "http://localhost/" },
    },
    {
      messages: [
        {
          role: "user",
          content: [
            { type: "document", source: { type: "text", media_type: "text/plain", data: SAYS }, title: "file:///a" },
            { type: "search_result", source: "kb://7", title: "a", content: [{ type: "text", text: "b" }] },
            { type: "text", text: "?" },
          ],
        },
      ],
    },
  ],
  responses: [
    { input: SAYS, instructions: "http://localhost/" },
    {
      input: [
        { role: "user", content: [{ type: "input_text", text: SAYS }] },
        { type: "function_call", call_id: "file_1", name: "a", arguments: JSON.stringify(ARGUMENTS) },
        { type: "function_call_output", call_id: "file_1", output: "http://localhost/" },
        {
          type: "local_shell_call",
          id: "lsh_1",
          call_id: "c2",
          status: "completed",
          action: { type: "exec", command: ["curl", "http://localhost/"], env: { A: "http://127.0.0.1" } },
        },
        { type: "local_shell_call_output", id: "lsh_1", call_id: "c2", output: "file:///a" },
        {
          role: "assistant",
          content: [
            {
              type: "output_text",
              text: "s3://a",
              annotations: [{ type: "file_citation", file_id: "file-1", index: 0, filename: "a" }],
              logprobs: [{ token: "http://", logprob: 0, bytes: [], top_logprobs: [] }],
            },
          ],
        },
        { role: "user", content: "and?" },
      ],
      tools: [{ type: "function", name: "a", description: SAYS, parameters: SCHEMA, strict: false }],
      text: { format: { type: "json_schema", name: "b", schema: SCHEMA, strict: false } },
      metadata: { a: "http://localhost/" },
      client_metadata: { workspace: "file:///a" },
    },
  ],
};
