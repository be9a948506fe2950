import { isJson, type Json } from "../../kit/index.ts";
import { pick } from "../fields.ts";
import { droppedBeside } from "../pointers.ts";

export interface WrittenTools {
  readonly tools: readonly Json[];
  /** Canonical pointers. */
  readonly dropped: readonly string[];
}

/** `cache_control` marks what this dialect caches unasked. */
const KNOWN: ReadonlySet<string> = new Set(["type", "function", "cache_control"]);

/** The functions of a canonical body; tools that run at a provider of another dialect have no form here. */
export function writeTools(value: unknown): WrittenTools {
  const tools: Json[] = [];
  const dropped: string[] = [];
  for (const [index, tool] of (Array.isArray(value) ? (value as readonly unknown[]) : []).entries()) {
    const at = `/tools/${index}`;
    if (!isJson(tool) || !isJson(tool["function"])) {
      dropped.push(at);
      continue;
    }
    dropped.push(...droppedBeside(tool, KNOWN, at));
    tools.push({ type: "function", function: pick(tool["function"], ["name", "description", "parameters", "strict"]) });
  }
  return { tools, dropped };
}
