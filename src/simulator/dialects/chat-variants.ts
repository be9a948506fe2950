import { type Json, isJson } from "../../kit/index.ts";
import { type Answer, subtract } from "../answer.ts";
import { asText } from "../fields.ts";
import type { Part } from "../endpoint.ts";
import type { Defect } from "../script.ts";

/** What Azure says of content that its filter lets pass. */
export const CONTENT_FILTER = { hate: { filtered: false, severity: "safe" } };
/** What Azure says of a prompt that its filter lets pass. */
export const PROMPT_FILTER = [{ prompt_index: 0, content_filter_results: CONTENT_FILTER }];

/** The first chunk of Azure: what its filter makes of the prompt, and no choices. */
export function azureFirst(): Part<string> {
  const first = { choices: [], created: 0, id: "", model: "", object: "", prompt_filter_results: PROMPT_FILTER };
  return { data: `data: ${JSON.stringify(first)}\n\n` };
}

/** A chunk or a whole answer, and a choice's delta or message, which a defect changes where they are. */
type Body = Record<string, unknown>;
type Change = (body: Body) => void;

/** Changes of one chunk, or of a whole answer, that need to know nothing else. */
const CHANGES: Partial<Record<Defect, Change>> = {
  "no-role": eachPart((part) => delete part["role"]),
  "no-object": (body) => delete body["object"],
  "no-finish": eachChoice((choice) => {
    if ("delta" in choice) choice["finish_reason"] = null;
  }),
  "tool-index-1": eachCall((call) => {
    if ("index" in call) call["index"] = Number(call["index"]) + 1;
  }),
  "tool-no-index": eachCall((call) => delete call["index"]),
  "tool-no-type": eachCall((call) => delete call["type"]),
  "null-deltas": eachChoice((choice) => {
    const { delta } = choice;
    if (isJson(delta)) {
      choice["delta"] = { role: null, content: null, reasoning_content: null, tool_calls: null, ...delta };
    }
  }),
  "xai-reasoning": (body) => {
    const { usage } = body;
    if (isJson(usage)) {
      const { completion_tokens_details: details } = usage;
      const reasoning = isJson(details) ? details["reasoning_tokens"] : 0;
      body["usage"] = { ...usage, completion_tokens: subtract(usage["completion_tokens"], reasoning) };
    }
    eachChoice((choice) => {
      if (choice["finish_reason"] === null) delete choice["finish_reason"];
    })(body);
  },
  "groq-usage": (body) => {
    if (!isJson(body["usage"])) return;
    body["x_groq"] = { id: "req_simulated", usage: body["usage"] };
    delete body["usage"];
  },
  "mistral-tools": (body) => {
    eachCall((call) => {
      delete call["index"];
      delete call["type"];
    })(body);
    eachPart((part) => {
      const { reasoning_content: text } = part;
      if (typeof text !== "string") return;
      delete part["reasoning_content"];
      const thinking = { type: "thinking", thinking: [{ type: "text", text }] };
      const texts = typeof part["content"] === "string" ? [{ type: "text", text: part["content"] }] : [];
      part["content"] = [thinking, ...texts];
    })(body);
  },
};

/** A whole answer with these defects; most are of streams only. */
export function defectiveAnswer(part: Part<string>, defects: readonly Defect[]): Part<string> {
  const body = JSON.parse(part.data) as Body;
  for (const defect of defects) CHANGES[defect]?.(body);
  return { ...part, data: JSON.stringify(body) };
}

/** The chunks of a stream with these defects, which leave what is counted as it is. */
export function* defectiveChunks(
  parts: Iterable<Part<string>>,
  answer: Answer,
  defects: readonly Defect[],
): Generator<Part<string>> {
  const has = (defect: Defect) => defects.includes(defect);
  const ids = new Ids(defects);
  const rides = has("usage-with-choices") || has("groq-usage") || has("usage-every-chunk");
  let produced = 0;
  let held: Held | null = null;
  if (has("azure-first-chunk")) yield azureFirst();
  for (const part of parts) {
    const body = JSON.parse(part.data.slice("data: ".length)) as Body;
    produced += part.tokens ?? 0;
    const { usage } = body;
    ids.change(body);
    // Held back one place, so that the counts behind the last chunk can ride on it.
    if (held !== null && isJson(usage) && rides) {
      held = withUsage(held, part, usage);
      continue;
    }
    if (held) yield written(held, defects);
    held = { part, body };
    if (!has("usage-every-chunk") || isJson(usage)) continue;
    body["usage"] = running(answer, produced);
    held = { part: { ...part, claims: { ...answer.usage, completion: produced } }, body };
  }
  if (held) yield written(held, defects);
}

function withUsage(held: Held, { claims }: Part<string>, usage: Json): Held {
  return { part: { ...held.part, claims }, body: { ...held.body, usage } };
}

interface Held {
  readonly part: Part<string>;
  readonly body: Body;
}

function written({ part, body }: Held, defects: readonly Defect[]): Part<string> {
  for (const defect of defects) CHANGES[defect]?.(body);
  return { ...part, data: `data: ${JSON.stringify(body)}\n\n` };
}

/** What the deltas that continue a call repeat of it. */
class Ids {
  readonly #defects: readonly Defect[];
  readonly #first = new Map<string, Json>();

  constructor(defects: readonly Defect[]) {
    this.#defects = defects;
  }

  change(body: Body): void {
    const repeated = this.#defects.includes("repeated-ids");
    const empty = this.#defects.includes("empty-ids");
    const mistral = this.#defects.includes("mistral-tools");
    if (!repeated && !empty && !mistral) return;
    eachCall((call, choice) => {
      const key = `${asText(choice["index"])} ${asText(call["index"])}`;
      const first = this.#first.get(key);
      if (!first) return this.#first.set(key, call);
      const name = isJson(first["function"]) ? first["function"]["name"] : "";
      const made = isJson(call["function"]) ? call["function"] : {};
      call["id"] = empty ? "" : first["id"];
      call["type"] = "function";
      call["function"] = { name: repeated ? name : "", ...made };
    })(body);
  }
}

/** Cumulative counts up to here. */
function running({ usage }: Answer, completion: number): object {
  const total = Number(usage.prompt) + completion;
  return { prompt_tokens: usage.prompt, completion_tokens: completion, total_tokens: total };
}

function eachChoice(change: (choice: Body) => void): Change {
  return ({ choices }) => {
    for (const choice of Array.isArray(choices) ? (choices as Body[]) : []) change(choice);
  };
}

/** A delta, or a message. */
function eachPart(change: (part: Body, choice: Body) => void): Change {
  return eachChoice((choice) => {
    const part = choice["delta"] ?? choice["message"];
    if (isJson(part)) change(part, choice);
  });
}

function eachCall(change: (call: Body, choice: Body) => unknown): Change {
  return eachPart(({ tool_calls: calls }, choice) => {
    for (const call of Array.isArray(calls) ? (calls as Body[]) : []) change(call, choice);
  });
}
