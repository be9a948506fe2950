import { answer } from "../answer.ts";
import type { Asked, Received } from "../endpoints/endpoint.ts";
import { jsonOf } from "../endpoints/endpoint.ts";
import type { SimError } from "../error.ts";
import { jsonReply, MALFORMED, streamReply } from "../reply.ts";
import { events, response } from "./answer.ts";
import { parseResponses } from "./request.ts";

/** `POST /v1/responses`: always as strict about the form as the provider is, whoever is played. */
export function readResponses(received: Received): Asked {
  const { sim, ...body } = jsonOf(received);
  const request = parseResponses(body);
  return {
    model: request.question.model,
    sim,
    reply: (script) => {
      const made = answer(request.question, script, received.body.toString());
      return request.stream
        ? streamReply(events(made, request, script), frame)
        : jsonReply(200, response(made, request, script));
    },
  };
}

function frame(error: SimError | null): string {
  if (error === null) return `event: response.output_text.delta\ndata: ${MALFORMED}\n\n`;
  const { message, code, param } = error;
  const said = { type: "error", code: code ?? "server_error", message, param, sequence_number: 0 };
  return `event: error\ndata: ${JSON.stringify(said)}\n\n`;
}
