import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import { describe, expect, onTestFinished, test } from "vitest";
import { type RedisServer, describeRedis, startRedis } from "../../support/redis.ts";
import { openAt, recordingLog } from "./support.ts";
import { addUser, admission, charged, digest, OPEN, temporaryFolder } from "../support.ts";

const AOF = ["--appendonly", "yes"];
const PASSWORD = "p@ss:w/rd%41#?&=+ x é";

async function ownServer(settings: readonly string[] = []): Promise<RedisServer> {
  const server = await startRedis(settings);
  onTestFinished(() => server.stop());
  return server;
}

/** A server with a password, and a user `gateway` of whom it knows `rules`. */
async function withUser(rules: readonly string[]) {
  const server = await ownServer([...AOF, "--requirepass", PASSWORD]);
  const admin = new Redis({ port: server.port, password: PASSWORD });
  onTestFinished(() => admin.disconnect());
  await admin.call("ACL", "SETUSER", "gateway", "on", `>${PASSWORD}`, ...rules);
  return { admin, url: `redis://gateway:${encodeURIComponent(PASSWORD)}@127.0.0.1:${server.port}` };
}

describeRedis("on Redis, who may come in", () => {
  test("a user who may do no more than a gateway needs", async () => {
    const { admin, url } = await withUser(["~gw:*", "&gw:*", "+@all", "-@admin", "-@dangerous", "+info"]);
    const log = recordingLog();
    const store = await openAt(url, { prefix: "gw:", log });
    const stopped: number[] = [];
    store.onStop((_, token) => stopped.push(token));
    const user = await addUser(store, 10n);
    const request = admission(user.id, { stream: true, hold: 4n });
    expect(await store.admit(request)).toMatchObject({ ok: true });
    await store.renew();
    const heard = async () => {
      await store.stopStreams(user.id);
      return stopped.length > 0;
    };
    await expect.poll(heard).toBe(true);
    await store.markInstanceDead("another");
    await store.settle(charged(request, 3n));
    expect(await store.findUser(user.id)).toMatchObject({ balance: 7n, held: 0n });
    expect(log.lines).toEqual([]);
    const refused = (await admin.call("ACL", "LOG")) as readonly (readonly string[])[];
    expect(refused.map((entry) => entry[entry.indexOf("object") + 1])).toEqual(["config|get"]);
  });

  test("a user who may not publish: streams are stopped and processes buried, and others find out by themselves", async () => {
    const { url } = await withUser(["~gw:*", "+@all"]);
    const store = await openAt(url, { prefix: "gw:" });
    const user = await addUser(store);
    const request = admission(user.id, { stream: true, limits: { ...OPEN, streams: 1 } });
    await store.admit(request);
    expect(await store.stopStreams(user.id)).toEqual({ token: 1, streams: 1 });
    expect(await store.stopTokens([user.id])).toEqual(new Map([[user.id, 1]]));
    const dead = await openAt(url, { prefix: "gw:", instance: "dead" });
    const key = { id: "key", userId: user.id, name: "n", prefix: "rk_01234567", digest: digest("key") };
    await store.addKey(key, 5);
    expect(await store.revokeKey(key.id)).toBe(true);
    expect(await store.setTier(user.id, "Max")).toMatchObject({ tier: "Max" });
    await dead.admit(admission(user.id, { stream: true }));
    await store.markInstanceDead("dead");
    expect(await store.running(user.id)).toMatchObject({ streams: 1 });
  });

  test("a user with rights to some channels hears of those", async () => {
    const { url } = await withUser(["~gw:*", "&gw:stops", "+@all"]);
    const store = await openAt(url, { prefix: "gw:" });
    const user = await addUser(store);
    const heard: (string | null)[] = [];
    store.onChange((userId) => heard.push(userId));
    store.onStop((userId) => heard.push(userId));
    const stopped = async () => {
      await store.stopStreams(user.id);
      return heard.length > 0;
    };
    await expect.poll(stopped, { timeout: 10_000 }).toBe(true);
    expect(new Set(heard)).toEqual(new Set([user.id]));
  });

  test("keys of another prefix are not theirs: unavailable, as long as it is so", async () => {
    const { admin, url } = await withUser(["~other:*", "&*", "+@all"]);
    const store = await openAt(url, { prefix: "gw:" });
    await expect(addUser(store)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await admin.call("ACL", "SETUSER", "gateway", "~gw:*");
    expect(await addUser(store)).not.toBeNull();
  });
});

describeRedis("on Redis, an address that names something else", () => {
  test("a database that the server does not have: refused, not another one used", async () => {
    const { url } = await ownServer(AOF);
    await expect(openAt(`${url}/16`)).rejects.toThrow(/store\.url.*database 16.*out of range/);
    expect(await addUser(await openAt(`${url}/15`))).not.toBeNull();
  });

  test.each([
    ["one node of a Cluster", ["--cluster-enabled", "yes"], "store.nodes"],
    ["a replica", ["--replicaof", "127.0.0.1", "1"], "is a replica"],
  ])("%s: said at the start, refused when strict", async (_, settings, said) => {
    const { url } = await ownServer([...AOF, ...settings]);
    const log = recordingLog();
    await openAt(url, { log });
    expect(log.lines.filter((line) => line.startsWith("warn")).join("\n")).toContain(said);
    await expect(openAt(url, { strict: true })).rejects.toThrow(said);
  });
});

const CHILD = `
  import { openRedis } from ${JSON.stringify(new URL("../../../src/store/redis/open.ts", import.meta.url).href)};
  const line = (level) => (fields, message) => console.log(level, message, JSON.stringify(fields));
  const log = { debug() {}, info: line("info"), warn: line("warn"), error: line("error") };
  const store = await openRedis({ url: process.env.STORE, nodes: [], prefix: "tls:", timeout: 5000, log });
  const user = await store.addUser({ id: "u", email: "u@example.com", tier: "Free", credits: 1n }).catch(String);
  console.log("user", user?.id ?? user);
  await store.close();
`;

/** A program as an operator starts it: what it trusts is said by its environment. */
async function ask(url: string, env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", CHILD], {
    env: { PATH: process.env["PATH"], STORE: url, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  child.stdout.on("data", (bytes: Buffer) => (said += bytes.toString()));
  await once(child, "close");
  return said;
}

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

describeRedis("on Redis, TLS", () => {
  describe.skipIf(!hasOpenssl)("with a certificate of one's own", () => {
    test("is trusted by NODE_EXTRA_CA_CERTS, and not without; a name that is not in it is none", async () => {
      const folder = temporaryFolder();
      const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
      const subject = ["-subj", "/CN=store.example", "-addext", "subjectAltName=IP:127.0.0.1"];
      const kind = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"];
      const made = spawnSync("openssl", ["req", ...kind, "-keyout", key, "-out", certificate, ...subject]);
      expect([made.status, String(made.error ?? "")]).toEqual([0, ""]);
      const { client } = await ownServer([...AOF, "--tls-auth-clients", "no"]);
      // No free port is known beforehand: the server is told to listen when it runs.
      await client.call(
        "CONFIG",
        "SET",
        "tls-cert-file",
        certificate,
        "tls-key-file",
        key,
        "tls-ca-cert-file",
        certificate,
      );
      const port = await listenTls(client);
      const trusting = { NODE_EXTRA_CA_CERTS: certificate };
      expect(await ask(`rediss://127.0.0.1:${port}`, trusting)).toBe("user u\n");
      const doubting = await ask(`rediss://127.0.0.1:${port}`, {});
      expect(doubting).toMatch(/^warn store unreachable .*self-signed certificate/);
      expect(doubting).toContain("Store unavailable");
      const elsewhere = await ask(`rediss://localhost:${port}`, trusting);
      expect(elsewhere).toMatch(/^warn store unreachable .*altnames/);
      // The other way round: no TLS where TLS is spoken.
      expect(await ask(`redis://127.0.0.1:${port}`, {})).toContain("Store unavailable");
    });
  });
});

/** @returns the port. */
async function listenTls(client: Redis): Promise<number> {
  for (let port = 20_000 + (process.pid % 10_000); ; port++) {
    const done = await client.call("CONFIG", "SET", "tls-port", port).catch(() => null);
    if (done === "OK") return port;
    await pause(1);
  }
}
