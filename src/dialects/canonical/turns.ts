import { isJson, type Json } from "../../kit/index.ts";
import { append, objects } from "./json.ts";
import { NO_OUTPUT } from "./message.ts";
import { markOf } from "./marks.ts";

/*
 * In which order messages may stand, by target: who may follow whom, who may come first and last, where instructions may
 * stand. What came in another order is put into one that the target takes, with all that was said.
 */

/** The order of roles at one target. */
export interface RoleRules {
  /**
   * Where system messages may stand: `anywhere`; `front`, any number before the conversation; `first`, one before it;
   * `user`, nowhere, so that the user says what they say.
   */
  readonly systemRole: "anywhere" | "front" | "first" | "user";
  /** User and assistant take turns: what one of them says in a row is one message. */
  readonly alternate: boolean;
  /** The conversation begins with the user. */
  readonly userFirst: boolean;
  /** The user may speak right after the result of a tool. */
  readonly userAfterTool: boolean;
  /**
   * A conversation that ends with the assistant: `as_is` it is sent so; with `prefix` or `partial` that field of the message
   * asks to go on from there; `closed` the user has to speak last.
   */
  readonly prefill: "as_is" | "prefix" | "partial" | "closed";
  /** Calls of tools and their results have a form; else they are told in words. */
  readonly toolTurns: boolean;
  /** Messages may say nothing. */
  readonly emptyContent: boolean;
  /** A message may have both text and calls; else the text is a message before it. */
  readonly textBesideCalls: boolean;
  /** Results of tools may hold media; else those follow as the user's. */
  readonly toolMedia: boolean;
  /** `string`: a content without media is one text. */
  readonly textForm: "any" | "string";
}

/** A server that takes messages as OpenAI does. */
export const ANY_ORDER: RoleRules = {
  systemRole: "anywhere",
  alternate: false,
  userFirst: false,
  userAfterTool: true,
  prefill: "as_is",
  toolTurns: true,
  emptyContent: true,
  textBesideCalls: true,
  toolMedia: true,
  textForm: "any",
};

/** What the user says where a target demands that the user begins, and nobody of the client's did. */
export const OPENING = "(The assistant speaks first.)";
/** What the user says where the user has to speak last. */
export const GO_ON = "Continue.";
/** What the assistant says between a result and the user's next words. */
const BETWEEN = "OK.";
/** What a message of the user's says that says nothing. */
export const NOTHING_SAID = "(empty)";
/** The text of a tool's result that is nothing but media. */
const MEDIA_FOLLOW = "The result follows.";

interface Ordered {
  readonly messages: readonly Json[];
  /** The conversation ends with the assistant, and the target cannot go on from there. */
  readonly closed: boolean;
}

/** Messages in OpenAI's form, in an order that the target takes; the very same list where it takes theirs. */
export function orderedMessages(list: readonly Json[], rules: RoleRules): Ordered {
  const steps: readonly Step[] = [
    ...(rules.toolTurns ? [] : [toldTools]),
    ...(rules.toolMedia ? [] : [mediaAfterResults]),
    ...(rules.emptyContent ? [] : [withoutEmpty]),
    ...(rules.systemRole === "anywhere" ? [] : [(all: readonly Json[]) => withSystem(all, rules.systemRole)]),
    ...(rules.userFirst ? [userFirst] : []),
    ...(rules.alternate ? [joined] : []),
    ...(rules.userAfterTool ? [] : [apart]),
    ...(rules.textBesideCalls ? [] : [callsApart]),
    ...(rules.textForm === "any" ? [] : [asStrings]),
  ];
  const messages = steps.reduce((all, step) => step(all), list);
  return ended(messages, rules.prefill);
}

type Step = (messages: readonly Json[]) => readonly Json[];

function isInstruction({ role }: Json): boolean {
  return role === "system" || role === "developer";
}

/** Calls and results in words, for a server without tools: what was done and found is not lost. */
function toldTools(messages: readonly Json[]): readonly Json[] {
  const names = new Map<unknown, string>();
  if (!messages.some((one) => one["role"] === "tool" || one["role"] === "function" || hasCalls(one))) return messages;
  return messages.map((message) => {
    const { role, tool_calls: calls, tool_call_id: id, function_call: _legacy, ...rest } = message;
    if (role === "tool" || role === "function") {
      const name = names.get(id) ?? message["name"];
      const { name: _name, ...fields } = rest;
      const of = typeof name === "string" ? ` of ${name}` : "";
      return { ...fields, role: "user", content: prefixed(`[result${of}]\n`, message["content"]) };
    }
    if (!hasCalls(message)) return message;
    const told = objects(calls).map(({ id: own, function: called }) => {
      const { name, arguments: args } = isJson(called) ? called : {};
      if (typeof name === "string") names.set(own, name);
      return `[called ${String(name)} with ${typeof args === "string" ? args : JSON.stringify(args ?? {})}]`;
    });
    return { ...rest, role, content: joinedContent([message["content"], told.join("\n")]) };
  });
}

function hasCalls({ tool_calls: calls }: Json): boolean {
  return Array.isArray(calls) && calls.length > 0;
}

function prefixed(text: string, content: unknown): unknown {
  if (!Array.isArray(content)) return text + (typeof content === "string" ? content : "");
  return [{ type: "text", text }, ...(content as readonly unknown[])];
}

/** Results with text alone; their media follow the last of them, as the user's. */
function mediaAfterResults(messages: readonly Json[]): readonly Json[] {
  if (!messages.some((one) => one["role"] === "tool" && mediaOf(one).length > 0)) return messages;
  const moved: Json[] = [];
  let media: Json[] = [];
  const follow = (): void => {
    if (media.length > 0) moved.push({ role: "user", content: media });
    media = [];
  };
  for (const message of messages) {
    if (message["role"] !== "tool") follow();
    const own = message["role"] === "tool" ? mediaOf(message) : [];
    append(media, own);
    if (own.length === 0) moved.push(message);
    else moved.push({ ...message, content: textOf(message["content"], "\n") || MEDIA_FOLLOW });
  }
  follow();
  return moved;
}

function mediaOf({ content }: Json): readonly Json[] {
  return objects(content).filter(({ type }) => type !== "text");
}

function textOf(content: unknown, between: string): string {
  if (typeof content === "string") return content;
  return objects(content)
    .flatMap(({ text }) => (typeof text === "string" ? [text] : []))
    .join(between);
}

function isEmpty({ content }: Json): boolean {
  if (typeof content === "string") return content.trim() === "";
  if (!Array.isArray(content)) return true;
  return objects(content).every(({ type, text }) => type === "text" && typeof text === "string" && text.trim() === "");
}

/** Without turns that say nothing; the user's says so, for the answer after it is one to it. */
function withoutEmpty(messages: readonly Json[]): readonly Json[] {
  if (!messages.some((one) => isEmpty(one) && !hasCalls(one))) return messages;
  const said = messages.flatMap((message) => {
    const { role } = message;
    if (!isEmpty(message) || hasCalls(message)) return [message];
    const { refusal, ...rest } = message;
    if (typeof refusal === "string" && refusal !== "") return [{ ...rest, content: refusal }];
    if (role === "user") return [{ ...message, content: NOTHING_SAID }];
    return role === "tool" || role === "function" ? [{ ...message, content: NO_OUTPUT }] : [];
  });
  return said.length > 0 ? said : [{ role: "user", content: NOTHING_SAID }];
}

/** Instructions where they may stand. The last words of a conversation stay its last: the user says them. */
function withSystem(messages: readonly Json[], place: RoleRules["systemRole"]): readonly Json[] {
  const begin = messages.findIndex((one) => !isInstruction(one));
  const late = begin >= 0 && messages.some((one, index) => index > begin && isInstruction(one));
  if (place === "user") return messages.map((one) => (isInstruction(one) ? { ...one, role: "user" } : one));
  const end = messages.findLastIndex((one) => !isInstruction(one)) + 1;
  const front = late ? messages.filter((one, index) => isInstruction(one) && index < end) : [];
  const placed = late
    ? [
        ...front,
        ...messages.slice(0, end).filter((one) => !isInstruction(one)),
        ...messages.slice(end).map((one) => ({ ...one, role: "user" })),
      ]
    : messages;
  if (place === "front") return placed;
  const others = placed.findIndex((one) => !isInstruction(one));
  const count = others < 0 ? placed.length : others;
  if (count < 2) return placed;
  // The last of nothing but instructions may have to be the user's.
  const kept = others < 0 ? count - 1 : count;
  return kept < 2 ? placed : [joinedMessage(placed.slice(0, kept)), ...placed.slice(kept)];
}

function userFirst(messages: readonly Json[]): readonly Json[] {
  const begin = messages.findIndex((one) => !isInstruction(one));
  if (begin >= 0 && messages[begin]!["role"] === "user") return messages;
  // A request with instructions alone asks what they say.
  if (begin < 0) return messages.map((one, index) => (index === messages.length - 1 ? { ...one, role: "user" } : one));
  return [...messages.slice(0, begin), { role: "user", content: OPENING }, ...messages.slice(begin)];
}

/** What one says in a row as one message. */
function joined(messages: readonly Json[]): readonly Json[] {
  const runs: Json[][] = [];
  for (const message of messages) {
    const { role } = message;
    const run = role === "user" || role === "assistant" ? runs.at(-1) : undefined;
    if (run?.[0]?.["role"] === role) run?.push(message);
    else runs.push([message]);
  }
  return runs.length === messages.length ? messages : runs.map(joinedMessage);
}

function joinedMessage(run: readonly Json[]): Json {
  const [first, ...more] = run;
  if (first === undefined || more.length === 0) return first ?? {};
  const calls = run.flatMap(({ tool_calls: own }) => objects(own));
  const fields: Json = Object.assign({}, ...run);
  const thoughts = ["reasoning_content", "reasoning"].flatMap((name) => {
    const texts = run.flatMap(({ [name]: text }) => (typeof text === "string" && text !== "" ? [text] : []));
    return texts.length > 1 ? [[name, texts.join("\n\n")] as const] : [];
  });
  const details = run.flatMap(({ reasoning_details: own }) => (Array.isArray(own) ? (own as readonly unknown[]) : []));
  return {
    ...fields,
    ...Object.fromEntries(thoughts),
    ...(details.length > 0 && { reasoning_details: details }),
    role: first["role"],
    content: joinedContent(run.map(({ content }) => content)),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function joinedContent(contents: readonly unknown[]): unknown {
  const said = contents.filter((one) => (typeof one === "string" ? one !== "" : Array.isArray(one) && one.length > 0));
  if (said.length === 0) return contents[0] ?? null;
  if (said.every((one) => typeof one === "string")) return said.join("\n\n");
  return said.flatMap((one): readonly unknown[] =>
    typeof one === "string" ? [{ type: "text", text: one }] : (one as readonly unknown[]),
  );
}

/** With the assistant between the result of a tool and the user. */
function apart(messages: readonly Json[]): readonly Json[] {
  const isBreak = (message: Json, index: number): boolean =>
    message["role"] === "user" && messages[index - 1]?.["role"] === "tool";
  if (!messages.some(isBreak)) return messages;
  return messages.flatMap((message, index) =>
    isBreak(message, index) ? [{ role: "assistant", content: BETWEEN }, message] : [message],
  );
}

function isBoth(message: Json): boolean {
  return hasCalls(message) && !isEmpty(message);
}

/** Calls in a message without words. */
function callsApart(messages: readonly Json[]): readonly Json[] {
  if (!messages.some(isBoth)) return messages;
  return messages.flatMap((message) => {
    if (!isBoth(message)) return [message];
    const { tool_calls: calls, ...said } = message;
    return [said, { role: message["role"], content: null, tool_calls: calls }];
  });
}

/** Texts that end a prefix to cache stay parts: what is left of marks is taken there. */
function isTexts({ content }: Json): boolean {
  return (
    Array.isArray(content) &&
    content.every((part: unknown) => isJson(part) && part["type"] === "text" && markOf(part) === null)
  );
}

function asStrings(messages: readonly Json[]): readonly Json[] {
  if (!messages.some(isTexts)) return messages;
  return messages.map((message) =>
    isTexts(message) ? { ...message, content: textOf(message["content"], "\n\n") } : message,
  );
}

function ended(messages: readonly Json[], prefill: RoleRules["prefill"]): Ordered {
  const last = messages.at(-1);
  const open = last?.["role"] === "assistant" && !hasCalls(last);
  if (last === undefined || !open || prefill === "as_is") return { messages, closed: false };
  if (prefill === "closed") return { messages: [...messages, { role: "user", content: GO_ON }], closed: true };
  if (last[prefill] === true) return { messages, closed: false };
  return { messages: [...messages.slice(0, -1), { ...last, [prefill]: true }], closed: false };
}
