import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SDKS } from "./sdks.ts";
import { SITUATIONS, startSituations } from "./situations.ts";

// The SDK's notes on what a provider cannot say would stand between the results.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

const GUIDE = readFileSync(new URL("../../../../docs/clients.md", import.meta.url), "utf8");

/** The cells of each row of a table, by its first one. */
function tableUnder(header: string): ReadonlyMap<string, readonly string[]> {
  const [, table = ""] = GUIDE.split(`\n| ${header} `);
  const rows = table.split("\n\n", 1)[0]!.split("\n").slice(2);
  const cells = rows.map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll("`", "")),
  );
  return new Map(cells.map(([first = "", ...others]) => [first, others]));
}

const FAILURES = tableUnder("failure");
const who = (sdk: string): string => sdk.replaceAll(/\W/g, "");

let situations: Awaited<ReturnType<typeof startSituations>>;
beforeAll(async () => {
  situations = await startSituations(Object.keys(SDKS).map(who));
});
afterAll(() => situations.stage.close());

test("the guide has every failure", () => {
  expect([...FAILURES.keys()]).toEqual([...SITUATIONS]);
});

describe.each(Object.entries(SDKS))("%s", (sdk, meet) => {
  test("is in the guide", () => {
    expect(tableUnder("SDK").has(sdk)).toBe(true);
  });

  test.each(SITUATIONS)("%s", async (name) => {
    const [status = "", code = "", type = "", words = ""] = FAILURES.get(name)!;
    const inStream = name === "stream breaks off";
    const told = await meet(situations.stage.gateway.url, situations.meet(name, who(sdk)));
    const isMessages = sdk === "@anthropic-ai/sdk";
    expect(told.status).toBe(inStream ? undefined : Number(status));
    // A stream's last event names a code only where the provider gave one.
    expect(told.code ?? "").toBe(isMessages ? type : inStream ? "" : code);
    const before = inStream || sdk.startsWith("@ai-sdk/") ? "" : `${status} `;
    expect(told.message.slice(0, before.length)).toBe(before);
    expect(wordsOf(told.message.slice(before.length))).toContain(isMessages ? withoutPrefix(words) : words);
  });
});

/** The message itself, of a body that an SDK shows whole. */
function wordsOf(shown: string): string {
  if (!shown.startsWith("{")) return shown;
  const body = JSON.parse(shown) as { readonly message?: string; readonly error?: { readonly message: string } };
  return String(body.message ?? body.error?.message);
}

/** A prompt that is too long begins with Anthropic's words for it in this format. */
function withoutPrefix(words: string): string {
  return words.replace("Invalid request: This model", "This model");
}
