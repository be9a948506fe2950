import { Ajv } from "ajv";
import chat from "../../schemas/api/chat.schema.json" with { type: "json" };
import countTokens from "../../schemas/api/count-tokens.schema.json" with { type: "json" };
import embeddings from "../../schemas/api/embeddings.schema.json" with { type: "json" };
import image from "../../schemas/api/image.schema.json" with { type: "json" };
import messages from "../../schemas/api/messages.schema.json" with { type: "json" };
import rerank from "../../schemas/api/rerank.schema.json" with { type: "json" };
import responses from "../../schemas/api/responses-create.schema.json" with { type: "json" };
import speech from "../../schemas/api/speech.schema.json" with { type: "json" };
import transcription from "../../schemas/api/transcription.schema.json" with { type: "json" };
import type { Endpoint } from "../kit/index.ts";
import type { BodyProblem } from "./body-problem.ts";
import { explainBody } from "./body-problem.ts";
import { lengthInCodePoints } from "./text-length.ts";

/** Bodies with a schema: those of inference endpoints, and of counting a request's tokens. */
export type BodyName = Endpoint | "count_tokens";

const SCHEMAS = {
  chat,
  messages,
  count_tokens: countTokens,
  responses,
  embeddings,
  rerank,
  speech,
  transcription,
  image,
} as const satisfies Record<BodyName, object>;

/**
 * Compiles the check of one kind of body (of a transcription: the text fields of its form); keep the result. A good
 * body costs one pass and no allocation.
 */
export function bodyValidator(body: BodyName): (body: unknown) => BodyProblem | null {
  const ajv = new Ajv({ strict: true, strictRequired: false, allowUnionTypes: true, verbose: true });
  lengthInCodePoints(ajv);
  const validate = ajv.compile(SCHEMAS[body]);
  return (value) => (validate(value) ? null : explainBody(validate.errors ?? []));
}
