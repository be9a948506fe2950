import { randomBytes } from "node:crypto";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  BOUNDARY,
  chunk,
  chunkedHead,
  FILE,
  filePart,
  form,
  FORM_HEADERS,
  MIB,
  MODEL,
  type Part,
  post,
  sendPieces,
  serve,
  sha256,
  type Taken,
  TRANSCRIPTIONS,
} from "./multipart.ts";
import { BODY, GOOD, keepAliveAgent, open, send, start, waitFor } from "./support.ts";
import { RUNS } from "../properties/runs.ts";

test.each([1, 1000, MIB - 1, MIB, MIB + 1, 5 * MIB])(
  "a file of %i bytes arrives whole and can be read more than once",
  async (size) => {
    const { port } = await serve();
    const bytes = randomBytes(size);
    const answer = await post(port, form([MODEL, filePart(bytes)]));
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toEqual({
      body: { model: "route/x" },
      name: "a.mp3",
      contentType: "audio/mpeg",
      size,
      digests: [sha256(bytes), sha256(bytes)],
    } satisfies Taken);
  },
);

test("the forms that fetch writes are understood: files first or last, lists, names beyond ASCII", async () => {
  const { port } = await serve();
  const bytes = randomBytes(70_000);
  for (const fileFirst of [true, false]) {
    const data = new FormData();
    const file = new File([Uint8Array.from(bytes)], "grüße 😀.wav", { type: "audio/wav" });
    if (fileFirst) data.set("file", file);
    data.set("model", "route/x");
    data.append("timestamp_granularities[]", "word");
    data.append("timestamp_granularities[]", "segment");
    data.set("prompt", "Zwölf\r\nBoxkämpfer — 😀");
    if (!fileFirst) data.set("file", file);
    const response = await fetch(`http://127.0.0.1:${port}${TRANSCRIPTIONS}`, {
      method: "POST",
      headers: { authorization: `Bearer ${GOOD}` },
      body: data,
    });
    expect(await response.json()).toEqual({
      body: {
        model: "route/x",
        timestamp_granularities: ["word", "segment"],
        prompt: "Zwölf\r\nBoxkämpfer — 😀",
      },
      name: "grüße 😀.wav",
      contentType: "audio/wav",
      size: bytes.length,
      digests: [sha256(bytes), sha256(bytes)],
    });
  }
});

/** Bytes that look like the form around them. */
const fileBytes = fc
  .array(
    fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 300 }),
      fc
        .constantFrom(`\r\n--${BOUNDARY.slice(0, -1)}`, "\r\n--", "\r\n", `--${BOUNDARY}`, "-")
        .map((s) => Buffer.from(s)),
    ),
    { minLength: 1, maxLength: 12 },
  )
  .map((pieces) => Buffer.concat(pieces))
  .filter((bytes) => !Buffer.concat([Buffer.from("\r\n"), bytes]).includes(`\r\n--${BOUNDARY}`));

test("fields in any order and chunks split anywhere: the file's bytes and the fields are what was sent", async () => {
  const { port } = await serve();
  const parts = fc
    .tuple(
      fileBytes,
      fc.uniqueArray(
        fc.stringMatching(/^[a-z_]{1,12}$/).filter((name) => name !== "file" && name !== "model"),
        { maxLength: 5 },
      ),
      fc.integer({ min: 0, max: 6 }),
    )
    .map(([bytes, names, at]) => {
      const fields: Part[] = [MODEL, ...names.map((name) => ({ name, value: `value of ${name}` }))];
      return { bytes, names, parts: fields.toSpliced(at % (fields.length + 1), 0, filePart(bytes)) };
    });
  await fc.assert(
    fc.asyncProperty(
      parts,
      fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 10 }),
      async (sent, sizes) => {
        const body = form(sent.parts);
        const pieces: Uint8Array[] = [Buffer.from(chunkedHead())];
        for (let at = 0, turn = 0; at < body.length; turn += 1) {
          const size = sizes[turn % sizes.length]!;
          pieces.push(chunk(body.subarray(at, at + size)));
          at += size;
        }
        const connection = await open(port);
        await sendPieces(connection, [...pieces, Buffer.from("0\r\n\r\n")]);
        const text = await connection.until((received) => received.endsWith("}"));
        connection.socket.destroy();
        expect(JSON.parse(text.slice(text.indexOf("{")))).toMatchObject({
          body: { model: "route/x", ...Object.fromEntries(sent.names.map((name) => [name, `value of ${name}`])) },
          size: sent.bytes.length,
          digests: [sha256(sent.bytes), sha256(sent.bytes)],
        });
      },
    ),
    { numRuns: Math.ceil(RUNS / 5) },
  );
});

const WHOLE = "must be a whole multipart/form-data body";

test.each<[string, Buffer, string]>([
  ["no file", form([MODEL]), "/file is required"],
  ["no parts", form([]), "/file is required"],
  ["two files", form([MODEL, FILE, FILE]), "/file must be given once"],
  ["three files", form([FILE, FILE, MODEL, FILE]), "/file must be given once"],
  ["an empty file", form([MODEL, filePart("")]), "/file must not be empty"],
  [
    "a file of another name",
    form([MODEL, FILE, { ...FILE, name: "a/b~c" }]),
    "/a~1b~0c must be text: only /file is a file",
  ],
  ["a field twice", form([MODEL, FILE, MODEL]), "/model must be given once"],
  ["no model", form([FILE]), "/model is required"],
  ["a part without a name", form([MODEL, FILE, { value: "x" }]), "/ has a part without a name"],
  ["a file without a name", form([MODEL, { fileName: "x", value: "x" }]), "/ has a part without a name"],
  [
    "a long name",
    form([MODEL, FILE, { name: "n".repeat(129), value: "x" }]),
    "/ has a field whose name is longer than 128 characters",
  ],
  [
    "a long field",
    form([MODEL, FILE, { name: "prompt", value: "x".repeat(65_537) }]),
    "/prompt must be at most 65536 bytes",
  ],
  [
    "65 fields",
    form([FILE, ...Array.from({ length: 65 }, (_, n) => ({ name: `f${n}`, value: "x" }))]),
    "/ must not have more than 64 fields",
  ],
  [
    "a flood of parts",
    form(Array.from({ length: 5000 }, () => ({ name: "x[]", value: "" }))),
    "/ must not have more than 64 fields",
  ],
  ["an empty body", Buffer.alloc(0), `/ ${WHOLE}`],
  ["something else", Buffer.from('{"model":"route/x"}'), `/ ${WHOLE}`],
  ["no ending", form([MODEL, FILE], ""), `/ ${WHOLE}`],
  ["an ending in the middle of the file", form([MODEL, FILE]).subarray(0, -45), `/ ${WHOLE}`],
  ["an ending in the middle of a head", form([MODEL, FILE]).subarray(0, 60), `/ ${WHOLE}`],
  ["another boundary", Buffer.from(form([MODEL, FILE]).toString().replaceAll(BOUNDARY, "other")), `/ ${WHOLE}`],
])("%s is refused", async (_what, body, message) => {
  const { port, server, requests } = await serve();
  const agent = keepAliveAgent();
  for (const chunked of [false, true]) {
    const answer = await send(port, { path: TRANSCRIPTIONS, headers: FORM_HEADERS, body, chunked, agent });
    expect(answer).toMatchObject({ status: 400, text: `Invalid request: ${message}` });
    expect(answer.headers["x-error-code"]).toBe("INVALID_REQUEST");
  }
  const good = await send(port, { path: TRANSCRIPTIONS, headers: FORM_HEADERS, body: form([MODEL, FILE]), agent });
  expect(good.status).toBe(200);
  expect(requests.length).toBe(3);
  await waitFor(() => server.inFlight() === 0);
});

test("64 fields and the longest field are taken, and epilogues and preambles are overlooked", async () => {
  const { port } = await serve();
  const many = Array.from({ length: 62 }, (_, n) => ({ name: `f${n}`, value: "x" }));
  const long = { name: "prompt", value: "x".repeat(65_536) };
  const body = Buffer.concat([Buffer.from("preamble\r\n"), form([MODEL, ...many, long, FILE]), Buffer.alloc(9000, 10)]);
  expect((await post(port, body)).status).toBe(200);
});

test("names that objects have of their own are fields like any other", async () => {
  const { port } = await serve();
  const traps = ["__proto__", "constructor", "toString"].map((name) => ({ name, value: "trap" }));
  const { status, text } = await post(port, form([MODEL, ...traps, FILE]));
  expect(status).toBe(200);
  expect(text).toContain('"__proto__":"trap","constructor":"trap","toString":"trap"');
  expect({}).not.toHaveProperty("trap");
});

test.each([
  ["no name", { fileName: undefined }, { name: "file" }],
  ["a path for a name", { fileName: "C:\\music\\a.mp3" }, { name: "a.mp3" }],
  ["no type", { type: undefined }, { contentType: "application/octet-stream" }],
  ["a type that is none", { type: "audio" }, { contentType: "application/octet-stream" }],
  ["a type with parameters", { type: "audio/webm; codecs=opus" }, { contentType: "audio/webm" }],
])("a file with %s", async (_what, more, expected) => {
  const { port } = await serve();
  const { text } = await post(port, form([MODEL, filePart("bytes", more)]));
  expect(JSON.parse(text)).toMatchObject(expected);
});

test.each([
  ["application/json", 415],
  ["", 415],
  ["multipart/mixed; boundary=x", 415],
  ["multipart/form-datax; boundary=x", 415],
  ["multipart/form-data", 400],
  ["multipart/form-data; boundary=", 400],
  [`multipart/form-data; boundary=${"x".repeat(300)}`, 400],
  [`Multipart/Form-Data; Boundary="${BOUNDARY}"`, 200],
])("content type %s gives %i", async (type, status) => {
  const { port } = await serve();
  const headers = { authorization: `Bearer ${GOOD}`, ...(type && { "content-type": type }) };
  const answer = await post(port, form([MODEL, FILE]), headers);
  expect(answer.status).toBe(status);
  expect(answer.text === "Content-Type must be multipart/form-data").toBe(status === 415);
  expect(answer.headers["x-error-code"] === "UNSUPPORTED_MEDIA_TYPE").toBe(status === 415);
});

test("a compressed form is a 415", async () => {
  const { port } = await serve();
  expect((await post(port, form([MODEL, FILE]), { ...FORM_HEADERS, "content-encoding": "gzip" })).status).toBe(415);
});

test("other endpoints go on taking JSON alone", async () => {
  const { port } = await start();
  expect((await send(port, { headers: FORM_HEADERS, body: form([MODEL, FILE]) })).status).toBe(415);
  expect((await send(port)).text).toBe(BODY);
});
