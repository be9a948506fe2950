import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { RouteServed } from "../../src/server/public.ts";
import { createConsolePages, createDashboardPages, type PageFiles, readPages } from "../../src/server/pages.ts";
import { passingFolder } from "../support/folder.ts";
import { admin } from "./admin/support.ts";
import { keepAliveAgent, open, send, type SendOptions, start, type StartOptions, waitFor } from "./support.ts";

const HTML = "<!doctype html><title>dashboard</title>";
const STATUS = "<!doctype html><title>status</title>";
const SCRIPT = "console.log(1);".repeat(50);
/** As browsers send it. */
const BROWSER = { accept: "text/html,application/xhtml+xml,*/*;q=0.8", "accept-encoding": "gzip, deflate, br" };

/** A build in small: one script is compressed, one file is none of the pages'. */
function built(): PageFiles {
  const folder = passingFolder();
  mkdirSync(join(folder, "assets"), { recursive: true });
  const write = (name: string, content: string | Uint8Array) => writeFileSync(join(folder, name), content);
  write("dashboard.html", HTML);
  write("status.html", STATUS);
  write("console.html", "<!doctype html><title>console</title>");
  write("robots.html", "none of the pages");
  write("assets/app-a1.js", SCRIPT);
  write("assets/app-a1.js.br", brotliCompressSync(SCRIPT));
  write("assets/app-a1.js.gz", gzipSync(SCRIPT));
  write("assets/style-b2.css", "a{}");
  write("manifest.json", "{}");
  return readPages(folder);
}

async function serving(options: StartOptions = {}, files: PageFiles = built()) {
  const served: RouteServed[] = [];
  const { port } = await start({
    routes: [{ method: "GET", path: "/v1/thing", handle: () => ({ is: "a thing" }) }],
    pages: createDashboardPages(files),
    onRouteServed: (one) => served.push(one),
    ...options,
  });
  const get = (path: string, headers: Record<string, string> = BROWSER, more: SendOptions = {}) =>
    send(port, { method: "GET", path, headers, ...more });
  return { port, get, served };
}

const NOT_FOUND = { status: 404, text: '{"message":"Not found"}', headers: { "content-type": "application/json" } };

describe("pages", () => {
  test("a browser gets them, with what keeps other pages out and nothing kept unasked", async () => {
    const { get } = await serving();
    const answer = await get("/");
    expect(answer).toMatchObject({ status: 200, text: HTML });
    expect(answer.headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-cache",
      "content-length": String(HTML.length),
      "cross-origin-opener-policy": "same-origin",
      "referrer-policy": "no-referrer",
      vary: "Accept, Accept-Encoding",
      "x-content-type-options": "nosniff",
      "x-request-id": expect.any(String),
    });
    const policy = String(answer.headers["content-security-policy"]).split("; ");
    expect(policy).toContain("default-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy.join()).not.toContain("unsafe");
    expect(await get("/status?from=mail")).toMatchObject({ status: 200, text: STATUS });
  });

  test.each([
    ["what no browser sends", { accept: "application/json" }],
    ["curl", { accept: "*/*" }],
    ["nothing at all", {}],
    ["a refusal", { accept: "text/html;q=0, */*" }],
  ])("a program that asks with %s is told what it was told before", async (_, headers) => {
    const { get } = await serving();
    expect(await get("/", headers as Record<string, string>)).toMatchObject(NOT_FOUND);
    expect(await get("/status", headers as Record<string, string>)).toMatchObject(NOT_FOUND);
  });

  test("a file whose name changes with its content is kept for ever", async () => {
    const { get } = await serving();
    const { headers } = await get("/assets/style-b2.css", {});
    expect(headers).toMatchObject({
      "cache-control": "public, max-age=31536000, immutable",
      "content-type": "text/css; charset=utf-8",
      "x-content-type-options": "nosniff",
    });
  });

  test("the smallest form that the client takes, each with a tag of its own", async () => {
    const { get } = await serving();
    const tags = new Set<unknown>();
    const forms: [string, string | undefined][] = [
      ["gzip, br", "br"],
      ["gzip, br;q=0", "gzip"],
      ["identity", undefined],
    ];
    for (const [encodings, chosen] of forms) {
      const { headers } = await get("/assets/app-a1.js", { "accept-encoding": encodings });
      expect(headers).toMatchObject({ "content-type": "text/javascript; charset=utf-8", vary: "Accept-Encoding" });
      expect(headers["content-encoding"]).toBe(chosen);
      tags.add(headers.etag);
    }
    expect(tags.size).toBe(forms.length);
    expect(await get("/assets/app-a1.js", {})).toMatchObject({ text: SCRIPT });
  });

  test("who has it already is told so, without a body", async () => {
    const { get } = await serving();
    const { etag } = (await get("/")).headers;
    const again = await get("/", { ...BROWSER, "if-none-match": `"other", W/${etag}` });
    expect(again).toMatchObject({ status: 304, text: "", headers: { etag } });
    expect(again.headers["content-length"]).toBeUndefined();
    expect(again.headers["content-security-policy"]).toContain("default-src");
    expect(await get("/", { ...BROWSER, "if-none-match": '"other"' })).toMatchObject({ status: 200 });
  });

  test("HEAD has the head alone, other methods are as before, and the connection goes on", async () => {
    const { get, port } = await serving();
    const agent = keepAliveAgent();
    const head = await get("/", BROWSER, { method: "HEAD", agent });
    expect(head).toMatchObject({ status: 200, text: "", headers: { "content-length": String(HTML.length) } });
    for (const method of ["POST", "DELETE", "OPTIONS"]) {
      expect(await get("/", BROWSER, { method, body: "", agent })).toMatchObject({ status: 404 });
    }
    expect(await send(port, { method: "GET", path: "/v1/thing", headers: BROWSER, agent })).toMatchObject({
      text: '{"is":"a thing"}',
    });
  });

  test.each([
    "/dashboard.html",
    "/robots.html",
    "/console.html",
    "/console",
    "/manifest.json",
    "/assets/app-a1.js.gz",
    "/assets",
    "/assets/",
    "/assets/../dashboard.html",
    "/assets/..%2fdashboard.html",
    "//dashboard.html",
    "/../package.json",
    "/..%2f..%2fpackage.json",
    "/assets/app-a1.js%00",
    "/__proto__",
    "/constructor",
    "/status/",
    "/STATUS",
  ])("%s is not there", async (path) => {
    const { get } = await serving();
    expect(await get(path)).toMatchObject({ status: 404 });
  });

  test("a path that climbs out of the folder stays one that is not there, however it is sent", async () => {
    const { port } = await serving();
    for (const path of ["/assets/../../../package.json", "/assets/%2e%2e/%2e%2e/package.json", "/./dashboard.html"]) {
      const raw = await open(port);
      raw.socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\nConnection: close\r\n\r\n`);
      expect(await raw.closed()).toMatch(/^HTTP\/1\.1 404 /);
    }
  });

  test("one line of the configuration turns them off", async () => {
    const { get } = await serving({ settings: { dashboard: false } });
    expect(await get("/")).toMatchObject(NOT_FOUND);
    expect(await get("/assets/style-b2.css")).toMatchObject(NOT_FOUND);
  });

  test("not built: a browser reads what to run, a program what it read before, and all else is served", async () => {
    const { get, port } = await serving({}, readPages(passingFolder()));
    const answer = await get("/");
    expect(answer).toMatchObject({ status: 503, text: expect.stringContaining("npm run build:ui") });
    expect(answer.headers).toMatchObject({ "content-type": "text/html; charset=utf-8", "cache-control": "no-store" });
    expect(await get("/", {})).toMatchObject(NOT_FOUND);
    expect(await get("/assets/style-b2.css")).toMatchObject(NOT_FOUND);
    expect(await send(port)).toMatchObject({ status: 200 });
  });

  test("they count by the pattern of their path, and are within the limit of their address", async () => {
    const { get, served } = await serving({ settings: { ipLimit: { requests: 3, window: 60_000 } } });
    for (const path of ["/", "/status?x", "/assets/app-a1.js"]) expect(await get(path)).toMatchObject({ status: 200 });
    expect(await get("/")).toMatchObject({ status: 429 });
    await waitFor(() => served.length === 3);
    expect(served.map(({ route, status }) => [route, status])).toEqual([
      ["/", 200],
      ["/status", 200],
      ["/assets/**", 200],
    ]);
  });
});

const listening = (files: PageFiles, token?: string) =>
  admin({ pages: createConsolePages(files, () => token !== ""), ...(token !== undefined && { token }) });

describe("the console", () => {
  test("is on the admin listener, for browsers that name this host", async () => {
    const { ask } = await listening(built());
    for (const path of ["/", "/console"]) {
      const answer = await ask(path, BROWSER);
      expect(answer).toMatchObject({ status: 200, text: expect.stringContaining("<title>console</title>") });
      expect(answer.headers).toMatchObject({ "cache-control": "no-cache", "x-request-id": expect.any(String) });
    }
    expect(await ask("/assets/app-a1.js", BROWSER)).toMatchObject({ status: 200 });
    expect(await ask("/console", { accept: "*/*" })).toMatchObject({ status: 401 });
    expect(await ask("/status", BROWSER)).toMatchObject({ status: 401 });
    // A name that somebody has pointed here.
    const foreign = await ask("/console", { ...BROWSER, host: "attacker.example" });
    expect(foreign).toMatchObject({ status: 400, text: expect.stringContaining("names another host") });
    expect(await ask("/assets/app-a1.js", { ...BROWSER, host: "attacker.example" })).toMatchObject({ status: 400 });
  });

  test("without a token it says which line opens it", async () => {
    const { ask } = await listening(built(), "");
    const answer = await ask("/console", BROWSER);
    expect(answer).toMatchObject({ status: 404, text: expect.stringContaining("server.admin.token") });
    expect(answer.headers).toMatchObject({ "content-type": "text/html; charset=utf-8", "cache-control": "no-store" });
    expect(await ask("/livez")).toMatchObject({ status: 200, headers: { "cache-control": "no-store" } });
  });
});
