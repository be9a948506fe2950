import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { isStoreUnavailable } from "../../../src/kit/index.ts";
import { createClient, createCluster, Unanswered, unanswered } from "../../../src/store/redis/client.ts";
import { RedisConnection } from "../../../src/store/redis/connection.ts";
import { EncodedWords } from "../../../src/store/redis/pipeline.ts";
import { type Fault, type RespOptions, startResp } from "../../support/resp.ts";

const SHA1 = "0123456789012345678901234567890123456789";
const SCRIPT = { name: "test", lua: "return 'ran'", evalsha: new EncodedWords(["EVALSHA", SHA1]) };

/** Milliseconds: long where an answer comes, so that a busy machine fails nothing; short where none does. */
const LONG = 10_000;
const SHORT = 150;

async function connect(timeout: number, more: RespOptions & { readonly cluster?: boolean } = {}) {
  const server = await startResp(more);
  onTestFinished(() => server.close());
  const client = more.cluster ? createCluster([server.url]) : createClient(server.url);
  const connection = new RedisConnection(client, { timeout });
  onTestFinished(() => connection.close());
  expect(await connection.connect(LONG)).toBe(true);
  return { server, connection };
}

/** Calls of these commands that reached the server. */
const sent = ({ commands }: { readonly commands: readonly (readonly string[])[] }) =>
  commands.map(([name = ""]) => name.toUpperCase());

/** What became of a call. */
type Outcome = "answered" | "STORE_UNAVAILABLE" | "Error";

async function outcomeOf(call: Promise<unknown>): Promise<Outcome> {
  try {
    await call;
    return "answered";
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return isStoreUnavailable(error) ? "STORE_UNAVAILABLE" : "Error";
  }
}

interface Row {
  readonly name: string;
  readonly fault: Fault;
  readonly outcome: Outcome;
  /** As the server saw them; left out: the script, once. */
  readonly sent?: readonly string[];
  /** No answer ever comes. */
  readonly silent?: true;
  /** On a Cluster of this one node. */
  readonly cluster?: true;
}

const away = (error: string): Row => ({ name: error, fault: { error }, outcome: "STORE_UNAVAILABLE" });

const ROWS: readonly Row[] = [
  away("LOADING Redis is loading the dataset in memory"),
  away("BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."),
  away("MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."),
  away("CLUSTERDOWN The cluster is down"),
  away("CLUSTERDOWN Hash slot not served"),
  away("TRYAGAIN Multiple keys request during rehashing of slot"),
  away("MOVED 3999 127.0.0.1:6381"),
  away("ASK 3999 127.0.0.1:6381"),
  away("NOAUTH Authentication required."),
  away("WRONGPASS invalid username-password pair or user is disabled."),
  away("NOPERM this user has no permissions to run the 'evalsha' command"),
  away("EXECABORT Transaction discarded because of previous errors."),
  away("OOM command not allowed when used memory > 'maxmemory'."),
  away("MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk."),
  away("NOREPLICAS Not enough good replicas to write."),
  away("READONLY You can't write against a read only replica."),
  {
    name: "WRONGTYPE: a fault of ours, or a foreign key",
    fault: { error: "WRONGTYPE Operation against a key holding the wrong kind of value" },
    outcome: "Error",
  },
  { name: "ERR", fault: { error: "ERR value is not an integer or out of range" }, outcome: "Error" },
  { name: "an error without a code", fault: { error: "something else" }, outcome: "Error" },
  { name: "an error without a text", fault: { error: "" }, outcome: "Error" },
  {
    name: "NOSCRIPT: sent again with its text",
    fault: { error: "NOSCRIPT No matching script. Please use EVAL." },
    outcome: "answered",
    sent: ["EVALSHA", "EVAL"],
  },
  { name: "an answer that comes a byte at a time", fault: "drip", outcome: "answered" },
  { name: "a connection that is closed", fault: "close", outcome: "STORE_UNAVAILABLE" },
  { name: "a connection that is reset", fault: "reset", outcome: "STORE_UNAVAILABLE" },
  {
    name: "bytes that are no answer",
    fault: { bytes: "HTTP/1.1 400 Bad Request\r\n\r\n" },
    outcome: "STORE_UNAVAILABLE",
  },
  { name: "half an answer", fault: "half", outcome: "STORE_UNAVAILABLE", silent: true },
  { name: "silence", fault: "silence", outcome: "STORE_UNAVAILABLE", silent: true },
  {
    name: "an answer that promises more",
    fault: { bytes: "$100\r\nran\r\n" },
    outcome: "STORE_UNAVAILABLE",
    silent: true,
  },
  {
    name: "MOVED, on a Cluster: asked of the node it names",
    fault: { error: "MOVED 3999 :0" },
    outcome: "answered",
    sent: ["EVALSHA", "EVALSHA"],
    cluster: true,
  },
  {
    name: "ASK, on a Cluster: asked of the node it names",
    fault: { error: "ASK 3999 :0" },
    outcome: "answered",
    sent: ["EVALSHA", "ASKING", "EVALSHA"],
    cluster: true,
  },
];

/** Asks until the server is found again; each of these may fail while the connection is made afresh. */
async function recovers(connection: RedisConnection): Promise<void> {
  while ((await outcomeOf(connection.call("PING"))) !== "answered") await pause(10);
}

describe.concurrent("a script, when the server says", () => {
  test.each(ROWS)("$name", async ({ fault, outcome, sent: names = ["EVALSHA"], silent, cluster }) => {
    const { server, connection } = await connect(silent ? SHORT : LONG, { cluster });
    const here =
      typeof fault === "object" && "error" in fault ? fault.error.replace(/ :0$/, ` 127.0.0.1:${server.port}`) : "";
    server.fail("EVALSHA", here === "" ? fault : { error: here });
    expect(await outcomeOf(connection.run(SCRIPT, ["key"], ["1"]))).toBe(outcome);
    // On a busy machine the time may be over before the server has read.
    while (server.commands.length < names.length) await pause(5);
    expect(sent(server), "nothing is sent a second time").toEqual(names);
    await recovers(connection);
    expect(await connection.run(SCRIPT, ["key"], ["1"])).toBe("ran");
    expect(sent(server).filter((name) => name === "EVALSHA").length).toBe(
      names.filter((name) => name === "EVALSHA").length + 1,
    );
    expect(connection.pending).toBe(0);
  });
});

describe("many calls on one connection", () => {
  test("when it is lost, all of them are unavailable, and none is sent again", async () => {
    const { server, connection } = await connect(LONG);
    server.fail("GET", "silence");
    server.fail("EVALSHA", "close");
    const calls = [
      ...Array.from({ length: 50 }, (_, index) => connection.call("GET", `key ${index}`)),
      connection.run(SCRIPT, ["key"], []),
    ];
    const outcomes = await Promise.all(calls.map(outcomeOf));
    expect(new Set(outcomes)).toEqual(new Set(["STORE_UNAVAILABLE"]));
    const names = sent(server);
    expect([names.filter((name) => name === "GET").length, names.filter((name) => name === "EVALSHA").length]).toEqual([
      50, 1,
    ]);
    await recovers(connection);
    expect(await connection.call("GET", "key")).toBe("kept");
  });

  test("what has not been sent when its time is over is not executed later", async () => {
    const { server, connection } = await connect(SHORT);
    server.fail("GET", "silence");
    const [first, second] = [connection.call("GET", "first"), pause(0).then(() => connection.call("SET", "k", "v"))];
    const causes = (await Promise.allSettled([first, second])).map((call) =>
      call.status === "rejected" ? unanswered(call.reason) : "answered",
    );
    expect(causes, "of the second one it is known").toEqual([expect.any(Unanswered), null]);
    await recovers(connection);
    expect(sent(server)).not.toContain("SET");
    expect(connection.pending).toBe(0);
  });

  test("a server that says nothing is asked now and then only, and not by all who wait", async () => {
    const { server, connection } = await connect(SHORT);
    server.fail("GET", "silence");
    expect(await outcomeOf(connection.call("GET", "first"))).toBe("STORE_UNAVAILABLE");
    const before = server.commands.length;
    const outcomes = await Promise.all(Array.from({ length: 500 }, () => outcomeOf(connection.call("GET", "next"))));
    expect(new Set(outcomes)).toEqual(new Set(["STORE_UNAVAILABLE"]));
    expect(server.commands.length - before).toBeLessThanOrEqual(3);
  });
});

test("a subscription that is lost again and again is made again, and its losses fail nothing", async () => {
  const message = ">3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$5\r\nheard\r\n";
  const subscribed = ">3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n";
  const { server, connection } = await connect(LONG, { answers: { SUBSCRIBE: () => subscribed + message } });
  const cut = { bytes: `${subscribed}-ERR gone\r\n` };
  server.fail("SUBSCRIBE", cut, "close", cut, "reset", "close", cut, "close");
  const heard = Promise.withResolvers<string>();
  connection.subscribe("news", heard.resolve);
  const lose = setInterval(() => server.cut(), 100);
  expect(await heard.promise).toBe("heard");
  clearInterval(lose);
});

describe("the handshake", () => {
  test("a server without HELLO is spoken to in the older protocol", async () => {
    const { connection } = await connect(LONG, { protocol: 2 });
    expect(await connection.call("GET", "key")).toBe("kept");
  });

  test.each(["LOADING Redis is loading the dataset in memory", "NOAUTH Authentication required."])(
    "%s: unavailable until that is over",
    async (error) => {
      const server = await startResp();
      onTestFinished(() => server.close());
      server.fail("HELLO", { error }, { error });
      server.fail("INFO", { error }, { error });
      const connection = new RedisConnection(createClient(server.url), { timeout: LONG });
      onTestFinished(() => connection.close());
      await connection.connect(LONG);
      await recovers(connection);
      expect(await connection.call("GET", "key")).toBe("kept");
    },
  );

  test.each(["close", "reset", "silence", { bytes: "SSH-2.0-OpenSSH_9.2\r\n" }] as const)(
    "%j: unavailable until the next attempt",
    async (fault) => {
      const server = await startResp();
      onTestFinished(() => server.close());
      server.fail("HELLO", fault);
      server.fail("INFO", fault);
      const connection = new RedisConnection(createClient(server.url), { timeout: SHORT });
      onTestFinished(() => connection.close());
      await connection.connect(SHORT);
      await recovers(connection);
      expect(await connection.call("GET", "key")).toBe("kept");
    },
  );

  test("a server that is not there: unavailable at once, and found when it comes", async () => {
    const server = await startResp();
    await server.close();
    const connection = new RedisConnection(createClient(server.url), { timeout: LONG });
    onTestFinished(() => connection.close());
    expect(await connection.connect(LONG)).toBe(false);
    expect(await outcomeOf(connection.call("GET", "key"))).toBe("STORE_UNAVAILABLE");
    expect(await outcomeOf(connection.run(SCRIPT, ["key"], []))).toBe("STORE_UNAVAILABLE");
  });
});
