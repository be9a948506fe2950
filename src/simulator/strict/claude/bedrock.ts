import { isJson } from "../../../kit/index.ts";
import { asNumber, asText, SimError } from "../../fields.ts";
import { objects, type Rule, type StrictRequest } from "../rule.ts";
import { CONVERSE } from "./converse.ts";
import { type ClaudeRequest, modelProblem, SOURCES } from "./models.ts";

/** What Converse says before or instead of what the model behind it says. */
export const BEDROCK: readonly Rule[] = [
  {
    source: "https://github.com/vercel/ai/issues/19988 and #14773",
    models: /claude-(?:opus-4-[78]|opus-5|sonnet-5|fable|haiku-4-5)/,
    refuse: ({ body: { additionalModelRequestFields: extras } }) =>
      isJson(extras) && isJson(extras["output_config"]) && extras["output_config"]["format"] !== undefined
        ? converseRefusal("output_config.format: Extra inputs are not permitted")
        : undefined,
  },
  {
    source:
      "https://github.com/charmbracelet/crush/issues/946, https://github.com/sigoden/aichat/pull/813, https://docs.aws.amazon.com/nova/latest/userguide/what-is-nova.html",
    models: /amazon\.nova-(?!2)|meta\.llama|mistral\./,
    refuse: ({ model, body: { inferenceConfig: config } }) => {
      const max = model.includes("nova") ? 10_000 : 8_192;
      return isJson(config) && asNumber(config["maxTokens"]) > max
        ? new SimError(
            400,
            `The maximum tokens you requested exceeds the model limit of ${max}. Try again with a maximum tokens value that is lower than ${max}.`,
          )
        : undefined;
    },
  },
  {
    source: `${SOURCES}, https://github.com/future-agi/future-agi/pull/412`,
    refuse: (request) => {
      const problem = modelProblem(request.model, askedOfConverse(request));
      return problem === undefined ? undefined : converseRefusal(problem);
    },
  },
  ...CONVERSE,
];

function converseRefusal(message: string): SimError {
  return new SimError(400, `The model returned the following errors: ${message}`);
}

function askedOfConverse({ body }: StrictRequest): ClaudeRequest {
  const inference = isJson(body["inferenceConfig"]) ? body["inferenceConfig"] : {};
  const extras = isJson(body["additionalModelRequestFields"]) ? body["additionalModelRequestFields"] : {};
  const { output_config: output } = extras;
  const choice = isJson(body["toolConfig"]) ? body["toolConfig"]["toolChoice"] : undefined;
  const last = objects(body["messages"]).at(-1);
  const config = isJson(body["outputConfig"]) ? body["outputConfig"]["textFormat"] : undefined;
  const structure = isJson(config) && isJson(config["structure"]) ? config["structure"]["jsonSchema"] : undefined;
  return {
    maximum: inference["maxTokens"],
    temperature: inference["temperature"],
    topP: inference["topP"],
    topK: extras["top_k"],
    thinking: extras["thinking"],
    effort: isJson(output) ? output["effort"] : undefined,
    schema: isJson(structure) ? parsed(structure["schema"]) : undefined,
    forcesTool: isJson(choice) && (choice["any"] !== undefined || choice["tool"] !== undefined),
    last: last && { role: last["role"], text: objects(last["content"]).at(-1)?.["text"] },
  };
}

function parsed(text: unknown): unknown {
  try {
    return JSON.parse(asText(text)) as unknown;
  } catch {
    return undefined;
  }
}
