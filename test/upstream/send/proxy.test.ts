import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { describe, expect, onTestFinished, test } from "vitest";
import { proxyRules, Secret, type Upstream, type UpstreamTls } from "../../../src/kit/index.ts";
import { openai } from "../../../src/dialects/chat/index.ts";
import { createUpstreams, type UpstreamSet, type Upstreams } from "../../../src/upstream/upstreams.ts";
import { authority, certificate, type Identity } from "../../support/certificates.ts";
import { startProxy, type TestProxy } from "../../support/proxy.ts";
import { call, exchange, failure, read, silent, snapshot, streamOf, target, upstream } from "../support/build.ts";
import { answer, DONE, event } from "../support/raw-upstream.ts";

const CA = authority();
const SERVER = certificate({ issuer: CA, hosts: ["api.test", "localhost", "127.0.0.1"] });

interface Provider {
  readonly port: number;
  readonly requests: { readonly url: string; readonly host: string; readonly auth: string | undefined }[];
}

/** A provider that streams one word for a streamed call, and answers any other. */
async function provider(identity: Identity | null = SERVER, options: object = {}): Promise<Provider> {
  const requests: Provider["requests"] = [];
  const serve: RequestListener = (req: IncomingMessage, res) => {
    const { host = "", "proxy-authorization": auth } = req.headers;
    requests.push({ url: req.url!, host, auth });
    let body = "";
    req.on("data", (part) => (body += String(part)));
    req.on("end", () => {
      if (body.includes('"stream":true')) {
        res.writeHead(200, { "content-type": "text/event-stream" });
        res.end(event("well", "stop") + DONE);
      } else {
        const text = answer("well").split("\r\n\r\n")[1]!;
        res.writeHead(200, { "content-type": "application/json" }).end(text);
      }
    });
  };
  const server: Server =
    identity === null ? createServer(serve) : createSecureServer({ ...identity, ...options }, serve);
  server.on("tlsClientError", () => {});
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, requests };
}

function pem(text: string): NonNullable<UpstreamTls["ca"]> {
  return { file: "/ca.pem", text: new Secret(text) };
}

const TRUSTED: UpstreamTls = { ca: pem(CA.cert) };

async function leased(
  env: Record<string, string>,
  ...upstreams: readonly Upstream[]
): Promise<{ set: UpstreamSet; registry: Upstreams }> {
  const registry = createUpstreams({
    dialects: { openai },
    now: Date.now,
    log: silent,
    proxies: proxyRules(env),
  });
  onTestFinished(() => registry.close());
  return { registry, set: await registry.lease(snapshot(...upstreams)) };
}

async function asked(set: UpstreamSet): Promise<string> {
  const reply = await set.send(target(), call({ stream: true }), exchange());
  const events = await read(streamOf(reply));
  return JSON.stringify(events);
}

describe("the proxy of the environment", () => {
  test("https goes by CONNECT, with TLS to the provider; http with the whole address", async () => {
    const proxy = await startProxy();
    const secure = await provider();
    const { set } = await leased(
      { HTTPS_PROXY: proxy.url },
      upstream(`https://api.test:${secure.port}/v1`, { tls: TRUSTED }),
    );
    expect(await asked(set)).toContain("well");
    expect(proxy.asked).toEqual([`CONNECT api.test:${secure.port}`]);
    expect(secure.requests).toMatchObject([{ url: "/v1/chat/completions", host: `api.test:${secure.port}` }]);
    const plain = await provider(null);
    const { set: second } = await leased({ http_proxy: proxy.url }, upstream(`http://api.test:${plain.port}/v1`));
    expect(await asked(second)).toContain("well");
    expect(proxy.asked.slice(1)).toEqual([`POST http://api.test:${plain.port}/v1/chat/completions`]);
    expect(plain.requests).toMatchObject([{ url: "/v1/chat/completions", host: `api.test:${plain.port}` }]);
  });

  test("user and password go to the proxy alone", async () => {
    const proxy = await startProxy();
    const [secure, plain] = [await provider(), await provider(null)];
    const withPassword = proxy.url.replace("//", "//ada:se%40cret@");
    const env = { HTTPS_PROXY: withPassword, HTTP_PROXY: withPassword };
    for (const one of [
      upstream(`https://api.test:${secure.port}/v1`, { tls: TRUSTED }),
      upstream(`http://api.test:${plain.port}/v1`),
    ]) {
      const { set } = await leased(env, one);
      expect(await asked(set)).toContain("well");
    }
    const basic = `Basic ${Buffer.from("ada:se@cret").toString("base64")}`;
    expect(proxy.authorizations).toEqual([basic, basic]);
    expect([...secure.requests, ...plain.requests].map(({ auth }) => auth)).toEqual([undefined, undefined]);
  });

  test("loopback, what NO_PROXY names and upstreams with proxy: none are asked directly", async () => {
    const proxy = await startProxy();
    const plain = await provider(null);
    const env = { HTTP_PROXY: proxy.url };
    for (const [own, one] of [
      [env, upstream(`http://127.0.0.1:${plain.port}/v1`)],
      [env, upstream(`http://localhost:${plain.port}/v1`)],
      [{ ...env, NO_PROXY: ".test" }, upstream(`http://127.0.0.1:${plain.port}/v1`, { proxy: null })],
    ] as const) {
      const { set } = await leased(own, one);
      expect(await asked(set)).toContain("well");
    }
    expect(proxy.asked).toEqual([]);
    expect(plain.requests).toHaveLength(3);
  });

  test("an upstream's own proxy stands in place of the environment's, for loopback too", async () => {
    const [ofAll, own] = [await startProxy(), await startProxy()];
    const plain = await provider(null);
    const { set } = await leased(
      { HTTP_PROXY: ofAll.url },
      upstream(`http://127.0.0.1:${plain.port}/v1`, { proxy: new Secret(own.url) }),
    );
    expect(await asked(set)).toContain("well");
    expect([ofAll.asked, own.asked.length]).toEqual([[], 1]);
  });

  test("a proxy that speaks TLS itself", async () => {
    const before = getCACertificates("default");
    setDefaultCACertificates([...before, CA.cert]);
    onTestFinished(() => setDefaultCACertificates(before));
    const proxy = await startProxy({ identity: certificate({ issuer: CA }) });
    const url = proxy.url.replace("127.0.0.1", "localhost");
    const [secure, plain] = [await provider(), await provider(null)];
    for (const one of [upstream(`https://api.test:${secure.port}/v1`), upstream(`http://api.test:${plain.port}/v1`)]) {
      const { set } = await leased({ HTTPS_PROXY: url, HTTP_PROXY: url }, one);
      expect(await asked(set)).toContain("well");
    }
    expect(proxy.asked).toHaveLength(2);
  });
});

describe("a proxy that does not let a request through", () => {
  const down: TestProxy = { url: "http://127.0.0.1:9", host: "127.0.0.1:9", asked: [], authorizations: [] };

  test.each([
    [
      "a demand for a password",
      () => startProxy({ refuse: 407 }),
      "PROXY_AUTHENTICATION",
      "does not take the user and password (407)",
    ],
    ["a refusal", () => startProxy({ refuse: 403 }), "PROXY_REFUSED", "refused the connection (403)"],
    ["silence", () => startProxy({ hang: true }), "PROXY_TIMEOUT", "did not connect in time"],
    ["no proxy", () => Promise.resolve(down), "PROXY_UNREACHABLE", "could not be reached (ECONNREFUSED)"],
  ])(
    "%s is a failure to connect, which names the proxy's host to operators alone",
    async (_name, start, code, words) => {
      const proxy = await start();
      for (const scheme of ["https", "http"]) {
        // A forward proxy's own answer cannot be told from the origin's, but for one status; and silence is the origin's.
        if (scheme === "http" && (code === "PROXY_REFUSED" || code === "PROXY_TIMEOUT")) continue;
        const url = proxy.url.replace("//", "//ada:hidden-password@");
        const one = upstream(`${scheme}://api.test:9/v1`, {
          timeouts: { connect: 300, firstByte: 2000, idle: 2000, total: 2000 },
        });
        const { set } = await leased({ HTTPS_PROXY: url, HTTP_PROXY: url }, one);
        const error = await failure(set.send(target({ timeouts: one.timeouts }), call({ stream: true }), exchange()));
        expect(error.message).not.toContain("proxy");
        expect(error).toMatchObject({ failure: "connect", message: "upstream could not be reached", causeCode: code });
        expect(error.detail).toBe(`the proxy ${proxy.host} ${words}`);
        expect(JSON.stringify(error)).not.toContain("hidden-password");
      }
    },
  );
});

describe("an upstream's own TLS files", () => {
  test("ca stands beside the usual authorities", async () => {
    const before = getCACertificates("default");
    const usual = authority("usual");
    setDefaultCACertificates([...before, usual.cert]);
    onTestFinished(() => setDefaultCACertificates(before));
    const [own, others] = [await provider(), await provider(certificate({ issuer: usual }))];
    for (const { port } of [own, others]) {
      const { set } = await leased({}, upstream(`https://127.0.0.1:${port}/v1`, { tls: TRUSTED }));
      expect(await asked(set)).toContain("well");
    }
  });

  test("an authority that nobody knows is told with the setting that helps", async () => {
    const { port } = await provider();
    const { set } = await leased({}, upstream(`https://127.0.0.1:${port}/v1`));
    const error = await failure(set.send(target(), call(), exchange()));
    expect(error.message).toBe("upstream could not be reached");
    expect(error.detail).toMatch(
      /^(?:its certificate|the issuer).* \(\w+ 127\.0\.0\.1:\d+\); see upstreams\.alpha\.tls: ca$/,
    );
  });

  test("cert and key are shown to a provider that asks for them", async () => {
    const { port } = await provider(SERVER, { requestCert: true, ca: CA.cert, maxVersion: "TLSv1.2" });
    const client = certificate({ name: "gateway", hosts: [], issuer: CA });
    const tls = { ...TRUSTED, cert: pem(client.cert), key: pem(client.key) };
    const { set } = await leased({}, upstream(`https://127.0.0.1:${port}/v1`, { tls }));
    expect(await asked(set)).toContain("well");
    const { set: without } = await leased({}, upstream(`https://127.0.0.1:${port}/v1`, { tls: TRUSTED }));
    const error = await failure(without.send(target(), call(), exchange()));
    expect(error.detail).toContain("it did not take the client certificate, or the lack of one");
    expect(error.detail).toContain("see upstreams.alpha.tls: cert and key");
  });

  test("a lease with other files makes connections of its own", async () => {
    const { port } = await provider();
    const bad = upstream(`https://127.0.0.1:${port}/v1`, { tls: { ca: pem(authority("other").cert) } });
    const { set, registry } = await leased({}, bad);
    await failure(set.send(target(), call(), exchange()));
    const next = await registry.lease(snapshot({ ...bad, tls: TRUSTED }));
    await set.release();
    expect(await asked(next)).toContain("well");
  });
});
