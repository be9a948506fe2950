import { expect, test } from "vitest";
import { readChat } from "../../src/dialects/chat/client.ts";
import type { DialectName, Json } from "../../src/kit/index.ts";
import { testTarget } from "../support/snapshot.ts";
import { codecOf } from "./wire-cases.ts";

const MANY = 40_000;
/** Milliseconds on a busy machine: what copies all that came before takes ten seconds and more. */
const LONGEST = 3_000;
const USER = { role: "user", content: "x" };
const times = (make: (index: number) => Json): Json[] => Array.from({ length: MANY }, (_, index) => make(index));

const CALL = (index: number): Json => ({
  id: `c${index}`,
  type: "function",
  function: { name: "f", arguments: "{}" },
});

const SHAPES: Readonly<Record<string, () => Json[]>> = {
  "system messages": () => [...times(() => ({ role: "system", content: "x" })), USER],
  "results of tools": () => [
    USER,
    { role: "assistant", tool_calls: times((index) => CALL(index)) },
    ...times((index) => ({ role: "tool", tool_call_id: `c${index}`, content: "y" })),
  ],
  "answers in a row": () => [USER, ...times(() => ({ role: "assistant", content: "x" })), USER],
};
const CASES = Object.keys(SHAPES).flatMap((shape) =>
  (["openai", "anthropic", "gemini", "bedrock", "cohere"] as const).map((dialect) => [shape, dialect] as const),
);

test.each<readonly [string, DialectName]>(CASES)("%s by the ten thousand do not block: %s", (shape, dialect) => {
  const call = readChat({ model: "route/one", messages: SHAPES[shape]!() });
  const before = performance.now();
  const { body } = codecOf(dialect, "chat").request(call, testTarget("alpha"), "key");
  expect(performance.now() - before).toBeLessThan(LONGEST);
  expect((body as string).length).toBeGreaterThan(MANY);
});
