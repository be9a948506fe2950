import { asNumber, asText, SimError } from "../../fields.ts";
import { objects, type Rule } from "../rule.ts";
import { configOf, functionsOf, thinkingOf } from "./schema.ts";

/** Levels of thinking, the first that fits; all of them elsewhere. */
const LEVELS: readonly (readonly [RegExp, string])[] = [
  [/gemini-3-pro/, "LOW HIGH"],
  [/gemini-3.*-pro/, "LOW MEDIUM HIGH"],
  [/gemini-3\.7-flash/, "LOW MEDIUM HIGH"],
];
const PENALTIES = ["presencePenalty", "frequencyPenalty"];
const PROVIDED = ["googleSearch", "googleSearchRetrieval", "codeExecution", "urlContext", "fileSearch", "googleMaps"];

/** What only some models refuse. */
export const MODELS: readonly Rule[] = [
  {
    source: "https://github.com/vercel/ai/pull/16540, https://github.com/google-gemini/cookbook/issues/393",
    models: /gemini-(?:1|2)/,
    refuse: ({ body }) =>
      functionsOf(body).length > 0 && configOf(body)["responseMimeType"] === "application/json"
        ? new SimError(400, "Function calling with a response mime type: 'application/json' is unsupported")
        : undefined,
  },
  {
    source:
      "https://github.com/snailyp/gemini-balance/issues/206, https://github.com/vercel/ai/issues/8027, https://github.com/RooCodeInc/Roo-Code/issues/4399, https://ai.google.dev/gemini-api/docs/thinking#set-budget",
    models: /gemini-2\.5/,
    refuse: ({ model, body }) => {
      const { thinkingBudget: budget } = thinkingOf(body);
      if (typeof budget !== "number" || budget === -1) return undefined;
      const [min, max] = model.includes("pro") ? [128, 32_768] : model.includes("lite") ? [512, 24_576] : [1, 24_576];
      if (budget === 0)
        return model.includes("pro")
          ? new SimError(400, "Budget 0 is invalid. This model only works in thinking mode.")
          : undefined;
      return budget < min || budget > max
        ? new SimError(
            400,
            `The thinking budget (${budget}) is invalid. Please choose a value between ${min} and ${max}.`,
          )
        : undefined;
    },
  },
  {
    source: "https://github.com/RooCodeInc/Roo-Code/issues/10700, https://github.com/Kilo-Org/kilocode/pull/5139",
    models: /gemini-2/,
    refuse: ({ body }) =>
      thinkingOf(body)["thinkingLevel"] === undefined
        ? undefined
        : new SimError(400, "Thinking level is not supported for this model."),
  },
  {
    source: "https://ai.google.dev/gemini-api/docs/thinking (models), https://github.com/juspay/neurolink/pull/1707",
    models: /gemini-(?:1|2\.0)/,
    refuse: ({ body }) =>
      configOf(body)["thinkingConfig"] === undefined
        ? undefined
        : new SimError(400, "Unable to submit request because thinking is not supported by this model."),
  },
  {
    source:
      "https://ai.google.dev/gemini-api/docs/models (output token limit); the wording of Vertex AI's INVALID_ARGUMENT",
    models: /gemini-/,
    refuse: ({ model, body }) => {
      const max = /gemini-(?:1|2\.0)/.test(model) ? 8_192 : 65_536;
      const { maxOutputTokens: asked } = configOf(body);
      return asNumber(asked) > max
        ? new SimError(
            400,
            `Unable to submit request because it has a maxOutputTokens value of ${asNumber(asked)} but the supported range is from 1 (inclusive) to ${max + 1} (exclusive). Update the value and try again.`,
          )
        : undefined;
    },
  },
  {
    source:
      "https://github.com/egoist/chatwise-releases/issues/1206, https://github.com/vellum-ai/vellum-assistant/pull/32687, https://github.com/bolna-ai/bolna/pull/956 (which levels)",
    models: /gemini-3/,
    refuse: ({ model, body }) => {
      const known = LEVELS.find(([pattern]) => pattern.test(model))?.[1].split(" ");
      const level = asText(thinkingOf(body)["thinkingLevel"] ?? "").toUpperCase();
      return level === "" || !known || known.includes(level)
        ? undefined
        : new SimError(
            400,
            `Thinking level ${level} is not supported for this model. Please retry with other thinking level.`,
          );
    },
  },
  {
    source:
      "https://github.com/vellum-ai/vellum-assistant/pull/32687 (Pro cannot be turned off), https://github.com/snailyp/gemini-balance/issues/206 (wording)",
    models: /gemini-3.*-pro/,
    refuse: ({ body }) =>
      thinkingOf(body)["thinkingBudget"] === 0
        ? new SimError(400, "Budget 0 is invalid. This model only works in thinking mode.")
        : undefined,
  },
  {
    source: "https://github.com/vercel/ai/issues/8943, https://github.com/BerriAI/litellm/pull/32273",
    models: /gemini-(?:2\.5|3|exp)/,
    refuse: ({ model, body }) =>
      PENALTIES.some((name) => configOf(body)[name] !== undefined)
        ? new SimError(400, `Penalty is not enabled for models/${model}`)
        : undefined,
  },
  {
    source:
      "https://github.com/Vela-Research/think-reason-learn/issues/34, https://github.com/mscraftsman/generative-ai/issues/135",
    models: /gemini-(?:2\.5|3)/,
    refuse: ({ model, body }) =>
      configOf(body)["responseLogprobs"] === true
        ? new SimError(400, `Logprobs is not enabled for models/${model}`)
        : undefined,
  },
  {
    source: "https://github.com/googleapis/go-genai/issues/323, https://github.com/enola-dev/enola/issues/1784",
    models: /gemini-[12]/,
    refuse: ({ body }) =>
      functionsOf(body).length > 0 &&
      objects(body["tools"]).some((tool) => PROVIDED.some((name) => tool[name] !== undefined))
        ? new SimError(400, "Tool use with function calling is unsupported")
        : undefined,
  },
  {
    source:
      "https://github.com/0xPlaygrounds/rig/issues/788 (instructions), https://github.com/truefoundry/models/pull/608 (functions, schemas)",
    models: /gemma-3/,
    refuse: ({ model, body }) => {
      const name =
        body["systemInstruction"] !== undefined
          ? "Developer instruction"
          : functionsOf(body).length > 0
            ? "Function calling"
            : configOf(body)["responseMimeType"] === "application/json"
              ? "JSON mode"
              : undefined;
      return name === undefined ? undefined : new SimError(400, `${name} is not enabled for models/${model}`);
    },
  },
];
