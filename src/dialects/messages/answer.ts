import { type Call, isJson, type Json } from "../../kit/index.ts";
import { malformed } from "../canonical/errors.ts";
import { extraFields } from "../canonical/json.ts";
import { type BlockPlace, isUsual } from "../canonical/message.ts";
import { parseAnswer } from "../canonical/requests.ts";
import { writtenInput } from "../canonical/tools.ts";
import { writtenUsage } from "../canonical/usage.ts";
import type { Decoded } from "../dialect.ts";
import {
  annotationsOf,
  CallLedger,
  CANONICAL,
  explanationOf,
  nativeMessage,
  nativePart,
  ofMessages,
  restated,
  stopOf,
  textField,
  toolId,
  usageOf,
  withNative,
} from "./wire.ts";

const MESSAGE: ReadonlySet<string> = new Set([
  "id",
  "type",
  "role",
  "model",
  "content",
  "stop_reason",
  "stop_sequence",
]);

/** A complete answer in the canonical shape. @throws AttemptError "protocol" for what is no message. */
export function answer(bytes: Uint8Array, call: Call): Decoded {
  const message = parseAnswer(bytes);
  const { id, model, content } = message;
  if (!Array.isArray(content)) throw malformed("an answer without content");
  const verbatim = ofMessages(call);
  const said = new Answer(verbatim);
  for (const block of content) said.add(block);
  const usage = usageOf(restated({}, message["usage"]));
  const body = {
    id,
    object: "chat.completion",
    model,
    choices: [
      {
        index: 0,
        // A Messages client gets the provider's own field.
        message: said.message(verbatim ? null : explanationOf(message)),
        ...stopOf(message, said.ledger),
      },
    ],
    ...(usage ? { usage: writtenUsage(usage) } : {}),
    ...(verbatim ? nativeMessage(extraFields(message, MESSAGE)) : {}),
  };
  return { body, usage };
}

/** The blocks of one answer, sorted into the lists of a canonical message. */
class Answer {
  readonly ledger = new CallLedger();
  readonly #calls: Json[] = [];
  readonly #verbatim: boolean;
  readonly #parts: Json[] = [];
  readonly #details: Json[] = [];
  readonly #annotations: Json[] = [];
  readonly #order: BlockPlace[] = [];
  #text = "";
  #thought = "";

  /** @param verbatim for a client that speaks the dialect: what has no canonical place is kept too. */
  constructor(verbatim: boolean) {
    this.#verbatim = verbatim;
  }

  add(block: unknown): void {
    if (!isJson(block) || typeof block["type"] !== "string") throw malformed("a content block that is none");
    this.ledger.note(block);
    switch (block["type"]) {
      case "text":
        return this.#addText(block);
      case "thinking":
        return this.#addThinking(block);
      case "redacted_thinking":
        return this.#detail(
          { type: "reasoning.encrypted", data: textField(block, "data") },
          block,
          CANONICAL.redacted_thinking,
        );
      case "tool_use":
        this.#order.push("tool_call");
        this.#calls.push({ ...this.#beside(block, CANONICAL.tool_use), ...toolCall(block) });
        return;
      default:
        this.#order.push("content");
        this.#parts.push(nativePart(block));
    }
  }

  message(refusal: string | null): Json {
    const order = this.#verbatim && !isUsual(this.#order) ? { block_order: this.#order } : {};
    return {
      role: "assistant",
      content: this.#content(),
      ...(this.#thought === "" ? {} : { reasoning_content: this.#thought }),
      ...(this.#details.length > 0 ? { reasoning_details: this.#details } : {}),
      ...(this.#calls.length > 0 ? { tool_calls: this.#calls } : {}),
      ...(this.#annotations.length > 0 ? { annotations: this.#annotations } : {}),
      ...(refusal === null ? {} : { refusal }),
      ...order,
    };
  }

  #content(): string | readonly Json[] | null {
    const plain = this.#parts.every((part) => Object.keys(part).length === 2);
    // Several texts are several blocks to who speaks the dialect, one text to everybody else.
    if (this.#verbatim && !(plain && this.#parts.length <= 1)) return this.#parts;
    return this.#text === "" && this.#calls.length > 0 ? null : this.#text;
  }

  #addText(block: Json): void {
    const text = textField(block, "text");
    const start = this.#text.length;
    this.#text += text;
    this.#order.push("content");
    this.#parts.push({ ...this.#beside(block, CANONICAL.text), type: "text", text });
    if (!this.#verbatim) this.#annotations.push(...annotationsOf(block["citations"], start, this.#text.length));
  }

  #addThinking(block: Json): void {
    const text = textField(block, "thinking");
    const { signature } = block;
    if (signature !== undefined && typeof signature !== "string") throw malformed("a signature that is no text");
    this.#thought += text;
    this.#detail({ type: "reasoning.text", text, ...(signature ? { signature } : {}) }, block, CANONICAL.thinking);
  }

  #detail(detail: Json, block: Json, known: ReadonlySet<string>): void {
    this.#order.push("reasoning");
    this.#details.push({ ...this.#beside(block, known), ...detail });
  }

  #beside(block: Json, known: ReadonlySet<string>): Json {
    return this.#verbatim ? withNative(extraFields(block, known)) : {};
  }
}

function toolCall(block: Json): Json {
  return {
    id: toolId(block),
    type: "function",
    function: { name: textField(block, "name"), arguments: writtenInput(block["input"]) },
  };
}
