import { BlockList, isIP, isIPv6 } from "node:net";
import { join } from "../diagnostics.ts";
import { BODY_LIMIT, BODY_MEMORY, UPLOAD_SPACE } from "../settings.ts";
import { bytes } from "../units.ts";
import type { LinkContext } from "./context.ts";
import { isLoopback } from "../../kit/index.ts";

const LARGEST_BODY = bytes("256MiB");
const EVERY_HOST = new Set(["0.0.0.0", "::"]);

/** Listeners, trusted proxies and limits of the server. */
export function linkServer(context: LinkContext): void {
  const { server } = context.config;
  linkAddresses(context);
  for (const [index, cidr] of (server?.trusted_proxies ?? []).entries()) {
    if (cidr !== undefined) linkProxy(context, cidr, join("/server/trusted_proxies", index));
  }
  if (server?.body_limit !== undefined && bytes(server.body_limit) > LARGEST_BODY) {
    context.report("/server/body_limit", {
      rule: "body-limit",
      message: "is more than one request may take of the memory",
      hint: "at most 256MiB",
    });
  }
  linkRoom(context);
  const { admin } = server ?? {};
  if (
    admin?.host !== undefined &&
    !isLoopback(admin.host) &&
    (admin.token ?? "") === "" &&
    !context.misspelt("/server/admin")
  ) {
    context.report(context.isUnset("/server/admin/token") ? "/server/admin/token" : "/server/admin/host", {
      rule: "admin-open",
      severity: "warning",
      message: "without a token an admin listener serves probes and metrics only, on loopback",
      hint: "set server.admin.token, or listen on 127.0.0.1",
    });
  }
}

/** One user gets a quarter of each room: less than a body of the limit would refuse it for ever. */
function linkRoom(context: LinkContext): void {
  const { server } = context.config;
  const limit = server?.body_limit ?? BODY_LIMIT;
  // Said already.
  if (bytes(limit) > LARGEST_BODY) return;
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
        message: `port ${port} is taken already by ${former.pointer}`,
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
    EVERY_HOST.has(a) ||
    EVERY_HOST.has(b) ||
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
      message: `${context.show(pointer)} is no CIDR`,
      hint: "write 10.0.0.0/8 or fd00::/8",
    });
  } else if (isMapped(address)) {
    context.report(pointer, {
      rule: "invalid-cidr",
      message: "is an IPv4 address written as IPv6",
      hint: "write it as IPv4, 10.0.0.0/8",
    });
  } else if (length === 0) {
    const message = "every client may say what its address is";
    context.report(pointer, {
      rule: "trust-everyone",
      severity: "warning",
      message,
      hint: "name the proxies' own networks",
    });
  }
}

/** In ::ffff:0:0/96, where a prefix means something else than the operator thinks. */
function isMapped(address: string): boolean {
  if (!isIPv6(address)) return false;
  const mapped = new BlockList();
  mapped.addSubnet("::ffff:0:0", 96, "ipv6");
  return mapped.check(address, "ipv6");
}
