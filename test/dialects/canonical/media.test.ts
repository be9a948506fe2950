import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readChat } from "../../../src/dialects/chat/client.ts";
import { imageSize } from "../../../src/dialects/canonical/image-size.ts";
import { readMessages } from "../../../src/dialects/messages/client/format.ts";
import { readResponses } from "../../../src/dialects/responses/client/request.ts";
import { promptText } from "../../../src/dialects/canonical/prompt.ts";
import type { ClientDialect, Json, Medium } from "../../../src/kit/index.ts";
import { dataUrl, gif, jpeg, pdf, png, wav, webp } from "../../support/media.ts";

/* What is no text in a prompt, by the head of its file: the same from every format of clients. */

describe("the size of an image", () => {
  const formats = { png, gif, jpeg, ...webp };

  test.each(Object.entries(formats))("%s", (_, write) => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 16_383 }), fc.integer({ min: 1, max: 16_383 }), (width, height) => {
        expect(imageSize(write(width, height))).toEqual({ width, height });
      }),
    );
  });

  test("of a photo stands behind what its camera wrote, however much that is", () => {
    for (const before of [[], [2], [65_535], [65_535, 65_535, 10]]) {
      expect(imageSize(jpeg(4_032, 3_024, before))).toEqual({ width: 4_032, height: 3_024 });
    }
  });

  test.each([
    ["nothing", Buffer.alloc(0)],
    ["another format", Buffer.from("BM\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")],
    ["no width", png(0, 10)],
    ["a forged height", png(10, 4_000_000_000)],
    ["a scan without a frame", Buffer.from([0xff, 0xd8, 0xff, 0xda, 0, 2, 0xff, 0xc0, 0, 17, 8, 0, 1, 0, 1])],
    ["an end without a frame", Buffer.from([0xff, 0xd8, 0xff, 0xd9, 0xff, 0xc0])],
    ["no marker", Buffer.from([0xff, 0xd8, 0, 0, 0, 0])],
  ])("is not known of %s", (_, head) => {
    expect(imageSize(head)).toBeNull();
  });

  const HEADS = [png(1, 1), gif(1, 1), jpeg(1, 1), ...Object.values(webp).map((write) => write(1, 1))];

  test("of any bytes is one or none, and nothing is thrown", () => {
    const bytes = fc.uint8Array({ maxLength: 4_096 });
    const afterHead = fc
      .tuple(fc.constantFrom(...HEADS), fc.nat(40), bytes)
      .map(([head, cut, rest]) => Buffer.concat([head.subarray(0, cut), rest]));
    fc.assert(
      fc.property(fc.oneof(bytes, afterHead), (head) => {
        const size = imageSize(head);
        expect(size === null || (size.width >= 1 && size.height >= 1)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test("is looked for no longer than the bytes are", () => {
    // A segment that says nothing of its length, again and again: each step goes on.
    const empty = Buffer.alloc(1_000_000, Buffer.from([0xff, 0xe0, 0, 0]));
    const fill = Buffer.alloc(1_000_000, 0xff);
    for (const rest of [empty, fill]) expect(imageSize(Buffer.concat([Buffer.from([0xff, 0xd8]), rest]))).toBeNull();
  });
});

const PHOTO = { width: 640, height: 480 };
const PHOTO_URL = dataUrl("image/png", png(640, 480));
const base64 = (file: Buffer): string => file.toString("base64");

/** What each format calls the same thing; undefined: it has no such. */
const SAME: readonly (readonly [string, Medium | null, Readonly<Partial<Record<ClientDialect, Json>>>])[] = [
  [
    "an inlined image",
    { kind: "image", size: PHOTO },
    {
      chat: { type: "image_url", image_url: { url: PHOTO_URL } },
      messages: { type: "image", source: { type: "base64", media_type: "image/png", data: base64(png(640, 480)) } },
      responses: { type: "input_image", image_url: PHOTO_URL },
    },
  ],
  [
    "an image by its address",
    { kind: "image" },
    {
      chat: { type: "image_url", image_url: { url: "https://media.example/a.png" } },
      messages: { type: "image", source: { type: "url", url: "https://media.example/a.png" } },
      responses: { type: "input_image", image_url: "https://media.example/a.png" },
    },
  ],
  [
    "an image of a format whose size is not read",
    { kind: "image" },
    {
      chat: { type: "image_url", image_url: { url: "data:image/heic;base64,AAAA" } },
      messages: { type: "image", source: { type: "base64", media_type: "image/bmp", data: "AAAA" } },
      responses: { type: "input_image", image_url: "data:image/svg+xml,%3Csvg/%3E" },
    },
  ],
  [
    "a document by its address",
    { kind: "document" },
    {
      chat: { type: "file", file: { file_url: "https://media.example/a.pdf" } },
      messages: { type: "document", source: { type: "url", url: "https://media.example/a.pdf" } },
      responses: { type: "input_file", file_url: "https://media.example/a.pdf" },
    },
  ],
  [
    "an inlined document",
    { kind: "document", pages: 7 },
    {
      chat: { type: "file", file: { filename: "a.pdf", file_data: dataUrl("application/pdf", pdf(7)) } },
      messages: { type: "document", source: { type: "base64", media_type: "application/pdf", data: base64(pdf(7)) } },
      responses: { type: "input_file", filename: "a.pdf", file_data: dataUrl("application/pdf", pdf(7)) },
    },
  ],
  [
    "a recording",
    { kind: "audio", seconds: 2 },
    { chat: { type: "input_audio", input_audio: { data: base64(wav(2)), format: "wav" } } },
  ],
  [
    "a film by its address",
    { kind: "video" },
    { chat: { type: "video_url", video_url: { url: "https://a.example/b" } } },
  ],
  [
    "a file that is nothing but text",
    null,
    {
      chat: { type: "file", file: { file_data: dataUrl("text/plain", Buffer.from("words in a file")) } },
      messages: {
        type: "document",
        source: { type: "text", media_type: "text/plain", data: "words in a file" },
      },
      responses: { type: "input_file", file_data: dataUrl("text/markdown", Buffer.from("words in a file")) },
    },
  ],
];

const READ: Readonly<Record<ClientDialect, (part: Json) => ReturnType<typeof readChat>>> = {
  chat: (part) => readChat({ model: "route/a", messages: [{ role: "user", content: [part] }] }),
  messages: (part) => readMessages({ model: "route/a", max_tokens: 9, messages: [{ role: "user", content: [part] }] }),
  responses: (part) => readResponses({ model: "route/a", input: [{ role: "user", content: [part] }] }),
};

describe.each(SAME)("%s", (_, medium, parts) => {
  test.each(Object.entries(parts) as [ClientDialect, Json][])("in the format %s", (client, part) => {
    const { media = [], body } = READ[client](part);
    expect(media).toMatchObject(medium === null ? [] : [medium]);
    expect(promptText(body).includes("words in a file")).toBe(medium === null);
  });
});

test("the same in the result of a tool", () => {
  const source = { type: "base64", media_type: "image/png", data: base64(png(640, 480)) };
  const { media } = READ.messages({ type: "tool_result", tool_use_id: "t", content: [{ type: "image", source }] });
  expect(media).toEqual([{ kind: "image", size: PHOTO }]);
});

function pagesOf(file: Buffer): number | undefined {
  const part = { type: "file", file: { file_data: dataUrl("application/pdf", file) } };
  const [medium] = READ.chat(part).media ?? [];
  return medium?.kind === "document" ? medium.pages : undefined;
}

describe("pages of a document", () => {
  test("are told at its beginning or its end, however long it is", () => {
    expect([pagesOf(pdf(3)), pagesOf(pdf(250, 500_000))]).toEqual([3, 250]);
  });

  test("are taken to be of ordinary size where nothing tells them", () => {
    expect([pagesOf(Buffer.from("%PDF")), pagesOf(Buffer.alloc(999_000)), pagesOf(Buffer.alloc(20_000_000))]).toEqual([
      1, 10, 100,
    ]);
  });
});

test("base64 in lines, or escaped, is read all the same", () => {
  const lines = base64(png(640, 480)).replaceAll(/.{20}/g, "$&\r\n");
  const escaped = encodeURIComponent(base64(png(640, 480)));
  for (const url of [`data:image/png;base64,${lines}`, `data:image/png;base64,${escaped}`]) {
    expect(READ.chat({ type: "image_url", image_url: { url } }).media).toEqual([{ kind: "image", size: PHOTO }]);
  }
});

test("whatever stands where a medium may be, it is read or counted as one that is not known", () => {
  const value = fc.oneof(
    fc.string(),
    fc.base64String(),
    fc.base64String().map((text) => `data:image/png;base64,${text}`),
  );
  const part = fc.oneof(
    fc.record({ image_url: fc.record({ url: value, detail: fc.anything() }) }),
    fc.record({ file: fc.record({ file_data: value, file_id: value }, { requiredKeys: [] }) }),
    fc.record({ input_audio: fc.record({ data: value, format: fc.anything() }) }),
    fc.record({
      type: fc.anything(),
      source: fc.record({ type: fc.anything(), data: value, media_type: fc.anything() }),
    }),
  );
  fc.assert(
    fc.property(part, (one) => {
      const { promptBytes } = readChat({ model: "route/a", messages: [{ content: [one] }] });
      expect(promptBytes).toBeGreaterThanOrEqual(0);
      expect(Number.isSafeInteger(promptBytes)).toBe(true);
    }),
  );
});
