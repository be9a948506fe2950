import type { Json } from "../../kit/index.ts";
import { decodePathPart, jsonOf, type ParsedRequest, type ReceivedRequest } from "../endpoint.ts";
import { SimError } from "../fields.ts";
import { countedIn, repliedTo } from "./anthropic.ts";
import { invalid } from "./anthropic-messages.ts";
import { parseMessages } from "./anthropic-request.ts";

/*
 * Claude on Vertex AI (https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai): the Messages format, with
 * the model in the path and the version in the body.
 */

const VERSION = "vertex-2023-10-16";
/** Whose rules that version has. */
const MESSAGES_VERSION = "2023-06-01";
const MAXIMUM_BYTES = 30 * 1024 * 1024;

/** https://github.com/BerriAI/litellm litellm/anthropic_beta_headers_config.json, `vertex_ai`, and the page above. */
const BETAS: ReadonlySet<string> = new Set(
  (
    "compact-2026-01-12 compact-2026-09-04 computer-use-2025-01-24 computer-use-2025-11-24 context-1m-2025-08-07 " +
    "context-management-2025-06-27 dangerous-tool-use-2026-09-03 fallback-credit-2026-07-01 " +
    "interleaved-thinking-2025-05-14 per-turn-control-2026-07-01 thinking-binding-controls-2026-08-01 " +
    "thinking-display-updates-2026-08-18 tool-search-tool-2025-10-19 web-search-2025-03-05"
  ).split(" "),
);

/** `POST …/publishers/anthropic/models/{model}:rawPredict` and `:streamRawPredict`; of `count-tokens` a count. */
export function readRawPredict(received: ReceivedRequest): ParsedRequest {
  const [, name = ""] = /\/models\/([^/]+):\w+$/.exec(received.path) ?? [];
  if (received.body.length > MAXIMUM_BYTES) throw new SimError(413, "Request exceeds the maximum size");
  checkBetas(received.headers["anthropic-beta"]?.toString() ?? "");
  const { anthropic_version: version, ...body } = jsonOf(received);
  const model = decodePathPart(name);
  // The body names the model that counts; the version may be left out.
  if (model === "count-tokens") return countedIn(body);
  checkForm(body, version);
  return repliedTo(parseMessages({ ...body, model }, MESSAGES_VERSION), body, received);
}

function checkForm(body: Json, version: unknown): void {
  if (version === undefined) throw invalid("anthropic_version", "Field required");
  if (version !== VERSION) throw invalid("anthropic_version", `Input should be '${VERSION}'`);
  if (body["model"] !== undefined) throw invalid("model", "Extra inputs are not permitted");
}

/** In the words of https://github.com/anthropics/claude-code/issues/12429. */
function checkBetas(header: string): void {
  const unknown = header
    .split(",")
    .map((beta) => beta.trim())
    .filter((beta) => beta !== "" && !BETAS.has(beta));
  if (unknown.length === 0) return;
  throw new SimError(
    400,
    `Unexpected value(s) ${unknown.map((beta) => `\`${beta}\``).join(", ")} for the \`anthropic-beta\` header. Please consult our documentation at docs.anthropic.com or try again without the header.`,
  );
}
