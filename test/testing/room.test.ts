import { expect, test } from "vitest";
import { openPlugin } from "../../src/testing/index.ts";

const REDACT = new URL("../../plugins/redact-names.ts", import.meta.url);

test("a plugin of a file runs alone: what is asked, what is sent on, what comes back", async () => {
  await using room = await openPlugin(REDACT, { options: { names: ["Ada"] } });
  const result = await room.request({
    model: "route/chat",
    body: { messages: [{ role: "user", content: "Who is Ada?" }] },
  });
  expect(result).toMatchObject({ status: 200, outcome: "served", upstream: "primary" });
  expect(JSON.parse(result.sent[0]!.body!)).toMatchObject({ messages: [{ content: "Who is [name]?" }] });
  expect(room.failures).toEqual([]);
});
