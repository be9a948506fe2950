import type { IncomingMessage } from "node:http";
import { type AuditStamp, GatewayError, inBackground, type Log } from "../../kit/index.ts";
import type { AdminAccess } from "./access.ts";
import type { AdminCaller, AdminSessions } from "./endpoint.ts";
import type { AdminServices } from "./services.ts";

/** So long a session is believed not to have ended on another instance. */
const KNOWN_MS = 500;
const MAX_SESSIONS = 1_000;

interface ConsoleSessionsOptions {
  readonly access: Pick<AdminAccess, "begin" | "end" | "addressOf">;
  readonly services: Pick<AdminServices, "writeAudit" | "endSession" | "isSessionEnded">;
  readonly stamp: AuditStamp;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly log: Pick<Log, "warn">;
}

/**
 * Sessions of the console. Which ones have ended is in the store, for all instances and workers. While it is away, a
 * session that ended here stays ended here: an operator needs the console most then.
 */
export class ConsoleSessions implements AdminSessions {
  readonly #options: ConsoleSessionsOptions;
  /** Sessions that ended here, and those that were found to go on, each until when that counts. */
  readonly #ended = new Map<string, number>();
  readonly #live = new Map<string, number>();

  constructor(options: ConsoleSessionsOptions) {
    this.#options = options;
  }

  async begin(req: IncomingMessage, token: string): ReturnType<AdminSessions["begin"]> {
    const begun = this.#options.access.begin(req, token);
    await this.#write("signIn", begun.caller, req, 200);
    return begun;
  }

  async end(req: IncomingMessage): Promise<string> {
    const { caller, cookie } = this.#options.access.end(req);
    if (caller?.sessionId !== undefined && !(await this.#hasEnded(caller.sessionId))) {
      await this.#end(caller.sessionId, caller.expiresAt ?? 0);
      await this.#write("signOut", caller, req, 204);
    }
    return cookie;
  }

  /** @throws GatewayError INVALID_TOKEN for a session that has ended. */
  async check({ sessionId }: AdminCaller): Promise<void> {
    if (sessionId === undefined || !(await this.#hasEnded(sessionId))) return;
    throw new GatewayError("INVALID_TOKEN", "Invalid or expired token");
  }

  async #end(sessionId: string, expiresAt: number): Promise<void> {
    const { services, now, log } = this.#options;
    const leftMs = Math.max(1, expiresAt - now());
    this.#live.delete(sessionId);
    this.#note(this.#ended, sessionId, now() + leftMs);
    try {
      await services.endSession(sessionId, leftMs);
    } catch (err) {
      log.warn({ err }, "console session ended on this instance only: the store does not answer");
    }
  }

  async #hasEnded(sessionId: string): Promise<boolean> {
    const { now } = this.#options;
    if ((this.#ended.get(sessionId) ?? 0) > now()) return true;
    if ((this.#live.get(sessionId) ?? 0) > now()) return false;
    try {
      const hasEnded = await this.#options.services.isSessionEnded(sessionId);
      if (!hasEnded) this.#note(this.#live, sessionId, now() + KNOWN_MS);
      return hasEnded;
    } catch {
      return false;
    }
  }

  #note(sessions: Map<string, number>, sessionId: string, until: number): void {
    sessions.delete(sessionId);
    for (const oldest of sessions.keys()) if (sessions.size >= MAX_SESSIONS) sessions.delete(oldest);
    sessions.set(sessionId, until);
  }

  async #write(action: "signIn" | "signOut", caller: AdminCaller, req: IncomingMessage, status: number): Promise<void> {
    const { services, stamp, access, log } = this.#options;
    const { name, role } = caller;
    const entry = { name, role, action, target: null, details: {}, outcome: "done", status } as const;
    try {
      await services.writeAudit({ ...stamp(), ...entry, address: access.addressOf(req) });
    } catch (err) {
      log.warn({ err, action, name }, "console sign-in not written to the audit log");
    }
  }
}

type Failure = Parameters<AdminServices["noteFailedSignIns"]>[0][number];

/** Addresses of which failures wait to be told. */
const MAX_WAITING_COUNT = 1_000;

/** Tells of failed sign-ins, one report at a time: what comes meanwhile is added up by address. */
export class FailureReports {
  readonly #services: Pick<AdminServices, "noteFailedSignIns">;
  readonly #log: Pick<Log, "error" | "warn">;
  #waiting = new Map<string, Failure>();
  #isBusy = false;

  constructor(services: Pick<AdminServices, "noteFailedSignIns">, log: Pick<Log, "error" | "warn">) {
    this.#services = services;
    this.#log = log;
  }

  add(from: string, isLimited: boolean): void {
    const keyOf = (address: string | null) => `${isLimited} ${address}`;
    const isFull = this.#waiting.size >= MAX_WAITING_COUNT && !this.#waiting.has(keyOf(from));
    const address = isFull ? null : from;
    const count = (this.#waiting.get(keyOf(address))?.count ?? 0) + 1;
    this.#waiting.set(keyOf(address), { address, isLimited, count });
    if (!this.#isBusy) inBackground(this.#log, "telling of failed sign-ins", this.#report());
  }

  async #report(): Promise<void> {
    this.#isBusy = true;
    while (this.#waiting.size > 0) {
      const failures = [...this.#waiting.values()];
      this.#waiting = new Map();
      try {
        await this.#services.noteFailedSignIns(failures);
      } catch (err) {
        const count = failures.reduce((sum, one) => sum + one.count, 0);
        this.#log.warn({ err, count }, "failed admin sign-ins not written to the audit log");
      }
    }
    this.#isBusy = false;
  }
}
