import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createSecureServer, type Http2SecureServer, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { createServer, getCACertificates, setDefaultCACertificates } from "node:tls";
import type { UpstreamSet } from "../../../src/upstream/upstreams.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  bytesOf,
  call,
  exchange,
  failure,
  lease,
  leaseWith,
  read,
  streamOf,
  target,
  TIMEOUTS,
  until,
  upstream,
} from "../support/build.ts";
import { ELSEWHERE, LOCALHOST } from "../support/certificates.ts";
import { bytewise, SPEECH, transcribe } from "../support/codecs.ts";
import { digestOf, File } from "../support/file.ts";
import { answer, DONE, event } from "../support/raw-upstream.ts";
import { closedAfterEach } from "../support/serve.ts";

const open = closedAfterEach();

/** A TLS server that answers every request; `sent` counts the bytes of requests that reached it. */
async function serve(
  identity: typeof LOCALHOST,
  options: object = {},
): Promise<{ origin: string; sent: () => number }> {
  let sent = 0;
  const sockets = new Set<{ destroy(): void }>();
  const server = createServer({ ...identity, ...options }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => {
      sent += bytes.length;
      if (bytes.includes("\r\n\r\n")) socket.write(answer("well"));
    });
  });
  server.on("tlsClientError", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  open.push({
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  });
  return { origin: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, sent: () => sent };
}

describe("a certificate that cannot be trusted sends nothing", () => {
  it.each([
    ["self-signed", LOCALHOST, false],
    ["of another host", ELSEWHERE, true],
  ])("%s", async (_name, identity, trusted) => {
    const before = getCACertificates("default");
    if (trusted) setDefaultCACertificates([...before, identity.cert]);
    const environment = process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
    process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
    try {
      const { origin, sent } = await serve(identity);
      const leased = await lease(upstream(origin));
      open.push({ close: () => leased.end() });
      const error = await failure(leased.set.send(target(), call(), exchange()));
      expect(error).toMatchObject({ failure: "connect", message: "upstream could not be reached" });
      expect(sent()).toBe(0);
    } finally {
      setDefaultCACertificates(before);
      if (environment === undefined) delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
      else process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = environment;
    }
  });
});

const originOf = (server: Http2SecureServer): string => `https://127.0.0.1:${(server.address() as AddressInfo).port}`;

let script: (stream: ServerHttp2Stream) => void = () => undefined;

const head = (stream: ServerHttp2Stream, type: string): void =>
  stream.respond({ ":status": 200, "content-type": type });

describe("with a certificate that is trusted", () => {
  const before = getCACertificates("default");
  beforeAll(() => setDefaultCACertificates([...before, LOCALHOST.cert]));
  afterAll(() => setDefaultCACertificates(before));

  it("HTTP/1.1 over TLS is served", async () => {
    const { origin } = await serve(LOCALHOST, { ALPNProtocols: ["http/1.1"] });
    const leased = await lease(upstream(origin));
    open.push({ close: () => leased.end() });
    expect(await leased.set.send(target(), call(), exchange())).toMatchObject({ type: "answer" });
  });

  it("TLS 1.0 and 1.1 are a connect failure", async () => {
    const ciphers = "ALL:@SECLEVEL=0";
    const { origin, sent } = await serve(LOCALHOST, { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers });
    const leased = await lease(upstream(origin));
    open.push({ close: () => leased.end() });
    expect(await failure(leased.set.send(target(), call(), exchange()))).toMatchObject({ failure: "connect" });
    expect(sent()).toBe(0);
  });

  describe("HTTP/2", () => {
    const streams = new Set<ServerHttp2Stream>();
    let sessions = 0;
    let server: Http2SecureServer;

    beforeAll(async () => {
      server = createSecureServer({ ...LOCALHOST, allowHTTP1: true });
      server.on("session", (session) => {
        sessions += 1;
        session.on("error", () => undefined);
      });
      server.on("stream", (stream: ServerHttp2Stream) => {
        streams.add(stream);
        stream.on("error", () => undefined);
        stream.on("close", () => streams.delete(stream));
        stream.resume();
        script(stream);
      });
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
    });
    afterAll(() => {
      server.close();
    });
    const leased = async (http2: boolean): ReturnType<typeof lease> => {
      const one = await lease(upstream(`${originOf(server)}/v1`, { http2, connections: 1 }));
      open.push({ close: () => one.end() });
      return one;
    };

    const bytewiseSet = async (): Promise<UpstreamSet> => {
      const one = await leaseWith(bytewise, upstream(originOf(server), { http2: true }));
      open.push({ close: () => one.end() });
      return one.set;
    };

    describe("uploads", () => {
      it("arrive whole", async () => {
        script = (stream) => {
          void (async () => {
            const text = await digestOf(stream as AsyncIterable<Buffer>);
            head(stream, "application/json");
            stream.end(JSON.stringify({ text }));
          })();
        };
        const file = new File(160);
        expect(await (await bytewiseSet()).send(target(), transcribe(file), exchange())).toMatchObject({
          body: { text: await file.digest() },
        });
        expect(file.reading).toBe(0);
      });

      it("are let go of when the client goes away, or the answer comes early", async () => {
        script = (stream) => stream.pause();
        const client = new AbortController();
        const file = new File(1_000);
        const sent = failure(
          (await bytewiseSet()).send(target(), transcribe(file), exchange({ signal: client.signal })),
        );
        await until(() => file.given > 0, "some of it is sent");
        client.abort("client_gone");
        expect(await sent).toMatchObject({ failure: "aborted" });
        await expect.poll(() => file.reading).toBe(0);
        await expect.poll(() => streams.size).toBe(0);

        script = (stream) => {
          stream.pause();
          stream.respond({ ":status": 429 });
          stream.end();
        };
        const early = new File(1_000);
        expect(await failure((await bytewiseSet()).send(target(), transcribe(early), exchange()))).toMatchObject({
          failure: "rate_limited",
        });
        await expect.poll(() => early.reading).toBe(0);
        expect(early.given).toBeLessThan(early.size);
      });
    });

    it("a request is sent when its stream is, not while a session is made", async () => {
      script = () => undefined;
      const { set } = await leased(true);
      for (const patience of [false, true]) {
        const client = new AbortController();
        let sent = false;
        const by = exchange({ signal: client.signal });
        const error = failure(set.send(target(), call(), by, () => (sent = true)));
        if (patience) await until(() => streams.size === 1, "it arrives");
        else await turn();
        client.abort("client_gone");
        expect(await error).toMatchObject({ failure: "aborted" });
        expect(sent).toBe(patience);
        await expect.poll(() => streams.size).toBe(0);
      }
    });

    it("gives up an answer that is wrong and ends before a long prompt is sent", async () => {
      script = (stream) => {
        stream.pause();
        head(stream, "text/html");
        stream.end();
      };
      const { set } = await leased(true);
      const long = call({ body: { messages: [{ role: "user", content: "x".repeat(300_000) }] } });
      for (let round = 0; round < 3; round += 1) {
        expect(await failure(set.send(target(), long, exchange()))).toMatchObject({ failure: "protocol" });
      }
      await expect.poll(() => streams.size).toBe(0);
    });

    it("relays bytes under back-pressure", async () => {
      const body = randomBytes(3 << 20);
      script = (stream) => {
        head(stream, "audio/mpeg");
        stream.end(body);
      };
      const { source } = bytesOf(await (await bytewiseSet()).send(target(), SPEECH, exchange()));
      const chunks: Uint8Array[] = [];
      const ended = Promise.withResolvers<unknown>();
      source.open({
        next(bytes) {
          chunks.push(bytes);
          source.pause();
          setImmediate(() => source.resume());
        },
        end: ended.resolve,
      });
      expect(await ended.promise).toEqual({ complete: true });
      expect(Buffer.concat(chunks).equals(body)).toBe(true);
    });

    it("serves answers and streams over one session; one stream's abort leaves the other alone", async () => {
      script = (stream) => {
        head(stream, "text/event-stream");
        stream.write(event("a"));
        setTimeout(() => stream.end(event("b", "stop") + DONE), 200);
      };
      const { set } = await leased(true);
      const before = sessions;
      const [kept, given] = await Promise.all([
        set.send(target(), call({ stream: true }), exchange()),
        set.send(target(), call({ stream: true }), exchange()),
      ]);
      const reading = read(streamOf(kept));
      streamOf(given).cancel();
      await expect.poll(() => streams.size).toBe(1);
      expect(given.type).toBe("events");
      expect(await reading).toMatchObject({ text: "ab", ending: { complete: true } });
      script = (stream) => {
        head(stream, "application/json");
        stream.end(JSON.stringify({ choices: [{ message: { content: "x" } }] }));
      };
      expect(await set.send(target(), call(), exchange())).toMatchObject({ type: "answer" });
      expect(sessions - before).toBe(1);
    });

    it("silence, a reset and a status are what they are on HTTP/1.1", async () => {
      const { set } = await leased(true);
      script = () => undefined;
      const timeouts = { ...TIMEOUTS, firstByte: 100 };
      const silent = set.send(target({ timeouts }), call({ stream: true }), exchange());
      expect(await failure(silent)).toMatchObject({ failure: "timeout" });
      script = (stream) => stream.close(2);
      expect(await failure(set.send(target(), call(), exchange()))).toMatchObject({ failure: "reset" });
      script = (stream) => {
        stream.respond({ ":status": 429, "retry-after": "7" });
        stream.end();
      };
      expect(await failure(set.send(target(), call(), exchange()))).toMatchObject({
        failure: "rate_limited",
        retryAfter: 7_000,
      });
      script = (stream) => {
        head(stream, "text/event-stream");
        stream.write(event("a"));
        setTimeout(() => stream.close(2), 50);
      };
      // The key rests after the 429; it is the only one, so a fresh set of connections stands in for a fresh key.
      const other = await leased(true);
      const seen = await read(streamOf(await other.set.send(target(), call({ stream: true }), exchange())));
      expect(seen).toMatchObject({ text: "a", ending: { complete: false } });
    });

    it("is not spoken unless it is asked for", async () => {
      const { set } = await leased(false);
      script = () => undefined;
      server.once("request", (request, reply) => {
        reply.setHeader("content-type", "application/json");
        reply.end(JSON.stringify({ choices: [{ message: { content: request.httpVersion } }] }));
      });
      const reply = await set.send(target(), call(), exchange());
      expect(JSON.stringify(reply.type === "answer" ? reply.body : null)).toContain('"1.1"');
    });
  });
});
