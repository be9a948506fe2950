import { isJson } from "../../kit/index.ts";
import { asText, SimError } from "../fields.ts";
import { messagesBody } from "./claude/body.ts";
import { betaless, formRule, SHARED } from "./claude/messages.ts";
import { objects, type Rule, wordSet } from "./rule.ts";
import { list, text } from "./shape.ts";

const ON_VERTEX = "https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai#features-not-supported";
/** Types of tools that Vertex AI names in its refusal of others. */
const VERTEX_TOOLS = wordSet(
  "bash_20250124 custom memory_20250818 text_editor_20250124 text_editor_20250429 text_editor_20250728 " +
    "tool_search_tool_bm25 tool_search_tool_bm25_20251119 tool_search_tool_regex tool_search_tool_regex_20251119 " +
    "web_search_20250305 computer_20250124 computer_20251124",
);

/** Claude on Google's Vertex AI. */
export const VERTEX: readonly Rule[] = [
  {
    source: `https://github.com/anthropics/claude-code/issues/39589, ${ON_VERTEX}`,
    refuse: betaless,
  },
  formRule(
    messagesBody("model container inference_geo mcp_servers fallbacks speed", {
      anthropic_version: text(),
      anthropic_beta: list(text()),
    }),
    ON_VERTEX,
  ),
  {
    source: "https://github.com/coder/xum/issues/2922",
    refuse: ({ body }) => {
      for (const [index, { type = "custom" }] of objects(body["tools"]).entries()) {
        if (!VERTEX_TOOLS.has(asText(type))) {
          const known = [...VERTEX_TOOLS].map((name) => `'${name}'`).join(", ");
          return new SimError(
            400,
            `tools.${index}: Input tag '${asText(type)}' found using 'type' does not match any of the expected tags: ${known}`,
          );
        }
      }
      return undefined;
    },
  },
  {
    source: `https://github.com/anthropics/anthropic-sdk-typescript/issues/1038, ${ON_VERTEX}`,
    refuse: ({ body }) => {
      for (const [index, { content }] of objects(body["messages"]).entries()) {
        for (const [at, block] of objects(content).entries()) {
          const sources = [block, ...objects(block["content"])].map(({ source }) =>
            isJson(source) ? source["type"] : "",
          );
          if (sources.some((type) => type === "url" || type === "file"))
            return new SimError(
              400,
              `messages.${index}.content.${at}.image.source.base64.data: URL sources are not supported`,
            );
        }
      }
      return undefined;
    },
  },
  ...SHARED,
];
