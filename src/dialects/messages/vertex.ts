import type { Json } from "../../kit/index.ts";
import type { PaidExtras } from "../canonical/own-model.ts";
import { bearer, type JsonRequest, postJson } from "../canonical/requests.ts";
import { acceptOf, betasOf, FIELDS, FREE_TOOLS, paidExtrasAt, type Place, VERSION } from "./place.ts";

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
 * The betas of form that are known there, and by which name; it refuses the whole request for any other ("Unexpected
 * value(s) for the `anthropic-beta` header", https://github.com/anthropics/claude-code/issues/12429). From the `vertex_ai`
 * part of https://github.com/BerriAI/litellm litellm/anthropic_beta_headers_config.json.
 */
const BETAS: ReadonlyMap<string, string> = new Map([
  ["advanced-tool-use-2025-11-20", "tool-search-tool-2025-10-19"],
  ...[
    "compact-2026-01-12",
    "compact-2026-09-04",
    "computer-use-2025-01-24",
    "computer-use-2025-11-24",
    "context-management-2025-06-27",
    "dangerous-tool-use-2026-09-03",
    "interleaved-thinking-2025-05-14",
    "per-turn-control-2026-07-01",
    "thinking-binding-controls-2026-08-01",
    "thinking-display-updates-2026-08-18",
    "tool-search-tool-2025-10-19",
    "web-search-2025-03-05",
  ].map((name) => [name, name] as const),
]);

/** Kinds of tools that are free at the API and not offered there (the page above, "Features not supported"). */
const ABSENT_TOOLS: ReadonlySet<string> = new Set(["web_fetch", "mcp_toolset", "computer_toolset", "browser_toolset"]);

/** What stays behind there, beyond what does so at the API. */
export const VERTEX_PAID: PaidExtras = paidExtrasAt({
  beta: (name) => BETAS.get(name),
  fields: FIELDS.union(new Set(["mcp_servers"])),
  freeTools: FREE_TOOLS.difference(ABSENT_TOOLS),
  // Searching with code of its own is not offered, only the basic version
  // (https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool).
  absentVersions: /^web_search_(?!20250305$)/,
});

/** "30 MB": what is larger than any reading of that is refused for certain. */
const MAX_REQUEST_BYTES = 30 * 1024 * 1024;

/** For probes: counting tokens is free, and an answer that the model is not there shows address and key as well. */
const COUNTED = {
  anthropic_version: BODY_VERSION,
  model: "claude-haiku-4-5@20251001",
  messages: [{ role: "user", content: "." }],
};

export const VERTEX: Place = {
  versionOf: () => VERSION,
  inlineMedia: true,
  post({ model: _model, ...body }, { call, target, apiKey }) {
    const method = call.stream ? "streamRawPredict" : "rawPredict";
    const sent = post(
      `${nameOf(target.model)}:${method}`,
      apiKey,
      { ...body, anthropic_version: BODY_VERSION },
      acceptOf(call),
    );
    const betas = betasOf(call);
    return betas === undefined ? sent : { ...sent, headers: { ...sent.headers, "anthropic-beta": betas } };
  },
  probe: (apiKey) => post("count-tokens:rawPredict", apiKey, COUNTED),
};

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
