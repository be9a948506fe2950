import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { proxyFor, proxyRules } from "../../src/kit/index.ts";
import { proxiedFetch } from "../../src/network/agents.ts";
import { openOtlp } from "../../src/telemetry/otlp.ts";
import { memoryLog, waitFor } from "../server/support.ts";
import { authority, certificate } from "../support/certificates.ts";
import { startProxy } from "../support/proxy.ts";

const CA = authority();
const usual = getCACertificates("default");
beforeAll(() => setDefaultCACertificates([...usual, CA.cert]));
afterAll(() => setDefaultCACertificates(usual));

/** Answers every request with `{}`. */
async function receiver(secure: boolean): Promise<{ readonly port: number; readonly seen: string[] }> {
  const seen: string[] = [];
  const serve = (req: IncomingMessage, res: ServerResponse): void => {
    seen.push(`${req.method} ${req.url} ${req.headers.host} ${req.headers["proxy-authorization"] ?? "-"}`);
    req.resume().on("end", () => res.setHeader("content-type", "application/json").end("{}"));
  };
  const identity = certificate({ issuer: CA, hosts: ["idp.test", "otlp.test"] });
  const server = secure ? createSecureServer({ ...identity }, serve) : createServer(serve);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, seen };
}

test("OpenID Connect: a fetch goes through the proxy, and directly to loopback", async () => {
  const [proxy, provider, local] = [await startProxy(), await receiver(true), await receiver(false)];
  const fetch = proxiedFetch(
    proxyRules({ HTTPS_PROXY: proxy.url.replace("//", "//ada:pass@"), HTTP_PROXY: proxy.url }),
  );
  const url = `https://idp.test:${provider.port}/.well-known/openid-configuration`;
  expect(await (await fetch(url, { headers: { accept: "application/json" } })).json()).toEqual({});
  expect(proxy.asked).toEqual([`CONNECT idp.test:${provider.port}`]);
  expect(proxy.authorizations).toEqual([`Basic ${Buffer.from("ada:pass").toString("base64")}`]);
  expect(provider.seen).toEqual([`GET /.well-known/openid-configuration idp.test:${provider.port} -`]);
  expect((await fetch(`http://127.0.0.1:${local.port}/x`)).status).toBe(200);
  expect(proxy.asked).toHaveLength(1);
});

test.each([true, false])("OTLP goes through the proxy (https: %s)", async (secure) => {
  const [proxy, target] = [await startProxy(), await receiver(secure)];
  const rules = proxyRules({ HTTPS_PROXY: proxy.url, HTTP_PROXY: proxy.url });
  const sink = await openOtlp({
    endpoint: `${secure ? "https" : "http"}://otlp.test:${target.port}`,
    headers: {},
    interval: 100,
    attributes: {},
    schedule(ms, callback) {
      const timer = setTimeout(callback, ms);
      return () => clearTimeout(timer);
    },
    log: memoryLog(),
    proxyTo: (url) => proxyFor(url, rules),
  });
  onTestFinished(() => sink.close());
  sink.record("gen_ai.client.operation.duration", 1, {});
  await waitFor(() => target.seen.length > 0);
  expect(target.seen[0]).toBe(`POST /v1/metrics otlp.test:${target.port} -`);
  expect(proxy.asked[0]).toBe(
    secure ? `CONNECT otlp.test:${target.port}` : `POST http://otlp.test:${target.port}/v1/metrics`,
  );
});
