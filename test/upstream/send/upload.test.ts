import { randomBytes } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { GatewayError, type Upload, type Upstream } from "../../../src/kit/index.ts";
import { type Leased, exchange, failure, leaseWith, target, TIMEOUTS, until, upstream } from "../support/build.ts";
import { bytewise, transcribe } from "../support/codecs.ts";
import { BLOCK, File } from "../support/file.ts";
import { sayDigest, sayJson, UploadServer } from "../support/upload-server.ts";
import { closedAfterEach } from "../support/serve.ts";

const open = closedAfterEach();

type Script = Parameters<typeof UploadServer.start>[0];

async function serve(
  script: Script,
  changes: Partial<Upstream> = {},
): Promise<{ server: UploadServer; leased: Leased }> {
  const server = await UploadServer.start(script);
  const leased = await leaseWith(bytewise, upstream(`${server.origin}/v1`, changes));
  open.push({ close: () => leased.end() }, server);
  return { server, leased };
}

const LARGE = 160;

describe("an upload", () => {
  it("of 10 MB arrives whole, with its length, once", async () => {
    const { server, leased } = await serve(sayDigest);
    const file = new File(LARGE);
    const reply = await leased.set.send(target(), transcribe(file, { language: "de" }), exchange());
    expect(reply).toMatchObject({
      type: "answer",
      body: { text: await file.digest(), asked: { language: "de" } },
      usage: null,
    });
    expect(server.requests[0]!.headers).toMatchObject({
      "content-length": `${file.size}`,
      "content-type": "audio/wav",
      "x-model": "m1",
      "x-request-id": "req-1",
    });
    expect(server.requests[0]!.headers).not.toHaveProperty("transfer-encoding");
    expect(file).toMatchObject({ reads: 1, reading: 0 });
    expect(leased.set.health("alpha").state).toBe("healthy");
  });

  it("in one piece of 8 MB is no different, and its connection serves the next request", async () => {
    const { server, leased } = await serve(sayDigest);
    const file = new File(1, randomBytes(8 << 20));
    for (let round = 0; round < 2; round += 1) {
      const reply = await leased.set.send(target(), transcribe(file), exchange());
      expect(reply).toMatchObject({ body: { text: await file.digest() } });
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(new Set(server.requests.map(({ socket }) => socket.remotePort)).size).toBe(1);
  });

  it("is read no faster than the upstream takes it", async () => {
    const arrived = Promise.withResolvers<void>();
    const { server, leased } = await serve((request, reply) => {
      arrived.resolve();
      request.once("resume-test", () => sayDigest(request, reply));
    });
    const file = new File(1_000);
    const sent = leased.set.send(target(), transcribe(file), exchange());
    await arrived.promise;
    // What stays is what the kernel takes.
    for (let before = -1; before !== file.given;) {
      before = file.given;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(file.given).toBeLessThan(file.size / 2);
    const [request] = server.requests;
    const kernel = file.given - request!.socket.bytesRead;
    expect(kernel).toBeLessThan(file.size / 2);
    request!.emit("resume-test");
    expect(await sent).toMatchObject({ body: { text: await file.digest() } });
  });
});

/** Reads a little now and then: never done, never still. */
const dripping: Script = (request) => {
  request.on("data", () => {
    request.pause();
    setTimeout(() => request.resume(), 20);
  });
};

describe("a slow upstream", () => {
  const SLOWLY = 12 << 20;
  /** More than a loopback connection holds. */
  const KERNEL = 12 << 20;
  const firstByte = target({ timeouts: { ...TIMEOUTS, firstByte: 1_000 } });

  const size = SLOWLY + KERNEL;
  it.each([
    ["many pieces", new File(size / BLOCK.length)],
    ["one", new File(1, randomBytes(size))],
  ])("that keeps reading a file in %s has its time to the first byte from its end on", async (_name, file) => {
    let took = 0;
    const { leased } = await serve((request, reply) => {
      const startedAt = Date.now();
      let read = 0;
      request.on("data", (bytes: Buffer) => {
        read += bytes.length;
        // What the kernel holds of the rest counts as sent: that is read at full speed.
        if (read > SLOWLY) return;
        took = Date.now() - startedAt;
        request.pause();
        setTimeout(() => request.resume(), 10);
      });
      request.on("end", () => setTimeout(() => sayJson(reply, 200, { text: "well" }), 100));
    });
    const reply = await leased.set.send(firstByte, transcribe(file), exchange());
    expect(reply).toMatchObject({ body: { text: "well" } });
    expect(took).toBeGreaterThan(firstByte.timeouts.firstByte);
    // Our own part in it is no latency of the upstream.
    expect(leased.set.health("alpha").latencyMs).toBeLessThan(took);
  });

  it("that stops reading is timed out, and the file is let go", async () => {
    const { server, leased } = await serve(() => undefined);
    const file = new File(1_000);
    expect(await failure(leased.set.send(firstByte, transcribe(file), exchange()))).toMatchObject({
      failure: "timeout",
      message: "upstream timed out while the request was sent",
      notUpstreamFault: false,
    });
    await expect.poll(() => file.reading).toBe(0);
    expect(file.given).toBeLessThan(file.size);
    const [request] = server.requests;
    request!.resume();
    await expect.poll(() => request!.destroyed).toBe(true);
    expect(request!.complete).toBe(false);
  });

  it("that says nothing after the body has until the total timeout", async () => {
    const { leased } = await serve((request) => request.resume());
    const to = target({ timeouts: { ...firstByte.timeouts, total: 1_500 } });
    expect(await failure(leased.set.send(to, transcribe(new File(LARGE)), exchange()))).toMatchObject({
      failure: "timeout",
      message: "upstream timed out waiting for the first byte",
    });
  });

  it("is bound by the total timeout", async () => {
    const { leased } = await serve(dripping);
    const to = target({ timeouts: { ...TIMEOUTS, total: 300 } });
    const file = new File(2_000);
    expect(await failure(leased.set.send(to, transcribe(file), exchange()))).toMatchObject({
      failure: "timeout",
      message: "upstream timed out before the end of its answer",
    });
    await expect.poll(() => file.reading).toBe(0);
  });

  it("is bound by the request's deadline, which says nothing about it", async () => {
    const { leased } = await serve(dripping);
    const sent = leased.set.send(target(), transcribe(new File(2_000)), exchange({ deadline: 300 }));
    expect(await failure(sent)).toMatchObject({ failure: "timeout", notUpstreamFault: true });
    expect(leased.set.health("alpha").state).toBe("unknown");
  });
});

describe("an upstream that breaks off in the middle", () => {
  const RESET = 3 << 20;
  const breakingOff: Script = (request) => {
    let size = 0;
    request.on("data", (bytes: Buffer) => {
      size += bytes.length;
      if (size > RESET) request.socket.resetAndDestroy();
    });
  };

  it("is tried again with the whole file", async () => {
    const retries = { attempts: 3, minDelay: 1, maxDelay: 5 };
    const { server, leased } = await serve(
      (request, reply, index) => (index < 2 ? breakingOff(request, reply, index) : sayDigest(request, reply)),
      { retries },
    );
    const file = new File(LARGE);
    expect(await leased.set.send(target(), transcribe(file), exchange())).toMatchObject({
      body: { text: await file.digest() },
    });
    expect(server.requests).toHaveLength(3);
    expect(file).toMatchObject({ reads: 3, reading: 0 });
  });
});

describe("a client that goes away", () => {
  it("in the middle of it ends the upstream request and lets go of the file", async () => {
    const { server, leased } = await serve(() => undefined);
    const client = new AbortController();
    const file = new File(1_000);
    const sent = failure(leased.set.send(target(), transcribe(file), exchange({ signal: client.signal })));
    await until(() => file.given > 1 << 20, "a MiB is sent");
    client.abort("client_gone");
    expect(await sent).toMatchObject({ failure: "aborted" });
    await expect.poll(() => file.reading).toBe(0);
    const [request] = server.requests;
    request!.resume();
    await expect.poll(() => request!.destroyed).toBe(true);
    expect(request!.complete).toBe(false);
  });

  it("while the file itself is slow lets go of it as soon as it is read", async () => {
    const { server, leased } = await serve(() => undefined);
    const client = new AbortController();
    const disk = Promise.withResolvers<Uint8Array>();
    const log: string[] = [];
    const upload: Upload = {
      name: "a",
      contentType: "audio/wav",
      size: 2 * BLOCK.length,
      async *read() {
        try {
          yield BLOCK;
          yield await disk.promise;
        } finally {
          log.push("closed");
        }
      },
    };
    const sent = failure(leased.set.send(target(), transcribe(upload), exchange({ signal: client.signal })));
    await until(() => server.requests.length === 1, "the request arrives");
    client.abort("client_gone");
    expect(await sent).toMatchObject({ failure: "aborted" });
    disk.resolve(BLOCK);
    await expect.poll(() => log).toEqual(["closed"]);
  });

  it("in the queue never opens the file", async () => {
    const { server, leased } = await serve((request, reply) => setTimeout(() => sayDigest(request, reply), 100), {
      concurrency: { requests: 1, queue: 5, maxWait: 10_000 },
    });
    const client = new AbortController();
    const [first, second, third] = [new File(4), new File(4), new File(4)];
    const served = leased.set.send(target(), transcribe(first), exchange());
    const gone = failure(leased.set.send(target(), transcribe(second), exchange({ signal: client.signal })));
    const last = leased.set.send(target(), transcribe(third), exchange());
    client.abort("client_gone");
    expect(await gone).toMatchObject({ failure: "aborted" });
    await Promise.all([served, last]);
    expect([first.reads, second.reads, third.reads]).toEqual([1, 0, 1]);
    expect(server.requests).toHaveLength(2);
  });
});

describe("an upstream that answers before the body is sent", () => {
  it.each<[string, Script, object]>([
    ["401", (_request, reply) => sayJson(reply, 401, {}), { failure: "credentials", status: 401 }],
    ["503", (_request, reply) => sayJson(reply, 503, {}), { failure: "status", status: 503 }],
    [
      "503 without an end",
      (_request, reply) => void reply.writeHead(503).write("x"),
      { failure: "status", status: 503 },
    ],
    [
      "413 in its own words",
      (_request, reply) => sayJson(reply, 413, { error: { message: "too long" } }),
      { failure: "client_fault", status: 413, message: "too long" },
    ],
    [
      "HTML",
      (_request, reply) => void reply.writeHead(200, { "content-type": "text/html" }).end("<p>"),
      { failure: "protocol" },
    ],
  ])("%s", async (_name, script, expected) => {
    const { leased } = await serve((request, reply, index) =>
      index === 0 ? script(request, reply, index) : sayDigest(request, reply),
    );
    const file = new File(1_000);
    expect(await failure(leased.set.send(target(), transcribe(file), exchange()))).toMatchObject(expected);
    await expect.poll(() => file.reading).toBe(0);
    expect(file.given).toBeLessThan(file.size);
    const next = new File(4);
    expect(await leased.set.send(target(), transcribe(next), exchange())).toMatchObject({
      body: { text: await next.digest() },
    });
  });

  it("with success has served", async () => {
    const { leased } = await serve((_request, reply) => sayJson(reply, 200, { text: "enough" }));
    const file = new File(1_000);
    expect(await leased.set.send(target(), transcribe(file), exchange())).toMatchObject({ body: { text: "enough" } });
    await expect.poll(() => file.reading).toBe(0);
    expect(file.given).toBeLessThan(file.size);
  });
});

describe("a body that cannot be read is no fault of the upstream", () => {
  const fault = { throws: new GatewayError("INTERNAL", "Internal server error") };
  const shorter = { message: expect.stringContaining("shorter") };
  const longer = { message: expect.stringContaining("longer") };

  it.each<[string, number, readonly (Buffer | { throws: unknown })[], object]>([
    ["throws before its first byte", 9, [fault], { code: "INTERNAL" }],
    ["throws in the middle", 9 * BLOCK.length, [BLOCK, fault], { code: "INTERNAL" }],
    ["throws something else", 9, [{ throws: new TypeError("EIO") }], { message: "EIO" }],
    ["throws no error at all", 9, [{ throws: "odd" }], { cause: "odd" }],
    ["is too short", BLOCK.length + 1, [BLOCK], shorter],
    ["is too long", BLOCK.length + 1, [BLOCK, BLOCK], longer],
    ["is empty", 9, [], shorter],
  ])("one that %s", async (_name, size, parts, expected) => {
    const { server, leased } = await serve(sayDigest, { retries: { attempts: 3, minDelay: 1, maxDelay: 2 } });
    const upload: Upload = {
      name: "a",
      contentType: "audio/wav",
      size,
      async *read() {
        for (const part of parts) {
          await turn();
          if ("throws" in part) throw part.throws;
          yield part;
        }
      },
    };
    const error: unknown = await failure(leased.set.send(target(), transcribe(upload), exchange()));
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject(expected);
    expect(leased.set.health("alpha")).toMatchObject({ state: "unknown" });
    expect(server.requests.length).toBeLessThanOrEqual(1);
    const next = new File(4);
    expect(await leased.set.send(target(), transcribe(next), exchange())).toMatchObject({
      body: { text: await next.digest() },
    });
  });
});
