import type { AnswerFormat, Call, Json, Kind, RequestBody, Units } from "../../src/kit/index.ts";

/** A call of a kind as its client dialect would read it. */
export function testCall(kind: Kind, body: Json, units?: Units): Call {
  const model = String(body["model"]);
  return Object.freeze({ kind, model, stream: false, body, promptBytes: 0, maxOutput: 0, ...(units && { units }) });
}

/** Writes the canonical body as it is. */
const PLAIN: AnswerFormat = {
  contentType: "application/json",
  answer: (body, { bill }) => JSON.stringify({ ...body, charge: String(bill.charge) }),
  promptText: () => "",
  producedText: () => "",
  stream: null,
};

/** Reads such a call. */
export function reads(call: Call): () => Promise<RequestBody> {
  return () => Promise.resolve({ call, format: PLAIN });
}
