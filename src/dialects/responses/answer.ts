import { isJson, type Json } from "../../kit/index.ts";
import type { Decoded } from "../dialect.ts";
import { malformed } from "../canonical/errors.ts";
import { objects, parseJson, stringOf } from "../canonical/json.ts";
import { writtenUsage } from "../canonical/usage.ts";
import {
  citation,
  failureOf,
  finishOf,
  logprobsOf,
  nativeOutput,
  readCall,
  type ReadAs,
  reasoningDetails,
  usageOf,
  withOwnName,
  writeCall,
} from "./wire.ts";

/** A complete answer in the canonical form. @throws AttemptError for one that failed, or is none. */
export function readAnswer(bytes: Uint8Array, as: ReadAs): Decoded {
  const response = parseJson(bytes);
  if (!isJson(response)) throw malformed("a body that is not JSON");
  const { error, status, id, created_at: created, service_tier: serviceTier } = response;
  if ((error !== undefined && error !== null) || status === "failed") throw failureOf(error);
  const { output: listed } = response;
  if (!Array.isArray(listed)) throw malformed("an answer without output");
  // `in_progress`, `queued`, `cancelled`: nothing is asked for that could still be under way.
  if (status !== undefined && status !== "completed" && status !== "incomplete")
    throw malformed("an unfinished answer");
  const output = objects(listed).map((item) => withOwnName(item, as));
  const { message, logprobs } = readOutput(output, as);
  const finish_reason = finishOf(response, message["tool_calls"] !== undefined);
  const usage = usageOf(response);
  return {
    body: {
      id,
      object: "chat.completion",
      created,
      choices: [{ index: 0, message, ...(logprobs && { logprobs }), finish_reason }],
      ...(typeof serviceTier === "string" && { service_tier: serviceTier }),
      ...(usage && { usage: writtenUsage(usage) }),
      ...(as.native && nativeOutput(output, message)),
    },
    usage,
  };
}

/** The canonical message that the items of an answer come to. */
export function readOutput(
  output: readonly Json[],
  as: ReadAs,
): { readonly message: Json; readonly logprobs: Json | null } {
  const details = output.flatMap((item) => (item["type"] === "reasoning" ? reasoningDetails(item, as) : []));
  const thoughts = details.map((detail) =>
    detail.type === "reasoning.text" ? detail.text : detail.type === "reasoning.summary" ? detail.summary : "",
  );
  const reasoning = thoughts.filter((text) => text !== "").join("\n\n");
  const parts = output.filter(({ type }) => type === "message").map(({ content }) => objects(content));
  const texts = parts.map((content) => content.map(({ text }) => stringOf(text)).join(""));
  const refusal = parts
    .flat()
    .map((part) => stringOf(part["refusal"]))
    .join("");
  const annotations = parts
    .flat()
    .flatMap((part) => objects(part["annotations"]).flatMap((one) => citation(one) ?? []));
  const images = output.flatMap((item) => imageOf(item) ?? []);
  const calls = output.flatMap((item) => {
    const call = readCall(item, as);
    return (call && writeCall(call)) ?? [];
  });
  const text = texts.filter((said) => said !== "").join("\n\n");
  return {
    message: {
      role: "assistant",
      content: text === "" && (calls.length > 0 || refusal !== "") ? null : text,
      ...(reasoning !== "" && { reasoning_content: reasoning }),
      ...(details.length > 0 && { reasoning_details: details }),
      ...(refusal !== "" && { refusal }),
      ...(annotations.length > 0 && { annotations }),
      ...(images.length > 0 && { images }),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
    logprobs: logprobsOf(parts.flat().flatMap((part) => objects(part["logprobs"]))),
  };
}

/** An image that the model made; null for any other item. */
export function imageOf({ type, result, output_format: format }: Json): Json | null {
  if (type !== "image_generation_call" || typeof result !== "string" || result === "") return null;
  const url = `data:image/${typeof format === "string" ? format : "png"};base64,${result}`;
  return { type: "image_url", image_url: { url } };
}
