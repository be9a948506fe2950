import { type Call, isJson, type Json } from "../../kit/index.ts";
import { list, objects, stringOf } from "../canonical/json.ts";
import { type KeptBack, type PaidExtras, without } from "../canonical/report.ts";
import { clientPointer } from "../canonical/source-map.ts";
import { hasSourceMap } from "../canonical/source-map.ts";
import { nativeBlock, ofMessages } from "./native.ts";

/*
 * What reaches another model than the target's, or is billed beside or above its tokens, by
 * @anthropic-ai/sdk resources/beta/messages/messages.d.ts (MessageCreateParamsBase, BetaToolUnion) and
 * https://platform.claude.com/docs/en/about-claude/pricing. Compaction and other iterations are the target's own tokens,
 * MCP servers and fetched pages cost none but tokens: they travel.
 */

/** `container`: time in it, and skills that run in it, are billed. */
export const FIELDS: ReadonlySet<string> = new Set([
  "service_tier",
  "speed",
  "inference_geo",
  "fallbacks",
  "fallback_credit_token",
  "billing_policy",
  "container",
]);

/** Kinds of tools that the client runs, or that are free. */
export const FREE_TOOLS: ReadonlySet<string> = new Set([
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

/** What one place that serves the format bills beside its tokens, or does not offer at all. */
export interface PlacePrices {
  /** Top-level fields that stay behind. */
  readonly fields: ReadonlySet<string>;
  /** Kinds of tools that do not. */
  readonly freeTools: ReadonlySet<string>;
  /** Types of tools that are not there, whatever `accepts` says of their kind. */
  readonly absentVersions?: RegExp;
}

export const API_PRICES: PlacePrices = { fields: FIELDS, freeTools: FREE_TOOLS };

export function paidExtrasAt(prices: PlacePrices): PaidExtras {
  const { fields } = prices;
  return {
    fields,
    keepBack: (call, accepted) => withoutPaidTools(call, (tool) => staysBehind(tool, accepted, prices)),
  };
}

type Test = (tool: unknown) => boolean;

/** `accepts` names a tool by its type, or by that without the version. */
function staysBehind(
  tool: unknown,
  accepted: ReadonlySet<string>,
  { freeTools, absentVersions }: PlacePrices,
): boolean {
  const type = isJson(tool) ? stringOf(tool["type"]) : "";
  const kind = type.replace(/_\d{8}$/, "");
  if (type === "" || accepted.has(type)) return false;
  if (accepted.has(kind)) return absentVersions?.test(type) === true;
  return !freeTools.has(kind) || (isJson(tool) && tool["model"] !== undefined);
}

function withoutPaidTools(call: Call, isPaid: Test): KeptBack {
  if (!ofMessages(call)) return { call, dropped: [] };
  const listed = withoutListed(call, isPaid);
  const added = withoutAdded(listed.call, isPaid);
  return { call: added.call, dropped: [...listed.dropped, ...added.dropped] };
}

/** Without the paid ones among `tools`, and a choice of what then is not there: the API refuses that. */
function withoutListed(call: Call, isPaid: Test): KeptBack {
  const { native = {}, body } = call;
  const servers = objects(native["tools"]);
  const kept = servers.filter((tool) => !isPaid(tool));
  if (kept.length === servers.length) return { call, dropped: [] };
  const places = hasSourceMap(call) ? call.sourceMap.records : [];
  const dropped = [...new Set(servers.flatMap((tool, index) => (isPaid(tool) ? (places[index] ?? "/tools") : [])))];
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
function withoutAdded(call: Call, isPaid: Test): KeptBack {
  const dropped: string[] = [];
  const messages = list(call.body["messages"]).flatMap((message, at): readonly unknown[] => {
    const parts = isJson(message) ? message["content"] : null;
    if (!Array.isArray(parts) || !parts.some((part) => addsPaid(part, isPaid))) return [message];
    const kept = parts.filter((part, index) => {
      const paid = addsPaid(part, isPaid);
      if (paid) dropped.push(clientPointer(call, `/messages/${at}/content/${index}`));
      return !paid;
    });
    // The API refuses a turn that says nothing.
    return kept.length === 0 ? [] : [{ ...(message as Json), content: kept }];
  });
  return dropped.length === 0 ? { call, dropped } : { call: { ...call, body: { ...call.body, messages } }, dropped };
}

function addsPaid(part: unknown, isPaid: Test): boolean {
  const block = isJson(part) ? nativeBlock(part) : null;
  const tool = block?.["type"] === "tool_addition" ? block["tool"] : null;
  return isJson(tool) && isPaid(tool["definition"]);
}
