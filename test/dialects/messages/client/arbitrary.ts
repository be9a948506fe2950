import * as fc from "fast-check";
import type { Json } from "../../../../src/kit/index.ts";
import { ROUTE } from "./support.ts";

const optional = <T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<Partial<T>> =>
  fc.record(fields, { requiredKeys: [] }) as fc.Arbitrary<Partial<T>>;
const merged = (...parts: readonly fc.Arbitrary<object>[]): fc.Arbitrary<Json> =>
  fc.tuple(...parts).map((objects) => Object.assign({}, ...objects) as Json);
const blocks = (...kinds: readonly fc.Arbitrary<object>[]): fc.Arbitrary<readonly object[]> =>
  fc.array(fc.oneof(...kinds), { minLength: 1, maxLength: 4 });

const word = fc.string({ unit: "grapheme", minLength: 1, maxLength: 5 }).map((text) => `${text}.`);
const name = fc.stringMatching(/^[a-z]{1,4}$/);
const mark = optional({
  cache_control: fc.constantFrom({ type: "ephemeral" }, { type: "ephemeral", ttl: "1h" }, null),
});
const json = fc.dictionary(name, fc.oneof(word, fc.integer(), fc.boolean(), fc.constant(null)), { maxKeys: 2 });

const text = merged(fc.record({ type: fc.constant("text"), text: word }), mark);
const base64 = fc.uint8Array({ minLength: 1, maxLength: 6 }).map((bytes) => Buffer.from(bytes).toString("base64"));
const url = fc.constantFrom("https://a.example/x", "http://a.example/y?z=1");
const image = merged(
  fc.record({
    type: fc.constant("image"),
    source: fc.oneof(
      fc.record({
        type: fc.constant("base64"),
        media_type: fc.constantFrom("image/png", "image/jpeg"),
        data: base64,
      }),
      fc.record({ type: fc.constant("url"), url }),
      fc.record({ type: fc.constant("file"), file_id: name }),
    ),
  }),
  mark,
  optional({ transformations: fc.constant([]) }),
);
const document = merged(
  fc.record({
    type: fc.constant("document"),
    source: fc.oneof(
      fc.record({ type: fc.constant("base64"), media_type: fc.constant("application/pdf"), data: base64 }),
      fc.record({ type: fc.constant("text"), media_type: fc.constant("text/plain"), data: word }),
      fc.record({ type: fc.constant("url"), url }),
      fc.record({ type: fc.constant("file"), file_id: name }),
      fc.record({ type: fc.constant("content"), content: fc.array(text, { minLength: 1, maxLength: 2 }) }),
    ),
  }),
  mark,
  optional({ title: word, context: word, citations: fc.record({ enabled: fc.boolean() }) }),
);
const unknown = merged(
  fc.record({ type: fc.constantFrom("search_result", "later", "container_upload"), x: json }),
  mark,
);
const id = fc.stringMatching(/^toolu_[a-z]{2}$/);
const result = merged(
  fc.record({ type: fc.constant("tool_result"), tool_use_id: id }),
  mark,
  optional({
    content: fc.oneof(word, fc.array(fc.oneof(text, image, unknown), { minLength: 1, maxLength: 2 })),
    is_error: fc.boolean(),
    toolset_name: name,
  }),
);
const use = merged(
  fc.record({ type: fc.constant("tool_use"), id, name, input: json }),
  mark,
  optional({ caller: fc.constant({ type: "direct" }) }),
);
const thinking = fc.record({
  type: fc.constant("thinking"),
  thinking: fc.oneof(word, fc.constant("")),
  signature: word,
});
const redacted = fc.record({ type: fc.constant("redacted_thinking"), data: word });
const server = merged(
  fc.record({ type: fc.constantFrom("server_tool_use", "web_search_tool_result"), id: name, input: json }),
);
const turns = fc
  .array(
    fc.record({
      user: fc.oneof(word, blocks(text, image, document, unknown, result)),
      system: fc.option(fc.oneof(word, blocks(text)), { nil: null }),
      assistant: fc.oneof(word, blocks(text, thinking, redacted, use, server)),
    }),
    { minLength: 1, maxLength: 3 },
  )
  .map((list) =>
    list.flatMap(({ user, system, assistant }) => [
      { role: "user", content: user },
      ...(system === null ? [] : [{ role: "system", content: system }]),
      { role: "assistant", content: assistant },
    ]),
  );
const own = merged(
  fc.record({ name, input_schema: fc.constant({ type: "object" }) }),
  mark,
  optional({ description: word, strict: fc.boolean(), type: fc.constant("custom"), defer_loading: fc.boolean() }),
);
const provided = fc.record({
  type: fc.constant("web_search_20250305"),
  name: fc.constant("web_search"),
  max_uses: fc.nat(),
});
const tools = fc.record({
  tools: fc.tuple(own, fc.array(fc.oneof(own, provided), { maxLength: 3 })).map(([first, rest]) => [first, ...rest]),
  tool_choice: fc.oneof(
    fc.constantFrom<Json>({ type: "auto" }, { type: "any" }, { type: "none" }, { type: "tool", name: "web_search" }),
    fc.constantFrom<Json>(
      { type: "any", disable_parallel_tool_use: true },
      { type: "auto", disable_parallel_tool_use: true },
    ),
  ),
});
const settings = optional({
  system: fc.oneof(word, blocks(text)),
  temperature: fc.constantFrom(0, 0.5, 1),
  stop_sequences: fc.array(word, { minLength: 1, maxLength: 2 }),
  stream: fc.constant(true),
  metadata: fc.record({ user_id: word, more: word }, { requiredKeys: ["user_id"] }),
  output_config: fc.record(
    {
      effort: fc.constantFrom("low", "high", "max"),
      format: fc.constant({ type: "json_schema", schema: { type: "object" } }),
      later: word,
    },
    { requiredKeys: ["effort"] },
  ),
  context_management: json,
  container: word,
  mcp_servers: fc.array(json, { maxLength: 2 }),
  service_tier: fc.constantFrom("auto", "standard_only"),
  cache_control: fc.constant({ type: "ephemeral" }),
  later: json,
});

/** Requests with everything the Messages format has, that no upstream of it would refuse for their form. */
export const requests: fc.Arbitrary<Json> = fc
  .tuple(turns, fc.oneof(tools, fc.constant({})), settings)
  .map(([messages, tools, settings]) => ({ model: ROUTE, max_tokens: 5000, messages, ...tools, ...settings }));

const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : []);

/** The same, as the API itself takes them: every call is answered, no turn ends in a thought, and there are few marks. */
export const acceptedRequests: fc.Arbitrary<Json> = requests.map((request) => {
  let calls = 0;
  let open: readonly string[] = [];
  const turns = [...list(request["messages"]), { role: "user", content: "go on." }].map((turn): Json => {
    const blocks = list(turn["content"]);
    if (turn["role"] === "assistant") {
      open = [];
      const content = blocks.map((block) => {
        if (block["type"] !== "tool_use") return block;
        const id = `toolu_${calls++}`;
        open = [...open, id];
        return { ...block, id };
      });
      const isThought = String(content.at(-1)?.["type"]).endsWith("thinking");
      if (blocks.length === 0) return turn;
      return { ...turn, content: isThought ? [...content, { type: "text", text: "so." }] : content };
    }
    if (turn["role"] === "system") return turn;
    const results = blocks.filter(({ type }) => type === "tool_result");
    const answers = open.map((id, at) => plainError({ type: "tool_result", ...results[at], tool_use_id: id }));
    open = [];
    if (answers.length === 0 && blocks.length === 0) return turn;
    const others =
      blocks.length === 0 ? [{ type: "text", text: turn["content"] }] : blocks.filter((one) => !results.includes(one));
    const content = [...answers, ...others];
    return { ...turn, content: content.length === 0 ? "so." : content };
  });
  const names = new Set<unknown>();
  const tools = list(request["tools"]).filter(({ name: own }) => !names.has(own) && names.add(own));
  return fewMarks({ ...request, messages: turns, ...(tools.length === 0 ? {} : { tools }) });
});

/** An error is told in text alone. */
function plainError(result: Json): Json {
  const { is_error: _failed, ...rest } = result;
  return list(result["content"]).some(({ type }) => type !== "text") ? rest : result;
}

/** With four marks at most, those that live an hour first. */
function fewMarks(request: Json): Json {
  let marks = request["cache_control"] === undefined ? 0 : 1;
  let isShort = false;
  const fewer = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(fewer);
    if (typeof value !== "object" || value === null) return value;
    const { cache_control: mark, ...rest } = value as Json;
    const inner = Object.fromEntries(
      Object.entries(rest).map(([key, item]) => [key, key === "content" ? fewer(item) : item]),
    );
    if (mark === undefined || mark === null || (value as Json)["defer_loading"] === true) return inner;
    marks += 1;
    if (marks > 4) return inner;
    isShort ||= (mark as Json)["ttl"] === undefined;
    return { ...inner, cache_control: isShort ? { type: "ephemeral" } : mark };
  };
  const parts = Object.fromEntries(
    ["tools", "system", "messages"].flatMap((key) => (request[key] === undefined ? [] : [[key, fewer(request[key])]])),
  );
  return { ...request, ...parts };
}
