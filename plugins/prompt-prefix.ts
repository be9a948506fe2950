import { definePlugin, escapeRegExp, type Exchange, isJson, type Json } from "#kit";
import type { PromptPrefixOptions } from "#schema";

type Prompt = PromptPrefixOptions["prompts"][number];

/** Puts the operator's instructions before or behind the client's own. */
export default definePlugin<PromptPrefixOptions>({
  name: "prompt-prefix",
  stage: "transform",
  schema: new URL("../schemas/plugins/prompt-prefix.schema.json", import.meta.url),
  setup({ prompts }, { snapshot }) {
    checkNames(prompts, snapshot.tiers);
    const rules = prompts.map((prompt) => ({ ...prompt, models: prompt.models?.map(globOf) }));
    const applies = ({ models, tiers }: (typeof rules)[number], { model, tier }: Exchange): boolean =>
      (tiers?.includes(tier.name) ?? true) && (models?.some((glob) => glob.test(model.id)) ?? true);
    return {
      transform(call, exchange) {
        const { messages } = call.body;
        if (call.kind !== "chat" || !Array.isArray(messages)) return call;
        const texts = rules.filter((rule) => applies(rule, exchange));
        const before = texts.filter(({ place }) => place !== "after").map(({ text }) => text);
        const after = texts.filter(({ place }) => place === "after").map(({ text }) => text);
        if (texts.length === 0) return call;
        return { ...call, body: { ...call.body, messages: instructed(messages, before, after) } };
      },
    };
  },
});

/** @throws Error for a plan that there is not: its prompt would never be sent. */
function checkNames(prompts: readonly Prompt[], tiers: Readonly<Record<string, unknown>>): void {
  for (const name of prompts.flatMap(({ tiers: named }) => named ?? [])) {
    if (!Object.hasOwn(tiers, name)) throw new Error(`a prompt is for a plan that there is not: ${name}`);
  }
}

/** `*` stands for any text. */
function globOf(glob: string): RegExp {
  return new RegExp(
    `^${glob
      .split("*")
      .map((part) => escapeRegExp(part))
      .join(".*")}$`,
    "s",
  );
}

/**
 * Messages with instructions around the client's. They are joined to its own: models whose template knows one system
 * message refuse a second one.
 */
function instructed(messages: readonly unknown[], before: readonly string[], after: readonly string[]): unknown[] {
  const rest = messages.findIndex((message) => !isInstruction(message));
  const count = rest < 0 ? messages.length : rest;
  if (count === 0) return [{ role: "system", content: [...before, ...after].join("\n\n") }, ...messages];
  const copy = [...messages];
  copy[0] = withText(copy[0] as Json, before, []);
  copy[count - 1] = withText(copy[count - 1] as Json, [], after);
  return copy;
}

function isInstruction(message: unknown): boolean {
  return isJson(message) && (message["role"] === "system" || message["role"] === "developer");
}

function withText(message: Json, before: readonly string[], after: readonly string[]): Json {
  if (before.length + after.length === 0) return message;
  const { content } = message;
  if (Array.isArray(content)) {
    return { ...message, content: [...before.map(partOf), ...(content as readonly unknown[]), ...after.map(partOf)] };
  }
  const own = typeof content === "string" && content !== "" ? [content] : [];
  return { ...message, content: [...before, ...own, ...after].join("\n\n") };
}

function partOf(text: string): Json {
  return { type: "text", text };
}
