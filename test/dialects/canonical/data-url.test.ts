import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readChat } from "../../../src/dialects/chat/client.ts";
import { readMessages } from "../../../src/dialects/messages/client/format.ts";
import { cleanDataUrl, dataText, type DialectName, type Json, readDataUrl } from "../../../src/kit/index.ts";
import { testTarget } from "../../support/snapshot.ts";
import { codecOf } from "../wire-cases.ts";

const PNG = "iVBORw0KGgo=";

describe("data: URLs", () => {
  test.each<[string, string, string]>([
    ["data:image/png;base64,iVBORw0KGgo=", "image/png", PNG],
    ["DATA:image/PNG;Base64,iVBORw0KGgo=", "image/png", PNG],
    ["data:image/jpg;base64,/9j/", "image/jpeg", "/9j/"],
    ["data:image/png;charset=utf-8; base64 ,iVBORw0KGgo=", "image/png", PNG],
    ["data:image/png;base64,iVBO\r\n Rw0K\tGgo=\n", "image/png", PNG],
    ["data:image/png;base64,iVBORw0K%0AGgo%3D", "image/png", PNG],
    ["data:;base64,aGk=", "text/plain", "aGk="],
    ["data:,hi%20there", "text/plain", Buffer.from("hi there").toString("base64")],
    ["data:text/html;charset=utf-8,%3Cb%3E", "text/html", Buffer.from("<b>").toString("base64")],
  ])("%j", (url, type, base64) => {
    expect(readDataUrl(url)).toEqual({ type, base64 });
  });

  test.each([
    "https://example.com/a.png",
    "data:image/png;base64",
    "data:image/png;base64,",
    "data:image/png;base64, \n",
    "data:image/png;base64,****",
    "data:image/png;base64,%zz",
    "data:text/plain,%zz",
    `data:${"a".repeat(2000)},`,
  ])("%j holds nothing that can be read", (url) => {
    expect(readDataUrl(url)).toBeNull();
    expect(cleanDataUrl(url)).toBeNull();
  });

  test("one that is clean is not copied, and cleaning is idempotent", () => {
    const spaced = fc.array(fc.constantFrom("", " ", "\n", "\r\n"), { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1 }),
        spaced,
        fc.constantFrom("image/jpg", "image/PNG"),
        (bytes, s, type) => {
          const base64 = Buffer.from(bytes).toString("base64");
          const wrapped = s.map((space, n) => base64.slice(n * 4, n === 3 ? undefined : n * 4 + 4) + space).join("");
          const clean = cleanDataUrl(`data:${type};base64,${wrapped}`)!;
          expect(clean).toBe(`data:${type === "image/jpg" ? "image/jpeg" : "image/png"};base64,${base64}`);
          expect(Object.is(cleanDataUrl(clean), clean)).toBe(true);
        },
      ),
    );
  });

  test("only what is text is read as text", () => {
    expect(dataText(readDataUrl("data:application/ld+json;base64,e30=")!)).toBe("{}");
    expect(dataText(readDataUrl("data:application/pdf;base64,e30=")!)).toBeNull();
  });
});

/** An image that a client named and wrapped as no provider takes it. */
const BAD = "/9j/\n4AAQ";
const chatImage = readChat({
  model: "route/a",
  messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: `data:image/jpg;base64,${BAD}` } }] }],
});
const messagesImage = readMessages({
  model: "route/a",
  max_tokens: 9,
  messages: [
    {
      role: "user",
      content: [{ type: "image", source: { type: "base64", media_type: "image/jpg", data: BAD } }],
    },
  ],
});

describe("an image with a name and a form of its own reaches every dialect as it takes it", () => {
  const image: readonly (readonly [DialectName, string, Json])[] = [
    ["anthropic", "claude-sonnet-4-5", { type: "base64", media_type: "image/jpeg", data: "/9j/4AAQ" }],
    ["bedrock", "anthropic.claude-sonnet-4-5", { format: "jpeg", source: { bytes: "/9j/4AAQ" } }],
    ["gemini", "gemini-2.5-flash", { mimeType: "image/jpeg", data: "/9j/4AAQ" }],
    ["cohere", "command-a-vision-07-2025", { url: "data:image/jpeg;base64,/9j/4AAQ" }],
  ];
  test.each(image)("%s", (dialect, model, written) => {
    for (const call of [chatImage, messagesImage]) {
      const { body } = codecOf(dialect, "chat").request(call, testTarget("alpha", { model }), "k");
      expect(body).toContain(JSON.stringify(written));
    }
  });

  test("openai, from a Messages client", () => {
    const { body } = codecOf("openai", "chat").request(messagesImage, testTarget("alpha", { model: "m" }), "k");
    expect(body).toContain(JSON.stringify({ url: "data:image/jpeg;base64,/9j/4AAQ" }));
  });
});
