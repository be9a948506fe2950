import { type Call, isJson, type Json, type Target } from "../../kit/index.ts";
import { changed, Edits, list, objects, stringOf } from "../canonical/json.ts";
import { FORM_BETAS } from "../canonical/betas.ts";
import { OTHER_MODEL_OR_RATE, type PaidExtras } from "../canonical/own-model.ts";
import { type KeptBack, without } from "../canonical/report.ts";
import { bearer, getJson, type JsonRequest, postJson } from "../canonical/requests.ts";
import { clientPointer, hasSourceMap } from "../canonical/parameters.ts";
import type { UpstreamRequest } from "../dialect.ts";
import { nativeBlock, ofMessages } from "./native.ts";

/** Where the Messages format is served, and what of a request hangs on that. */
export interface Place {
  /** The version whose rules a call follows there. */
  versionOf(call: Call): string;
  /** Images and documents must come inside the request: no address is followed, and no uploaded file is known. */
  readonly inlineMedia: boolean;
  /** Sends a body that names its model, under the place's own address and with its credentials. */
  post(body: Json, sending: Sending): JsonRequest;
  /** A request that proves address and key and that nobody bills. */
  probe(apiKey: string): UpstreamRequest;
}

interface Sending {
  readonly call: Call;
  readonly target: Target;
  readonly apiKey: string;
}

type Headers = Readonly<Record<string, string>>;

/** The version whose rules translated requests follow; later ones refuse `temperature` and its like. */
export const VERSION = "2023-06-01";

/** The betas that are sent, as the header has them; undefined: none. Those that may not be sent are out of the call by then. */
export function betasOf({ headers }: Call): string | undefined {
  return headers?.["anthropic-beta"];
}

/** The media type of the answer that a call asks for. */
export function acceptOf({ stream }: Call): string {
  return stream ? "text/event-stream" : "application/json";
}

/** Anthropic's own API, and servers that copy it. */
export const API: Place = {
  versionOf: (call) => (ofMessages(call) ? call.headers?.["anthropic-version"] : undefined) ?? VERSION,
  inlineMedia: false,
  post(body, { call, apiKey }) {
    const sent = postJson("/v1/messages", "", body, acceptOf(call));
    const betas = betasOf(call);
    return {
      ...sent,
      headers: {
        ...sent.headers,
        ...credentials(apiKey),
        "anthropic-version": API.versionOf(call),
        ...(betas === undefined ? {} : { "anthropic-beta": betas }),
      },
    };
  },
  probe(apiKey) {
    const sent = getJson("/v1/models", "");
    return { ...sent, headers: { ...sent.headers, ...credentials(apiKey), "anthropic-version": VERSION } };
  },
};

/** No header for an empty key; OAuth tokens are known by their beginning. */
function credentials(apiKey: string): Headers {
  return apiKey === "" || apiKey.startsWith("sk-ant-oat") ? bearer(apiKey) : { "x-api-key": apiKey };
}

/*
 * What reaches another model than the target's, or is billed beside or above its tokens, by
 * @anthropic-ai/sdk resources/beta/messages/messages.d.ts (MessageCreateParamsBase, BetaToolUnion) and
 * https://platform.claude.com/docs/en/about-claude/pricing. Compaction and other iterations are the target's own tokens,
 * MCP servers and fetched pages cost none but tokens: they travel.
 */

/** `container`: time in it, and skills that run in it, are billed. Proxies that speak the format have names of their own. */
export const FIELDS: ReadonlySet<string> = OTHER_MODEL_OR_RATE;

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
  /** The name of a beta of form there; undefined: it has no such. */
  readonly beta: (name: string) => string | undefined;
  /** Kinds of tools that do not. */
  readonly freeTools: ReadonlySet<string>;
  /** Types of tools that are not there, whatever `accepts` says of their kind. */
  readonly absentVersions?: RegExp;
}

export function paidExtrasAt(prices: PlacePrices): PaidExtras {
  const { fields, beta } = prices;
  return {
    fields,
    beta,
    keepBack(call, { accepted, lostBetas }) {
      const tools = withoutPaidTools(call, (tool) => staysBehind(tool, accepted, prices));
      const betas = withoutAllowances(tools.call, lostBetas);
      return { call: betas.call, dropped: [...tools.dropped, ...betas.dropped] };
    },
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
  const isVoid = choice !== undefined && !canChoose(choice, left);
  return {
    call: {
      ...call,
      native: {
        ...without(native, isVoid ? ["tools", "tool_choice"] : ["tools"]),
        ...(kept.length > 0 && { tools: kept }),
      },
    },
    dropped: isVoid ? [...dropped, "/tool_choice"] : dropped,
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

/** What a beta allows. `cache_control.scope` goes where all marks are read. */
interface Allowance {
  readonly beta: string;
  /** Fields of the body, and of `output_config`. */
  readonly fields?: readonly string[];
  readonly output?: readonly string[];
  /** Fields of messages, and types of blocks in them. */
  readonly message?: readonly string[];
  readonly blocks?: readonly string[];
}

/** @anthropic-ai/sdk resources/beta/messages/messages.d.ts names the beta of each; https://platform.claude.com/docs/en/api/beta-headers. */
const ALLOWANCES: readonly Allowance[] = [
  { beta: "compact-", fields: ["compaction"] },
  { beta: "context-management-", fields: ["context_management"] },
  { beta: "mcp-client-", fields: ["mcp_servers"] },
  { beta: "task-budgets-", output: ["task_budget"] },
  { beta: "cache-diagnosis-", fields: ["diagnostics"] },
  { beta: "user-profiles-", fields: ["user_profile_id"] },
  { beta: "mid-conversation-output-config-", message: ["output_config"] },
  { beta: "mid-conversation-system-clear-at-", message: ["clear_at"] },
  { beta: "mid-conversation-tool-changes-", blocks: ["tool_addition", "tool_removal"] },
  { beta: "inline-tools-", blocks: ["tool_addition", "tool_removal"] },
];

/** A call without what only the betas allow that are not sent: the API refuses a field whose beta is missing. */
function withoutAllowances(call: Call, lostBetas: readonly string[]): KeptBack {
  const sent = (call.headers?.["anthropic-beta"] ?? "").split(",");
  const lost = ALLOWANCES.filter(({ beta }) => {
    const isOne = (name: string): boolean => name.startsWith(beta);
    return lostBetas.some(isOne) && !sent.some(isOne);
  });
  if (lost.length === 0) return { call, dropped: [] };
  const dropped: string[] = [];
  const names = (kind: "fields" | "output" | "message" | "blocks") => lost.flatMap((allowed) => allowed[kind] ?? []);
  const { native = {}, body } = call;
  const edits = new Edits(without(native, names("fields")));
  for (const name of names("fields")) if (native[name] !== undefined) dropped.push(`/${name}`);
  const { output_config: output } = native;
  if (isJson(output)) {
    for (const name of names("output")) if (output[name] !== undefined) dropped.push(`/output_config/${name}`);
    const kept = without(output, names("output"));
    if (Object.keys(kept).length === 0) edits.remove("output_config");
    else edits.set("output_config", kept);
  }
  const blocks: ReadonlySet<unknown> = new Set(names("blocks"));
  const messages = changed(body["messages"], (message, index) => {
    const at = `/messages/${index}`;
    const fitted = new Edits(message);
    const { native: own, content } = message;
    if (isJson(own)) {
      for (const name of names("message"))
        if (own[name] !== undefined) dropped.push(clientPointer(call, `${at}/${name}`));
      fitted.set("native", without(own, names("message")));
    }
    const parts = list(content);
    const kept = parts.filter((part, place) => {
      const isLost = isJson(part) && blocks.has(nativeBlock(part)?.["type"]);
      if (isLost) dropped.push(clientPointer(call, `${at}/content/${place}`));
      return !isLost;
    });
    if (kept.length < parts.length) fitted.set("content", kept);
    return fitted.object;
  });
  return { call: { ...call, native: edits.object, body: { ...body, messages } }, dropped };
}

export const API_PAID: PaidExtras = paidExtrasAt({
  fields: FIELDS,
  beta: (name) => (FORM_BETAS.has(name) ? name : undefined),
  freeTools: FREE_TOOLS,
});
