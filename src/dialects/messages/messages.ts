import { isJson, type Json } from "../../kit/index.ts";
import { objects } from "../canonical/json.ts";
import type { Report } from "../canonical/report.ts";
import { asksAboutMedia, standInFor } from "../canonical/left-out.ts";
import { pairedMessages } from "../canonical/tool-pairs.ts";
import { stripSignature } from "../canonical/tools.ts";
import { assistantBlocks, contentBlocks, marked, type Translation } from "./blocks.ts";
import { cacheControl } from "./cache.ts";
import { nativeFields } from "./native.ts";
import type { ModelRules } from "./models.ts";
import { type Conversation, isSilent, type MessageBlocks, orderedTurns, type Turn } from "./order.ts";

/** How the messages of a request are read. */
type Reading = Pick<Translation, "sameFormat" | "inlineMedia" | "origins"> & { readonly rules: ModelRules };

/** What a message may carry beside its role; anything else is reported. `annotations` come back from answers. */
const CARRIED: Readonly<Record<string, ReadonlySet<string>>> = {
  user: fields("content cache_control prompt_cache_breakpoint"),
  assistant: fields(
    "content cache_control prompt_cache_breakpoint annotations refusal tool_calls reasoning_content reasoning_details reasoning",
  ),
  tool: fields("content cache_control prompt_cache_breakpoint tool_call_id is_error"),
};

function fields(names: string): ReadonlySet<string> {
  return new Set(names.split(" "));
}

/**
 * The canonical messages as a system prompt and turns in an order that the API takes. What system messages say goes to the
 * front, where it has the weight they ask for; only a Messages client's later ones stay where they are.
 * @throws GatewayError for messages that are none, AttemptError for a question of which nothing would be left.
 */
export function conversation(messages: unknown, report: Report, reading: Reading): Conversation {
  if (!Array.isArray(messages)) throw report.refusal("/messages", "must be a list");
  const { sameFormat, rules, origins } = reading;
  const translation: Translation = { report, ...reading, toolId: toolIds() };
  const system: Turn[] = [];
  const turns: Turn[] = [];
  const placed = pairedMessages(messages);
  for (const { message, at } of placed) {
    if (!isJson(message)) throw report.refusal(at, "must be an object");
    const role = roleOf(message);
    if (role === null) {
      report.drop(at);
      continue;
    }
    const before = report.count;
    const own = read(message, at, translation);
    const turn = { role, at, ...own };
    const blocks = role === "user" && isSilent(own) && report.count > before ? standIns(message) : [];
    if (blocks.length > 0) {
      // A question without the image it is about is another question.
      if (message === placed.at(-1)?.message && asksAboutMedia(message)) throw report.unsupported(`${at}/content`);
      turns.push({ ...turn, blocks });
    } else if (role === "system" && (!sameFormat || turns.length === 0)) system.push(turn);
    else turns.push(turn);
  }
  return orderedTurns(system, turns, { rules, origins, report });
}

function roleOf({ role }: Json): Turn["role"] | null {
  if (role === "system" || role === "developer") return "system";
  if (role === "user" || role === "tool") return "user";
  return role === "assistant" ? role : null;
}

/** Texts for the parts that stay behind, of a message of which nothing else is left. */
function standIns({ content }: Json): readonly Json[] {
  return objects(content)
    .filter(({ type }) => type !== "text")
    .map((part) => ({ type: "text", text: standInFor(part).text }));
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
  const blocks = marked(written, message, at, translation.origins);
  const [only] = blocks;
  const bare = blocks.length === 1 && only !== undefined && only["text"] === content && Object.keys(only).length === 2;
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
  const blocks = Array.isArray(content)
    ? contentBlocks(content, `${at}/content`, { ...translation, isResult: true })
    : null;
  // "all content must be type `text` if `is_error` is true": media say more than the flag, and the text says it too.
  const saysFailed = is_error === true && blocks?.some(({ type }) => type !== "text") === true;
  const result = saysFailed ? [{ type: "text", text: FAILED }, ...blocks] : (blocks ?? content);
  return {
    type: "tool_result",
    tool_use_id: translation.toolId(tool_call_id),
    ...(result === null || result === undefined ? {} : { content: result }),
    ...(typeof is_error === "boolean" && !saysFailed ? { is_error } : {}),
    ...cacheControl(message, at, translation.origins),
  };
}

/** Begins a tool's result that cannot be marked as an error. */
const FAILED = "[The tool failed.]";

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
