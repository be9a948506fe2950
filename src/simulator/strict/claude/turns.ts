import { type Json, isJson } from "../../../kit/index.ts";
import { asText, SimError } from "../../fields.ts";
import { objects, type Rule } from "../rule.ts";
import { blocksOf } from "./content.ts";

/* Calls and their results, thinking, and tools that are loaded later. */

/** The first block of a type whose name was there before. */
function repeated(body: Json, type: string, name: string): { readonly at: string; readonly id: string } | undefined {
  const seen = new Set<unknown>();
  for (const { at, value } of blocksOf(body)) {
    if (value["type"] !== type) continue;
    if (seen.has(value[name])) return { at, id: asText(value[name]) };
    seen.add(value[name]);
  }
  return undefined;
}

const THOUGHTS: ReadonlySet<unknown> = new Set(["thinking", "redacted_thinking"]);

export const TURNS: readonly Rule[] = [
  {
    source: "https://github.com/trycua/cua/issues/524",
    refuse: ({ body }) => {
      const found = repeated(body, "tool_use", "id");
      return found && new SimError(400, `${found.at}: \`tool_use\` ids must be unique`);
    },
  },
  {
    source: "https://github.com/sipeed/picoclaw/pull/1793",
    refuse: ({ body }) => {
      const found = repeated(body, "tool_result", "tool_use_id");
      return (
        found &&
        new SimError(
          400,
          `${found.at}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${found.id}`,
        )
      );
    },
  },
  {
    source:
      "https://github.com/tailcallhq/forgecode/issues/2107, https://github.com/NousResearch/hermes-agent/pull/13010",
    refuse: ({ body }) => {
      const index = objects(body["messages"]).findIndex(
        ({ role, content }) => role === "assistant" && THOUGHTS.has(objects(content).at(-1)?.["type"]),
      );
      return index < 0
        ? undefined
        : new SimError(400, `messages.${index}: The final block in an assistant message cannot be \`thinking\`.`);
    },
  },
  {
    source: "https://github.com/tailcallhq/forgecode/issues/1853",
    refuse: ({ body: { messages, thinking } }) => {
      const turns = objects(messages);
      const last = turns.at(-1);
      const off = !isJson(thinking) || thinking["type"] === "disabled";
      const block = objects(last?.["content"]).findIndex(({ type }) => THOUGHTS.has(type));
      return last?.["role"] === "assistant" && off && block >= 0
        ? new SimError(
            400,
            `messages.${turns.length - 1}.content.${block}: When thinking is disabled, an \`assistant\` message in the final position cannot contain \`thinking\`. To use thinking blocks, enable \`thinking\` in your request.`,
          )
        : undefined;
    },
  },
  {
    source:
      "https://github.com/pydantic/pydantic-ai/pull/6765 (a system entry follows the user's; the wording of the form)",
    refuse: ({ body: { messages } }) => {
      const roles = objects(messages).map(({ role }) => role);
      const index = roles.findIndex((role, at) => role === "system" && roles[at - 1] === "assistant");
      return index < 0
        ? undefined
        : new SimError(400, `messages.${index}: role 'system' must immediately follow a 'user' message`);
    },
  },
  {
    source: "https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool#error-handling",
    refuse: ({ body }) => {
      const tools = objects(body["tools"]);
      return tools.length > 0 && tools.every((tool) => tool["defer_loading"] === true)
        ? new SimError(400, "All tools have defer_loading set. At least one tool must be non-deferred.")
        : undefined;
    },
  },
  {
    source: "https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool#error-handling",
    refuse: ({ body }) => {
      const names = new Set(objects(body["tools"]).map(({ name }) => name));
      const found = blocksOf(body).find(
        ({ value }) => value["type"] === "tool_reference" && !names.has(value["tool_name"]),
      );
      return (
        found &&
        new SimError(400, `Tool reference '${asText(found.value["tool_name"])}' has no corresponding tool definition`)
      );
    },
  },
];
