import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readChat } from "../../src/dialects/chat/client.ts";
import { chat } from "../../src/dialects/chat/index.ts";
import { bodyText } from "../../src/server/body-text.ts";
import { parseBody, type ParsedBody } from "../../src/server/json.ts";
import { LONG_TEXT_BYTES } from "../../src/server/long-texts.ts";
import { PlainText } from "../../src/server/plain-text.ts";
import { testTarget } from "../support/snapshot.ts";

const LONG = "a".repeat(LONG_TEXT_BYTES);
const TARGET = testTarget("alpha", { model: "m" });

const plainText = new PlainText();

async function parsed(text: string): Promise<ParsedBody & { readonly chunks: readonly Buffer[] }> {
  const bytes = Buffer.from(text);
  // Cut within the texts, and within characters.
  const chunks = [bytes.subarray(0, 9001), bytes.subarray(9001, 20_002), bytes.subarray(20_002)];
  const body = await parseBody(bytes, { chunks, plainText });
  return { ...body, chunks };
}

const text = fc.constantFrom(
  "short",
  "long text 0",
  "long text 1",
  LONG,
  "€".repeat(LONG_TEXT_BYTES / 2),
  `${LONG}\n"\\`,
  `data:image/png;base64,${LONG}`,
);
const part = fc.oneof(
  text.map((it) => ({ type: "text", text: it })),
  text.map((url) => ({ type: "image_url", image_url: { url } })),
  text.map((data) => ({ type: "input_audio", input_audio: { data, format: "wav" } })),
  text.map((it) => ({ type: "file", file: { file_data: it, filename: it } })),
  text.map((it) => [it, { content: [it] }]),
);
const message = fc.record(
  { role: fc.constant("user"), content: fc.oneof(text, fc.array(part, { maxLength: 3 })), name: text },
  { requiredKeys: ["role"] },
);
const chatBody = fc.record(
  {
    model: fc.constant("route/a"),
    messages: fc.array(message, { maxLength: 3 }),
    user: text,
    content: text,
    tools: fc.array(text.map((it) => ({ function: { description: it, parameters: { [it]: { content: it } } } }))),
  },
  { requiredKeys: ["model", "messages"] },
);

test("a body whose long texts are decoded later is the body, and its prompt as long", async () => {
  let left = 0;
  await fc.assert(
    fc.asyncProperty(chatBody, async (body) => {
      const { value, long } = await parsed(JSON.stringify(body));
      if (long !== null) left += 1;
      expect(readChat(value, long?.texts).promptBytes).toBe(readChat(body).promptBytes);
      long?.place();
      expect(JSON.stringify(value)).toBe(JSON.stringify(body));
      expect(structuredClone(value)).toEqual(body);
    }),
    { numRuns: Number(process.env["NUM_RUNS"] ?? 100) },
  );
  expect(left).toBeGreaterThan(0);
});

test.each([
  ["a text behind another of its field", `{"messages":[{"content":"${LONG}","content":"long text 0"}]}`],
  ["a text before another of its field", `{"messages":[{"content":"long text 0","content":"${LONG}"}]}`],
  ["a stand-in of the client's own", `{"metadata":"${LONG}","messages":[{"content":"long text 0"}]}`],
  ["two of one stand-in", `{"messages":[{"content":"long text 0"},{"content":"${LONG}"}]}`],
  ["an escaped stand-in", `{"messages":[{"content":"\\u006cong text 0"},{"content":"${LONG}"}]}`],
  ["a long name", `{"messages":[{"${LONG}":"long text 0"}]}`],
  ["a long text in a list", `{"messages":["${LONG}",{"content":["${LONG}"]}]}`],
  ["no messages", `{"content":"${LONG}"}`],
  ["a number beyond all", `{"messages":[{"content":"${LONG}"}],"seed":1e999}`],
  ["an escape", `{"messages":[{"content":"${LONG}\\u0041"}]}`],
])("a body with %s is parsed whole", async (_what, body) => {
  const { value, long } = await parsed(body);
  expect(long).toBeNull();
  expect(value).toEqual(JSON.parse(body));
});

test("a long text with a control character is no JSON", async () => {
  for (let code = 0; code < 0x20; code += 1) {
    const body = `{"messages":[{"content":"${LONG}${String.fromCharCode(code)}${LONG}"}]}`;
    await expect(async () => parsed(body)).rejects.toThrow("must be valid JSON");
  }
});

test("a body that is broken beside its long text is no JSON", async () => {
  for (const body of [
    `{"messages":[{"content":"${LONG}"}]`,
    `{"messages":[{"content":"${LONG}"x}]}`,
    `{"a":"${LONG}`,
  ]) {
    await expect(async () => parsed(body)).rejects.toThrow("must be valid JSON");
  }
});

test("a long text that a plugin exchanges is the new one, in a copy too, and a frozen message keeps its own", async () => {
  const body = `{"model":"route/a","messages":[{"role":"user","content":"${LONG}"},{"role":"user","content":"${LONG}b"}]}`;
  const { value, long } = await parsed(body);
  long!.place();
  const [first, second] = value["messages"] as Record<string, unknown>[];
  const copy = { ...first!, content: "another" };
  first!["content"] = "changed";
  expect([copy["content"], first!["content"], Object.freeze(second)!["content"]]).toEqual([
    "another",
    "changed",
    `${LONG}b`,
  ]);
});

test("to send a body on decodes none of its long texts", async () => {
  const body = {
    model: "route/a",
    messages: [
      { role: "system", content: LONG },
      { role: "user", content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${LONG}` } }] },
    ],
  };
  const read = await parsed(JSON.stringify(body));
  const kept = bodyText(read, Buffer.concat(read.chunks), read.chunks);
  const call = { ...readChat(read.value, read.long!.texts), text: kept! };
  read.long!.place();
  const { body: sent } = chat.request(call, TARGET, "key");
  expect(sent).toHaveProperty("chunks");
  // Whoever had decoded them would have the client's.
  for (const chunk of read.chunks) chunk.fill("z");
  expect(JSON.stringify(call.body)).not.toContain("a".repeat(100));
});
