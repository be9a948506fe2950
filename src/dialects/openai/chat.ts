import { type Call, invalidRequest, type Target } from "../../kit/index.ts";
import type { AnswerCodec, AnswerForm, Location } from "../dialect.ts";
import { type JsonRequest, postJson } from "../requests.ts";
import { responsesRequest, usesResponses } from "../responses/index.ts";
import { type Rules, rulesOf } from "../vendors/rules.ts";
import { type ToolNames, withOwnNames } from "../vendors/tool-names.ts";
import { readAnswer } from "./answer.ts";
import { MAX_CHOICES } from "./chunks.ts";
import { ChatDecoder } from "./decoder.ts";
import { chatBody } from "./request.ts";

export { producedText } from "./produced.ts";

/**
 * Chat, the upstream half, as one upstream takes it: chat completions, and the Responses API for what those refuse or as
 * configured (decisions 9.6).
 * @param named the path of chat completions names the model: their body does without.
 */
export function chatAt(location: Location, dialect: "openai" | "azure" = "openai", named = false) {
  // The models of a configuration: few.
  const known = new Map<string, Rules>();
  const rulesFor = (model: string): Rules => {
    const rules = known.get(model) ?? rulesOf(location, model, dialect);
    known.set(model, rules);
    return rules;
  };
  return {
    type: "answer",

    request(call: Call, target: Target, apiKey: string): JsonRequest {
      const rules = rulesFor(target.model);
      if (usesResponses(location.api, rules, call)) return responsesRequest(call, target, apiKey, rules);
      // Their stream could not be read: what the client asked for must not look like the upstream's failure.
      if (call.stream && (call.answers ?? 1) > MAX_CHOICES) throw invalidRequest("/n", `is more than ${MAX_CHOICES}`);
      const { body, dropped, names } = chatBody(call, target.model, rules);
      const accept = call.stream ? "text/event-stream" : "application/json";
      // What is undefined is not written.
      const written = named ? { ...body, model: undefined } : body;
      const request = { ...postJson("/chat/completions", apiKey, written, accept), dropped };
      return names.changed ? { ...request, form: namingForm(names) } : request;
    },

    answer: readAnswer,

    decoder: () => new ChatDecoder(),
  } satisfies AnswerCodec;
}

/** At a server of which nothing is known. */
export const chat = chatAt({ baseUrl: "", headers: {} });

/** Reads an answer in which tools are called by the names that they have in the request. */
function namingForm(names: ToolNames): AnswerForm {
  return {
    answer(bytes) {
      const { body, usage } = readAnswer(bytes);
      return { body: withOwnNames(body, "message", names), usage };
    },
    // Before a chunk is read: what is relayed as it came must have the names already.
    decoder: () => new ChatDecoder((data) => withOwnNames(data, "delta", names)),
  };
}
