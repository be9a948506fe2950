import { isJson, type Json } from "./json.ts";
import type { StreamChange } from "./plugin.ts";
import type { StreamEvent } from "./reply.ts";
import { answerWriter, type ChangeName, JsonChange, type TextChange, type TextWriter } from "./texts.ts";

/** Where in a choice a text stands while it streams. */
interface Place {
  readonly name: string;
  /** The text of another group ends it; those of calls may alternate, and end with the answer. */
  readonly group: "thoughts" | "words" | "call" | "native";
  readonly isJson?: boolean;
  /** The delta of a text that stands here. */
  wrap(text: string): Json;
}

/**
 * Changes the texts of a stream: each has a `TextChange` of its own. What is held back of one is released before another
 * begins, and before the finish reason. Probabilities of the tokens of what is changed or held back are left out.
 * @param changeName changes the names of tools, which come whole. Absent: they stay as they are.
 */
export function streamTexts(begin: () => TextChange, changeName?: ChangeName): StreamChange {
  return new StreamTexts(begin, changeName);
}

class StreamTexts implements StreamChange {
  readonly #begin: () => TextChange;
  readonly #changeName: ChangeName | undefined;
  readonly #choices = new Map<unknown, ChoiceTexts>();
  #last: Json = {};

  constructor(begin: () => TextChange, changeName: ChangeName | undefined) {
    this.#begin = begin;
    this.#changeName = changeName;
  }

  event(event: StreamEvent): readonly StreamEvent[] {
    const { choices } = event.data;
    if (!Array.isArray(choices)) return [event];
    const events: StreamEvent[] = [];
    let text = "";
    let isHeld = event.usage === undefined && choices.length > 0;
    let isSame = true;
    const written = choices.map((choice: unknown) => {
      if (!isJson(choice) || !isJson(choice["delta"])) return choice;
      const { index, delta, finish_reason: finish } = choice;
      const texts = this.#textsOf(index);
      const changed = texts.write(delta, typeof finish === "string");
      if (changed.released !== null) events.push(this.#made(index, changed.released, event.data));
      text += changed.produced;
      const same = changed.delta === delta;
      isSame &&= same;
      isHeld &&= !same && typeof finish !== "string" && saysNothing(changed.delta);
      if (same) return choice;
      return { ...choice, delta: changed.delta, ...(choice["logprobs"] !== undefined && { logprobs: null }) };
    });
    if (choices.length > 0) this.#last = event.data;
    if (isSame) return [...events, event];
    const { raw: _raw, ...rest } = event;
    return isHeld ? events : [...events, { ...rest, data: { ...event.data, choices: written }, text }];
  }

  end(): readonly StreamEvent[] {
    return [...this.#choices].flatMap(([index, texts]) => {
      const { released } = texts.write({}, true);
      return released === null ? [] : [this.#made(index, released, this.#last)];
    });
  }

  #textsOf(index: unknown): ChoiceTexts {
    let texts = this.#choices.get(index);
    if (texts === undefined) this.#choices.set(index, (texts = new ChoiceTexts(this.#begin, this.#changeName)));
    return texts;
  }

  #made(index: unknown, { delta, text }: Released, { usage: _usage, ...head }: Json): StreamEvent {
    return { data: { ...head, choices: [{ index, delta, finish_reason: null }] }, text };
  }
}

interface Released {
  readonly delta: Json;
  readonly text: string;
}

/** The open texts of one choice. */
class ChoiceTexts {
  readonly #begin: () => TextChange;
  readonly #changeName: ChangeName | undefined;
  readonly #open = new Map<string, { readonly place: Place; readonly change: TextChange }>();

  constructor(begin: () => TextChange, changeName: ChangeName | undefined) {
    this.#begin = begin;
    this.#changeName = changeName;
  }

  /** @returns what has to come before the delta, and what becomes of it. */
  write(delta: Json, isLast: boolean): { released: Released | null; delta: Json; produced: string } {
    const begun = groupsIn(delta);
    const ends = ({ group }: Place): boolean =>
      isLast || (group !== "call" && [...begun].some((other) => other !== group));
    const own = new Set<string>();
    let produced = "";
    const written = withDeltaTexts(delta, this.#changeName, (place, text) => {
      if (place === null) return this.#once(text);
      own.add(place.name);
      const { change } = this.#textAt(place);
      let now = change.add(text);
      if (ends(place)) {
        now += change.end();
        this.#open.delete(place.name);
      }
      if (!place.name.startsWith("detail")) produced += now;
      return now;
    });
    const ended = [...this.#open.values()].filter(({ place }) => !own.has(place.name) && ends(place));
    return { released: this.#release(ended.map(({ place }) => place)), delta: written, produced };
  }

  #release(places: readonly Place[]): Released | null {
    let delta: Json = {};
    let text = "";
    for (const place of places) {
      const rest = this.#open.get(place.name)!.change.end();
      this.#open.delete(place.name);
      if (rest === "") continue;
      delta = joined(delta, place.wrap(rest));
      if (!place.name.startsWith("detail")) text += rest;
    }
    return Object.keys(delta).length === 0 ? null : { delta, text };
  }

  #once(text: string): string {
    const change = this.#begin();
    return change.add(text) + change.end();
  }

  #textAt(place: Place): { readonly change: TextChange } {
    let open = this.#open.get(place.name);
    if (open === undefined) {
      open = { place, change: place.isJson ? new JsonChange(this.#begin) : this.#begin() };
      this.#open.set(place.name, open);
    }
    return open;
  }
}

/** Two deltas of different places. */
function joined(one: Json, other: Json): Json {
  const both: Record<string, unknown> = { ...one };
  for (const [name, value] of Object.entries(other)) {
    const before = both[name];
    both[name] = Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value;
  }
  return both;
}

type Group = Place["group"] | "border";

/** What a delta goes on with, or begins. */
function groupsIn(delta: Json): ReadonlySet<Group> {
  const groups = new Set<Group>();
  if (isText(delta["reasoning_content"]) || objects(delta["reasoning_details"]).some(hasText)) groups.add("thoughts");
  if (isText(delta["content"]) || isText(delta["refusal"]) || isText(inner(delta["audio"], "transcript"))) {
    groups.add("words");
  }
  if (objects(delta["tool_calls"]).length > 0 || isJson(delta["function_call"])) groups.add("call");
  // Behind its signature a thought does not go on.
  if (objects(delta["reasoning_details"]).some(({ signature }) => isText(signature))) groups.add("border");
  const event = nativeEventOf(delta);
  if (event !== null && !isDelta(event)) groups.add("border");
  if (event !== null && hasPiece(event)) groups.add("native");
  return groups;
}

function inner(value: unknown, field: string): unknown {
  return isJson(value) ? value[field] : undefined;
}

function hasText({ text, summary }: Json): boolean {
  return isText(text) || isText(summary);
}

/** Of the upstream's own format. Annotations come in the middle of a text. */
function isDelta({ type }: Json): boolean {
  return typeof type === "string" && /delta|annotation/.test(type);
}

function hasPiece({ delta }: Json): boolean {
  return isText(delta) || (isJson(delta) && [...PIECES].some((name) => isText(delta[name])));
}

const WORDS = new Map<string, Place["group"]>([
  ["content", "words"],
  ["refusal", "words"],
  ["reasoning_content", "thoughts"],
]);

/** The delta with its texts changed; the very same one when none was. @param change of null: a text that comes whole. */
function withDeltaTexts(delta: Json, changeName: ChangeName | undefined, change: Change): Json {
  const whole = answerWriter((text) => change(null, text), changeName);
  const write = (name: string, value: unknown): unknown => {
    const group = WORDS.get(name);
    if (group !== undefined && typeof value === "string") {
      return value === "" ? value : change({ name, group, wrap: (text) => ({ [name]: text }) }, value);
    }
    if (name === "reasoning_details") return eachOf(value, (detail) => withDetail(detail, change));
    if (name === "tool_calls") return eachOf(value, (call) => withCall(call, change, whole));
    const within = WITHIN.get(name);
    if (within !== undefined && isJson(value)) return withInner(name, value, within, change, whole);
    if (name === "native" && isJson(value)) return withNative(value, change, whole);
    return whole.write(value, name);
  };
  return eachField(delta, write);
}

/** Objects that come in pieces with one text in them: what is spoken, and a call of the older form. */
const WITHIN: ReadonlyMap<string, { readonly field: string } & Pick<Place, "group" | "isJson">> = new Map([
  ["audio", { field: "transcript", group: "words" }],
  ["function_call", { field: "arguments", group: "call", isJson: true }],
]);

function withInner(
  name: string,
  value: Json,
  { field, group, isJson: json = false }: { readonly field: string } & Pick<Place, "group" | "isJson">,
  change: Change,
  whole: TextWriter,
): Json {
  return eachField(value, (inside, text) => {
    if (inside !== field || !isText(text)) return whole.write(text, inside);
    return change({ name, group, isJson: json, wrap: (rest) => ({ [name]: { [field]: rest } }) }, text);
  });
}

function eachField(object: Json, write: (name: string, value: unknown) => unknown): Json {
  let copy = object;
  for (const [name, value] of Object.entries(object)) {
    const written = write(name, value);
    if (written !== value) copy = { ...copy, [name]: written };
  }
  return copy;
}

function eachOf(value: unknown, write: (item: Json, position: number) => Json): unknown {
  if (!Array.isArray(value)) return value;
  const written = value.map((item: unknown, position) => (isJson(item) ? write(item, position) : item));
  return written.every((item, at) => item === value[at]) ? value : written;
}

type Change = (place: Place | null, text: string) => string;

function withDetail(detail: Json, change: Change): Json {
  const { type, index } = detail;
  return eachField(detail, (name, value) => {
    if ((name !== "text" && name !== "summary") || !isText(value)) return value;
    const wrap = (text: string): Json => ({ reasoning_details: [{ type, index, [name]: text }] });
    return change({ name: `detail ${String(index)} ${name}`, group: "thoughts", wrap }, value);
  });
}

/** A function's arguments are JSON, the input of another tool is plain text. */
const INPUTS: Readonly<Record<string, string>> = { function: "arguments", custom: "input" };

function withCall(call: Json, change: Change, whole: TextWriter): Json {
  const { index } = call;
  return eachField(call, (kind, inner) => {
    const field = Object.hasOwn(INPUTS, kind) ? INPUTS[kind] : undefined;
    if (field === undefined || !isJson(inner)) return inner;
    return eachField(inner, (name, value) => {
      if (name !== field || !isText(value)) return whole.write(value, name);
      const wrap = (text: string): Json => ({ tool_calls: [{ index, [kind]: { [field]: text } }] });
      return change({ name: `call ${String(index)}`, group: "call", isJson: kind === "function", wrap }, value);
    });
  });
}

/** An event of the upstream's own format goes to a client that speaks it, deltas of what has no other place among them. */
function withNative(native: Json, change: Change, whole: TextWriter): Json {
  const { event } = native;
  if (!isJson(event) || !isDelta(event)) return whole.write(native) as Json;
  const { type, index, output_index, content_index, item_id } = event;
  const name = `native ${[type, index, output_index, content_index, item_id].map(String).join(" ")}`;
  const wrap = (written: Json): Json => ({ native: { ...native, event: written } });
  const written = eachField(event, (field, value) => {
    if (field !== "delta") return whole.write(value, field);
    if (isText(value)) return change({ name, group: "native", wrap: (text) => wrap({ ...event, delta: text }) }, value);
    if (!isJson(value)) return value;
    return eachField(value, (inner, text) => {
      if (!PIECES.has(inner) || !isText(text)) return whole.write(text, inner);
      const place = { name, group: "native", isJson: inner === "partial_json" } as const;
      return change({ ...place, wrap: (rest) => wrap({ ...event, delta: { ...value, [inner]: rest } }) }, text);
    });
  });
  return written === event ? native : { ...native, event: written };
}

const PIECES: ReadonlySet<string> = new Set(["text", "thinking", "partial_json"]);

function nativeEventOf({ native }: Json): Json | null {
  return isJson(native) && isJson(native["event"]) ? native["event"] : null;
}

/** Whether nothing is left of a delta that was a text: its place in the stream means nothing then. */
function saysNothing(delta: Json): boolean {
  return Object.entries(delta).every(([name, value]) => {
    if (name !== "reasoning_details") return WORDS.has(name) && value === "";
    return objects(value).every((detail) =>
      Object.entries(detail).every(([field, text]) => field === "type" || field === "index" || text === ""),
    );
  });
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function objects(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isJson) : [];
}
