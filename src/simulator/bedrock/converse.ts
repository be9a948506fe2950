import { answer } from "../answer.ts";
import type { Asked, Received } from "../endpoints/endpoint.ts";
import { decoded, jsonOf } from "../endpoints/endpoint.ts";
import { jsonReply, type Reply } from "../reply.ts";
import { converse, events } from "./answer.ts";
import { checkSigned } from "./credentials.ts";
import { EVENT_STREAM, faultFrame } from "./frames.ts";
import { parseConverse } from "./request.ts";

/** `POST /model/{id}/converse` and `/model/{id}/converse-stream`. */
export function readConverse(received: Received): Asked {
  checkSigned(received.headers, received.body);
  const [, id = "", stream] = /\/model\/([^/]+)\/converse(-stream)?$/.exec(received.path) ?? [];
  const body = jsonOf(received);
  const question = parseConverse(body, decoded(id));
  return {
    model: question.model,
    sim: body["sim"],
    reply: (script): Reply => {
      const made = answer(question, script, `${question.model} ${received.body.toString()}`);
      const headers = { "x-amzn-requestid": `sim-${made.seed}` };
      if (stream === undefined) {
        const reply = jsonReply(200, converse(made, script));
        return { ...reply, headers: { ...reply.headers, ...headers } };
      }
      return {
        status: 200,
        headers: { ...headers, "content-type": EVENT_STREAM },
        type: "events",
        parts: events(made, script),
        frame: faultFrame,
      };
    },
  };
}
