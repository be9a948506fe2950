import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { Agent, request, type RequestOptions } from "node:https";
import { connect as connectTcp } from "node:net";
import { join } from "node:path";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { listenSecurely } from "../../src/gateway/certificates.ts";
import type { ListenerTls } from "../../src/kit/index.ts";
import { Connections } from "../../src/server/connections.ts";
import type { Listening, ListenOptions } from "../../src/server/listen.ts";
import { type LogLine, memoryLog, waitFor } from "../server/support.ts";
import { authority, certificate, type Identity } from "../support/certificates.ts";
import { passingFolder } from "../support/folder.ts";

/** What a client is told of a connection that it is not given: an alert, or its end. */
const REFUSED = /alert|socket hang up|ECONNRESET|disconnected|EPIPE/i;
const HOST = "127.0.0.1";
const CA = authority();
const FIRST = certificate({ issuer: CA });
const SECOND = certificate({ issuer: CA });

interface Secure {
  readonly folder: string;
  readonly port: number;
  readonly listening: Listening;
  readonly lines: LogLine[];
}

async function write(folder: string, { cert, key }: Identity): Promise<void> {
  await writeFile(join(folder, "tls.crt"), cert);
  await writeFile(join(folder, "tls.key"), key);
}

/** A listener with the first certificate that answers with its path, and for `/held` only when it is told to. */
async function secure(
  more: { readonly clientCa?: string; readonly options?: ListenOptions; readonly held?: Promise<void> } = {},
): Promise<Secure> {
  const folder = passingFolder();
  await mkdir(folder, { recursive: true });
  await write(folder, FIRST);
  const clientCa = more.clientCa === undefined ? {} : { clientCa: join(folder, "ca.pem") };
  if (more.clientCa !== undefined) await writeFile(join(folder, "ca.pem"), more.clientCa);
  const tls: ListenerTls = { cert: join(folder, "tls.crt"), key: join(folder, "tls.key"), ...clientCa };
  const lines: LogLine[] = [];
  const listening = await listenSecurely(
    [{ host: HOST, port: 0, tls }],
    (req, res) => {
      if (req.url !== "/held") return void res.end(req.url);
      res.write("begun ");
      void more.held?.then(() => res.end("ended"));
    },
    { setting: "server.admin", ...more.options },
    { log: memoryLog(lines), now: Date.now, poll: 50, settle: 20 },
  );
  onTestFinished(async () => {
    listening.closeAll();
    await listening.close();
  });
  return { folder, port: listening.addresses[0]!.port, listening, lines };
}

/** The answer's text, and the serial number of the certificate that came with it. */
async function ask(
  port: number,
  options: RequestOptions & Pick<ConnectionOptions, "ALPNProtocols" | "session"> = {},
): Promise<{ readonly text: string; readonly serial: string; readonly alpn: string | false | null }> {
  const req = request({ host: HOST, port, path: "/", ca: CA.cert, agent: false, ...options }).end();
  const [res] = (await once(req, "response")) as [IncomingMessage];
  const socket = res.socket as TLSSocket;
  const found = { serial: socket.getPeerCertificate().serialNumber, alpn: socket.alpnProtocol };
  let text = "";
  for await (const part of res) text += String(part);
  return { text, ...found };
}

function open(port: number, options: ConnectionOptions = {}): TLSSocket {
  const socket = connect({ port, host: HOST, ca: CA.cert, ...options });
  socket.on("error", () => {});
  socket.resume();
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** All that the server sends to a client that does not speak TLS. */
async function plain(port: number, bytes: string): Promise<string> {
  const socket = connectTcp(port, HOST);
  onTestFinished(() => void socket.destroy());
  let text = "";
  socket.on("data", (part) => (text += String(part)));
  socket.on("error", () => {});
  socket.write(bytes);
  await once(socket, "close");
  return text;
}

test("a listener with tls speaks HTTPS, HTTP/1.1 by ALPN, and TLS 1.2 or newer", async () => {
  const { port, listening } = await secure();
  expect(listening.addresses).toEqual([{ host: HOST, port, secure: true }]);
  expect(await ask(port, { path: "/x", ALPNProtocols: ["h2", "http/1.1"] })).toMatchObject({
    text: "/x",
    alpn: "http/1.1",
  });
  for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
    const socket = open(port, { minVersion: version, maxVersion: version });
    await once(socket, "secureConnect");
    expect(socket.getProtocol()).toBe(version);
  }
  // OpenSSL's own default would refuse older ones already: its lowest level lets a client try.
  const old = open(port, { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" });
  await expect(once(old, "secureConnect")).rejects.toMatchObject({ code: "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION" });
});

test("a renewed pair serves new connections; an answer under way ends on the old one", async () => {
  const held = Promise.withResolvers<void>();
  const { port, folder, lines } = await secure({ held: held.promise });
  const { serial } = await ask(port);
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const running = ask(port, { path: "/held", agent });
  await write(folder, SECOND);
  await waitFor(() => lines.some(({ message }) => message === "certificate renewed"));
  expect((await ask(port)).serial).not.toBe(serial);
  held.resolve();
  expect(await running).toMatchObject({ text: "begun ended", serial });
  expect(lines.filter(({ level }) => level === "error")).toEqual([]);
});

test("a folder that a link leads to is swapped as Kubernetes does", async () => {
  const folder = passingFolder();
  for (const [name, identity] of [
    ["one", FIRST],
    ["two", SECOND],
  ] as const) {
    await mkdir(join(folder, name), { recursive: true });
    await write(join(folder, name), identity);
  }
  await symlink("one", join(folder, "..data"));
  for (const name of ["tls.crt", "tls.key"]) await symlink(`..data/${name}`, join(folder, name));
  const lines: LogLine[] = [];
  const listening = await listenSecurely(
    [{ host: HOST, port: 0, tls: { cert: join(folder, "tls.crt"), key: join(folder, "tls.key") } }],
    (_req, res) => void res.end(),
    {},
    { log: memoryLog(lines), now: Date.now, poll: 50 },
  );
  onTestFinished(() => listening.close());
  const { port } = listening.addresses[0]!;
  const { serial } = await ask(port);
  await symlink("two", join(folder, "..next"));
  await rename(join(folder, "..next"), join(folder, "..data"));
  await waitFor(() => lines.some(({ message }) => message === "certificate renewed"));
  expect((await ask(port)).serial).not.toBe(serial);
});

test.each([
  ["no PEM", (folder: string) => writeFile(join(folder, "tls.crt"), "rubbish"), "tls.crt holds no certificate in PEM"],
  ["another's key", (folder: string) => writeFile(join(folder, "tls.key"), SECOND.key), "tls.key does not belong"],
  ["nothing", (folder: string) => rename(join(folder, "tls.key"), join(folder, "old")), "tls.key does not exist"],
])("%s is one error in the log, and the old pair serves on until the next good one", async (_name, spoil, said) => {
  const { port, folder, lines } = await secure();
  const { serial } = await ask(port);
  await spoil(folder);
  const errors = () => lines.filter(({ level }) => level === "error");
  await waitFor(() => errors().length > 0);
  expect(errors()[0]!.message).toContain("new certificate not used, the old one stays in service: ");
  expect(errors()[0]!.message).toContain(said);
  expect(errors()[0]!.fields).toEqual({ listener: "server.admin.tls" });
  expect((await ask(port)).serial).toBe(serial);
  expect(errors()).toHaveLength(1);
  await write(folder, SECOND);
  await waitFor(() => lines.some(({ message }) => message === "certificate renewed"));
  expect((await ask(port)).serial).not.toBe(serial);
});

test("an expired certificate serves, with a warning", async () => {
  const { folder, lines } = await secure();
  await write(folder, certificate({ issuer: CA, from: new Date("2020-01-01"), to: new Date("2021-01-01") }));
  await waitFor(() => lines.some(({ level }) => level === "warn"));
  expect(lines.find(({ level }) => level === "warn")!.message).toBe("the certificate expired on 2021-01-01: renew it");
});

test("client_ca: only a certificate of that authority is let in, and a refused one is told at debug level", async () => {
  const { port, lines } = await secure({ clientCa: CA.cert });
  const client = certificate({ name: "operator", hosts: [], issuer: CA });
  expect(await ask(port, { ...client })).toMatchObject({ text: "/" });
  const foreign = certificate({ name: "operator", hosts: [], issuer: authority("another") });
  for (const identity of [{}, foreign, certificate({ name: "operator", hosts: [] })]) {
    await expect(ask(port, identity)).rejects.toThrow(REFUSED);
  }
  await waitFor(() => lines.length >= 3);
  expect(lines.map(({ level, message }) => [level, message])).toEqual(
    lines.map(() => ["debug", "TLS handshake failed"]),
  );
  expect(lines.map(({ fields }) => (fields as { reason: string }).reason)).toEqual([
    "the client sent no certificate",
    "the client's certificate is none of client_ca",
    "the client's certificate is none of client_ca",
  ]);
});

test("an authority that is taken out of client_ca is believed no more, not even for a resumed session", async () => {
  const { port, folder, lines } = await secure({ clientCa: CA.cert });
  const client = certificate({ name: "operator", hosts: [], issuer: CA });
  const first = open(port, { ...client });
  const [session] = (await once(first, "session")) as [Buffer];
  await writeFile(join(folder, "ca.pem"), authority("another").cert);
  await waitFor(() => lines.some(({ message }) => message === "certificate renewed"));
  await expect(ask(port, { ...client, session })).rejects.toThrow(REFUSED);
});

test("HTTP at a TLS port is told to use https, and rubbish is cut", async () => {
  const { port, lines } = await secure();
  const answer = await plain(port, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n");
  expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  expect(answer).toContain("This port speaks HTTPS: use an address that begins with https://");
  expect(await plain(port, "rubbish rubbish rubbish\r\n\r\n")).not.toContain("HTTP/1.1");
  expect(lines.every(({ level }) => level === "debug")).toBe(true);
  expect((await ask(port)).text).toBe("/");
});

test("a handshake counts as a connection, and is cut when it takes too long", async () => {
  const bounds = { total: 1, perAddress: null };
  const connections = new Connections(() => ({ bounds, isProxy: () => false }));
  const refused: number[] = [];
  const { port, lines } = await secure({
    options: { connections, timeouts: { headers: 300 }, onMalformed: (status) => refused.push(status) },
  });
  const slow = connectTcp(port, HOST);
  onTestFinished(() => void slow.destroy());
  slow.resume();
  slow.on("error", () => {});
  await waitFor(() => connections.open === 1);
  await expect(ask(port)).rejects.toThrow(REFUSED);
  expect(refused).toEqual([503]);
  await once(slow, "close");
  await waitFor(() => connections.open === 0);
  expect(lines.map(({ fields }) => (fields as { code: string }).code)).toContain("ERR_TLS_HANDSHAKE_TIMEOUT");
  expect((await ask(port)).text).toBe("/");
});

test("a close waits for the answer under way, and not for handshakes", async () => {
  const held = Promise.withResolvers<void>();
  const { port, listening } = await secure({ held: held.promise });
  const running = ask(port, { path: "/held" });
  const slow = connectTcp(port, HOST);
  slow.on("error", () => {});
  slow.resume();
  await once(slow, "connect");
  const req = open(port);
  await once(req, "secureConnect");
  const closing = listening.close();
  await once(slow, "close");
  held.resolve();
  expect((await running).text).toBe("begun ended");
  await closing;
});

test("a client that reads nothing of a TLS answer is cut", async () => {
  const lines: LogLine[] = [];
  const folder = passingFolder();
  await mkdir(folder, { recursive: true });
  await write(folder, FIRST);
  let isCut = false;
  const listening = await listenSecurely(
    [{ host: HOST, port: 0, tls: { cert: join(folder, "tls.crt"), key: join(folder, "tls.key") } }],
    (_req, res) => {
      res.on("close", () => (isCut = true));
      res.end(Buffer.alloc(24 * 1024 * 1024));
    },
    { timeouts: { stall: 300 } },
    { log: memoryLog(lines), now: Date.now },
  );
  onTestFinished(async () => {
    listening.closeAll();
    await listening.close();
  });
  const client = connect({ port: listening.addresses[0]!.port, host: HOST, ca: CA.cert });
  client.on("error", () => {});
  onTestFinished(() => void client.destroy());
  client.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  client.pause();
  await waitFor(() => isCut);
  expect(client.bytesRead).toBeLessThan(24 * 1024 * 1024);
});

test("files that cannot be used at the start are an error that names the listener", async () => {
  const folder = passingFolder();
  await mkdir(folder, { recursive: true });
  await write(folder, { cert: FIRST.cert, key: SECOND.key });
  const tls = { cert: join(folder, "tls.crt"), key: join(folder, "tls.key") };
  const listening = listenSecurely(
    [{ host: HOST, port: 0, tls }],
    (_req, res) => void res.end(),
    { setting: "server.listen" },
    { log: memoryLog(), now: Date.now },
  );
  await expect(listening).rejects.toThrow("server.listen[0].tls: tls.key does not belong to the certificate");
});
