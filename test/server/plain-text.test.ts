import { expect, test } from "vitest";
import { PlainText } from "../../src/server/plain-text.ts";

const plainText = new PlainText();
const BACKSLASH = 0x5c;

// Around the 16 bytes that are looked at together, and the part that has a place in memory.
test.each([1, 15, 16, 17, 31, 32, 33, 100, 256 * 1024 - 1, 256 * 1024, 256 * 1024 + 1, 600_000])(
  "a control character or a backslash is found anywhere in %d bytes",
  (length) => {
    const text = Buffer.alloc(length, "a");
    expect(plainText.is(text)).toBe(true);
    const places = length > 100 ? [0, 15, 16, length >> 1, length - 1] : Array.from({ length }, (_, at) => at);
    const bytes = length > 100 ? [0, 0x1f, BACKSLASH] : Array.from({ length: 256 }, (_, byte) => byte);
    for (const at of places) {
      for (const byte of bytes) {
        text[at] = byte;
        expect(plainText.is(text), `${byte} at ${at}`).toBe(byte >= 0x20 && byte !== BACKSLASH);
      }
      text[at] = 0x61;
    }
  },
);

test("without the instructions no text is known to be plain", () => {
  expect(new PlainText(null).is(Buffer.from("a"))).toBe(false);
});

test("what the text before had is not found in a shorter one", () => {
  expect(plainText.is(Buffer.alloc(64, "\\"))).toBe(false);
  for (let length = 0; length < 20; length += 1) expect(plainText.is(Buffer.alloc(length, "a"))).toBe(true);
});
