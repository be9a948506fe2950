import { dirname, relative } from "node:path";
import type { AdminToken, AuthSettings, ListenerAddress, Secret, Snapshot } from "../kit/index.ts";
import { type Changes, FUTURE_USERS, type Two, type Value } from "./change.ts";
import { same } from "./same.ts";
import {
  compareDecimals,
  decimalNumber,
  duration,
  pointersOfDifference,
  secretText,
  size,
  snakeCase,
} from "./values.ts";

function at(setting: string): { readonly setting: string } {
  return { setting };
}

/** Accounts, charging, the listeners and the store. */
export function compareService(changes: Changes, sides: Two<Snapshot>): void {
  compareAuth(changes, sides);
  compareBilling(changes, sides);
  compareServer(changes, sides);
  compareStore(changes, sides);
  compareOperation(changes, sides);
  const [before, after] = sides.map(({ incidents }) => incidents) as [Snapshot["incidents"], Snapshot["incidents"]];
  if (!same(before, after)) {
    const values = [before.map(({ title }) => title), after.map(({ title }) => title)] as const;
    changes.add("incidents-changed", at("status.incidents"), values);
  }
}

const SECTIONS_OF_CLIENTS = "hash file server store auth billing tiers upstreams models pipeline incidents".split(" ");

/** Sections that only operators notice. Values may be secrets: only their places are shown. */
function compareOperation(changes: Changes, [before, after]: Two<Snapshot>): void {
  const [old, now] = [before, after].map((side) => {
    return Object.fromEntries(Object.entries(side).filter(([section]) => !SECTIONS_OF_CLIENTS.includes(section)));
  });
  for (const pointer of pointersOfDifference(old, now)) {
    const setting = snakeCase(pointer.slice(1).replaceAll("/", "."));
    changes.add("operation-changed", { setting }, [null, null]);
  }
}

function compareAuth(changes: Changes, sides: Two<Snapshot>): void {
  const [old, now] = [sides[0].auth, sides[1].auth];
  changes.differs("sign-up-changed", at("auth.signup.tier"), [old.signup.tier, now.signup.tier], FUTURE_USERS);
  const credits = [old.signup.credits, now.signup.credits] as const;
  if (compareDecimals(...credits) !== 0) {
    const values = [decimalNumber(credits[0]), decimalNumber(credits[1])] as const;
    changes.smaller("sign-up-credits-lowered", at("auth.signup.credits"), values, { plans: FUTURE_USERS });
  }
  compareSignUp(changes, [old.signup.domains, now.signup.domains]);
  compareTokens(changes, [old.tokens, now.tokens]);
  compareMail(changes, [old.email, now.email]);
  for (const name of new Set([...Object.keys(old.oauth), ...Object.keys(now.oauth)])) {
    const [was, is] = [old.oauth[name], now.oauth[name]];
    if (was === undefined) changes.add("sign-in-gained", at(`auth.oauth.${name}`), [null, name]);
    else if (is === undefined) changes.add("sign-in-lost", at(`auth.oauth.${name}`), [name, null]);
    else {
      changes.differs("sign-in-changed", at(`auth.oauth.${name}.issuer`), [was.issuer, is.issuer]);
      changes.differs("sign-in-changed", at(`auth.oauth.${name}.client_id`), [was.clientId, is.clientId]);
      changes.differs("sign-in-changed", at(`auth.oauth.${name}.scopes`), [was.scopes, is.scopes]);
      secret(changes, "sign-in-changed", at(`auth.oauth.${name}.client_secret`), [was.clientSecret, is.clientSecret]);
    }
  }
}

/** @param sides domains whose addresses may sign up; undefined: all. */
function compareSignUp(changes: Changes, [old, now]: readonly [Domains, Domains]): void {
  if (same(old, now)) return;
  const isWider = now === undefined || (old !== undefined && old.every((domain) => now.includes(domain)));
  const shown = (domains: Domains): Value => (domains?.length === 0 ? "off" : (domains ?? "all"));
  const kind = isWider ? "sign-up-widened" : "sign-up-narrowed";
  changes.add(kind, at("auth.signup.domains"), [shown(old), shown(now)]);
}

type Domains = AuthSettings["signup"]["domains"];

function compareTokens(changes: Changes, [old, now]: Two<AuthSettings["tokens"]>): void {
  changes.differs("tokens-invalidated", at("auth.tokens.issuer"), [old.issuer, now.issuer]);
  changes.differs("tokens-invalidated", at("auth.tokens.audience"), [old.audience, now.audience]);
  const show = { show: duration };
  changes.smaller("token-lifetime-shorter", at("auth.tokens.access_ttl"), [old.accessTtl, now.accessTtl], show);
  changes.smaller("token-lifetime-shorter", at("auth.tokens.refresh_ttl"), [old.refreshTtl, now.refreshTtl], show);
  const [was, is] = [old, now].map(({ secrets }) => new Map(secrets.map(({ kid, value }) => [kid, value])));
  changes.fewer("token-secret-removed", at("auth.tokens.secrets"), [[...was!.keys()], [...is!.keys()]]);
  for (const [kid, value] of was!) {
    const other = is!.get(kid);
    if (other !== undefined) secret(changes, "tokens-invalidated", at(`auth.tokens.secrets.${kid}`), [value, other]);
  }
  const signers = [old.secrets[0]?.kid ?? null, now.secrets[0]?.kid ?? null] as const;
  changes.differs("token-signer-changed", at("auth.tokens.secrets"), signers);
}

/** Without a mail server codes are written to the log, where no user sees them. */
function compareMail(changes: Changes, [old, now]: Two<AuthSettings["email"]>): void {
  const subject = at("auth.email.smtp");
  if (old.smtp.empty === now.smtp.empty) secret(changes, "sign-in-changed", subject, [old.smtp, now.smtp]);
  else
    changes.add(now.smtp.empty ? "sign-in-lost" : "sign-in-gained", subject, [
      secretText(old.smtp),
      secretText(now.smtp),
    ]);
  changes.differs("sign-in-changed", at("auth.email.from"), [old.from, now.from]);
}

function secret(
  changes: Changes,
  kind: "sign-in-changed" | "tokens-invalidated" | "admin-changed",
  subject: { readonly setting: string },
  [old, now]: Two<Secret>,
): void {
  if (same(old, now)) return;
  const isOther = old.empty === now.empty;
  changes.add(kind, subject, [secretText(old), isOther ? "another" : secretText(now)]);
}

function compareBilling(changes: Changes, sides: Two<Snapshot>): void {
  const [old, now] = [sides[0].billing, sides[1].billing];
  changes.differs("currency-changed", at("billing.currency"), [old.currency, now.currency]);
  if (old.enforce !== now.enforce) {
    const kind = now.enforce ? "credits-enforced" : "credits-not-enforced";
    changes.add(kind, at("billing.enforce"), [old.enforce, now.enforce]);
  }
  const held = [old.holdOutputTokens, now.holdOutputTokens] as const;
  changes.differs("charging-changed", at("billing.hold_output_tokens"), held);
  for (const name of Object.keys(old.outcomes) as (keyof typeof old.outcomes)[]) {
    const values = [old.outcomes[name], now.outcomes[name]] as const;
    changes.differs("charging-changed", at(`billing.outcomes.${name}`), values);
  }
}

function compareServer(changes: Changes, sides: Two<Snapshot>): void {
  const [old, now] = [sides[0].server, sides[1].server];
  changes.fewer("listen-removed", at("server.listen"), [old.listen.map(addressText), now.listen.map(addressText)]);
  changes.smaller("limit-lowered", at("server.body_limit"), [old.bodyLimit, now.bodyLimit], { show: size });
  changes.smaller("room-smaller", at("server.body_memory"), [old.bodyMemory, now.bodyMemory], { show: size });
  changes.smaller("room-smaller", at("server.upload_space"), [old.uploadSpace, now.uploadSpace], { show: size });
  changes.smaller("limit-lowered", at("server.count_budget"), [old.countBudget, now.countBudget], { show: size });
  compareShedding(changes, [old.shed, now.shed]);
  const total = [old.connections.total, now.connections.total] as const;
  changes.smaller("room-smaller", at("server.connections.total"), total);
  const perAddress = [old.connections.perAddress, now.connections.perAddress] as const;
  changes.smaller("limit-lowered", at("server.connections.per_address"), perAddress, { none: "none" });
  compareIpLimits(changes, [old.ipLimit, now.ipLimit]);
  const origins = [old.cors.origins, now.cors.origins] as const;
  const isOpen = origins.map((names) => names.includes("*")) as [boolean, boolean];
  if (isOpen[0] !== isOpen[1]) {
    changes.add(isOpen[0] ? "origins-lost" : "origins-gained", at("server.cors.origins"), origins);
  } else if (!isOpen[0]) changes.fewer("origins-lost", at("server.cors.origins"), origins);
  const show = { show: duration };
  changes.smaller("heartbeat-shorter", at("server.heartbeat"), [old.heartbeat, now.heartbeat], show);
  changes.smaller("drain-shorter", at("server.drain.delay"), [old.drain.delay, now.drain.delay], show);
  changes.smaller("drain-shorter", at("server.drain.timeout"), [old.drain.timeout, now.drain.timeout], show);
  if (old.dashboard !== now.dashboard) {
    const kind = now.dashboard ? "dashboard-gained" : "dashboard-lost";
    changes.add(kind, at("server.dashboard"), [old.dashboard, now.dashboard]);
  }
  changes.differs("error-form-changed", at("server.error_format"), [old.errorFormat, now.errorFormat]);
  changes.differs("sign-in-changed", at("server.public_url"), [old.publicUrl ?? null, now.publicUrl ?? null]);
  changes.differs("proxies-changed", at("server.trusted_proxies"), [old.trustedProxies, now.trustedProxies]);
  changes.differs("workers-changed", at("server.workers"), [old.workers, now.workers]);
  changes.differs("admin-changed", at("server.admin"), [adminText(old.admin), adminText(now.admin)]);
  if (old.admin && now.admin) compareAdminTokens(changes, [old.admin.tokens, now.admin.tokens]);
}

function compareAdminTokens(changes: Changes, [old, now]: Two<readonly AdminToken[]>): void {
  for (const name of new Set([...old, ...now].map((one) => one.name))) {
    const sides = [old, now].map((tokens) => tokens.find((one) => one.name === name));
    const [before, after] = sides;
    const subject = at(name === "admin" ? "server.admin.token" : `server.admin.tokens.${name}`);
    changes.differs("admin-changed", subject, [before?.role ?? "none", after?.role ?? "none"]);
    if (before && after) secret(changes, "admin-changed", subject, [before.token, after.token]);
  }
}

type Shed = Snapshot["server"]["shed"];

function compareShedding(changes: Changes, [old, now]: Two<Shed>): void {
  const delay = (shed: Shed): Value => (shed?.loopDelay == null ? "none" : duration(shed.loopDelay));
  changes.differs("shedding-changed", at("server.shed.loop_delay"), [delay(old), delay(now)]);
  const heap = (shed: Shed): Value => {
    if (shed?.heap == null) return "none";
    return "share" in shed.heap ? shed.heap.share : size(shed.heap.bytes);
  };
  changes.differs("shedding-changed", at("server.shed.heap"), [heap(old), heap(now)]);
}

type IpLimit = Snapshot["server"]["ipLimit"];

/** By its rate, and at the same rate by how many it takes at once. */
function compareIpLimits(changes: Changes, [old, now]: Two<IpLimit>): void {
  if (same(old, now)) return;
  const rates = [rateOf(old), rateOf(now)] as const;
  const isLower = rates[0] === rates[1] ? (now?.requests ?? 0) < (old?.requests ?? 0) : rates[1] < rates[0];
  const text = (limit: IpLimit): Value => (limit ? `${limit.requests} in ${duration(limit.window)}` : "none");
  changes.add(isLower ? "limit-lowered" : "limit-raised", at("server.ip_limit"), [text(old), text(now)]);
}

function rateOf(limit: IpLimit): number {
  return limit === null ? Infinity : limit.requests / limit.window;
}

function addressText({ host, port, tls }: ListenerAddress): string {
  const place = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
  if (tls === undefined) return place;
  return `https://${place}${tls.clientCa === undefined ? "" : " with client certificates"}`;
}

function adminText(admin: Snapshot["server"]["admin"]): string {
  return admin === null ? "none" : addressText(admin);
}

function compareStore(changes: Changes, sides: Two<Snapshot>): void {
  const [old, now] = [sides[0].store, sides[1].store];
  const places = [placesOf(sides[0]), placesOf(sides[1])] as const;
  if (!same(...places)) {
    const schemes = places.map(([first = ""]) => first.slice(0, Math.max(0, first.indexOf(":")))) as [string, string];
    const isOther = schemes[0] === schemes[1];
    changes.add("store-changed", at("store.url"), [schemes[0], isOther ? `another ${schemes[1]}` : schemes[1]]);
  }
  changes.differs("store-changed", at("store.prefix"), [old.prefix, now.prefix]);
  changes.differs("store-failure-changed", at("store.on_failure"), [old.onFailure, now.onFailure]);
  const show = { show: duration };
  changes.smaller("timeout-shortened", at("store.timeout"), [old.timeout, now.timeout], show);
  changes.smaller("retention-shorter", at("store.retention"), [old.retention, now.retention], show);
}

/** Where the store is, without who asks; a file relative to the configuration, which may be read from a copy. */
function placesOf({ store, file }: Snapshot): readonly string[] {
  return [store.url, ...store.nodes].map((secretUrl) => {
    const url = secretUrl.reveal();
    if (url.startsWith("sqlite:")) return `sqlite:${relative(dirname(file), url.slice("sqlite:".length))}`;
    return url.replace(/^(\w+:\/\/).*@/s, "$1");
  });
}
