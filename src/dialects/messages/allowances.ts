import { type Call, isJson } from "../../kit/index.ts";
import { changed, Edits, list } from "../canonical/json.ts";
import { clientPointer } from "../canonical/parameters.ts";
import { type KeptBack, without } from "../canonical/report.ts";
import { nativeBlock } from "./native.ts";

/* Fields and blocks of the Messages format that only a beta allows: they stay behind with it. */

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
export function withoutAllowances(call: Call, lostBetas: readonly string[]): KeptBack {
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
