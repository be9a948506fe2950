import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type Multipart, multipartForm } from "../../../src/dialects/canonical/requests.ts";
import { collect, upload } from "../speech/upload.ts";

const chunks = fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 8 });
/** Rich in what has a meaning in a part's head; a lone surrogate has no UTF-8. */
const text = fc.string({
  unit: fc.oneof(
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 }),
    fc.constantFrom('"', "\r", "\n", "%22", ";", "=", "--", "\ud800", "\0"),
  ),
});
/** CR, LF and `"` are escaped, so what looks like an escape reads back as what it stands for. */
const readBack = (name: string): string =>
  name.replaceAll("%22", '"').replaceAll("%0D", "\r").replaceAll("%0A", "\n").toWellFormed();

/** By a parser of other hands. */
async function parsed({ contentType, body }: Multipart): Promise<FormData> {
  const bytes = await collect(body.read());
  expect(bytes.length).toBe(body.length);
  return new Response(bytes, { headers: { "content-type": contentType } }).formData();
}

test("fields and file arrive as they were given, however the file is read", async () => {
  const fields = fc.array(
    fc.tuple(
      text.filter((name) => name !== ""),
      text,
    ),
    { maxLength: 6 },
  );
  await fc.assert(
    fc.asyncProperty(fields, chunks, text, async (fields, chunks, name) => {
      const file = upload(chunks, { name });
      const form = await parsed(multipartForm(fields, ["file", file]));
      const expected = [...fields, ["file", ""] as const].map(([name]) => readBack(name));
      expect([...form.keys()]).toEqual(expected);
      const values = [...form.values()];
      const sent = values.pop() as File;
      expect(values).toEqual(fields.map(([, value]) => value.toWellFormed()));
      expect(sent.name).toBe(readBack(name));
      expect(Buffer.from(await sent.arrayBuffer())).toEqual(Buffer.concat(chunks));
    }),
  );
});

test.each([
  ['a"b.wav', 'filename="a%22b.wav"'],
  ["a\r\nx: y.wav", 'filename="a%0D%0Ax: y.wav"'],
  ["größe 音.mp3", 'filename="größe 音.mp3"'],
])("the file name %j is written as %s", async (name, expected) => {
  const bytes = await collect(multipartForm([], ["file", upload([], { name })]).body.read());
  expect(bytes.toString()).toContain(`name="file"; ${expected}\r\n`);
});

test.each([
  ["audio/wav", "audio/wav"],
  ['audio/ogg; codecs="opus"', 'audio/ogg; codecs="opus"'],
  ["", "application/octet-stream"],
  ["audio/wav\r\nx: y", "application/octet-stream"],
  ["nonsense", "application/octet-stream"],
])("the file's type %j is sent as %s", async (contentType, expected) => {
  const { body } = multipartForm([], ["file", upload([], { contentType })]);
  expect((await collect(body.read())).toString()).toContain(`\r\ncontent-type: ${expected}\r\n\r\n`);
});

test("every form has a boundary of its own", () => {
  const types = Array.from({ length: 100 }, () => multipartForm([], ["file", upload([])]).contentType);
  expect(new Set(types).size).toBe(100);
});

test("a body is read no further than it is used, closes its upload when given up, and can be read again", async () => {
  let read = 0;
  let closed = 0;
  const file = {
    ...upload([Buffer.from("one"), Buffer.from("two")]),
    async *read() {
      try {
        for (const piece of ["one", "two"]) {
          read += 1;
          yield Buffer.from(piece);
        }
      } finally {
        closed += 1;
      }
    },
  };
  const { body, contentType } = multipartForm([], ["file", file]);
  const pieces = body.read()[Symbol.asyncIterator]();
  await pieces.next();
  expect(read).toBe(0);
  await pieces.next();
  expect(read).toBe(1);
  await pieces.return?.();
  expect({ read, closed }).toEqual({ read: 1, closed: 1 });
  const form = await parsed({ body, contentType });
  expect(await (form.get("file") as File).text()).toBe("onetwo");
});

test("a server takes it with the length it announces", async () => {
  const server = createServer((request, response) => {
    const { "content-length": length, "content-type": type } = request.headers;
    void collect(request).then((bytes) => response.end(JSON.stringify({ length, type, bytes: bytes.length })));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  try {
    const { contentType, body } = multipartForm([["model", "m"]], ["file", upload([Buffer.alloc(100_000, 7)])]);
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
      method: "POST",
      headers: { "content-type": contentType, "content-length": String(body.length) },
      body: Readable.toWeb(Readable.from(body.read())),
      duplex: "half",
    });
    expect(await response.json()).toEqual({ length: String(body.length), type: contentType, bytes: body.length });
  } finally {
    server.close();
  }
});
