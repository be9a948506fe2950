import { createTransport } from "nodemailer";
import type { SMTPPoolOptions, SendMailOptions } from "nodemailer";
import { isLoopback } from "./loopback.ts";

const STEP_MS = 5_000;
const SILENCE_MS = 10_000;
/** For one conversation, however slowly the server drips. */
const CONVERSATION_MS = 30_000;

export interface Mail {
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Connections to one mail server, kept between mails. */
export interface SmtpPool {
  /** @throws Error as nodemailer has it; its message may hold addresses. */
  send(mail: Mail, signal: AbortSignal): Promise<void>;
  /** Lets mails under way finish. */
  close(): void;
}

/** @param url `smtp://` or `smtps://`; options of nodemailer's connections may follow as its query. */
export function openSmtp(url: string): SmtpPool {
  const transport = createTransport(smtpOptions(url));
  return {
    async send({ to, headers, ...mail }, signal) {
      const message: SendMailOptions = {
        ...mail,
        to: { name: "", address: to },
        headers: { ...headers },
        signal: AbortSignal.any([signal, AbortSignal.timeout(CONVERSATION_MS)]),
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
    // A password is not sent in clear because somebody on the way took STARTTLS out of the conversation.
    requireTLS: username !== "" && !isLoopback(hostname),
    dnsTimeout: STEP_MS,
    connectionTimeout: STEP_MS,
    greetingTimeout: STEP_MS,
    socketTimeout: SILENCE_MS,
    // The mailer tries again, and once.
    maxRequeues: 0,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
