import { answer } from "../answer.ts";
import type { Asked, Received } from "../endpoints/endpoint.ts";
import { jsonOf } from "../endpoints/endpoint.ts";
import { jsonReply, MALFORMED, streamReply } from "../reply.ts";
import { event, events, message } from "./answer.ts";
import { parseMessages } from "./request.ts";

/** `POST /v1/messages`. */
export function readMessages(received: Received): Asked {
  const body = jsonOf(received);
  const { question, stream, thinking } = parseMessages(body, received.headers["anthropic-version"]?.toString());
  return {
    model: question.model,
    sim: body["sim"],
    reply: (script) => {
      const made = answer(question, script, received.body.toString());
      const headers = { "request-id": `req_sim_${made.seed}` };
      const reply = stream
        ? streamReply(events(made, thinking, script), frame)
        : jsonReply(200, message(made, thinking, script));
      return { ...reply, headers: { ...reply.headers, ...headers } };
    },
  };
}

/** Inside a stream most errors say that the service has too much to do. */
function frame(error: Error | null): string {
  if (error === null) return `event: content_block_delta\ndata: ${MALFORMED}\n\n`;
  return event("error", { error: { type: "overloaded_error", message: error.message } });
}
