import { join } from "../diagnostics.ts";
import type { LinkContext } from "./context.ts";
import { parseUrl } from "./upstreams.ts";
import { milliseconds } from "../units.ts";

/** Milliseconds for which a settlement that waits is looked for in the ledger before it is told again. */
const LEAST_RETENTION = 7 * 86_400_000;

const HINT = "write sqlite:FILE, memory:, redis://HOST:PORT/DB or rediss://HOST:PORT/DB";

/** The store's address, and whether it can be shared. Its URL may hold a password: messages never show it. */
export function linkStore(context: LinkContext): void {
  const { store, server } = context.config;
  const { url, nodes } = store ?? {};
  if (url !== undefined && nodes !== undefined) {
    context.report(
      "/store/nodes",
      { rule: "store-conflict", message: "stands beside store.url", hint: "keep one of the two" },
      "key",
    );
  }
  const wrong = url === undefined ? null : wrongUrl(url);
  if (wrong !== null) context.report("/store/url", { rule: "store-url", message: wrong, hint: HINT });
  for (const [index, node] of (nodes ?? []).entries()) {
    if (node !== undefined && !isRedis(node)) {
      context.report(join("/store/nodes", index), {
        rule: "store-url",
        message: "is no redis:// or rediss:// URL",
        hint: "redis://HOST:PORT",
      });
    }
  }
  const { retention } = store ?? {};
  if (retention !== undefined && milliseconds(retention) < LEAST_RETENTION) {
    context.report("/store/retention", {
      rule: "store-retention",
      message: "is shorter than the week for which a settlement may wait for the store: it could be charged twice",
      hint: "7d or longer",
    });
  }
  const shared = nodes !== undefined || (url !== undefined && /^rediss?:/.test(url));
  if (
    (server?.workers ?? 1) > 1 &&
    !shared &&
    wrong === null &&
    !context.damaged("/store") &&
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
