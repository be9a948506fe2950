import { AttemptError, isJson, type Usage } from "../../kit/index.ts";
import { imageVariant, readUsage } from "../canonical/usage.ts";
import type { AnswerCodec } from "../dialect.ts";
import { parseAnswer, postJson } from "../canonical/requests.ts";

/** These always answer in base64 and refuse a request that names a `response_format`. */
const BASE64_ONLY = /(?:^|\/)(?:chatgpt|gpt)-image/i;
const URL = /^(?:https?:\/\/|data:)./i;
/** Some upstreams put a whole `data:` URL where the base64 belongs. */
const DATA_HEAD = /^data:[^,]{0,200};base64,/i;
/** Looked for instead of matching the whole: a match of megabytes would overflow the matcher's stack. */
const NOT_BASE64 = /[^\w+/=\s-]/;

/** Image generation, the upstream half; the canonical shape is the same. */
export const image = {
  type: "answer",

  request(call, target, apiKey) {
    const body: Record<string, unknown> = { ...call.body, model: target.model };
    if (BASE64_ONLY.test(target.model)) delete body["response_format"];
    return postJson("/images/generations", apiKey, body);
  },

  answer(bytes, call) {
    const body = parseAnswer(bytes);
    const { data } = body;
    if (!Array.isArray(data) || data.length === 0 || !data.every(isImage)) {
      throw new AttemptError("protocol", "upstream sent an answer without images");
    }
    // What an upstream gives beyond what was asked for is its own affair.
    const images = Math.min(data.length, call.units?.images ?? data.length);
    // What was made, where the upstream says it: it chooses what was left to it.
    const [size, quality] = [body["size"] ?? call.body["size"], body["quality"] ?? call.body["quality"]];
    return { body, usage: { ...tokens(body["usage"]), images, ...imageVariant(size, quality) } };
  },

  decoder: null,
} satisfies AnswerCodec;

/** What is there is what it should be, and something is there. */
function isImage(item: unknown): boolean {
  if (!isJson(item)) return false;
  const url = item["url"] ?? "";
  const base64 = item["b64_json"] ?? "";
  if (typeof url !== "string" || typeof base64 !== "string" || url + base64 === "") return false;
  return (url === "" || URL.test(url)) && (base64 === "" || isBase64(base64));
}

function isBase64(text: string): boolean {
  const base64 = text.replace(DATA_HEAD, "");
  return base64 !== "" && !NOT_BASE64.test(base64);
}

function tokens(usage: unknown): Usage {
  const counts = isJson(usage) && {
    prompt_tokens: usage["input_tokens"],
    completion_tokens: usage["output_tokens"],
    prompt_tokens_details: usage["input_tokens_details"],
  };
  return readUsage({ usage: counts }) ?? { prompt: 0, completion: 0, cached: 0, reasoning: 0 };
}
