import type { IncomingMessage } from "node:http";
import { LRUCache } from "lru-cache";
import { type AuditStamp, GatewayError, type Log } from "../../kit/index.ts";
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
  readonly #ended: LRUCache<string, true>;
  readonly #live: LRUCache<string, true>;

  constructor(options: ConsoleSessionsOptions) {
    this.#options = options;
    const clock = { now: options.now };
    this.#ended = new LRUCache({ max: MAX_SESSIONS, ttl: 1, ttlResolution: 0, perf: clock });
    this.#live = new LRUCache({ max: MAX_SESSIONS, ttl: KNOWN_MS, ttlResolution: 0, perf: clock });
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
    this.#ended.set(sessionId, true, { ttl: leftMs });
    try {
      await services.endSession(sessionId, leftMs);
    } catch (err) {
      log.warn({ err }, "a session of the console has ended on this instance alone: the store does not answer");
    }
  }

  async #hasEnded(sessionId: string): Promise<boolean> {
    if (this.#ended.has(sessionId)) return true;
    if (this.#live.has(sessionId)) return false;
    try {
      const hasEnded = await this.#options.services.isSessionEnded(sessionId);
      if (!hasEnded) this.#live.set(sessionId, true);
      return hasEnded;
    } catch {
      return false;
    }
  }

  async #write(action: "signIn" | "signOut", caller: AdminCaller, req: IncomingMessage, status: number): Promise<void> {
    const { services, stamp, access, log } = this.#options;
    const { name, role } = caller;
    const entry = { name, role, action, target: null, details: {}, outcome: "done", status } as const;
    try {
      await services.writeAudit({ ...stamp(), ...entry, address: access.addressOf(req) });
    } catch (err) {
      log.warn({ err, action, name }, "a sign-in of the console is not in the audit log");
    }
  }
}
