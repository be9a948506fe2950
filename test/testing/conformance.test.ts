import { describe, expect, test } from "vitest";
import { builtins } from "../../plugins/index.ts";
import { conformance, type PluginTest } from "../../src/testing/index.ts";

/** Options that the built-in plugins are tested with; the others need none. */
const OPTIONS: Readonly<Record<string, PluginTest["options"]>> = {
  "prompt-prefix": { prompts: [{ text: "Be brief." }, { text: "Say please.", place: "after", models: ["route/c*"] }] },
  "guard-words": { words: ["hello", "simulated"], patterns: ["[aeiou]{3}"], action: "mask" },
  "answer-cache": { answers: "all" },
  "header-tags": { tags: { team: { header: "X-Team", default: "none", measured: true } } },
  budget: { amount: 10 },
  transform: { set: { "/seed": 7 }, remove: ["/user"] },
};

describe.each(Object.keys(builtins))("%s", (name) => {
  test.each(conformance(name, { options: OPTIONS[name] }).map((one) => [one.name, one.run] as const))(
    "%s",
    async (_, run) => expect(run()).resolves.toBeUndefined(),
  );
});

describe("redact-names, from its file", () => {
  const plugin = new URL("../../plugins/redact-names.ts", import.meta.url);
  const cases = conformance(plugin, { options: { names: ["Ada"] } });
  test.each(cases.map((one) => [one.name, one.run] as const))("%s", async (_, run) =>
    expect(run()).resolves.toBeUndefined(),
  );
});

test("the cases have names of their own", () => {
  const names = conformance("quota").map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});
