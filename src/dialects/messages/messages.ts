import { isJson, type Json } from "../../kit/index.ts";
import type { Report } from "../canonical/report.ts";
import { stripSignature } from "../canonical/tools.ts";
import { assistantBlocks, cacheControl, contentBlocks, marked, type Translation } from "./blocks.ts";
import { nativeFields } from "./native.ts";

export interface Conversation {
  /** Left out: none. */
  readonly system?: string | readonly Json[];
  readonly messages: readonly Json[];
}

/** How the messages of a request are read. */
type Reading = Pick<Translation, "sameFormat" | "inlineMedia">;

/** What one message comes to. */
interface MessageBlocks {
  readonly results: readonly Json[];
  readonly blocks: readonly Json[];
  /** Fields beside role and content. */
  readonly fields: Json;
  /** Its content where that is one plain text. */
  readonly plain: string | null;
}

/** What one role says until the other speaks. Results must come before anything else. */
interface Turn extends MessageBlocks {
  readonly role: "user" | "assistant" | "system";
}

interface OpenTurn extends Turn {
  readonly results: Json[];
  readonly blocks: Json[];
  readonly fields: Record<string, unknown>;
  plain: Turn["plain"];
}

/** What a message may carry beside its role; anything else is reported. `annotations` come back from answers. */
const CARRIED: Readonly<Record<string, ReadonlySet<string>>> = {
  user: fields("content cache_control"),
  assistant: fields(
    "content cache_control annotations refusal tool_calls reasoning_content reasoning_details reasoning",
  ),
  tool: fields("content cache_control tool_call_id is_error"),
};

function fields(names: string): ReadonlySet<string> {
  return new Set(names.split(" "));
}

/**
 * The canonical messages as a system prompt and turns that alternate. What system messages say goes to the front, where
 * it has the weight they ask for; only a Messages client's later ones stay where they are.
 * @throws GatewayError for messages that are none.
 */
export function conversation(messages: unknown, report: Report, reading: Reading): Conversation {
  if (!Array.isArray(messages)) throw report.refusal("/messages", "must be a list");
  const { sameFormat } = reading;
  const translation: Translation = { report, ...reading, toolId: toolIds() };
  let system: OpenTurn | null = null;
  const turns: OpenTurn[] = [];
  messages.forEach((message: unknown, index) => {
    const at = `/messages/${index}`;
    if (!isJson(message)) throw report.refusal(at, "must be an object");
    const role = roleOf(message);
    if (role === null) return report.drop(at);
    const before = report.count;
    const own = read(message, at, translation);
    const isEmpty = own.results.length + own.blocks.length === 0;
    // A question that is only an address would be an answer to nothing.
    const isEmptied = isEmpty && reading.inlineMedia && role === "user" && report.count > before;
    if (isEmptied) throw report.unsupported(`${at}/content`);
    // The API refuses a turn that says nothing.
    if (!sameFormat && isEmpty) return;
    const last = turns.at(-1);
    const turn = { role, ...own };
    if (role === "system" && (!sameFormat || index === 0)) {
      if (system === null) system = begun(turn);
      else join(system, turn);
    } else if (last?.role === role && role !== "system") join(last, turn);
    else turns.push(begun(turn));
  });
  return sameFormat
    ? conversationOf(system, turns.map(written))
    : acceptable(system, withoutTrailingBlank(turns).map(written));
}

function roleOf({ role }: Json): Turn["role"] | null {
  if (role === "system" || role === "developer") return "system";
  if (role === "user" || role === "tool") return "user";
  return role === "assistant" ? role : null;
}

/** A turn that others may be joined to: its lists are its own. */
function begun(turn: Turn): OpenTurn {
  return { ...turn, results: [...turn.results], blocks: [...turn.blocks], fields: { ...turn.fields } };
}

/** In place: to copy the turn for each of thousands of messages would block the process for seconds. */
function join(turn: OpenTurn, { results, blocks, fields }: Turn): void {
  for (const result of results) turn.results.push(result);
  for (const block of blocks) turn.blocks.push(block);
  Object.assign(turn.fields, fields);
  turn.plain = null;
}

function read(message: Json, at: string, translation: Translation): MessageBlocks {
  const { role, content } = message;
  const { sameFormat } = translation;
  reportUncarried(message, at, translation);
  const fields = nativeFields(message, sameFormat);
  if (role === "tool") {
    return { results: [{ ...fields, ...toolResult(message, at, translation) }], blocks: [], fields: {}, plain: null };
  }
  const written =
    role === "assistant"
      ? assistantBlocks(message, at, translation)
      : contentBlocks(content, `${at}/content`, { ...translation, textOnly: !sameFormat && role !== "user" });
  const blocks = marked(written, message);
  const [only] = blocks;
  const bare = blocks.length === 1 && only?.["type"] === "text" && Object.keys(only).length === 2;
  return { results: [], blocks, fields, plain: bare && typeof content === "string" ? content : null };
}

/** Reports the fields of a message that are not carried. */
function reportUncarried(message: Json, at: string, { report, sameFormat }: Translation): void {
  const carried = CARRIED[String(message["role"])] ?? CARRIED["user"];
  for (const [name, value] of Object.entries(message)) {
    const own = name === "role" || name === "block_order" || (sameFormat && name === "native");
    const isSet = value !== null && value !== undefined && value !== "";
    if (isSet && !own && carried?.has(name) !== true) report.drop(`${at}/${name}`);
  }
}

function toolResult(message: Json, at: string, translation: Translation): Json {
  const { tool_call_id, content, is_error } = message;
  if (typeof tool_call_id !== "string") throw translation.report.refusal(`${at}/tool_call_id`, "must be a string");
  const result =
    typeof content === "string" || content === null || content === undefined
      ? content
      : contentBlocks(content, `${at}/content`, translation);
  return {
    type: "tool_result",
    tool_use_id: translation.toolId(tool_call_id),
    ...(result === null || result === undefined ? {} : { content: result }),
    ...(typeof is_error === "boolean" ? { is_error } : {}),
    ...cacheControl(message),
  };
}

function contentOf({ plain, results, blocks }: Turn): string | readonly Json[] {
  return plain ?? [...results, ...blocks];
}

function written(turn: Turn): Json {
  return { ...turn.fields, role: turn.role, content: contentOf(turn) };
}

function conversationOf(system: Turn | null, messages: readonly Json[]): Conversation {
  return system === null ? { messages } : { system: contentOf(system), messages };
}

/** The API refuses to go on from white space ("final assistant content cannot end with trailing whitespace"). */
function withoutTrailingBlank(turns: readonly Turn[]): readonly Turn[] {
  const last = turns.at(-1);
  const block = last?.blocks.at(-1);
  if (last?.role !== "assistant" || typeof block?.["text"] !== "string") return turns;
  const text = block["text"].trimEnd();
  const blocks = [...last.blocks.slice(0, -1), { ...block, text }];
  return [...turns.slice(0, -1), { ...last, blocks, plain: last.plain === null ? null : text }];
}

/** What the API does not refuse: there is a turn, and the first is the user's. */
function acceptable(system: Turn | null, messages: readonly Json[]): Conversation {
  if (messages.length === 0 && system) return { messages: [{ role: "user", content: contentOf(system) }] };
  const opening = messages[0]?.["role"] === "assistant" ? [{ role: "user", content: "." }] : [];
  return conversationOf(system, [...opening, ...messages]);
}

const VALID = /^[\w-]+$/;

/**
 * Tool-call ids as the API takes them, `[A-Za-z0-9_-]+`, without the signatures that the gateway put into them; others are
 * rewritten, different ones differently.
 */
function toolIds(): (id: string) => string {
  const written = new Map<string, string>();
  const taken = new Set<string>();
  /** By what an id becomes, the number that the next of them may have: from the first on they would all be tried again. */
  const numbers = new Map<string, number>();
  return (carried) => {
    const id = stripSignature(carried);
    const known = written.get(id);
    if (known !== undefined) return known;
    const base = VALID.test(id) ? id : id.replaceAll(/[^\w-]/g, "_") || "call";
    let number = numbers.get(base) ?? 2;
    let made = base;
    for (; taken.has(made); number++) made = `${base}_${number}`;
    numbers.set(base, number);
    written.set(id, made);
    taken.add(made);
    return made;
  };
}
