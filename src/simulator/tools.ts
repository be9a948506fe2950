import type { Tool } from "./answer.ts";

/** What a request says of its tools, in no dialect's own terms. */
export interface ToolUse {
  readonly tools: readonly Tool[];
  /** `{ only }`: one of these, whatever the user says. */
  readonly choice: "auto" | "required" | "none" | { readonly only: readonly string[] };
  /** Whether an answer may have several calls. */
  readonly parallel: boolean;
  /** The last thing the user said. */
  readonly said: string;
  /** A tool has answered. */
  readonly answered: boolean;
}

/**
 * The tools to call: the one the request demands, else those the user names, else the first when the user speaks of a tool
 * or a function. None once a tool has answered, so that a tool loop ends.
 */
export function toolsToCall({ tools, choice, parallel, said, answered }: ToolUse): readonly Tool[] {
  if (answered || choice === "none") return [];
  const first = tools.slice(0, 1);
  if (typeof choice === "object") return tools.filter((tool) => choice.only.includes(tool.name)).slice(0, 1);
  const named = tools.filter((tool) => said.includes(tool.name));
  if (named.length === 0) return choice === "required" || /\b(tool|function)s?\b/i.test(said) ? first : [];
  return parallel ? named : named.slice(0, 1);
}
