import { isJson } from "../../kit/index.ts";
import { objects } from "./json.ts";
import { namedTool } from "./tools.ts";

/** Which tools may be called, and how. */
export interface RestrictedChoice {
  /** The choice among them: `auto`, `none`, `required` or one function. */
  readonly choice: unknown;
  /** Names of the functions that may be called; null: all of them. */
  readonly names: ReadonlySet<string> | null;
}

/**
 * A canonical `tool_choice` for a provider that knows no `allowed_tools`: the tools that may not be called are left out, and
 * of one that must be called the name is said (SDK openai ChatCompletionAllowedToolChoice).
 */
export function restrictedChoice(choice: unknown): RestrictedChoice {
  const allowed = isJson(choice) && choice["type"] === "allowed_tools" ? choice["allowed_tools"] : undefined;
  if (!isJson(allowed)) return { choice, names: null };
  const names = objects(allowed["tools"]).flatMap((tool) => namedTool(tool) ?? []);
  if (names.length === 0) return { choice, names: null };
  if (allowed["mode"] !== "required") return { choice: "auto", names: new Set(names) };
  const [only] = names;
  const isOne = only !== undefined && names.length === 1;
  return { choice: isOne ? { type: "function", function: { name: only } } : "required", names: new Set(names) };
}
