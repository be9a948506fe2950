import { isJson, type Json } from "../../kit/index.ts";
import { changed, isText, objects } from "./json.ts";

/*
 * Calls of tools and their results, for providers that want every call answered in the turn that follows it, and nothing
 * else answered there: Claude ("`tool_use` ids were found without `tool_result` blocks immediately after", "unexpected
 * `tool_use_id` found in `tool_result` blocks", "`tool_use` ids must be unique") and Bedrock's Converse. OpenAI's API lets
 * ids return in later turns; histories lose a call or a result when a client shortens them or is interrupted.
 */

/** A canonical message, and the pointer to the client's message that it stands for. */
export interface PlacedMessage {
  readonly message: unknown;
  readonly at: string;
}

/** The result of a call that has none. */
export const NO_RESULT = "[This tool call has no result: it was interrupted.]";
/** Follows what a result says whose call is not there. */
export const NO_CALL = "[This is the result of a tool call that is not part of the conversation any longer.]";

interface PairedCall {
  readonly sentId: string;
  /** Index of the run that it stands in. */
  readonly run: number;
  readonly at: string;
  answered: boolean;
}

/** Messages of one side until the other speaks. What system messages say belongs to no side. */
interface Run {
  readonly isAssistant: boolean;
  readonly messages: PlacedMessage[];
  /** Results of the calls in the run before. */
  readonly results: PlacedMessage[];
}

/**
 * The messages with every call answered right behind its turn, once, and every answer to a call. A result that comes late
 * moves there; a call without one gets `NO_RESULT`; a result without its call becomes what the user says; a call whose id
 * was used before gets another.
 * @param kinds what a call may be of: tools that take free text (`custom`) are known to OpenAI alone.
 */
export function pairedMessages(
  messages: readonly unknown[],
  kinds: readonly ("function" | "custom")[] = ["function"],
): readonly PlacedMessage[] {
  const placed = messages.map((message, index) => ({ message, at: `/messages/${index}` }));
  if (!messages.some(hasPart)) return placed;
  const pairing = new Pairing(kinds);
  for (const { message, at } of placed) pairing.add(asToolMessage(message), at);
  return pairing.end();
}

/** Whether a message is part of a pair. */
function hasPart(message: unknown): boolean {
  if (!isJson(message)) return false;
  const { role, tool_calls: calls, function_call: call } = message;
  return role === "tool" || role === "function" || objects(calls).length > 0 || isJson(call);
}

/** Calls and results as they were before there were tools: a function is called by its name (SDK openai, deprecated). */
function asToolMessage(message: unknown): unknown {
  if (!isJson(message)) return message;
  const { role, name, tool_calls: calls, function_call: call, ...rest } = message;
  if (role === "function" && isText(name)) return { ...rest, role: "tool", tool_call_id: legacyId(name) };
  if (role !== "assistant" || !isJson(call) || !isText(call["name"]) || objects(calls).length > 0) return message;
  return { ...rest, role, tool_calls: [{ id: legacyId(call["name"]), type: "function", function: call }] };
}

function legacyId(name: string): string {
  return `call_${name}`;
}

class Pairing {
  readonly #kinds: readonly ("function" | "custom")[];
  readonly #runs: Run[] = [];
  readonly #calls: PairedCall[] = [];
  /** Calls without a result, by the client's id. */
  readonly #open = new Map<string, PairedCall[]>();
  readonly #taken = new Set<string>();
  /** By id, the number that the next call of that id may have: from the first on they would all be tried again. */
  readonly #numbers = new Map<string, number>();

  constructor(kinds: readonly ("function" | "custom")[]) {
    this.#kinds = kinds;
  }

  add(message: unknown, at: string): void {
    const role = isJson(message) ? message["role"] : undefined;
    if (!isJson(message) || role === "system" || role === "developer") {
      const run = this.#runs.at(-1) ?? this.#run(false);
      run.messages.push({ message, at });
    } else if (role === "assistant") {
      const { messages } = this.#run(true);
      messages.push({ message: this.#withCalls(message, at), at });
    } else if (role === "tool" && isText(message["tool_call_id"]))
      this.#addResult(message, message["tool_call_id"], at);
    else this.#run(false).messages.push({ message, at });
  }

  end(): readonly PlacedMessage[] {
    for (const call of this.#calls) {
      if (call.answered) continue;
      const message = { role: "tool", tool_call_id: call.sentId, content: NO_RESULT };
      this.#behind(call).results.push({ message, at: call.at });
    }
    return this.#runs.flatMap(({ results, messages }) => [...results, ...messages]);
  }

  /** The run of a side: the one under way where it is that side's. */
  #run(isAssistant: boolean): Run {
    const last = this.#runs.at(-1);
    if (last?.isAssistant === isAssistant) return last;
    const run = { isAssistant, messages: [], results: [] };
    this.#runs.push(run);
    return run;
  }

  #behind({ run }: PairedCall): Run {
    return this.#runs[run + 1] ?? this.#run(false);
  }

  #withCalls(message: Json, at: string): Json {
    const { tool_calls: calls } = message;
    if (calls === undefined || calls === null) return message;
    const run = this.#runs.length - 1;
    const sent = changed(calls, (call, index) => {
      const { id } = call;
      if (!isText(id) || !this.#kinds.some((kind) => isJson(call[kind]))) return call;
      const sentId = this.#freeId(id);
      const made = { sentId, run, at: `${at}/tool_calls/${index}`, answered: false };
      this.#calls.push(made);
      const open = this.#open.get(id);
      if (open === undefined) this.#open.set(id, [made]);
      else open.push(made);
      return sentId === id ? call : { ...call, id: sentId };
    });
    return sent === calls ? message : { ...message, tool_calls: sent };
  }

  #freeId(id: string): string {
    let free = id;
    let number = this.#numbers.get(id) ?? 2;
    for (; this.#taken.has(free); number++) free = `${id}_${number}`;
    this.#numbers.set(id, number);
    this.#taken.add(free);
    return free;
  }

  #addResult(message: Json, id: string, at: string): void {
    const call = taken(this.#open.get(id) ?? []);
    if (call === undefined) {
      this.#run(false).messages.push({ message: asSaid(message), at });
      return;
    }
    call.answered = true;
    const answer = call.sentId === id ? message : { ...message, tool_call_id: call.sentId };
    this.#behind(call).results.push({ message: answer, at });
  }
}

/** Takes out the first of the calls that stand in the latest run. */
function taken(open: PairedCall[]): PairedCall | undefined {
  let at = open.length - 1;
  while (at > 0 && open[at - 1]!.run === open[at]!.run) at--;
  return at < 0 ? undefined : open.splice(at, 1)[0];
}

/** A result as the user's own words. */
function asSaid({ content, cache_control }: Json): Json {
  const mark = isJson(cache_control) ? { cache_control } : {};
  if (!Array.isArray(content)) {
    const text = isText(content) ? `${content}\n\n` : "";
    return { role: "user", content: `${text}${NO_CALL}`, ...mark };
  }
  return { role: "user", content: [...(content as readonly unknown[]), { type: "text", text: NO_CALL }], ...mark };
}
