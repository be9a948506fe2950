import { setTimeout as sleep } from "node:timers/promises";
import type { createTransport as CreateTransport, SendMailOptions, SMTPPoolOptions } from "nodemailer";
import { type AuthSettings, isLoopback, type Log } from "../../kit/index.ts";

const RETRY_MS = 1_000;
/** More are refused: a mail server that hangs must not fill the memory. */
const MAX_UNSENT_MAILS = 1_000;
const CLOSE_TIMEOUT_MS = 5_000;

interface MailerOptions {
  readonly settings: () => AuthSettings["email"];
  readonly log: Log;
  /** Milliseconds before a failed mail is tried again. */
  readonly retryDelay?: number;
  /** Milliseconds for which `close` waits. */
  readonly patience?: number;
}

interface Mailer {
  /** Sends a sign-in code on its way; what becomes of it is in the log. Neither waits nor throws. */
  sendCode(email: string, code: string): void;
  /** Waits for mails under way, a few seconds at most. */
  close(): Promise<void>;
}

/** Mails codes through `auth.email.smtp` of the settings in force; without one they are written to the log. */
export function createMailer({
  settings,
  log,
  retryDelay = RETRY_MS,
  patience = CLOSE_TIMEOUT_MS,
}: MailerOptions): Mailer {
  const closing = new AbortController();
  const underWay = new Set<Promise<void>>();
  let current: Server | null = null;

  /** The server of these settings. One that a reload replaced is closed by the last mail it sends. */
  function serverOf(url: string, createTransport: typeof CreateTransport): Server {
    if (current?.url === url) return current;
    const replaced = current;
    current = { url, pool: openSmtp(url, createTransport), mails: 0 };
    if (replaced?.mails === 0) replaced.pool.close();
    return current;
  }

  /** One more attempt after a failure that may pass. */
  async function sendTwice(pool: SmtpPool, mail: Mail): Promise<void> {
    try {
      await pool.send(mail, closing.signal);
    } catch (error) {
      if ((error as SmtpFailure).permanent === true || closing.signal.aborted) throw error;
      await sleep(retryDelay, null, { signal: closing.signal });
      await pool.send(mail, closing.signal);
    }
  }

  async function deliver(url: string, mail: Mail): Promise<void> {
    try {
      // Not at the start: a gateway listens before anyone signs in.
      const { createTransport } = await import("nodemailer");
      const server = serverOf(url, createTransport);
      server.mails += 1;
      try {
        await sendTwice(server.pool, mail);
      } finally {
        server.mails -= 1;
        if (server !== current && server.mails === 0) server.pool.close();
      }
    } catch (error) {
      const domain = mail.to.slice(mail.to.indexOf("@") + 1);
      log.error({ domain, ...describe(error) }, "sign-in code could not be emailed: see auth.email");
    }
  }

  return {
    sendCode(email, code) {
      const { from, smtp } = settings();
      if (smtp.empty) {
        log.warn({ email, code }, "auth.email.smtp is empty; sign-in code written to the log");
        return;
      }
      if (underWay.size >= MAX_UNSENT_MAILS) {
        log.error({ underWay: underWay.size }, "sign-in code not emailed: too many emails in progress");
        return;
      }
      const sending = deliver(smtp.reveal(), codeMail(from, email, code)).finally(() => underWay.delete(sending));
      underWay.add(sending);
    },

    async close() {
      const sent = new AbortController();
      const enough = sleep(patience, null, { signal: sent.signal }).catch(() => {});
      await Promise.race([Promise.all(underWay), enough]);
      sent.abort();
      closing.abort();
      await Promise.all(underWay);
      current?.pool.close();
    },
  };
}

interface Server {
  readonly url: string;
  readonly pool: SmtpPool;
  /** Under way. */
  mails: number;
}

function codeMail(from: string, to: string, code: string): Mail {
  return {
    from,
    to,
    subject: "Your sign-in code",
    text: `Your sign-in code is ${code}\n\nIt can be used once, within 10 minutes.\nIf you did not ask for it, ignore this mail.\n`,
    // Suppresses automatic replies.
    headers: { "auto-submitted": "auto-generated" },
  };
}

/** What nodemailer's errors have. */
interface SmtpFailure {
  readonly code?: string;
  /** The system's, below nodemailer's own. */
  readonly originalCode?: string;
  readonly responseCode?: number;
  readonly command?: string;
  /** The server refused the mail for good. */
  readonly permanent?: boolean;
}

/** Without the message, in which servers repeat addresses. */
function describe(error: unknown): SmtpFailure {
  const { code, originalCode, responseCode, command } = error as SmtpFailure;
  return { code, originalCode, responseCode, command };
}

const CONNECT_STEP_TIMEOUT_MS = 5_000;
const IDLE_TIMEOUT_MS = 10_000;
/** For one mail, however slowly the server answers. */
const MAIL_TIMEOUT_MS = 30_000;

interface Mail {
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Connections to one mail server, kept between mails. */
interface SmtpPool {
  /** @throws Error as nodemailer has it; its message may hold addresses. */
  send(mail: Mail, signal: AbortSignal): Promise<void>;
  /** Lets mails under way finish. */
  close(): void;
}

/** @param url `smtp://` or `smtps://`; options of nodemailer's connections may follow as its query. */
function openSmtp(url: string, createTransport: typeof CreateTransport): SmtpPool {
  const transport = createTransport(smtpOptions(url));
  return {
    async send({ to, headers, ...mail }, signal) {
      const message: SendMailOptions = {
        ...mail,
        to: { name: "", address: to },
        headers: { ...headers },
        signal: AbortSignal.any([signal, AbortSignal.timeout(MAIL_TIMEOUT_MS)]),
      };
      await transport.sendMail(message);
    },
    close: () => transport.close(),
  };
}

/** The query of the URL wins over all of it. */
export function smtpOptions(url: string): SMTPPoolOptions & { readonly pool: true } {
  const { hostname, username } = new URL(url);
  return {
    url,
    pool: true,
    // Otherwise an attacker who removes STARTTLS from the conversation gets the password in clear.
    requireTLS: username !== "" && !isLoopback(hostname),
    dnsTimeout: CONNECT_STEP_TIMEOUT_MS,
    connectionTimeout: CONNECT_STEP_TIMEOUT_MS,
    greetingTimeout: CONNECT_STEP_TIMEOUT_MS,
    socketTimeout: IDLE_TIMEOUT_MS,
    // The mailer itself retries, once.
    maxRequeues: 0,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
