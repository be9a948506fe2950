import type { Limit, TierConfig } from "#schema";
import { join } from "../diagnostics.ts";
import { milliseconds } from "../settings.ts";
import type { Incomplete } from "../validate.ts";
import type { LinkContext } from "./context.ts";

type Plan = Incomplete<TierConfig> | undefined;

/** Access lists name tiers that are defined; limits leave each other a meaning. */
export function linkTiers(context: LinkContext): void {
  for (const [name, tier] of Object.entries(context.config.tiers ?? {})) {
    linkLimits(context, tier, join("/tiers", name, "limits"));
    linkAddressLimits(context, tier, join("/tiers", name, "limits"));
    if (!Array.isArray(tier?.access)) continue;
    const access: readonly (string | undefined)[] = tier.access;
    for (const [index, other] of access.entries())
      context.resolve("tiers", other, join("/tiers", name, "access", index));
  }
  linkClasses(context);
}

/** Which plans server.shed refuses first must be what the operator thinks. */
function linkClasses(context: LinkContext): void {
  const plans = Object.entries(context.config.tiers ?? {});
  const written = plans.filter(([, tier]) => tier?.class !== undefined);
  const [first, second] = written;
  if (first === undefined) return;
  const report = (name: string, message: string, hint: string): void =>
    context.report(join("/tiers", name, "class"), { rule: "tier-class", severity: "warning", message, hint });
  const without = plans.find(([, tier]) => tier !== undefined && tier.class === undefined);
  if (without !== undefined) {
    const place = plans.indexOf(without);
    const message = `is compared with the place of tier '${without[0]}' among the tiers, ${place}, which has no class`;
    report(first[0], message, "give every tier a class, or none");
  } else if (second !== undefined && written.every(([, tier]) => tier?.class === first[1]?.class)) {
    report(
      second[0],
      "is the class of every tier: server.shed refuses them all at once",
      "give tiers different classes",
    );
  }
}

/** Whether a plan may call models of a tier; a plan that is wrong in itself is taken to. */
export function canCall(plan: Plan, modelTier: string): boolean {
  const access: "all" | readonly (string | undefined)[] = plan?.access ?? "all";
  return access === "all" || access.includes(modelTier);
}

/** Whether the limits let any request through. */
export function mayRequest(plan: Plan): boolean {
  const { day, hour, minute } = plan?.limits ?? {};
  return ![day, hour, minute].includes(0);
}

function linkLimits(context: LinkContext, tier: Plan, pointer: string): void {
  const { day, hour, minute } = tier?.limits ?? {};
  const windows = { day, hour, minute };
  const zero = Object.entries(windows).find(([, limit]) => limit === 0)?.[0];
  const others = Object.entries(windows).filter(([, limit]) => limit !== undefined && limit !== 0);
  if (zero !== undefined && others.length > 0) {
    const message = `is 0, so ${others.map(([name]) => name).join(" and ")} have no effect: every request is refused`;
    contradiction(context, join(pointer, zero), message, "raise it, or write none");
  } else if (isAbove(hour, day)) {
    // A request counts at least one unit of the day, so the day is used up first.
    const message = `is never reached: a day allows ${day}, fewer than the ${hour} of an hour`;
    contradiction(context, join(pointer, "hour"), message, "lower it, raise day, or write none");
  }
}

/** Limits for clients at one address and for one process, which the users of a plan may meet before their own. */
function linkAddressLimits(context: LinkContext, tier: Plan, pointer: string): void {
  const { ip_limit: ipLimit, connections, workers = 1 } = context.config.server ?? {};
  const { minute, streams } = tier?.limits ?? {};
  if (ipLimit !== undefined && ipLimit !== "none" && ipLimit.requests !== undefined && ipLimit.window !== undefined) {
    const allowed = ipLimit.requests * windowsInMinute(milliseconds(ipLimit.window));
    if (isAbove(minute, allowed)) {
      const message = `is never reached from one address: server.ip_limit lets ${allowed} through in a minute`;
      contradiction(context, join(pointer, "minute"), message, "raise server.ip_limit, or lower it");
    }
  }
  const { per_address: ofAddress, total } = connections ?? {};
  const takesOne = "and each stream takes a connection";
  if (isAbove(streams, ofAddress)) {
    const message = `is never reached from one address: server.connections.per_address is ${ofAddress}, ${takesOne}`;
    contradiction(context, join(pointer, "streams"), message, "raise server.connections.per_address, or lower it");
  } else if (total !== undefined && isAbove(streams, total * workers)) {
    const processes = workers > 1 ? ` in each of ${workers} workers` : "";
    const message = `is never reached on one instance: server.connections.total is ${total}${processes}, ${takesOne}`;
    contradiction(context, join(pointer, "streams"), message, "raise server.connections.total, or lower it");
  }
}

const MINUTE_MS = 60_000;

/** How many windows of an address a calendar minute may meet: all requests of a long one may come in one minute. */
function windowsInMinute(window: number): number {
  if (window % MINUTE_MS === 0) return 1;
  return MINUTE_MS % window === 0 ? MINUTE_MS / window : Math.ceil(MINUTE_MS / window) + 1;
}

function isAbove(limit: Limit | undefined, other: Limit | undefined): boolean {
  return typeof limit === "number" && typeof other === "number" && limit > other;
}

function contradiction(context: LinkContext, pointer: string, message: string, hint: string): void {
  context.report(pointer, { rule: "contradictory-limits", severity: "warning", message, hint });
}
