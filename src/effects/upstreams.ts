import type { Decimal, ImagePrices, Snapshot, Upstream } from "../kit/index.ts";
import type { Changes, Subject, Two, Value } from "./change.ts";
import { same } from "./same.ts";
import { TIMEOUTS } from "./models.ts";
import { decimalText, duration, snakeCase } from "./values.ts";

/** Upstreams that one side has under another name, by the old one: the same in everything but that. */
export function renamedUpstreams(before: Snapshot, after: Snapshot): ReadonlyMap<string, string> {
  const renamed = new Map<string, string>();
  const gone = Object.values(before.upstreams).filter(({ name }) => !(name in after.upstreams));
  const added = Object.values(after.upstreams).filter(({ name }) => !(name in before.upstreams));
  for (const old of gone) {
    const taken = new Set(renamed.values());
    const now = added.find((one) => !taken.has(one.name) && same(unnamed(old), unnamed(one)));
    if (now !== undefined) renamed.set(old.name, now.name);
  }
  return renamed;
}

function unnamed(upstream: Upstream): Partial<Upstream> {
  return { ...upstream, name: "", displayName: "" };
}

/** @param reached the plans that may call a model with the upstream in its chain, on either side. */
export function compareUpstreams(
  changes: Changes,
  [before, after]: Two<Snapshot>,
  renamed: ReadonlyMap<string, string>,
  reached: (upstream: string) => readonly string[],
): void {
  const formerNames = new Map([...renamed].map(([old, now]) => [now, old]));
  for (const name of new Set([...Object.keys(before.upstreams), ...Object.keys(after.upstreams)])) {
    if (renamed.has(name)) continue;
    const old = before.upstreams[formerNames.get(name) ?? name];
    const now = after.upstreams[name];
    if (old === undefined || now === undefined) {
      const isGone = now === undefined;
      const kind = isGone ? "upstream-removed" : "upstream-added";
      changes.add(kind, { upstream: name }, isGone ? [name, null] : [null, name], reached(name));
      continue;
    }
    const plans = [...new Set([...reached(old.name), ...reached(name)])];
    changes.differs("upstream-renamed", { upstream: name }, [old.name, name], plans);
    compareUpstream(changes, [old, now], plans);
  }
}

function compareUpstream(changes: Changes, [old, now]: Two<Upstream>, plans: readonly string[]): void {
  const upstream = now.name;
  const about = (setting: string): Subject => ({ upstream, setting });
  // Without a name of its own for the status it is shown by the one that is said to be another.
  const isNamed = old.displayName !== old.name || now.displayName !== now.name;
  if (isNamed) {
    changes.differs("catalogue-changed", about("display_name"), [old.displayName, now.displayName], plans);
  }
  changes.differs("upstream-address-changed", about("base_url"), [old.baseUrl, now.baseUrl], plans);
  changes.differs("upstream-dialect-changed", about("dialect"), [old.dialect, now.dialect], plans);
  changes.differs("upstream-vendor-changed", about("vendor"), [old.vendor ?? null, now.vendor ?? null], plans);
  changes.differs("upstream-vendor-changed", about("api"), [old.api ?? "auto", now.api ?? "auto"], plans);
  const references = [old.accepts?.references ?? [], now.accepts?.references ?? []] as const;
  changes.fewer("upstream-references-fewer", about("accepts.references"), references, plans);
  const fields = [old.accepts?.fields ?? [], now.accepts?.fields ?? []] as const;
  changes.fewer("upstream-fields-fewer", about("accepts.fields"), fields, plans);
  for (const [setting, before, after] of acceptsOf(old, now)) {
    changes.add("upstream-vendor-changed", about(`accepts.${setting}`), [before, after], plans);
  }
  for (const name of new Set([...Object.keys(old.headers), ...Object.keys(now.headers)])) {
    const [was, is] = [old.headers[name], now.headers[name]];
    if (same(was, is)) continue;
    const values = [was === undefined ? null : "set", is === undefined ? null : "set"] as const;
    changes.add("upstream-headers-changed", about(`headers.${name}`), values, plans);
  }
  const forwarded = [old.forwardHeaders ?? [], now.forwardHeaders ?? []] as const;
  changes.differs("upstream-headers-changed", about("forward_headers"), forwarded, plans);
  for (const [setting, read] of PUBLISHING) {
    changes.differs("published-models-changed", about(setting), [read(old), read(now)], plans);
  }
  if (!same(old.apiKeys, now.apiKeys)) {
    changes.add(
      "upstream-keys-changed",
      about("api_keys"),
      [countText(old), countText(now, old.apiKeys.length === now.apiKeys.length)],
      plans,
    );
  }
  for (const [setting, name] of TIMEOUTS) {
    const values = [old.timeouts[name], now.timeouts[name]] as const;
    changes.smaller("timeout-shortened", about(`timeouts.${setting}`), values, { show: duration, plans });
  }
  for (const [kind, setting, read] of DETAILS) changes.differs(kind, about(setting), [read(old), read(now)], plans);
  for (const part of ["ca", "cert", "key"] as const) {
    const [was, is] = [old.tls?.[part], now.tls?.[part]];
    if (same(was, is)) continue;
    const values = [was?.file ?? null, is?.file ?? null] as const;
    changes.add("upstream-tls-changed", about(`tls.${part}`), values, plans);
  }
  if (!same(old.proxy, now.proxy)) {
    changes.add("upstream-proxy-changed", about("proxy"), [proxyText(old), proxyText(now)], plans);
  }
  const connections = [old.connections, now.connections] as const;
  changes.smaller("upstream-connections-fewer", about("connections"), connections, { none: "none", plans });
  compareQueues(changes, [old, now], about, plans);
}

/** What is published of a provider's list. Which models that are is compared too, where the lists are known. */
const PUBLISHING: readonly (readonly [setting: string, read: (upstream: Upstream) => Value])[] = [
  ["models.include", ({ publishes }) => publishes?.include ?? null],
  ["models.exclude", ({ publishes }) => publishes?.exclude ?? null],
  ["models.tier", ({ publishes }) => Object.values(publishes?.kinds ?? {})[0]?.tier ?? null],
  ["models.price", listedPrices],
];

/** `input_per_million 1, output_per_million 2`: the units of all kinds that are published. */
function listedPrices({ publishes }: Upstream): Value {
  const units = new Map<string, string>();
  for (const { price } of Object.values(publishes?.kinds ?? {})) {
    for (const [unit, amount] of Object.entries(price as Readonly<Record<string, Decimal | ImagePrices>>)) {
      const variants = "digits" in amount ? { "": amount as Decimal } : (amount as Readonly<Record<string, Decimal>>);
      for (const [variant, one] of Object.entries(variants)) {
        units.set([snakeCase(unit), variant].filter((part) => part !== "").join("."), decimalText(one));
      }
    }
  }
  const texts = [...units].map(([unit, amount]) => `${unit} ${amount}`);
  return texts.length === 0 ? null : texts.toSorted().join(", ");
}

/** Without its user and password. */
function proxyText({ proxy }: Upstream): string {
  if (proxy === undefined) return "as the environment says";
  return proxy === null ? "none" : (URL.parse(proxy.reveal())?.host ?? "set");
}

/** Where one side has no bound, its queue has no meaning. */
function compareQueues(
  changes: Changes,
  [old, now]: Two<Upstream>,
  about: (setting: string) => Subject,
  plans: readonly string[],
): void {
  const requests = [old.concurrency?.requests ?? null, now.concurrency?.requests ?? null] as const;
  changes.smaller("upstream-connections-fewer", about("concurrency.requests"), requests, { none: "none", plans });
  if (old.concurrency === undefined || now.concurrency === undefined) return;
  const queue = [old.concurrency.queue, now.concurrency.queue] as const;
  changes.smaller("upstream-queue-shorter", about("concurrency.queue"), queue, { plans });
  const wait = [old.concurrency.maxWait, now.concurrency.maxWait] as const;
  changes.smaller("upstream-queue-shorter", about("concurrency.max_wait"), wait, { show: duration, plans });
}

const DETAILS: readonly (readonly [
  kind: "retries-changed" | "breaker-changed" | "upstream-http2-changed" | "upstream-probe-changed",
  setting: string,
  read: (upstream: Upstream) => Value,
])[] = [
  ["retries-changed", "retries.attempts", ({ retries }) => retries.attempts],
  ["retries-changed", "retries.min_delay", ({ retries }) => duration(retries.minDelay)],
  ["retries-changed", "retries.max_delay", ({ retries }) => duration(retries.maxDelay)],
  ["breaker-changed", "breaker.consecutive", ({ breaker }) => breaker.consecutive],
  ["breaker-changed", "breaker.window", ({ breaker }) => duration(breaker.window)],
  ["breaker-changed", "breaker.ratio", ({ breaker }) => breaker.ratio],
  ["breaker-changed", "breaker.minimum", ({ breaker }) => breaker.minimum],
  ["breaker-changed", "breaker.open_for", ({ breaker }) => duration(breaker.openFor)],
  ["breaker-changed", "breaker.max_open_for", ({ breaker }) => duration(breaker.maxOpenFor)],
  ["breaker-changed", "breaker.probes", ({ breaker }) => breaker.probes],
  ["breaker-changed", "breaker.scope", ({ breaker }) => breaker.scope ?? "upstream"],
  ["upstream-http2-changed", "http2", ({ http2 }) => http2],
  ["upstream-probe-changed", "probe.every", ({ probe }) => (probe ? duration(probe.every) : "none")],
  ["upstream-probe-changed", "probe.timeout", ({ probe }) => (probe ? duration(probe.timeout) : "none")],
];

function acceptsOf(old: Upstream, now: Upstream): readonly (readonly [setting: string, before: Value, after: Value])[] {
  const [was, is] = [old, now].map(({ accepts }) => {
    const { references: _references, fields: _fields, ...others } = accepts ?? {};
    return new Map<string, Value>(Object.entries(others));
  });
  const names = [...new Set([...was!.keys(), ...is!.keys()])].filter((name) => !same(was!.get(name), is!.get(name)));
  return names.map((name) => [snakeCase(name), was!.get(name) ?? null, is!.get(name) ?? null]);
}

function countText({ apiKeys }: Upstream, areOthers = false): string {
  return `${apiKeys.length} ${areOthers ? "other " : ""}${apiKeys.length === 1 ? "key" : "keys"}`;
}
