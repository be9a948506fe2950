import { countTokens } from "./answer.ts";
import type { ToolCall } from "./answer.ts";

const ARGUMENT_PIECE = 12;

/** The arguments of a call as a stream brings them. The token of the call's name is in none of them. */
export function* argumentPieces(call: ToolCall): Generator<{ readonly text: string; readonly tokens: number }> {
  for (let at = 0; at < call.arguments.length; at += ARGUMENT_PIECE) {
    const text = call.arguments.slice(at, at + ARGUMENT_PIECE);
    // A word that two pieces share counts with the piece it starts in, so that the sum is the whole call's.
    const tokens = countTokens(call.arguments.slice(0, at + text.length)) - countTokens(call.arguments.slice(0, at));
    yield { text, tokens };
  }
}

/** Tokens of a call, name and arguments. */
export function callTokens({ name, arguments: text }: ToolCall): number {
  return countTokens(`${name} ${text}`);
}
