import { type Accepts, type Call, isJson, type Json } from "../../kit/index.ts";
import { changed, Edits, list } from "../canonical/json.ts";
import { clientPointer } from "../canonical/parameters.ts";
import { type KeptBack, type PaidExtras, without } from "../canonical/report.ts";
import { bearer, type JsonRequest, postJson } from "../canonical/requests.ts";
import { nativeBlock } from "./native.ts";
import { acceptOf, clientBetas, FIELDS, FREE_TOOLS, paidExtrasAt, type Place, VERSION } from "./place.ts";

/*
 * Claude on Google's Vertex AI: https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai and
 * @anthropic-ai/vertex-sdk src/client.ts. The path names the model and the body the version; the credentials are Google's.
 */

/** In the body, where the API has a header of another value. */
const BODY_VERSION = "vertex-2023-10-16";

/** The end of a base URL of Vertex AI under which Anthropic's models are. */
const PUBLISHER = /\/publishers\/anthropic\/?$/;

export function isVertex(baseUrl: string): boolean {
  return PUBLISHER.test(baseUrl);
}

/**
 * The betas that are known there, and by which name; it refuses the whole request for any other ("Unexpected value(s) for
 * the `anthropic-beta` header", https://github.com/anthropics/claude-code/issues/12429). From the `vertex_ai` part of
 * https://github.com/BerriAI/litellm litellm/anthropic_beta_headers_config.json; the last from the page above (fallback credit).
 */
const BETAS: ReadonlyMap<string, string> = new Map([
  ["advanced-tool-use-2025-11-20", "tool-search-tool-2025-10-19"],
  ...[
    "compact-2026-01-12",
    "compact-2026-09-04",
    "computer-use-2025-01-24",
    "computer-use-2025-11-24",
    "context-1m-2025-08-07",
    "context-management-2025-06-27",
    "dangerous-tool-use-2026-09-03",
    "interleaved-thinking-2025-05-14",
    "per-turn-control-2026-07-01",
    "thinking-binding-controls-2026-08-01",
    "thinking-display-updates-2026-08-18",
    "tool-search-tool-2025-10-19",
    "web-search-2025-03-05",
    "fallback-credit-2026-07-01",
  ].map((name) => [name, name] as const),
]);

/** Kinds of tools that are free at the API and not offered there (the page above, "Features not supported"). */
const ABSENT_TOOLS: ReadonlySet<string> = new Set(["web_fetch", "mcp_toolset", "computer_toolset", "browser_toolset"]);

/** What stays behind there, beyond what does so at the API. */
const PAID = paidExtrasAt({
  fields: FIELDS.union(new Set(["mcp_servers"])),
  freeTools: FREE_TOOLS.difference(ABSENT_TOOLS),
  // Searching with code of its own is not offered, only the basic version
  // (https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool).
  absentVersions: /^web_search_(?!20250305$)/,
});

/** With the betas that are not known there stays behind what they allow. */
export const VERTEX_PAID: PaidExtras = {
  ...PAID,
  keepBack(call, accepted) {
    const first = PAID.keepBack?.(call, accepted) ?? { call, dropped: [] };
    const { call: kept, dropped } = withoutBetas(first.call, accepted);
    return { call: kept, dropped: [...first.dropped, ...dropped] };
  },
};

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
  { beta: "task-budgets-", output: ["task_budget"] },
  { beta: "cache-diagnosis-", fields: ["diagnostics"] },
  { beta: "user-profiles-", fields: ["user_profile_id"] },
  { beta: "mid-conversation-output-config-", message: ["output_config"] },
  { beta: "mid-conversation-system-clear-at-", message: ["clear_at"] },
  { beta: "mid-conversation-tool-changes-", blocks: ["tool_addition", "tool_removal"] },
  { beta: "inline-tools-", blocks: ["tool_addition", "tool_removal"] },
];

function withoutBetas(call: Call, accepted: ReadonlySet<string>): KeptBack {
  const left = askedBetas(call).filter((beta) => !accepted.has(beta) && !BETAS.has(beta));
  if (left.length === 0) return { call, dropped: [] };
  const dropped = left.map((beta) => `anthropic-beta:${beta}`);
  const lost = ALLOWANCES.filter(({ beta }) => left.some((one) => one.startsWith(beta)));
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

/** The betas that the client asks for, one by one. */
function askedBetas(call: Call): readonly string[] {
  const asked = (clientBetas(call) ?? "").split(",").map((beta) => beta.trim());
  return asked.filter((beta) => beta !== "");
}

/** "30 MB": what is larger than any reading of that is refused for certain. */
const MAX_REQUEST_BYTES = 30 * 1024 * 1024;

/** For probes: counting tokens is free, and an answer that the model is not there shows address and key as well. */
const COUNTED = {
  anthropic_version: BODY_VERSION,
  model: "claude-haiku-4-5@20251001",
  messages: [{ role: "user", content: "." }],
};

/** @param accepts its fields may name betas, too. */
export function vertexAt(accepts?: Accepts): Place {
  const accepted: ReadonlySet<string> = new Set(accepts?.fields);
  const place: Place = {
    versionOf: () => VERSION,
    betasOf(call) {
      const known = askedBetas(call)
        .map((beta) => (accepted.has(beta) ? beta : BETAS.get(beta)))
        .filter((beta) => beta !== undefined);
      return known.length === 0 ? undefined : [...new Set(known)].join(",");
    },
    inlineMedia: true,
    post({ model: _model, ...body }, { call, target, apiKey }) {
      const method = call.stream ? "streamRawPredict" : "rawPredict";
      const sent = post(
        `${nameOf(target.model)}:${method}`,
        apiKey,
        { ...body, anthropic_version: BODY_VERSION },
        acceptOf(call),
      );
      const betas = place.betasOf(call);
      return betas === undefined ? sent : { ...sent, headers: { ...sent.headers, "anthropic-beta": betas } };
    },
    probe: (apiKey) => post("count-tokens:rawPredict", apiKey, COUNTED),
  };
  return place;
}

function post(method: string, apiKey: string, body: Json, accept?: string): JsonRequest {
  const sent = postJson(`/models/${method}`, "", body, accept);
  // A body that is written at once is far smaller.
  const limited = typeof sent.body === "string" ? sent.body : { ...sent.body, maxBytes: MAX_REQUEST_BYTES };
  return { ...sent, headers: { ...sent.headers, ...bearer(apiKey) }, body: limited };
}

/** `claude-sonnet-4-5@20250929` stands in the path as the SDK writes it. */
function nameOf(model: string): string {
  return encodeURIComponent(model).replaceAll("%40", "@");
}
