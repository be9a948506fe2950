import { isJson, type Json } from "../../kit/index.ts";
import { changed, Edits, objects } from "../canonical/json.ts";
import { MARKS } from "../canonical/marks.ts";
import type { Report } from "../canonical/report.ts";
import type { Rules } from "../vendors/types.ts";

/*
 * Marks of a cache on the way to a server of OpenAI's dialect, before anything else is made of the body: whatever is left
 * is in the target's own form. `prompt_cache_options: {mode: "explicit"}` switches implicit caching off
 * (https://developers.openai.com/api/docs/guides/prompt-caching), so it goes only where the breakpoints go.
 */

interface MarkOptions {
  readonly rules: Pick<Rules, "cacheMarks" | "clientMarks" | "textForm" | "unknownFields" | "vendor">;
  /** The body was made of another format's. */
  readonly translated: boolean;
  readonly report: Report;
}

/** The body with its marks as the target takes them; the very same where it takes them so. */
export function withMarks(body: Json, options: MarkOptions): Json {
  return new MarkWriter(options).write(body);
}

type Place = "message" | "part" | "call" | "tool";

const BREAKPOINT: Json = { mode: "explicit" };
/** Parts that may have one (SDK openai resources/chat/completions/completions.d.ts). */
const BREAKABLE: ReadonlySet<unknown> = new Set(["text", "image_url", "input_audio", "file"]);

class MarkWriter {
  readonly #report: Report;
  readonly #form: Rules["cacheMarks"];
  /** `cache_control` is taken. */
  readonly #takesControl: boolean;
  /** OpenAI's fields travel as they came. */
  readonly #asCame: boolean;
  readonly #translated: boolean;
  #asked = 0;
  #lost = 0;

  constructor({ rules, translated, report }: MarkOptions) {
    const { cacheMarks: form, clientMarks, textForm, unknownFields, vendor } = rules;
    const hasControl = form === "marks" || form === "marks_with_ttl";
    this.#report = report;
    this.#form = form;
    this.#translated = translated;
    this.#takesControl = hasControl && (!translated || clientMarks === "any");
    // Where Anthropic's form is known to be the one that is taken, OpenAI's becomes that. A text alone has no mark.
    const isOpen = unknownFields && textForm === "any" && form !== "breakpoints";
    this.#asCame = !translated && isOpen && (!hasControl || vendor === "generic");
  }

  write(body: Json): Json {
    const edits = new Edits(body);
    edits.set(
      "messages",
      changed(body["messages"], (message, index) => this.#message(message, `/messages/${index}`)),
    );
    edits.set(
      "tools",
      changed(body["tools"], (tool, index) => this.#fitted(tool, `/tools/${index}`, "tool")),
    );
    this.#options(edits);
    return edits.object;
  }

  #options(edits: Edits): void {
    const { prompt_cache_options: options } = edits.object;
    if (options === undefined || options === null) return;
    const taken = this.#asCame || this.#form === "breakpoints";
    const isVoid = isJson(options) && options["mode"] === "explicit" && this.#asked > 0 && this.#lost === this.#asked;
    if (taken && !isVoid) return;
    edits.remove("prompt_cache_options");
    this.#report.drop("/prompt_cache_options");
  }

  #message(message: Json, at: string): Json {
    const edits = new Edits(message);
    const isAnswer = message["role"] === "assistant";
    // A text is not looked at: a long one would be decoded for nothing.
    if (Array.isArray(Object.getOwnPropertyDescriptor(message, "content")?.value)) {
      const fit = (part: Json, index: number): Json =>
        this.#fitted(part, `${at}/content/${index}`, "part", !isAnswer && BREAKABLE.has(part["type"]));
      edits.set("content", changed(message["content"], fit));
    }
    const calls = message["tool_calls"];
    if (calls !== undefined) {
      edits.set(
        "tool_calls",
        changed(calls, (call, index) => this.#fitted(call, `${at}/tool_calls/${index}`, "call")),
      );
    }
    const marked = MARKS.some((field) => isJson(message[field]));
    if (marked && this.#form === "breakpoints" && !isAnswer) return this.#onLastPart(edits, at);
    return this.#fitted(edits.object, at, "message");
  }

  /** A message's own mark is that of its last part. */
  #onLastPart(edits: Edits, at: string): Json {
    const { content } = edits.object;
    const parts = typeof content === "string" ? [{ type: "text", text: content }] : objects(content);
    const last = parts.at(-1);
    if (last === undefined || last["text"] === "" || !BREAKABLE.has(last["type"])) {
      return this.#fitted(edits.object, at, "message");
    }
    const field = MARKS.find((name) => isJson(edits.object[name]))!;
    this.#asked += 1;
    this.#tellTtl(edits.object[field], `${at}/${field}`);
    for (const name of MARKS) edits.remove(name);
    edits.set("content", [...parts.slice(0, -1), { ...last, prompt_cache_breakpoint: BREAKPOINT }]);
    return edits.object;
  }

  /** @param breakable whether there may be a breakpoint where a target has such. */
  #fitted(item: Json, at: string, place: Place, breakable = false): Json {
    const { cache_control: control, prompt_cache_breakpoint: breakpoint } = item;
    if (control === undefined && breakpoint === undefined) return item;
    const edits = new Edits(item);
    for (const field of MARKS) if (item[field] === null) edits.remove(field);
    if (breakpoint !== undefined && breakpoint !== null) this.#breakpoint(edits, breakpoint, at, breakable);
    if (control !== undefined && control !== null) this.#control(edits, control, at, { place, breakable });
    return edits.object;
  }

  #breakpoint(edits: Edits, breakpoint: unknown, at: string, breakable: boolean): void {
    this.#asked += 1;
    if (this.#asCame || (this.#form === "breakpoints" && breakable)) return;
    edits.remove("prompt_cache_breakpoint");
    if (!this.#takesControl || !isJson(breakpoint)) return this.#lose(`${at}/prompt_cache_breakpoint`);
    this.#tellTtl(breakpoint, `${at}/prompt_cache_breakpoint`);
    if (!isJson(edits.object["cache_control"])) edits.set("cache_control", { type: "ephemeral" });
  }

  #control(
    edits: Edits,
    control: unknown,
    at: string,
    on: { readonly place: Place; readonly breakable: boolean },
  ): void {
    this.#asked += 1;
    const pointer = `${at}/cache_control`;
    if (this.#form === "marks_with_ttl" && this.#takes(on.place)) return;
    edits.remove("cache_control");
    if (!isJson(control)) return this.#lose(pointer);
    if (this.#takes(on.place)) {
      const { ttl: _ttl, ...kept } = control;
      edits.set("cache_control", control["ttl"] === undefined ? control : kept);
      return this.#tellTtl(control, pointer);
    }
    if (this.#form !== "breakpoints" || !on.breakable) return this.#lose(pointer);
    if (!isJson(edits.object["prompt_cache_breakpoint"])) edits.set("prompt_cache_breakpoint", BREAKPOINT);
    this.#tellTtl(control, pointer);
  }

  /** The calls of a tool are written anew of another format's. */
  #takes(place: Place): boolean {
    return this.#takesControl && !(this.#translated && place === "call");
  }

  #lose(pointer: string): void {
    this.#lost += 1;
    this.#report.drop(pointer);
  }

  #tellTtl(mark: unknown, pointer: string): void {
    if (isJson(mark) && mark["ttl"] !== undefined) this.#report.drop(`${pointer}/ttl`);
  }
}
