import { BlockList, isIP, isIPv6 } from "node:net";
import { isLoopback, listNetworks, type Network, parseNetwork, PRIVATE_RANGES } from "../../kit/index.ts";
import { join } from "../diagnostics.ts";
import { BODY_LIMIT, BODY_MEMORY, bytes, milliseconds, UPLOAD_SPACE } from "../settings.ts";
import type { LinkContext } from "./context.ts";
import { parseUrl } from "./upstreams.ts";

const MAX_BODY_BYTES = bytes("256MiB");
const WILDCARD_HOSTS = new Set(["0.0.0.0", "::"]);

/** Listeners, trusted proxies and limits of the server. */
export function linkServer(context: LinkContext): void {
  const { server } = context.config;
  linkAddresses(context);
  for (const [index, cidr] of (server?.trusted_proxies ?? []).entries()) {
    if (cidr !== undefined) linkProxy(context, cidr, join("/server/trusted_proxies", index));
  }
  if (server?.body_limit !== undefined && bytes(server.body_limit) > MAX_BODY_BYTES) {
    context.report("/server/body_limit", {
      rule: "body-limit",
      message: "is more memory than one request may use",
      hint: "at most 256MiB",
    });
  }
  linkBodyMemory(context);
  linkCountBudget(context);
  linkShedding(context);
  linkAdmin(context);
}

/** Bodies that count_tokens takes at most. */
const COUNT_LIMIT = "4MiB";

function linkCountBudget(context: LinkContext): void {
  const { count_budget: budget, body_limit: limit = BODY_LIMIT } = context.config.server ?? {};
  const longest = bytes(limit) < bytes(COUNT_LIMIT) ? limit : COUNT_LIMIT;
  if (budget === undefined || bytes(budget) >= bytes(longest)) return;
  context.report("/server/count_budget", {
    rule: "count-budget",
    severity: "warning",
    message: `is less than one body of count_tokens may have (${longest}): longer ones are a 413`,
    hint: `make it ${longest} or more`,
  });
}

/** Below this a busy garbage collection, or the heap of a process at rest, would shed requests. */
const MIN_LOOP_DELAY = "50ms";
const MIN_HEAP = "128MiB";

/** Bounds of shedding that are always, or never, passed. */
function linkShedding(context: LinkContext): void {
  const { loop_delay: delay, heap } = context.config.server?.shed ?? {};
  const report = (pointer: string, message: string, hint: string): void =>
    context.report(pointer, { rule: "shed-bound", severity: "warning", message, hint });
  if (delay !== undefined && milliseconds(delay) < milliseconds(MIN_LOOP_DELAY)) {
    const message = "is exceeded by garbage collection in a process that is not overloaded";
    report("/server/shed/loop_delay", message, `make it ${MIN_LOOP_DELAY} or more`);
  }
  if (typeof heap === "string" && bytes(heap) < bytes(MIN_HEAP)) {
    const message = "is exceeded by an idle process: the lowest class would always be refused";
    report("/server/shed/heap", message, `make it ${MIN_HEAP} or more, or a share such as 0.85`);
  }
}

function linkAdmin(context: LinkContext): void {
  const { admin } = context.config.server ?? {};
  const written = [
    { name: "admin", token: admin?.token ?? "", pointer: "/server/admin" },
    ...(admin?.tokens ?? []).map((one, index) => ({ ...one, pointer: join("/server/admin/tokens", index) })),
  ];
  const inUse = written.filter(({ token }) => (token ?? "") !== "");
  if (
    admin?.host !== undefined &&
    !isLoopback(admin.host) &&
    inUse.length === 0 &&
    !context.misspelt("/server/admin")
  ) {
    context.report(context.isUnset("/server/admin/token") ? "/server/admin/token" : "/server/admin/host", {
      rule: "admin-open",
      severity: "warning",
      message: "without a token an admin listener serves probes and metrics only, on loopback",
      hint: "set server.admin.token, or listen on 127.0.0.1",
    });
  }
  for (const [index, { name, token, pointer }] of inUse.entries()) {
    const before = inUse.slice(0, index);
    const same = before.some((other) => other.name === name)
      ? { key: "name", message: `the name ${context.show(`${pointer}/name`)} is already used by a token above` }
      : { key: "token", message: "repeats a token above: the audit log could not tell them apart" };
    if (!before.some((other) => other.name === name || other.token === token)) continue;
    const hint = "give each token its own name and value; admin is the name of server.admin.token";
    context.report(`${pointer}/${same.key}`, { rule: "duplicate-admin-token", message: same.message, hint });
  }
}

/** One user gets a quarter of each room: less than a body of the limit would refuse it for ever. */
function linkBodyMemory(context: LinkContext): void {
  const { server } = context.config;
  const limit = server?.body_limit ?? BODY_LIMIT;
  // Said already.
  if (bytes(limit) > MAX_BODY_BYTES) return;
  const rooms = { body_memory: server?.body_memory ?? BODY_MEMORY, upload_space: server?.upload_space ?? UPLOAD_SPACE };
  for (const [key, room] of Object.entries(rooms)) {
    if (bytes(room) >= 4 * bytes(limit)) continue;
    const written = server !== undefined && Object.hasOwn(server, key);
    context.report(written ? `/server/${key}` : "/server/body_limit", {
      rule: "body-room",
      message: `one user gets a quarter of ${key} (${room}), which is less than body_limit (${limit})`,
      hint: `make ${key} at least four times body_limit`,
    });
  }
}

function linkAddresses(context: LinkContext): void {
  const { server } = context.config;
  const taken: { pointer: string; host: string; port: number }[] = [];
  const listeners = (server?.listen ?? []).map((address, index) => ({
    ...address,
    pointer: join("/server/listen", index),
  }));
  for (const { host, port, pointer } of [...listeners, { ...server?.admin, pointer: "/server/admin" }]) {
    if (host === undefined || port === undefined || port === 0) continue;
    const former = taken.find((other) => other.port === port && overlap(other.host, host));
    if (former) {
      context.report(pointer, {
        rule: "duplicate-address",
        message: `port ${port} is already used by ${former.pointer}`,
        hint: "give each listener its own port",
      });
    } else {
      taken.push({ pointer, host, port });
    }
  }
}

function overlap(a: string, b: string): boolean {
  return (
    a === b ||
    WILDCARD_HOSTS.has(a) ||
    WILDCARD_HOSTS.has(b) ||
    (isLoopback(a) && isLoopback(b) && [a, b].includes("localhost"))
  );
}

function linkProxy(context: LinkContext, cidr: string, pointer: string): void {
  const [address = "", prefix, ...more] = cidr.split("/");
  const bits = isIPv6(address) ? 128 : 32;
  const length = prefix === undefined ? bits : Number(prefix);
  const valid =
    more.length === 0 && isIP(address) !== 0 && /^(\d{1,3})?$/.test(prefix ?? "") && prefix !== "" && length <= bits;
  if (!valid) {
    context.report(pointer, {
      rule: "invalid-cidr",
      message: `${context.show(pointer)} is not an address or a CIDR`,
      hint: "write 10.0.3.7, 10.0.3.0/24 or fd12:3456::/64",
    });
  } else if (isMapped(address)) {
    context.report(pointer, {
      rule: "invalid-cidr",
      message: "is an IPv4 address written as IPv6",
      hint: "write it as IPv4, 10.0.3.0/24",
    });
  } else if (length === 0) {
    const message = "every client can forge its address";
    context.report(pointer, {
      rule: "trust-everyone",
      severity: "warning",
      message,
      hint: "name the networks of the proxies",
    });
  } else if (isWholePrivate(cidr)) {
    context.report(pointer, {
      rule: "trust-private",
      severity: "warning",
      message: "every machine in a private network can forge a client's address",
      hint: "name the addresses of the proxies, or a subnet that contains only them",
    });
  }
}

function isWholePrivate(cidr: string): boolean {
  const network = parseNetwork(cidr);
  if (typeof network === "string") return false;
  const covers = listNetworks([network]);
  return PRIVATE_RANGES.some((range) => {
    const { address, family, bits } = parseNetwork(range) as Network;
    return family === network.family && bits >= network.bits && covers(address);
  });
}

/** In ::ffff:0:0/96, where a prefix means something else than the operator thinks. */
function isMapped(address: string): boolean {
  if (!isIPv6(address)) return false;
  const mapped = new BlockList();
  mapped.addSubnet("::ffff:0:0", 96, "ipv6");
  return mapped.check(address, "ipv6");
}

/** Milliseconds for which a settlement that waits is looked for in the ledger before it is sent again. */
const MIN_RETENTION_MS = 7 * 86_400_000;

const HINT = "write sqlite:FILE, memory:, redis://HOST:PORT/DB or rediss://HOST:PORT/DB";

/** The store's address, and whether it can be shared. Its URL may hold a password: messages never show it. */
export function linkStore(context: LinkContext): void {
  const { store, server } = context.config;
  const { url, nodes } = store ?? {};
  if (url !== undefined && nodes !== undefined) {
    context.report(
      "/store/nodes",
      { rule: "store-conflict", message: "conflicts with store.url", hint: "keep one of the two" },
      "key",
    );
  }
  const wrong = url === undefined ? null : wrongUrl(url);
  if (wrong !== null) context.report("/store/url", { rule: "store-url", message: wrong, hint: HINT });
  for (const [index, node] of (nodes ?? []).entries()) {
    if (node !== undefined && !isRedis(node)) {
      context.report(join("/store/nodes", index), {
        rule: "store-url",
        message: "must be a redis:// or rediss:// URL",
        hint: "redis://HOST:PORT",
      });
    }
  }
  const { retention } = store ?? {};
  if (retention !== undefined && milliseconds(retention) < MIN_RETENTION_MS) {
    context.report("/store/retention", {
      rule: "store-retention",
      message: "is shorter than 7 days, for which a settlement may wait for the store: it could be charged twice",
      hint: "7d or longer",
    });
  }
  const shared = nodes !== undefined || (url !== undefined && /^rediss?:/.test(url));
  if (
    (server?.workers ?? 1) > 1 &&
    !shared &&
    wrong === null &&
    !context.isInvalid("/store") &&
    !context.isUnset("/store/url")
  ) {
    const message = "several workers need a Redis store: each would count limits on its own";
    context.report("/server/workers", {
      rule: "workers-store",
      message,
      hint: "set store.url to redis://HOST:PORT, or workers to 1",
    });
  }
}

function wrongUrl(url: string): string | null {
  if (url === "memory:") return null;
  const file = /^sqlite:(.*)$/.exec(url)?.[1];
  if (file !== undefined) {
    if (file === "") return "names no file";
    return file === ":memory:" ? "is written memory:" : null;
  }
  return isRedis(url) ? null : "has a scheme that no store has";
}

function isRedis(url: string): boolean {
  const parsed = parseUrl(url);
  return parsed !== null && /^rediss?:$/.test(parsed.protocol) && parsed.hostname !== "";
}

const MIN_SECRET_BYTES = 32;

/** Tokens, sign-up and identity providers. */
export function linkAuth(context: LinkContext): void {
  const { auth } = context.config;
  const signup = auth?.signup === "off" ? undefined : auth?.signup;
  context.resolve("tiers", signup?.tier, "/auth/signup/tier");
  linkSecrets(context);
  const { access_ttl: access, refresh_ttl: refresh } = auth?.tokens ?? {};
  if (access !== undefined && refresh !== undefined && milliseconds(refresh) < milliseconds(access)) {
    const message = "refresh tokens end before the access tokens they renew";
    context.report("/auth/tokens/refresh_ttl", {
      rule: "token-ttl",
      severity: "warning",
      message,
      hint: "make refresh_ttl longer than access_ttl",
    });
  }
  const smtp = auth?.email?.smtp ?? "";
  if (smtp !== "" && !/^smtps?:$/.test(parseUrl(smtp)?.protocol ?? "")) {
    context.report("/auth/email/smtp", {
      rule: "smtp-url",
      message: "must be a smtp:// or smtps:// URL",
      hint: "smtps://USER:PASSWORD@HOST:465",
    });
  }
  for (const [name, provider] of Object.entries(auth?.oauth ?? {})) {
    if (provider?.issuer !== undefined && !isIssuer(provider.issuer)) {
      const pointer = join("/auth/oauth", name, "issuer");
      context.report(pointer, {
        rule: "oauth-issuer",
        message: "must be an https URL, or http on loopback",
        hint: "https://id.example.com",
      });
    }
  }
}

function linkSecrets(context: LinkContext): void {
  const kids = new Set<string>();
  for (const [index, secret] of (context.config.auth?.tokens?.secrets ?? []).entries()) {
    const pointer = join("/auth/tokens/secrets", index);
    const { kid, value = "" } = secret ?? {};
    if (kid !== undefined && kids.has(kid)) {
      const message = `the kid ${context.show(`${pointer}/kid`)} is already used by a secret above`;
      context.report(`${pointer}/kid`, { rule: "duplicate-kid", message, hint: "give each secret its own kid" });
    }
    if (kid !== undefined) kids.add(kid);
    if (value !== "" && Buffer.byteLength(value) < MIN_SECRET_BYTES) {
      const message = `is shorter than ${MIN_SECRET_BYTES} bytes: tokens could be forged`;
      context.report(`${pointer}/value`, {
        rule: "weak-secret",
        message,
        hint: "generate one with: openssl rand -base64 48",
      });
    }
  }
}

function isIssuer(text: string): boolean {
  const url = parseUrl(text);
  if (url === null || url.username !== "" || url.password !== "") return false;
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname));
}
