import type { ApiChoice, Call, Target } from "../../kit/index.ts";
import { effortOf } from "../vendors/fit.ts";
import { type JsonRequest, postJson } from "../canonical/requests.ts";
import type { Rules } from "../vendors/types.ts";
import { readAnswer } from "./answer.ts";
import { ofResponses } from "./native.ts";
import { responsesBody } from "./request.ts";
import { ResponsesStreamReader } from "./stream.ts";

export const RESPONSES_PATH = "/responses";

/**
 * Whether a call goes to the upstream's Responses endpoint: as configured, else where chat completions refuses it
 * or what a client of the format itself would lose there.
 */
export function usesResponses(api: ApiChoice | undefined, rules: Rules, call: Call): boolean {
  const { body } = call;
  if (api !== undefined && api !== "auto") return api === "responses";
  // Chat completions take no encrypted reasoning back: an agent's model would think anew at every turn.
  if (ofResponses(call) && rules.vendor === "openai" && rules.efforts.length > 0) return true;
  if (rules.endpoint !== "responses_for_tools") return rules.endpoint === "responses";
  const { tools } = body;
  return Array.isArray(tools) && tools.length > 0 && effortOf(body, rules).fields["reasoning_effort"] !== "none";
}

/** A call of the Responses endpoint, and what reads its answer. */
export function responsesRequest(call: Call, target: Target, apiKey: string, rules: Rules): JsonRequest {
  const { body, dropped, as } = responsesBody(call, target.model, rules);
  const accept = call.stream ? "text/event-stream" : "application/json";
  return {
    ...postJson(RESPONSES_PATH, apiKey, body, accept),
    dropped,
    form: { answer: (bytes) => readAnswer(bytes, as), decoder: () => new ResponsesStreamReader(as) },
  };
}
