import { isJson } from "../../kit/index.ts";
import { answer } from "../answer.ts";
import {
  decodePathPart,
  type Endpoint,
  jsonOf,
  jsonReply,
  type ParsedRequest,
  type Part,
  type ReceivedRequest,
  streamReply,
} from "../endpoint.ts";
import { SimError } from "../fields.ts";
import { azureFirst, CONTENT_FILTER, PROMPT_FILTER } from "./chat-variants.ts";
import { chunks, completion, DONE, ended } from "./chat.ts";
import { parseChat } from "./chat-request.ts";

/** An endpoint of OpenAI's as Azure serves it: at a deployment with a version of the interface, or under `/openai/v1`. */
export function azure(endpoint: Endpoint): Endpoint {
  return (received) => {
    const [, name] = /\/openai\/deployments\/([^/]+)\//.exec(received.path) ?? [];
    if (name === undefined) return endpoint(received);
    if (!received.query.get("api-version")) throw new SimError(404, "Resource not found", { code: "404" });
    return endpoint({ ...received, deployment: decodePathPart(name) });
  };
}

/** Chat completions with what Azure's filter says of them. */
export function readAzureChat(received: ReceivedRequest): ParsedRequest {
  const body = jsonOf(received);
  const { question, stream, includeUsage } = parseChat(body);
  return {
    model: question.model,
    sim: body["sim"],
    reply: (script) => {
      const made = answer(question, script, received.body.toString());
      if (!stream) return jsonReply(200, filtered(completion(made, !script.no_usage, script.finish)));
      const healthy = chunks(made, includeUsage && !script.no_usage, script.finish);
      return streamReply(ended(filteredChunks(healthy), script.no_done ? "" : DONE));
    },
  };
}

function filtered(part: Part<string>): Part<string> {
  const body = { ...withFilter(JSON.parse(part.data)), prompt_filter_results: PROMPT_FILTER };
  return { ...part, data: JSON.stringify(body) };
}

function* filteredChunks(parts: Iterable<Part<string>>): Generator<Part<string>> {
  yield azureFirst();
  for (const part of parts) {
    const body = withFilter(JSON.parse(part.data.slice("data: ".length)));
    yield { ...part, data: `data: ${JSON.stringify(body)}\n\n` };
  }
}

function withFilter(body: unknown): object {
  if (!isJson(body) || !Array.isArray(body["choices"])) return {};
  const choices = body["choices"].map((choice: object) => ({ content_filter_results: CONTENT_FILTER, ...choice }));
  return { ...body, choices };
}
