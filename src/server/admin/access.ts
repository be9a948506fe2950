import { createHmac, hash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { TLSSocket } from "node:tls";
import { type AdminToken, GatewayError, invalidRequest, isLoopback, type Log } from "../../kit/index.ts";
import { clientAddress, limitKey, rememberProxies } from "../client-address.ts";
import { bearerOf } from "../credentials.ts";
import type { AdminCaller } from "./endpoint.ts";

/** As configured. Without a token everything under `/admin` is off. */
export interface AdminSettings {
  readonly host: string;
  readonly tokens: readonly AdminToken[];
  /** Proxies whose `X-Forwarded-For` is believed; left out: none. */
  readonly trustedProxies?: readonly string[];
}

/** Of the cookie; over TLS `__Host-` stands before it: no other host and no plain connection can have set it then. */
const COOKIE = "gateway_admin";
const SESSION_MS = 12 * 3_600_000;
/** Different wrong tokens of one address in a window; after them the address is refused whatever it sends. */
const MAX_WRONG_TOKENS = 20;
const WINDOW_MS = 60_000;
/** Addresses whose wrong tokens are counted; beyond them the oldest is forgotten. */
const MAX_ADDRESSES = 1_000;

interface AccessOptions {
  readonly settings: () => AdminSettings;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Called with each sign-in that failed, and with each that was not looked at after too many had. */
  readonly onFailed?: (address: string, isLimited: boolean) => void;
  readonly log?: Pick<Log, "error" | "warn" | "info" | "debug">;
  /** The token that the code of a sign-in link stands for, used up by this; null for any other text. */
  readonly redeemLink?: (code: string, address: string) => string | null;
}

/** A session of a browser as its cookie names it. */
export interface BegunSession {
  readonly caller: AdminCaller;
  /** As `Set-Cookie` has it. */
  readonly cookie: string;
}

const NO_LOG = { debug() {}, info() {}, warn() {}, error() {} };

/** Who may use the admin listener: by a token, or by the cookie that a token was exchanged for. */
export class AdminAccess {
  readonly #options: AccessOptions;
  readonly #wrong: WrongTokens;
  readonly #trusted: ReturnType<typeof rememberProxies>;

  constructor(options: AccessOptions) {
    this.#options = options;
    this.#wrong = new WrongTokens(options.now);
    this.#trusted = rememberProxies(options.log ?? NO_LOG);
  }

  /** The client's address: that of the connection, or what a trusted proxy says. */
  addressOf({ socket, headers }: IncomingMessage): string {
    const trusted = this.#trusted(this.#options.settings().trustedProxies ?? NOBODY);
    return clientAddress(socket.remoteAddress ?? "", headers["x-forwarded-for"]?.toString(), trusted);
  }

  /** Whether there is a token that opens anything. */
  get isOn(): boolean {
    return this.#tokens.length > 0;
  }

  /**
   * Against DNS rebinding: a page's own host name, pointed at this address, is none of ours.
   * @param anyHost on the network too: it is scraped under names that nobody configures here; on loopback there are none.
   * @throws GatewayError 400
   */
  requireOwnHost({ headers }: IncomingMessage, { anyHost = false } = {}): void {
    const { host } = this.#options.settings();
    if ((anyHost && !isLoopback(host)) || this.isOwnHost({ headers })) return;
    throw invalidRequest("/", "names another host; use localhost, an IP address or the host of server.admin");
  }

  isOwnHost({ headers }: Pick<IncomingMessage, "headers">): boolean {
    return isOwnName(headers.host, this.#options.settings().host);
  }

  /** @throws GatewayError 401; 403 for a page of another site; 429 */
  callerOf(req: IncomingMessage): AdminCaller {
    const tokens = this.#tokens;
    const sent = bearerOf(req.headers.authorization);
    const cookie = sent === null ? cookieOf(req) : null;
    if (sent === null && cookie === null) {
      throw new GatewayError("AUTHENTICATION_REQUIRED", "Authentication required");
    }
    if (sent !== null) {
      this.#refuseLimited(req);
      return this.#checked(req, sent, byToken(sent, tokens));
    }
    const found = bySession(cookie ?? "", tokens, this.#options.now());
    // A session that has begun goes on: strangers with the same address cannot end it.
    if (typeof found === "string") this.#refuseLimited(req);
    const caller = this.#checked(req, cookie ?? "", found);
    const changes = req.method !== "GET" && req.method !== "HEAD";
    // Without either header it is no browser, and has no business with a cookie.
    if (changes && siteOf(req) !== "own") throw foreign();
    if (changes && !isJsonOrNothing(req)) {
      throw new GatewayError("UNSUPPORTED_MEDIA_TYPE", "Content-Type must be application/json");
    }
    return caller;
  }

  /** @param sent a token, or the code of a sign-in link. @throws GatewayError INVALID_TOKEN, TOO_MANY_REQUESTS, FORBIDDEN */
  begin(req: IncomingMessage, sent: string): BegunSession {
    if (siteOf(req) === "foreign") throw foreign();
    this.#refuseLimited(req);
    const token = this.#options.redeemLink?.(sent, this.addressOf(req)) ?? sent;
    const tokens = this.#tokens;
    const { name, role } = this.#checked(req, token, byToken(token, tokens));
    const expiresAt = this.#options.now() + SESSION_MS;
    const sessionId = randomBytes(16).toString("base64url");
    const value = `${name}.${expiresAt}.${sessionId}.${macOf(name, expiresAt, sessionId, token)}`;
    return { caller: { name, role, expiresAt, sessionId }, cookie: setCookie(req, value, SESSION_MS) };
  }

  /** @returns whose session it was, if it is one, and what removes the cookie. @throws GatewayError FORBIDDEN */
  end(req: IncomingMessage): { readonly caller: AdminCaller | null; readonly cookie: string } {
    if (siteOf(req) === "foreign") throw foreign();
    const found = bySession(cookieOf(req) ?? "", this.#tokens, this.#options.now());
    return { caller: typeof found === "string" ? null : found, cookie: setCookie(req, "", 0) };
  }

  /** Those that are somebody's: what stands for a variable that is not set opens nothing. */
  get #tokens(): readonly AdminToken[] {
    return this.#options.settings().tokens.filter(({ token }) => !token.empty);
  }

  #checked(req: IncomingMessage, sent: string, caller: AdminCaller | "wrong" | "expired"): AdminCaller {
    if (typeof caller !== "string") return caller;
    if (caller === "wrong") {
      const address = this.addressOf(req);
      this.#wrong.count(limitKey(address), sent);
      this.#options.onFailed?.(address, false);
    }
    throw new GatewayError("INVALID_TOKEN", "Invalid or expired token");
  }

  #refuseLimited(req: IncomingMessage): void {
    const address = this.addressOf(req);
    const leftMs = this.#wrong.leftMs(limitKey(address));
    if (leftMs <= 0) return;
    this.#options.onFailed?.(address, true);
    const seconds = Math.ceil(leftMs / 1000);
    throw new GatewayError("TOO_MANY_REQUESTS", "Too many wrong tokens", {
      retryAfter: seconds,
      fields: { retry_after: seconds },
    });
  }
}

const NOBODY: readonly string[] = Object.freeze([]);

/** Every token is compared, whichever it is: how long it takes says nothing. */
function byToken(sent: string, tokens: readonly AdminToken[]): AdminCaller | "wrong" {
  let found: AdminToken | null = null;
  for (const one of tokens) if (sameSecret(sent, one.token.reveal())) found = one;
  return found === null ? "wrong" : { name: found.name, role: found.role, expiresAt: null };
}

/** The key is the token itself: a token that is taken away ends its sessions, and every worker knows them. */
function bySession(cookie: string, tokens: readonly AdminToken[], now: number): AdminCaller | "wrong" | "expired" {
  const [, name = "", written = "", sessionId = "", mac = ""] = COOKIE_FORM.exec(cookie) ?? [];
  const owner = tokens.find((one) => one.name === name);
  const expiresAt = Number(written);
  if (owner === undefined || !sameSecret(mac, macOf(name, expiresAt, sessionId, owner.token.reveal()))) return "wrong";
  return expiresAt > now ? { name, role: owner.role, expiresAt, sessionId } : "expired";
}

/** Name, end in Unix milliseconds, id and signature. */
const COOKIE_FORM = /^([\w.-]{1,64})\.(\d{1,15})\.([\w-]{22})\.([\w-]{43})$/;

function macOf(name: string, expiresAt: number, sessionId: string, token: string): string {
  const signed = `admin session\n${name}\n${expiresAt}\n${sessionId}`;
  return createHmac("sha256", token).update(signed).digest("base64url");
}

/** Digests have one length: the comparison takes as long whatever was sent. */
function sameSecret(sent: string, secret: string): boolean {
  return timingSafeEqual(hash("sha256", sent, "buffer"), hash("sha256", secret, "buffer"));
}

/**
 * Wrong tokens and cookies by address, in fixed windows. One that is sent again is no further try: a script or a page with
 * an old one keeps nobody out.
 */
class WrongTokens {
  readonly #now: () => number;
  readonly #addresses = new Map<string, { readonly endsAt: number; readonly digests: Set<string> }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Milliseconds for which an address is refused that has sent too many, with the right one too: else they could be tried
   * out. 0: it is not.
   */
  leftMs(address: string): number {
    const window = this.#addresses.get(address);
    return (window?.digests.size ?? 0) < MAX_WRONG_TOKENS ? 0 : Math.max(0, window!.endsAt - this.#now());
  }

  count(address: string, sent: string): void {
    const window = this.#addresses.get(address);
    const digest = hash("sha256", sent);
    if (window !== undefined && window.endsAt > this.#now()) {
      window.digests.add(digest);
      return;
    }
    this.#addresses.delete(address);
    for (const oldest of this.#addresses.keys()) {
      if (this.#addresses.size >= MAX_ADDRESSES) this.#addresses.delete(oldest);
    }
    this.#addresses.set(address, { endsAt: this.#now() + WINDOW_MS, digests: new Set([digest]) });
  }
}

function cookieOf(req: IncomingMessage): string | null {
  const prefix = `${cookieName(req)}=`;
  const parts = (req.headers.cookie ?? "").split(";").map((part) => part.trim());
  return parts.find((part) => part.startsWith(prefix))?.slice(prefix.length) || null;
}

function setCookie(req: IncomingMessage, value: string, lifeMs: number): string {
  const secure = isSecure(req) ? "; Secure" : "";
  return `${cookieName(req)}=${value}; Path=/; Max-Age=${lifeMs / 1000}; HttpOnly; SameSite=Strict${secure}`;
}

function cookieName(req: IncomingMessage): string {
  return isSecure(req) ? `__Host-${COOKIE}` : COOKIE;
}

/** A proxy before it says so; whoever claims it without one only gets a cookie that plain connections do not send. */
function isSecure({ socket, headers }: IncomingMessage): boolean {
  return (socket as Partial<TLSSocket>).encrypted === true || headers["x-forwarded-proto"] === "https";
}

/** Whose page has sent it, as the browser says. */
function siteOf({ headers }: IncomingMessage): "own" | "foreign" | "unknown" {
  const { "sec-fetch-site": site, origin, host } = headers;
  if (site !== undefined) return site === "same-origin" ? "own" : "foreign";
  if (origin === undefined) return "unknown";
  return URL.canParse(origin) && new URL(origin).host === host?.toLowerCase() ? "own" : "foreign";
}

function foreign(): GatewayError {
  return new GatewayError("FORBIDDEN", "Sent by a page of another site");
}

/** A form of another page can send the other types without being asked first. */
function isJsonOrNothing({ headers }: IncomingMessage): boolean {
  return /^application\/json *(?:;|$)/i.test(headers["content-type"] ?? "application/json");
}

function isOwnName(header: string | undefined, configured: string): boolean {
  if (header === undefined) return true;
  const name = header
    .replace(/:\d*$/, "")
    .replace(/^\[|\]$/g, "")
    .toLowerCase();
  return isIP(name) !== 0 || isLoopback(name) || name === configured.toLowerCase();
}
