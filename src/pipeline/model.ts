import { type Call, GatewayError, invalidRequest, type Model, type Snapshot } from "../kit/index.ts";

/** The model that a call names. @throws GatewayError when there is none of its kind, or it cannot do what is asked. */
export function modelOf(call: Call, { models }: Snapshot): Model {
  const { model: id, kind } = call;
  const model = models[id];
  // Decisions 4.6: the image endpoint has its own words for a model of another kind.
  if (model !== undefined && model.kind !== kind && kind === "image") {
    throw new GatewayError("MODEL_NOT_FOUND", "Model not found");
  }
  if (model === undefined || model.kind !== kind) throw new GatewayError("INVALID_MODEL", `Invalid model: '${id}'`);
  if (model.realtime) throw new GatewayError("INVALID_REQUEST", `Model '${id}' is for real-time streaming only`);
  if (kind === "speech") checkVoice(call, model);
  return model;
}

/** A model without a list leaves its voices to the upstream. */
function checkVoice({ body }: Call, { voices }: Model): void {
  if (voices.length === 0 || voices.includes(body["voice"] as string)) return;
  throw invalidRequest("/voice", `must be one of ${voices.map((voice) => JSON.stringify(voice)).join(", ")}`);
}
