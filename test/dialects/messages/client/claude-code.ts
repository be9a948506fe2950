import type { Json } from "../../../../src/kit/index.ts";

const mark = { cache_control: { type: "ephemeral" } };

/** The shape of a coding agent's request in the middle of a tool loop, as measured of Claude Code 2.1. */
export const claudeCode: Json = {
  model: "route/a",
  max_tokens: 32_000,
  stream: true,
  thinking: { type: "adaptive", display: "omitted" },
  output_config: { effort: "high" },
  context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
  metadata: { user_id: '{"device_id":"d","session_id":"s"}' },
  system: [
    { type: "text", text: "You are an agent." },
    { type: "text", text: "Rules.", ...mark },
  ],
  tools: [
    { name: "Read", description: "Reads.", input_schema: { type: "object", properties: { path: { type: "string" } } } },
    { name: "Later", description: "Rare.", input_schema: { type: "object" }, defer_loading: true },
    { type: "tool_search_tool_bm25_20251119", name: "tool_search_tool_bm25" },
    { name: "Write", input_schema: { type: "object" }, type: "custom", ...mark },
  ],
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "<system-reminder>" },
        { type: "text", text: "say hi" },
      ],
    },
    { role: "system", content: [{ type: "text", text: "Tools are deferred.", ...mark }] },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "", signature: "S" },
        { type: "text", text: "I look." },
        { type: "tool_use", id: "toolu_1", name: "Read", input: { path: "a" }, caller: { type: "direct" } },
        { type: "tool_use", id: "toolu_2", name: "Read", input: { path: "b" } },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "toolu_1", content: "text of a" },
        {
          type: "tool_result",
          tool_use_id: "toolu_2",
          is_error: true,
          ...mark,
          content: [
            {
              type: "text",
              text: "no such file",
            },
          ],
        },
        { type: "text", text: "<system-reminder>" },
      ],
    },
  ],
};
