import { setImmediate as turn } from "node:timers/promises";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import type { SMTPServerOptions } from "smtp-server";
import { describe, expect, onTestFinished, test } from "vitest";
import { createMailer, smtpOptions } from "../../../src/accounts/sign-in/mail.ts";
import { Secret } from "../../../src/kit/index.ts";
import { LOCALHOST } from "../../upstream/support/certificates.ts";
import { refusal, startSmtp, startTalker, talkInLines } from "./smtp.ts";
import { signInBench, testLog } from "./support.ts";

const CODE = "049152";
const TO = "ada.lovelace@mail.example.com";
const FAILED = "sign-in code could not be emailed: see auth.email";

function mailerTo(url: string, { from = "gateway@example.com", patience }: { from?: string; patience?: number } = {}) {
  const log = testLog();
  const settings = { from, smtp: new Secret(url) };
  let current = settings;
  const mailer = createMailer({ settings: () => current, log: log.log, retryDelay: 10, patience });
  onTestFinished(() => mailer.close());
  return {
    log,
    send: () => mailer.sendCode(TO, CODE),
    close: () => mailer.close(),
    /** What became of a mail, once that is known. */
    sent: async () => {
      mailer.sendCode(TO, CODE);
      await mailer.close();
      expect(log.text).not.toContain(CODE);
      expect(log.text).not.toContain("lovelace");
      return log.lines;
    },
    reload: (next: string) => {
      current = { ...settings, smtp: new Secret(next) };
    },
  };
}

/** A URL that takes any certificate. */
const trusting = (host: string, user = ""): string => `smtp://${user}${host}?tls.rejectUnauthorized=false`;

/** A server's option that holds each mail up. `begun`: the first one is there. */
function gate() {
  const begun = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const onMailFrom: SMTPServerOptions["onMailFrom"] = async (_address, _session, callback) => {
    begun.resolve();
    await released.promise;
    callback();
  };
  return { begun: begun.promise, release: () => released.resolve(), onMailFrom };
}

describe("a sign-in code by mail", () => {
  test.each([
    ["gateway@example.com", "gateway@example.com"],
    ["The Gateway <gateway@example.com>", "The Gateway <gateway@example.com>"],
    ["Gateway München <gateway@example.com>", "=?UTF-8?Q?Gateway_M=C3=BCnchen?= <gateway@example.com>"],
  ])("comes from %s and has the code once", async (from, header) => {
    const server = await startSmtp();
    const { sent } = mailerTo(server.url, { from });
    expect(await sent()).toEqual([]);
    expect(server.mails).toMatchObject([{ from: "gateway@example.com", to: [TO], secure: false }]);
    const { raw } = server.mails[0]!;
    expect(raw.split(CODE)).toHaveLength(2);
    const [head = "", ...body] = raw.split("\r\n\r\n");
    expect(head.split("\r\n")).toEqual(
      expect.arrayContaining([
        `From: ${header}`,
        `To: ${TO}`,
        "Subject: Your sign-in code",
        "Auto-Submitted: auto-generated",
        "Content-Type: text/plain; charset=utf-8",
      ]),
    );
    expect(body[0]).toBe(`Your sign-in code is ${CODE}`);
  });

  test("goes over a kept connection", async () => {
    const server = await startSmtp();
    const { send, sent } = mailerTo(server.url);
    // The server has a mail before its client has the answer: on a busy machine a second connection may be opened.
    for (let mails = 1; mails <= 4; mails += 1) {
      send();
      await expect.poll(() => server.mails.length).toBe(mails);
    }
    expect(await sent()).toEqual([]);
    expect(server.mails).toHaveLength(5);
    expect(server.connections).toBeLessThanOrEqual(2);
  });

  test("goes over a new connection when the server has closed the kept one", async () => {
    const server = await startSmtp();
    const { send, sent } = mailerTo(server.url);
    send();
    await expect.poll(() => server.mails.length).toBe(1);
    server.hangUp();
    expect(await sent()).toEqual([]);
    expect(server.mails).toHaveLength(2);
  });

  test("survives replies of many lines in many pieces", async () => {
    const received: string[] = [];
    const url = await startTalker(talkInLines((mail) => received.push(mail)));
    expect(await mailerTo(url).sent()).toEqual([]);
    expect(received).toEqual([expect.stringContaining(CODE)]);
  });

  test("the whole way: asked for, read, brought back", async () => {
    const server = await startSmtp();
    const { signIn, log } = await signInBench({ email: { from: "gateway@example.com", smtp: new Secret(server.url) } });
    await signIn.requestCode({ email: TO, ip: "192.0.2.1" });
    await signIn.close();
    const [, code] = /code is ([0-9]{6})\r\n/.exec(server.mails[0]!.raw)!;
    const { body } = await signIn.verifyCode({ email: TO, code, ip: "192.0.2.1" });
    expect(body.user.email).toBe(TO);
    expect(log.text).toBe("");
  });
});

describe("encryption and credentials", () => {
  const TLS: SMTPServerOptions = { ...LOCALHOST, disabledCommands: ["AUTH"] };
  const AUTH: SMTPServerOptions = {
    ...LOCALHOST,
    disabledCommands: [],
    onAuth: ({ username, password }, _session, callback) => {
      if (username === "me@example.com" && password === "p@ss:word/") callback(null, { user: username });
      else callback(refusal(535, `no such user ${username}`));
    },
  };
  test("STARTTLS is used where it is offered", async () => {
    const server = await startSmtp(TLS);
    expect(await mailerTo(trusting(server.host)).sent()).toEqual([]);
    expect(server.mails).toMatchObject([{ secure: true }]);
  });

  test("a certificate that is not trusted gets no mail", async () => {
    const server = await startSmtp(TLS);
    expect(await mailerTo(server.url).sent()).toMatchObject([
      { level: 50, msg: FAILED, code: "ESOCKET", originalCode: expect.stringMatching(/CERT/) },
    ]);
    expect(server.mails).toEqual([]);
  });

  test("one that is trusted needs nothing said", async () => {
    const before = getCACertificates("default");
    setDefaultCACertificates([...before, LOCALHOST.cert]);
    onTestFinished(() => setDefaultCACertificates(before));
    const server = await startSmtp(TLS);
    expect(await mailerTo(server.url).sent()).toEqual([]);
    expect(server.mails).toMatchObject([{ secure: true }]);
  });

  test("smtps is TLS from the start", async () => {
    const server = await startSmtp({ ...TLS, secure: true });
    const url = trusting(server.host).replace("smtp:", "smtps:");
    expect(await mailerTo(url).sent()).toEqual([]);
    expect(server.mails).toMatchObject([{ secure: true }]);
  });

  test("credentials of the URL are used, percent-decoded", async () => {
    const server = await startSmtp(AUTH);
    expect(await mailerTo(trusting(server.host, "me%40example.com:p%40ss%3Aword%2F@")).sent()).toEqual([]);
    expect(server.mails).toMatchObject([{ secure: true, user: "me@example.com" }]);
  });

  test("wrong ones are said, once, without showing them", async () => {
    const server = await startSmtp(AUTH);
    const { sent, log } = mailerTo(trusting(server.host, "me%40example.com:wrong-word@"));
    expect(await sent()).toMatchObject([{ level: 50, msg: FAILED, code: "EAUTH", responseCode: 535 }]);
    expect(log.text).not.toContain("wrong-word");
    expect(server.connections).toBe(1);
    expect(server.mails).toEqual([]);
  });

  test.each([
    ["smtp://u:p@mail.example.com", true],
    ["smtp://mail.example.com", false],
    ["smtp://u:p@127.0.0.1:1025", false],
    ["smtp://u:p@localhost:1025", false],
    ["smtp://u:p@[::1]:1025", false],
  ])("%s asks for TLS: %s", (url, required) => {
    expect(smtpOptions(url).requireTLS).toBe(required);
  });
});

describe("a mail server that", () => {
  test.each([
    [550, "EENVELOPE", 1],
    [552, "EENVELOPE", 1],
    [450, "EENVELOPE", 2],
    [421, "ECONNECTION", 2],
  ])("refuses with %i, %s, is asked %i times", async (status, code, attempts) => {
    let asked = 0;
    const server = await startSmtp({
      onRcptTo: ({ address }, _session, callback) => {
        asked += 1;
        callback(refusal(status, `<${address}> is not welcome, nor is ${CODE}`));
      },
    });
    const lines = await mailerTo(server.url).sent();
    const failure = { domain: "mail.example.com", code, responseCode: status, command: expect.any(String) };
    expect(lines).toEqual([{ level: 50, time: expect.any(Number), ...failure, msg: FAILED }]);
    expect(asked).toBe(attempts);
    expect(server.mails).toEqual([]);
  });

  test("refuses for the moment gets the mail a moment later, once", async () => {
    let asked = 0;
    const server = await startSmtp({
      onMailFrom: (_address, _session, callback) => callback((asked += 1) === 1 ? refusal(451, "later") : null),
    });
    expect(await mailerTo(server.url).sent()).toEqual([]);
    expect(server.mails).toHaveLength(1);
  });

  test.each([
    ["is not there", async () => "smtp://127.0.0.1:1", { code: "ESOCKET", originalCode: "ECONNREFUSED" }],
    ["says nothing", async () => `${await startTalker(() => {})}?greetingTimeout=50`, { code: "ETIMEDOUT" }],
    ["is a web server", () => startTalker((socket) => socket.end("HTTP/1.1 400\r\n\r\n")), { code: "EPROTOCOL" }],
  ])("%s is in the log by its failure alone", async (_, start, failure) => {
    expect(await mailerTo(await start()).sent()).toMatchObject([{ level: 50, msg: FAILED, ...failure }]);
  });

  test("hangs up at once is tried twice", async () => {
    let connections = 0;
    const url = await startTalker((socket) => {
      connections += 1;
      socket.end();
    });
    expect(await mailerTo(url).sent()).toMatchObject([{ level: 50, msg: FAILED, code: "ECONNECTION" }]);
    expect(connections).toBe(2);
  });

  test("hangs holds nobody up, and a close only for its patience", async () => {
    const connected = Promise.withResolvers<void>();
    const url = await startTalker(() => connected.resolve());
    const { send, close, log } = mailerTo(url, { patience: 50 });
    expect(send()).toBeUndefined();
    await connected.promise;
    expect(log.text).toBe("");
    await close();
    expect(log.lines).toMatchObject([{ level: 50, msg: FAILED, code: "EABORT" }]);
  });

  test("hangs fills no memory: beyond a thousand no more mails are taken", async () => {
    const url = await startTalker(() => {});
    const { send, close, log } = mailerTo(url, { patience: 50 });
    for (let n = 0; n < 1_002; n++) send();
    const dropped = { level: 50, underWay: 1_000, msg: "sign-in code not emailed: too many emails in progress" };
    expect(log.lines).toMatchObject([dropped, dropped]);
    await close();
    expect(log.lines).toHaveLength(1_002);
  });

  test("is slow has its mail before a close is through", async () => {
    const { begun, release, onMailFrom } = gate();
    const server = await startSmtp({ onMailFrom });
    const { send, close } = mailerTo(server.url);
    send();
    await begun;
    const closed = close();
    await turn();
    expect(server.mails).toEqual([]);
    release();
    await closed;
    expect(server.mails).toHaveLength(1);
  });
});

describe("a reload", () => {
  test("sends what follows to the new server; the old one has what was under way", async () => {
    const { begun, release, onMailFrom } = gate();
    const first = await startSmtp({ onMailFrom });
    const second = await startSmtp();
    const { send, reload, sent } = mailerTo(first.url);
    // More than there are connections: some are still waiting for one.
    for (let n = 0; n < 8; n++) send();
    await begun;
    reload(second.url);
    send();
    await expect.poll(() => second.mails.length).toBe(1);
    release();
    await expect.poll(() => first.mails.length).toBe(8);
    await expect.poll(() => first.open, { message: "its connection is not kept" }).toBe(0);
    expect(await sent()).toEqual([]);
    expect(second.mails).toHaveLength(2);
  });

  test("closes the connection to a server that is idle", async () => {
    const [first, second] = [await startSmtp(), await startSmtp()];
    const { send, reload } = mailerTo(first.url);
    send();
    await expect.poll(() => first.mails.length).toBe(1);
    expect(first.open).toBe(1);
    reload(second.url);
    send();
    await expect.poll(() => first.open).toBe(0);
  });
});

describe("without a mail server", () => {
  test("the code is in the log, for whoever tries the gateway out", async () => {
    const { signIn, log, codeOf } = await signInBench();
    await signIn.requestCode({ email: TO, ip: "192.0.2.1" });
    expect(log.lines).toEqual([
      {
        level: 40,
        time: expect.any(Number),
        email: TO,
        code: codeOf(TO),
        msg: "auth.email.smtp is empty; sign-in code written to the log",
      },
    ]);
  });
});
