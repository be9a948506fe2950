import {
  AttemptError,
  type Call,
  type GatewayError,
  invalidRequest,
  isJson,
  type Json,
  type Target,
} from "../../kit/index.ts";
import { Work } from "../schemas/work.ts";
import { Edits } from "./json.ts";
import { clientPointer, hasSourceMap, IDLE, OF_THE_REQUEST } from "./parameters.ts";

const NONE: readonly string[] = [];

/** Gathers what of a call has no place in the dialect. Pointers given are those of the canonical body. */
export class Report {
  /** How much the schemas of the request may be, all together. */
  readonly schemaWork = new Work();
  readonly #call: Call;
  /** Made with the first of them. */
  #dropped: Set<string> | null = null;

  constructor(call: Call) {
    this.#call = call;
  }

  /** In the client's terms, each once. */
  get dropped(): readonly string[] {
    return this.#dropped === null ? NONE : [...this.#dropped];
  }

  /** How many were dropped; `dropped` is a copy of them all. */
  get count(): number {
    return this.#dropped?.size ?? 0;
  }

  drop(pointer: string): void {
    this.dropOwn(clientPointer(this.#call, pointer));
  }

  /** The same for a pointer into the client's own body. */
  dropOwn(pointer: string): void {
    this.#dropped ??= new Set();
    this.#dropped.add(pointer);
  }

  /**
   * Reports the extra fields beside the known ones of the object at `at`: fields that mean something, and those that the
   * client's own dialect has there (`native`). A `type` only names what the object is.
   */
  dropUnknown(object: Json, known: ReadonlySet<string>, at: string): void {
    this.#dropExtra(object, known, at);
    if (isJson(object["native"])) this.#dropExtra(object["native"], known, at);
  }

  #dropExtra(object: Json, known: ReadonlySet<string>, at: string): void {
    for (const name in object) {
      const isKnown = name === "type" || name === "native" || known.has(name);
      if (!isKnown && asks(name, object[name])) this.drop(`${at}/${escaped(name)}`);
    }
  }

  /** Reports the top-level fields that are not among the read ones, and those that only the client's dialect has. */
  dropUnread(read: ReadonlySet<string>): void {
    this.dropFields(read);
    this.dropNative();
  }

  /** Reports the top-level fields that are not among the read ones. */
  dropFields(read: ReadonlySet<string>): void {
    for (const pointer of dropped(this.#call.body, read)) this.drop(pointer);
  }

  /** Reports the fields that only the client's dialect has. */
  dropNative(): void {
    for (const pointer of droppedNative(this.#call)) this.dropOwn(pointer);
  }

  /** Reports what of a schema at `at` was dropped. */
  dropWithin({ dropped }: { readonly dropped: readonly string[] }, at: string): void {
    for (const pointer of dropped) this.drop(at + pointer);
  }

  /** The refusal of a body that cannot be written down. */
  refusal(pointer: string, what: string): GatewayError {
    return invalidRequest(clientPointer(this.#call, pointer), what);
  }

  /** The failure of a call of which nothing would be left: another step of the chain may express it. */
  unsupported(pointer: string): AttemptError {
    return new AttemptError("unsupported", `${clientPointer(this.#call, pointer)} cannot be expressed for this model`);
  }
}

/** Values that ask for nothing, of a request's fields and of one that parts of it have. */
const ASKS_NOTHING: ReadonlyMap<string, readonly string[]> = new Map([...IDLE, ["citations", ['{"enabled":false}']]]);

/** Pointers of the top-level fields of a canonical body that are set, mean something, and are not in `carried`. */
export function dropped(body: Json, carried: ReadonlySet<string>): string[] {
  return Object.entries(body)
    .filter(([name, value]) => !carried.has(name) && !OF_THE_REQUEST.has(name) && asks(name, value))
    .map(([name]) => `/${escaped(name)}`);
}

/** Whether a field says anything: what asks for nothing is not missed. */
export function asks(name: string, value: unknown): boolean {
  if (value === null || value === undefined) return false;
  if (ASKS_NOTHING.get(name)?.includes(JSON.stringify(value))) return false;
  if (Array.isArray(value)) return value.length > 0;
  return !isJson(value) || Object.keys(value).length > 0;
}

/** What is said of caching in a client's body: by marks, and at the top level. */
const OF_CACHING =
  /\/(?:cache_control|prompt_cache_breakpoint)(?:\/[^/]+)?$|^\/prompt_cache_(?:key|options|retention)(?:\/[^/]+)?$/;

/** Whether a pointer is of caching alone: without it the answer is the same, and may cost more. */
export function isOfCaching(pointer: string): boolean {
  return OF_CACHING.test(pointer);
}

/** True if a dropped field changes the request. Fields that a beta allows are dropped, and told, on their own. */
export function changesMeaning(pointer: string): boolean {
  return !isOfCaching(pointer) && !pointer.startsWith("anthropic-beta:");
}

/** Fields of which a part is canonical: what `native` has of them is a part too. */
const SHARED: ReadonlySet<string> = new Set(["metadata", "output_config", "text", "reasoning", "tool_choice"]);

/**
 * Pointers of the fields that only the client's own dialect has.
 * @throws GatewayError for a call that is another one without what only that dialect can say.
 */
function droppedNative(call: Call): string[] {
  const records = hasSourceMap(call) ? call.sourceMap.records : null;
  const [unreadable] = hasSourceMap(call) ? (call.sourceMap.own ?? []) : [];
  if (unreadable !== undefined) throw invalidRequest(unreadable.at, unreadable.what);
  const fields = Object.entries(call.native ?? {}).flatMap(([name, value]) => {
    // Each tool of them is a record.
    if (!asks(name, value) || (name === "tools" && records !== null)) return [];
    const at = `/${escaped(name)}`;
    return SHARED.has(name) && isJson(value) ? Object.keys(value).map((inner) => `${at}/${escaped(inner)}`) : [at];
  });
  return [...(records ?? []), ...fields];
}

/** A name as one step of a JSON pointer. */
export function escaped(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/**
 * The most output tokens that a canonical body asks for; undefined: it names no limit. One beyond what the model can write
 * asks for nothing more than that, and is reported.
 * @param most what the model can write, in tokens; null: not known.
 */
export function outputLimit(body: Json, max: number | null, report: Report): number | undefined {
  const name = typeof body["max_completion_tokens"] === "number" ? "max_completion_tokens" : "max_tokens";
  const asked = body[name];
  if (typeof asked !== "number") return undefined;
  if (max === null || asked <= max) return asked;
  report.drop(`/${name}`);
  return max;
}

/** The names under which any client's limit stands in a canonical body. */
const LIMITS = ["max_tokens", "max_completion_tokens"] as const;

/**
 * The call with its limit of output lowered to the `max_output` of the target's model, whatever the client called it and
 * whatever the upstream does. What is lowered is told. A budget for thinking is a part of the limit, so it is lowered too.
 */
export function withinMaxOutput(call: Call, { maxOutput }: Target): KeptBack {
  const { body, kind } = call;
  const lowered = LIMITS.filter((name) => typeof body[name] === "number" && body[name] > (maxOutput ?? Infinity));
  if (maxOutput === undefined || kind !== "chat" || lowered.length === 0) return { call, dropped: [] };
  const edits = new Edits(body);
  for (const name of lowered) edits.set(name, maxOutput);
  const told = lowered.map((name) => `/${name}`);
  const { thinking } = body;
  const budget = isJson(thinking) ? thinking["budget_tokens"] : undefined;
  if (isJson(thinking) && typeof budget === "number" && budget >= maxOutput) {
    edits.set("thinking", { ...thinking, budget_tokens: maxOutput - 1 });
    told.push("/thinking/budget_tokens");
  }
  const dropped = new Set(told.map((pointer) => clientPointer(call, pointer)));
  return { call: { ...call, body: edits.object }, dropped: [...dropped] };
}

/** A number of the body; undefined where it is not given. @throws GatewayError for any other value. */
export function numberAt(body: Json, name: string, report: Report): number | undefined {
  const value = body[name] ?? undefined;
  if (value !== undefined && typeof value !== "number") throw report.refusal(`/${name}`, "must be a number");
  return value;
}

/** Stop sequences that say something; undefined: there are none. @throws GatewayError for what is no text. */
export function stopsOf({ stop }: Json, report: Report): readonly string[] | undefined {
  const stops: readonly unknown[] = typeof stop === "string" ? [stop] : Array.isArray(stop) ? stop : [];
  if (!stops.every((one) => typeof one === "string")) throw report.refusal("/stop", "must be strings");
  const meant = stops.filter((one) => one !== "");
  return meant.length > 0 ? meant : undefined;
}

/** A call without what was taken out of it, and JSON pointers into the client's body of what is missed. */
export interface KeptBack {
  readonly call: Call;
  readonly dropped: readonly string[];
}

export function without(object: Json, names: readonly string[]): Json {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}
