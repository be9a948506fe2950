import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync } from "node:fs";
import { open as openFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { UploadBuffer } from "../../src/server/form.ts";
import {
  chunk,
  chunkedHead,
  digestOf,
  FILE,
  filePart,
  form,
  FORM_HEADERS,
  KIB,
  MIB,
  MODEL,
  openFiles,
  openUploads,
  post,
  sendPieces,
  serve,
  sha256,
  TRANSCRIPTIONS,
} from "./multipart.ts";
import { GOOD, open, send, waitFor } from "./support.ts";

/** Uploads go to a folder of the test's own. */
function ownTemp(): string {
  const before = process.env["TMPDIR"];
  const folder = mkdtempSync(join(tmpdir(), "form-test-"));
  process.env["TMPDIR"] = folder;
  onTestFinished(() => {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
    rmSync(folder, { recursive: true });
  });
  return folder;
}

test.each([false, true])("a form over the limit is a 413 and the server goes on, chunked: %s", async (chunked) => {
  ownTemp();
  const { port, server } = await serve({ settings: { bodyLimit: 3 * MIB } });
  const body = form([MODEL, filePart(Buffer.alloc(4 * MIB))]);
  for (let round = 0; round < 5; round += 1) {
    const answer = await send(port, { path: TRANSCRIPTIONS, headers: FORM_HEADERS, body, chunked });
    expect(answer).toMatchObject({ status: 413, text: `Request body exceeds the limit of ${3 * MIB} bytes` });
    expect(answer.headers).toMatchObject({ "x-error-code": "REQUEST_TOO_LARGE", connection: "close" });
  }
  expect((await post(port, form([MODEL, filePart(Buffer.alloc(2 * MIB))]))).status).toBe(200);
  await waitFor(() => server.inFlight() === 0 && openUploads().length === 0);
});

test("an announced length over the limit is refused before a byte of it has come", async () => {
  const { port } = await serve();
  const connection = await open(port);
  connection.socket.write(chunkedHead().replace("Transfer-Encoding: chunked", `Content-Length: ${9 * MIB}`));
  expect(await connection.until((text) => text.includes("exceeds"))).toMatch(/^HTTP\/1.1 413 /);
});

test("Expect: 100-continue is answered for an upload", async () => {
  const { port } = await serve();
  const body = form([MODEL, FILE]);
  const connection = await open(port);
  const expecting = `Expect: 100-continue\r\nContent-Length: ${body.length}`;
  connection.socket.write(chunkedHead().replace("Transfer-Encoding: chunked", expecting));
  expect(await connection.until((text) => text.includes("\r\n\r\n"))).toBe("HTTP/1.1 100 Continue\r\n\r\n");
  connection.socket.write(body);
  expect(await connection.until((text) => text.endsWith("}"))).toContain("HTTP/1.1 200 OK");
});

/** Nothing is written to any disk until it is let go: all of Node's threads wait for a pipe's other end. */
function occupyThreads(folder: string): () => void {
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  const opened = Array.from({ length: 64 }, () => openFile(pipe, "r"));
  return () => {
    const other = openSync(pipe, "r+");
    void Promise.all(opened.map(async (file) => (await file).close())).finally(() => closeSync(other));
  };
}

/** A run that holds its request until the test lets go. */
function holding() {
  const read = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  return {
    read: read.promise,
    release: release.resolve,
    run: async (): Promise<void> => {
      read.resolve();
      await release.promise;
    },
  };
}

test("a long upload lies in a file without a name, and is gone when the run is over", async () => {
  const folder = ownTemp();
  const held = holding();
  const { port, server } = await serve({ run: held.run });
  const bytes = randomBytes(3 * MIB);
  const connection = await open(port);
  await sendPieces(connection, [
    Buffer.from(chunkedHead()),
    chunk(form([MODEL, filePart(bytes)])),
    Buffer.from("0\r\n\r\n"),
  ]);
  await held.read;
  expect(openUploads()).toEqual([bytes.length]);
  expect(readdirSync(folder)).toEqual([]);
  held.release();
  await waitFor(() => server.inFlight() === 0 && openUploads().length === 0);
});

test("an upload that is still being read when its run ends does not look whole", async () => {
  ownTemp();
  const reading = Promise.withResolvers<AsyncIterator<Uint8Array>>();
  const { port } = await serve({
    async run({ body }) {
      const { call } = body!;
      const iterator = call.upload!.read()[Symbol.asyncIterator]();
      await iterator.next();
      reading.resolve(iterator);
    },
  });
  const connection = await open(port);
  const body = form([MODEL, filePart(Buffer.alloc(3 * MIB))]);
  await sendPieces(connection, [Buffer.from(chunkedHead()), chunk(body), Buffer.from("0\r\n\r\n")]);
  const iterator = await reading.promise;
  await waitFor(() => openUploads().length === 0);
  await expect(iterator.next()).rejects.toMatchObject({ code: "INTERNAL" });
});

test("200 uploads that break off at every place leave no file, descriptor or request behind", async () => {
  const folder = ownTemp();
  const { port, server } = await serve();
  const body = form([MODEL, filePart(randomBytes(2 * MIB)), { name: "prompt", value: "x".repeat(9000) }]);
  const abort = async (round: number): Promise<void> => {
    const connection = await open(port);
    const { socket } = connection;
    socket.write(chunkedHead());
    const until = Math.floor((body.length * round) / 200);
    for (let at = 0; at < until; at += 256 * KIB)
      socket.write(chunk(body.subarray(at, Math.min(until, at + 256 * KIB))));
    // Now and then the server has hardly seen the head, now and then it has a file open.
    if (round % 3 > 0) await new Promise((resolve) => socket.write("", resolve));
    if (round % 3 > 1 && until > 1.5 * MIB) await waitFor(() => openUploads().length > 0);
    if (round % 2 > 0) socket.resetAndDestroy();
    else socket.destroy();
  };
  await abort(100);
  await waitFor(() => server.inFlight() === 0);
  const before = openFiles().length;
  for (let round = 0; round < 200; round += 10) {
    await Promise.all(Array.from({ length: 10 }, (_, offset) => abort(round + offset)));
  }
  await waitFor(() => server.inFlight() === 0 && openUploads().length === 0 && openFiles().length <= before);
  expect(readdirSync(folder)).toEqual([]);
  expect(
    (await send(port, { headers: { authorization: `Bearer ${GOOD}`, "content-type": "text/plain" } })).status,
  ).toBe(415);
});

test("a disk that does not keep up holds the client back, not its bytes in memory", async () => {
  const folder = ownTemp();
  const { port } = await serve({ settings: { bodyLimit: 128 * MIB } });
  const body = form([MODEL, filePart(Buffer.alloc(64 * MIB, 7))]);
  const release = occupyThreads(folder);
  const connection = await open(port);
  connection.socket.write(chunkedHead().replace("Transfer-Encoding: chunked", `Content-Length: ${body.length}`));
  let taken = 0;
  const sending = (async () => {
    for (; taken < body.length; taken += MIB) {
      const piece = body.subarray(taken, taken + MIB);
      await new Promise((resolve) => connection.socket.write(piece, resolve));
    }
  })();
  let before = -1;
  for (let still = 0; still < 20; still = taken === before ? still + 1 : 0) {
    before = taken;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect(taken).toBeLessThan(24 * MIB);
  release();
  expect(await connection.until((text) => text.endsWith("}"))).toContain(`"size":${64 * MIB}`);
  await sending;
});

test.each([
  ["has been written away", false],
  ["is still being written away", true],
])("a form that turns out bad after its file %s leaves nothing behind", async (_what, busy) => {
  const folder = ownTemp();
  const { port, server } = await serve();
  const long = filePart(Buffer.alloc(3 * MIB));
  const release = busy ? occupyThreads(folder) : () => {};
  const connection = await open(port);
  await sendPieces(connection, [Buffer.from(chunkedHead()), chunk(form([long, MODEL], ""))]);
  if (!busy) await waitFor(() => openUploads()[0] === 3 * MIB);
  await sendPieces(connection, [chunk(form([MODEL])), Buffer.from("0\r\n\r\n")]);
  if (busy) release();
  const text = await connection.until((received) => received.includes("once"));
  expect(text).toMatch(/^HTTP\/1.1 400 [^]*\/model must be given once$/);
  await waitFor(() => server.inFlight() === 0 && openUploads().length === 0);
});

test("without room for it an upload is a 500 that says nothing; the log names the remedy and the server goes on", async () => {
  const folder = ownTemp();
  const { port, lines, server } = await serve();
  process.env["TMPDIR"] = join(folder, "gone");
  const answer = await post(port, form([MODEL, filePart(Buffer.alloc(3 * MIB))]));
  expect(answer).toMatchObject({ status: 500, text: "Internal server error" });
  expect(lines).toMatchObject([
    { level: "error", fields: { err: { message: expect.stringContaining("point TMPDIR at a folder with room") } } },
  ]);
  // A short one needs no room.
  expect((await post(port, form([MODEL, FILE]))).status).toBe(200);
  process.env["TMPDIR"] = folder;
  expect((await post(port, form([MODEL, filePart(Buffer.alloc(3 * MIB))]))).status).toBe(200);
  await waitFor(() => server.inFlight() === 0 && openUploads().length === 0);
});

test("a client that is cut off by the receive timeout leaves nothing behind", async () => {
  ownTemp();
  const { port, server, malformed } = await serve({ listen: { timeouts: { headers: 200, request: 300, check: 50 } } });
  const connection = await open(port);
  const body = form([MODEL, filePart(Buffer.alloc(2 * MIB))]);
  connection.socket.write(chunkedHead());
  connection.socket.write(chunk(body.subarray(0, body.length - 100)));
  expect(await connection.closed()).toMatch(/^HTTP\/1.1 408 /);
  expect(malformed).toEqual([408]);
  await waitFor(() => server.inFlight() === 0 && openUploads().length === 0);
});

test("an upload in the smallest pieces is kept in large ones: each by itself would take far more memory", async () => {
  const spool = new UploadBuffer();
  const bytes = randomBytes(300_000);
  for (const byte of bytes) await spool.write(Buffer.of(byte));
  await spool.finish();
  expect(await digestOf(spool.read())).toBe(sha256(bytes));
  let pieces = 0;
  for await (const piece of spool.read()) pieces += Number(piece.length > 0);
  expect(pieces).toBe(Math.ceil(bytes.length / (64 * KIB)));
  await spool.dispose();
});
