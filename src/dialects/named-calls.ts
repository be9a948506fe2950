import { type AttemptError, isJson, type Json, type StreamEvent } from "../kit/index.ts";
import type { AnswerForm, StreamDecoder } from "./dialect.ts";
import { changed, Edits } from "./openai/edits.ts";
import type { ToolNames } from "./vendors/tool-names.ts";

/** What reads answers in which tools are called by the names that they have in the request. @param form of the codec. */
export function namedForm(form: AnswerForm, names: ToolNames): AnswerForm {
  const { decoder } = form;
  return {
    ...form,
    answer(bytes, call) {
      const { body, usage } = form.answer(bytes, call);
      return { body: withNames(body, "message", names), usage };
    },
    decoder: decoder === null ? null : (call) => new NamingDecoder(decoder(call), names),
  };
}

class NamingDecoder implements StreamDecoder {
  readonly #inner: StreamDecoder;
  readonly #names: ToolNames;

  constructor(inner: StreamDecoder, names: ToolNames) {
    this.#inner = inner;
    this.#names = names;
  }

  get fault(): AttemptError | null {
    return this.#inner.fault;
  }

  get done(): boolean {
    return this.#inner.done;
  }

  get complete(): boolean {
    return this.#inner.complete;
  }

  feed(chunk: Uint8Array): readonly StreamEvent[] {
    return this.#inner.feed(chunk).map((event) => this.#named(event));
  }

  finish(): readonly StreamEvent[] {
    return this.#inner.finish().map((event) => this.#named(event));
  }

  /** Without the upstream's own text where that is not what is said. */
  #named(event: StreamEvent): StreamEvent {
    const data = withNames(event.data, "delta", this.#names);
    if (data === event.data) return event;
    const { raw: _raw, ...rest } = event;
    return { ...rest, data };
  }
}

/** An answer or chunk with the client's own names of tools; the very same where it calls none by another. */
function withNames(body: Json, part: "message" | "delta", names: ToolNames): Json {
  const choices = changed(body["choices"], (choice) => {
    const said = choice[part];
    if (!isJson(said) || said["tool_calls"] === undefined) return choice;
    const edits = new Edits(said);
    edits.set(
      "tool_calls",
      changed(said["tool_calls"], (call) => withName(call, names)),
    );
    return edits.object === said ? choice : { ...choice, [part]: edits.object };
  });
  return choices === body["choices"] ? body : { ...body, choices };
}

function withName(call: Json, names: ToolNames): Json {
  const edits = new Edits(call);
  for (const kind of ["function", "custom"]) {
    const called = call[kind];
    if (!isJson(called) || typeof called["name"] !== "string") continue;
    const inner = new Edits(called);
    inner.set("name", names.read(called["name"]));
    edits.set(kind, inner.object);
  }
  return edits.object;
}
