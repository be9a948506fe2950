import { dirname, relative } from "node:path";
import { type Address, type AuthSettings, type Secret, type Snapshot } from "../kit/index.ts";
import { type Changes, same, type Two, type Value } from "./change.ts";
import { compareDecimals, decimalNumber, duration, secretText, size } from "./values.ts";

/** Accounts, charging, the listeners and the store. */
export function compareService(changes: Changes, sides: Two<Snapshot>): void {
  compareAuth(changes, sides);
  compareBilling(changes, sides);
  compareServer(changes, sides);
  compareStore(changes, sides);
  const [before, after] = sides.map(({ incidents }) => incidents) as [Snapshot["incidents"], Snapshot["incidents"]];
  if (!same(before, after)) {
    const values = [before.map(({ title }) => title), after.map(({ title }) => title)] as const;
    changes.add("incidents-changed", { setting: "status.incidents" }, values);
  }
}

function compareAuth(changes: Changes, sides: Two<Snapshot>): void {
  const [old, now] = [sides[0].auth, sides[1].auth];
  changes.differs("sign-up-changed", { setting: "auth.signup.tier" }, [old.signup.tier, now.signup.tier]);
  const credits = [old.signup.credits, now.signup.credits] as const;
  if (compareDecimals(...credits) !== 0) {
    const values = [decimalNumber(credits[0]), decimalNumber(credits[1])] as const;
    changes.smaller("sign-up-credits-lowered", { setting: "auth.signup.credits" }, values);
  }
  compareTokens(changes, [old.tokens, now.tokens]);
  compareMail(changes, [old.email, now.email]);
  const subject = (name: string, key = "") => ({ setting: `auth.oauth.${name}${key}` });
  for (const name of new Set([...Object.keys(old.oauth), ...Object.keys(now.oauth)])) {
    const [was, is] = [old.oauth[name], now.oauth[name]];
    if (was === undefined) changes.add("sign-in-gained", subject(name), [null, name]);
    else if (is === undefined) changes.add("sign-in-lost", subject(name), [name, null]);
    else {
      changes.differs("sign-in-changed", subject(name, ".issuer"), [was.issuer, is.issuer]);
      changes.differs("sign-in-changed", subject(name, ".client_id"), [was.clientId, is.clientId]);
      changes.differs("sign-in-changed", subject(name, ".scopes"), [was.scopes, is.scopes]);
      secret(changes, "sign-in-changed", subject(name, ".client_secret"), [was.clientSecret, is.clientSecret]);
    }
  }
}

function compareTokens(changes: Changes, [old, now]: Two<AuthSettings["tokens"]>): void {
  const subject = (key: string) => ({ setting: `auth.tokens.${key}` });
  changes.differs("tokens-invalidated", subject("issuer"), [old.issuer, now.issuer]);
  changes.differs("tokens-invalidated", subject("audience"), [old.audience, now.audience]);
  const show = { show: duration };
  changes.smaller("token-lifetime-shorter", subject("access_ttl"), [old.accessTtl, now.accessTtl], show);
  changes.smaller("token-lifetime-shorter", subject("refresh_ttl"), [old.refreshTtl, now.refreshTtl], show);
  const [was, is] = [old, now].map(({ secrets }) => new Map(secrets.map(({ kid, value }) => [kid, value])));
  changes.fewer("token-secret-removed", subject("secrets"), [[...was!.keys()], [...is!.keys()]]);
  for (const [kid, value] of was!) {
    const other = is!.get(kid);
    if (other !== undefined) secret(changes, "tokens-invalidated", subject(`secrets.${kid}`), [value, other]);
  }
  const signers = [old.secrets[0]?.kid ?? null, now.secrets[0]?.kid ?? null] as const;
  changes.differs("token-signer-changed", subject("secrets"), signers);
}

/** Without a mail server codes are written to the log, where no user sees them. */
function compareMail(changes: Changes, [old, now]: Two<AuthSettings["email"]>): void {
  const subject = { setting: "auth.email.smtp" };
  if (old.smtp.empty === now.smtp.empty) secret(changes, "sign-in-changed", subject, [old.smtp, now.smtp]);
  else
    changes.add(now.smtp.empty ? "sign-in-lost" : "sign-in-gained", subject, [
      secretText(old.smtp),
      secretText(now.smtp),
    ]);
  changes.differs("sign-in-changed", { setting: "auth.email.from" }, [old.from, now.from]);
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
  changes.differs("currency-changed", { setting: "billing.currency" }, [old.currency, now.currency]);
  if (old.enforce !== now.enforce) {
    const kind = now.enforce ? "credits-enforced" : "credits-not-enforced";
    changes.add(kind, { setting: "billing.enforce" }, [old.enforce, now.enforce]);
  }
  const held = [old.holdOutputTokens, now.holdOutputTokens] as const;
  changes.differs("charging-changed", { setting: "billing.hold_output_tokens" }, held);
  for (const name of Object.keys(old.outcomes) as (keyof typeof old.outcomes)[]) {
    const values = [old.outcomes[name], now.outcomes[name]] as const;
    changes.differs("charging-changed", { setting: `billing.outcomes.${name}` }, values);
  }
}

function compareServer(changes: Changes, sides: Two<Snapshot>): void {
  const [old, now] = [sides[0].server, sides[1].server];
  const subject = (key: string) => ({ setting: `server.${key}` });
  changes.fewer("listen-removed", subject("listen"), [old.listen.map(addressText), now.listen.map(addressText)]);
  changes.smaller("limit-lowered", subject("body_limit"), [old.bodyLimit, now.bodyLimit], { show: size });
  changes.smaller("room-smaller", subject("body_memory"), [old.bodyMemory, now.bodyMemory], { show: size });
  changes.smaller("room-smaller", subject("upload_space"), [old.uploadSpace, now.uploadSpace], { show: size });
  const total = [old.connections.total, now.connections.total] as const;
  changes.smaller("room-smaller", subject("connections.total"), total);
  const perAddress = [old.connections.perAddress, now.connections.perAddress] as const;
  changes.smaller("limit-lowered", subject("connections.per_address"), perAddress, { none: "none" });
  compareIpLimits(changes, [old.ipLimit, now.ipLimit]);
  const origins = [old.cors.origins, now.cors.origins] as const;
  const isOpen = origins.map((names) => names.includes("*")) as [boolean, boolean];
  if (isOpen[0] !== isOpen[1]) {
    changes.add(isOpen[0] ? "origins-lost" : "origins-gained", subject("cors.origins"), origins);
  } else if (!isOpen[0]) changes.fewer("origins-lost", subject("cors.origins"), origins);
  const show = { show: duration };
  changes.smaller("heartbeat-shorter", subject("heartbeat"), [old.heartbeat, now.heartbeat], show);
  changes.smaller("drain-shorter", subject("drain.delay"), [old.drain.delay, now.drain.delay], show);
  changes.smaller("drain-shorter", subject("drain.timeout"), [old.drain.timeout, now.drain.timeout], show);
  changes.differs("proxies-changed", subject("trusted_proxies"), [old.trustedProxies, now.trustedProxies]);
  changes.differs("workers-changed", subject("workers"), [old.workers, now.workers]);
  changes.differs("admin-changed", subject("admin"), [adminText(old.admin), adminText(now.admin)]);
  if (old.admin && now.admin)
    secret(changes, "admin-changed", subject("admin.token"), [old.admin.token, now.admin.token]);
}

type IpLimit = Snapshot["server"]["ipLimit"];

/** By its rate, and at the same rate by how many it takes at once. */
function compareIpLimits(changes: Changes, [old, now]: Two<IpLimit>): void {
  if (same(old, now)) return;
  const rates = [rateOf(old), rateOf(now)] as const;
  const isLower = rates[0] === rates[1] ? (now?.requests ?? 0) < (old?.requests ?? 0) : rates[1] < rates[0];
  const text = (limit: IpLimit): Value => (limit ? `${limit.requests} in ${duration(limit.window)}` : "none");
  changes.add(isLower ? "limit-lowered" : "limit-raised", { setting: "server.ip_limit" }, [text(old), text(now)]);
}

function rateOf(limit: IpLimit): number {
  return limit === null ? Infinity : limit.requests / limit.window;
}

function addressText({ host, port }: Address): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
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
    changes.add("store-changed", { setting: "store.url" }, [
      schemes[0],
      isOther ? `another ${schemes[1]}` : schemes[1],
    ]);
  }
  changes.differs("store-changed", { setting: "store.prefix" }, [old.prefix, now.prefix]);
  changes.differs("store-failure-changed", { setting: "store.on_failure" }, [old.onFailure, now.onFailure]);
  const show = { show: duration };
  changes.smaller("timeout-shortened", { setting: "store.timeout" }, [old.timeout, now.timeout], show);
  changes.smaller("retention-shorter", { setting: "store.retention" }, [old.retention, now.retention], show);
}

/** Where the store is, without who asks; a file relative to the configuration, which may be read from a copy. */
function placesOf({ store, file }: Snapshot): readonly string[] {
  return [store.url, ...store.nodes].map((secretUrl) => {
    const url = secretUrl.reveal();
    if (url.startsWith("sqlite:")) return `sqlite:${relative(dirname(file), url.slice("sqlite:".length))}`;
    return url.replace(/^(\w+:\/\/).*@/s, "$1");
  });
}
