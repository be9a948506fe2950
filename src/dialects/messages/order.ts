import type { Json } from "../../kit/index.ts";
import type { Report } from "../canonical/report.ts";
import { dropOrigin, type Origins } from "./cache.ts";
import type { ModelRules } from "./models.ts";

/*
 * Who may follow whom: the user begins, user and assistant alternate, every turn says something, an assistant's turn ends
 * neither in a thought nor in white space, and only some models go on from the assistant's own words
 * (https://platform.claude.com/docs/en/build-with-claude/working-with-messages,
 * https://platform.claude.com/docs/en/api/errors#prefill-not-supported).
 */

export interface Conversation {
  /** Left out: none. */
  readonly system?: string | readonly Json[];
  readonly messages: readonly Json[];
}

/** What one message comes to. */
export interface MessageBlocks {
  readonly results: readonly Json[];
  readonly blocks: readonly Json[];
  /** Fields beside role and content. */
  readonly fields: Json;
  /** Its content where that is one plain text. */
  readonly plain: string | null;
}

/** What one role says until the other speaks. Results must come before anything else. */
export interface Turn extends MessageBlocks {
  readonly role: "user" | "assistant" | "system";
  /** Pointer to its last message. */
  readonly at: string;
}

interface OpenTurn extends Turn {
  readonly results: Json[];
  readonly blocks: Json[];
  readonly fields: Record<string, unknown>;
  at: string;
  plain: Turn["plain"];
}

/** What a user says who has nothing to say: the API demands a turn of theirs. */
const NOTHING_SAID = ".";
/** What a user says behind an assistant's words from which the model does not go on by itself. */
const GO_ON = "Continue.";

/** What orders turns. */
export interface Ordering {
  readonly rules: ModelRules;
  readonly origins: Origins;
  readonly report: Report;
}

/** Whether a turn says nothing, which the API refuses. */
export function isSilent({ results, blocks }: MessageBlocks): boolean {
  return results.length + blocks.length === 0;
}

/** @param system what system messages say, in their order. */
export function orderedTurns(system: readonly Turn[], turns: readonly Turn[], ordering: Ordering): Conversation {
  const [prompt = null] = joined(system.filter((turn) => !isSilent(turn)));
  const spoken = joined(withSystemPlaced(turns, ordering)).map((turn) => withoutLastThoughts(turn, ordering));
  const messages = joined(spoken.filter((turn) => !isSilent(turn) || isDirective(turn)));
  if (messages.length === 0 && prompt !== null) return { messages: [{ role: "user", content: contentOf(prompt) }] };
  const opening = messages[0]?.role === "user" ? [] : [{ role: "user", content: NOTHING_SAID }];
  const written = [...opening, ...ended(messages, ordering)];
  return prompt === null ? { messages: written } : { system: contentOf(prompt), messages: written };
}

/** Without two turns of one role in a row. In place: copying a turn for each of thousands of messages would take seconds. */
function joined(turns: readonly Turn[]): readonly Turn[] {
  const all: OpenTurn[] = [];
  for (const turn of turns) {
    const last = all.at(-1);
    if (last?.role !== turn.role || hasFields(turn) || hasFields(last)) all.push(begun(turn));
    else join(last, turn);
  }
  return all;
}

/** Fields of a Messages client's own system message say how long that one holds. */
function hasFields({ role, fields }: Turn): boolean {
  return role === "system" && Object.keys(fields).length > 0;
}

/** A turn that others may be joined to: its lists are its own. */
function begun(turn: Turn): OpenTurn {
  return { ...turn, results: [...turn.results], blocks: [...turn.blocks], fields: { ...turn.fields } };
}

function join(turn: OpenTurn, { results, blocks, fields, at }: Turn): void {
  for (const result of results) turn.results.push(result);
  for (const block of blocks) turn.blocks.push(block);
  Object.assign(turn.fields, fields);
  turn.plain = null;
  turn.at = at;
}

/** A system message without words says how the model is to answer from there on. */
function isDirective(turn: Turn): boolean {
  return hasFields(turn) && isSilent(turn);
}

/**
 * System messages amid the turns where the model takes them: behind a user's turn, before none or an assistant's. Others
 * become what the user says, in their place: the beginning that is cached stays the same.
 */
function withSystemPlaced(turns: readonly Turn[], { rules, report }: Ordering): readonly Turn[] {
  const placed: Turn[] = [];
  // Roles that speak next, from the end on.
  const following = turns.map((): Turn["role"] | null => null);
  for (let index = turns.length - 2; index >= 0; index--) {
    const next = turns[index + 1]!;
    following[index] = next.role === "system" || isSilent(next) ? following[index + 1]! : next.role;
  }
  for (const [index, turn] of turns.entries()) {
    if (turn.role !== "system") {
      if (!isSilent(turn)) placed.push(turn);
    } else if (isDirective(turn)) {
      if (rules.systemMessages) placed.push(turn);
      else report.drop(turn.at);
    } else if (!isSilent(turn)) {
      const last = placed.at(-1);
      const follows = last?.role === "user" || last?.role === "system" || (last !== undefined && endsAtProvider(last));
      const isTaken = rules.systemMessages && follows && following[index] !== "user";
      placed.push(isTaken ? turn : { ...turn, role: "user", fields: {} });
    }
  }
  return placed;
}

/** What the client writes; other blocks are of tools that run at the provider. */
const OWN_BLOCKS: ReadonlySet<unknown> = new Set(["text", "tool_use", "thinking", "redacted_thinking", "image"]);

/** Whether an assistant's turn ends in what a tool of the provider's did, from where every model goes on. */
function endsAtProvider({ role, blocks }: Turn): boolean {
  const last = blocks.at(-1);
  return role === "assistant" && last !== undefined && !OWN_BLOCKS.has(last["type"]);
}

/** "The final block in an assistant message cannot be `thinking`": without what was to follow it, it is of no use. */
function withoutLastThoughts(turn: Turn, { origins, report }: Ordering): Turn {
  if (turn.role !== "assistant") return turn;
  const end = turn.blocks.findLastIndex(({ type }) => type !== "thinking" && type !== "redacted_thinking") + 1;
  if (end === turn.blocks.length) return turn;
  for (const block of turn.blocks.slice(end)) dropOrigin(origins.get(block), report);
  return { ...turn, blocks: turn.blocks.slice(0, end) };
}

/** The messages as they are sent, with an end that the model can answer. */
function ended(turns: readonly Turn[], { rules, report }: Ordering): readonly Json[] {
  const last = turns.at(-1);
  if (last === undefined) return [];
  if (last.role !== "assistant" || endsAtProvider(last)) return turns.map(written);
  if (rules.prefill) return [...turns.slice(0, -1), withoutTrailingBlank(last)].map(written);
  report.drop(last.at);
  return [...turns.map(written), { role: "user", content: GO_ON }];
}

/** The API refuses to go on from white space ("final assistant content cannot end with trailing whitespace"). */
function withoutTrailingBlank(turn: Turn): Turn {
  const block = turn.blocks.at(-1);
  if (typeof block?.["text"] !== "string") return turn;
  const text = block["text"].trimEnd();
  return {
    ...turn,
    blocks: [...turn.blocks.slice(0, -1), { ...block, text }],
    plain: turn.plain === null ? null : text,
  };
}

function contentOf({ plain, results, blocks }: Turn): string | readonly Json[] {
  return plain ?? [...results, ...blocks];
}

function written(turn: Turn): Json {
  return { ...turn.fields, role: turn.role, content: contentOf(turn) };
}
