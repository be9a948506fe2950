import { type Call, isJson, type Json } from "../../kit/index.ts";
import { errorMessage } from "../canonical/errors.ts";
import { list, objects, stringOf } from "../canonical/json.ts";
import { type KeptBack, ownModelOnly, type PaidExtras, without } from "../canonical/report.ts";
import { getJson } from "../canonical/requests.ts";
import { hasSourceMap, clientPointer } from "../canonical/source-map.ts";
import { type NameRules, namingTools } from "../canonical/tool-names.ts";
import type { AnswerCodec, Location, UpstreamDialect } from "../dialect.ts";
import { answer } from "./answer.ts";
import { credentials, VERSION } from "./options.ts";
import { request } from "./request.ts";
import { MessagesStreamReader } from "./stream.ts";
import { nativeBlock, ofMessages } from "./native.ts";

/** "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'" (https://platform.claude.com/docs/en/api/messages, tools). */
const NAMES: NameRules = { toolName: 128, toolNameCharacters: "word" };

/*
 * What reaches another model than the target's, or is billed beside or above its tokens, by
 * @anthropic-ai/sdk resources/beta/messages/messages.d.ts (MessageCreateParamsBase, BetaToolUnion) and
 * https://platform.claude.com/docs/en/about-claude/pricing. Compaction and other iterations are the target's own tokens,
 * MCP servers and fetched pages cost none but tokens: they travel.
 */

/** `container`: time in it, and skills that run in it, are billed. */
const FIELDS: ReadonlySet<string> = new Set([
  "service_tier",
  "speed",
  "inference_geo",
  "fallbacks",
  "fallback_credit_token",
  "billing_policy",
  "container",
]);

/** Kinds of tools that the client runs, or that are free. */
const UNPAID: ReadonlySet<string> = new Set([
  "custom",
  "bash",
  "text_editor",
  "computer",
  "computer_toolset",
  "browser_toolset",
  "memory",
  "web_fetch",
  "tool_search_tool_bm25",
  "tool_search_tool_regex",
  "mcp_toolset",
]);

const PAID: PaidExtras = { fields: FIELDS, keepBack: withoutPaidTools };

const messages = {
  type: "answer",
  request,
  answer,
  decoder: (call) => new MessagesStreamReader(call),
} satisfies AnswerCodec;
/** Messages, the upstream half. */
const codec = namingTools(messages, NAMES);

export const anthropic: UpstreamDialect = {
  name: "anthropic",
  codecs: { chat: ownModelOnly(codec, PAID) },
  at: ({ accepts }: Location) => ({ ...anthropic, codecs: { chat: ownModelOnly(codec, PAID, accepts) } }),
  probe(apiKey) {
    const sent = getJson("/v1/models", "");
    return { ...sent, headers: { ...sent.headers, ...credentials(apiKey), "anthropic-version": VERSION } };
  },
  errorMessage,
};

/** `accepts` names a tool by its type, or by that without the version. */
function isPaid(tool: unknown, accepted: ReadonlySet<string>): boolean {
  const type = isJson(tool) ? stringOf(tool["type"]) : "";
  const kind = type.replace(/_\d{8}$/, "");
  if (type === "" || accepted.has(type) || accepted.has(kind)) return false;
  return !UNPAID.has(kind) || (isJson(tool) && tool["model"] !== undefined);
}

function withoutPaidTools(call: Call, accepted: ReadonlySet<string>): KeptBack {
  if (!ofMessages(call)) return { call, dropped: [] };
  const listed = withoutListed(call, accepted);
  const added = withoutAdded(listed.call, accepted);
  return { call: added.call, dropped: [...listed.dropped, ...added.dropped] };
}

/** Without the paid ones among `tools`, and a choice of what then is not there: the API refuses that. */
function withoutListed(call: Call, accepted: ReadonlySet<string>): KeptBack {
  const { native = {}, body } = call;
  const servers = objects(native["tools"]);
  const kept = servers.filter((tool) => !isPaid(tool, accepted));
  if (kept.length === servers.length) return { call, dropped: [] };
  const places = hasSourceMap(call) ? call.sourceMap.records : [];
  const dropped = [
    ...new Set(servers.flatMap((tool, index) => (isPaid(tool, accepted) ? (places[index] ?? "/tools") : []))),
  ];
  const left = [...kept, ...objects(body["tools"]).map((tool) => (isJson(tool["function"]) ? tool["function"] : {}))];
  const choice = native["tool_choice"];
  const lost = choice !== undefined && !canChoose(choice, left);
  return {
    call: {
      ...call,
      native: {
        ...without(native, lost ? ["tools", "tool_choice"] : ["tools"]),
        ...(kept.length > 0 && { tools: kept }),
      },
    },
    dropped: lost ? [...dropped, "/tool_choice"] : dropped,
  };
}

function canChoose(choice: unknown, tools: readonly Json[]): boolean {
  const name = isJson(choice) && choice["type"] === "tool" ? choice["name"] : undefined;
  return tools.length > 0 && (name === undefined || tools.some((tool) => tool["name"] === name));
}

/** Without those that a block in the conversation adds to the tools (`tool_addition`). */
function withoutAdded(call: Call, accepted: ReadonlySet<string>): KeptBack {
  const dropped: string[] = [];
  const messages = list(call.body["messages"]).flatMap((message, at): readonly unknown[] => {
    const parts = isJson(message) ? message["content"] : null;
    if (!Array.isArray(parts) || !parts.some((part) => addsPaid(part, accepted))) return [message];
    const kept = parts.filter((part, index) => {
      const paid = addsPaid(part, accepted);
      if (paid) dropped.push(clientPointer(call, `/messages/${at}/content/${index}`));
      return !paid;
    });
    // The API refuses a turn that says nothing.
    return kept.length === 0 ? [] : [{ ...(message as Json), content: kept }];
  });
  return dropped.length === 0 ? { call, dropped } : { call: { ...call, body: { ...call.body, messages } }, dropped };
}

function addsPaid(part: unknown, accepted: ReadonlySet<string>): boolean {
  const block = isJson(part) ? nativeBlock(part) : null;
  const tool = block?.["type"] === "tool_addition" ? block["tool"] : null;
  return isJson(tool) && isPaid(tool["definition"], accepted);
}
