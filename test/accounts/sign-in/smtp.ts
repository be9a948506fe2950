import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { text } from "node:stream/consumers";
import { SMTPServer } from "smtp-server";
import type { SMTPServerOptions } from "smtp-server";
import { onTestFinished } from "vitest";

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Header and body as they came. */
  readonly raw: string;
  readonly secure: boolean;
  readonly user: string | undefined;
}

/** A refusal by the server, such as 550. */
export function refusal(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

/** A mail server on loopback, in clear and without authentication unless said otherwise; closed when the test ends. */
export async function startSmtp(options: SMTPServerOptions = {}) {
  const server = await openSmtp(options);
  onTestFinished(() => server.close());
  return server;
}

/** The same, for more than one test: who opens it closes it. */
export async function openSmtp(options: SMTPServerOptions = {}) {
  const mails: ReceivedMail[] = [];
  let connections = 0;
  const server = new SMTPServer({
    disabledCommands: ["AUTH", "STARTTLS"],
    disableReverseLookup: true,
    closeTimeout: 100,
    onConnect: (_session, callback) => {
      connections += 1;
      callback();
    },
    onData: async (stream, { envelope, secure, user }, callback) => {
      const raw = await text(stream);
      const from = envelope.mailFrom === false ? "" : envelope.mailFrom.address;
      mails.push({ from, to: envelope.rcptTo.map(({ address }) => address), raw, secure, user: user as string });
      callback();
    },
    ...options,
  });
  // Clients that break off are what some tests are about.
  server.on("error", () => {});
  const listening = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", listening.resolve);
  await listening.promise;
  const sockets = new Set<Socket>();
  server.server.on("connection", (socket: Socket) => sockets.add(socket));
  const host = `127.0.0.1:${(server.server.address() as AddressInfo).port}`;
  return {
    mails,
    host,
    url: `smtp://${host}`,
    /** Ever made. */
    get connections() {
      return connections;
    },
    get open() {
      return server.connections.size;
    },
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
    hangUp() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** A server on loopback that says what `talk` says. */
export async function startTalker(talk: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    talk(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Every reply in several lines, each line in pieces. */
export function talkInLines(received: (mail: string) => void): (socket: Socket) => void {
  return (socket) => {
    const say = (code: number, ...lines: readonly string[]) => {
      const replies = lines.map((line, at) => `${code}${at === lines.length - 1 ? " " : "-"}${line}\r\n`);
      for (const part of replies.join("").match(/[^]{1,3}/g) ?? []) socket.write(part);
    };
    let data: string | null = null;
    let rest = "";
    socket.setNoDelay(true).setEncoding("utf8");
    socket.on("data", (chunk) => {
      const lines = (rest + chunk).split("\r\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (data !== null && line === ".") {
          received(data);
          data = null;
          say(250, "taken", "and", "queued");
        } else if (data !== null) data += `${line}\r\n`;
        else if (line.startsWith("EHLO")) say(250, "here", "8BITMIME", "SIZE 100000", "HELP");
        else if (line === "DATA") {
          data = "";
          say(354, "go", "on");
        } else if (line === "QUIT") {
          say(221, "so", "long");
          socket.end();
        } else say(250, "yes", "", "indeed");
      }
    });
    say(220, "mail.example", "welcome", "all of you");
  };
}
