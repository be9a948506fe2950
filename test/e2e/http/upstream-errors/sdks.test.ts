import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SDKS, type Told } from "./sdks.ts";
import { SITUATIONS, startSituations } from "./situations.ts";

// The SDK's notes on what a provider cannot say would stand between the results.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

const GUIDE = readFileSync(new URL("../../../../deploy/guide/clients.md", import.meta.url), "utf8");

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
    const [status, code, type, words = ""] = FAILURES.get(name)!;
    const told = await meet(situations.stage.gateway.url, situations.meet(name, who(sdk)));
    const inStream = name === "stream breaks off";
    expect(told.status).toBe(inStream ? undefined : Number(status));
    if (sdk === "@anthropic-ai/sdk") expectMessages(told, type!, inStream ? "" : `${status} `, words);
    else {
      expect(told.code ?? undefined).toBe(inStream ? undefined : code);
      const before = sdk === "openai" && !inStream ? `${status} ` : "";
      if (sdk !== "openai" && inStream) expect(told.message).toContain(`"message":"${words}"`);
      else expect(told.message.startsWith(before + words), told.message).toBe(true);
    }
  });
});

/** This SDK puts the body behind the status. Only here a prompt that is too long begins with Anthropic's words for it. */
function expectMessages({ code, message }: Told, type: string, before: string, words: string): void {
  expect(code).toBe(type);
  expect(message.startsWith(`${before}{"type":"error"`)).toBe(true);
  const body = JSON.parse(message.slice(before.length)) as { error: { type: string; message: string } };
  expect(body.error.type).toBe(type);
  expect(body.error.message).toContain(words.replace("Invalid request: This model", "This model"));
}
