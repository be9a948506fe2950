import type { IncomingMessage } from "node:http";
import { GatewayError, invalidRequest } from "../kit/index.ts";
import { pathOf } from "./respond.ts";

/** What is refused by its head alone, whatever the path; null for any other request. */
export function headRefusal(req: IncomingMessage): GatewayError | null {
  return repeatedCredential(req) ?? upgradeRefusal(req);
}

/**
 * In lower case. Each stands once (RFC 9110, 5.3): of two, a proxy in front may have checked another one than is read here.
 * Different ones may stand beside each other: the API says which decides.
 */
const CREDENTIALS: ReadonlySet<string> = new Set(["authorization", "x-api-key", "x-goog-api-key"]);

/** The refusal of a request in which a header with credentials stands twice. Looks at the raw list: Node keeps one. */
export function repeatedCredential({ rawHeaders }: IncomingMessage): GatewayError | null {
  const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  const repeated = names.find((name, index) => CREDENTIALS.has(name) && names.indexOf(name) !== index);
  return repeated === undefined ? null : invalidRequest("/", `has more than one ${repeated} header: send one`);
}

/** Headers of a 426, by RFC 9110, 15.5.22 and 7.8: `Upgrade` is named by `Connection`. */
const UPGRADE = { Upgrade: "websocket", Connection: "Upgrade" };

/**
 * The refusal of a WebSocket; null for any other request. Codex opens one first. After a 426 it goes on over HTTP at once,
 * after any other status it tries again: https://github.com/openai/codex/pull/10824
 */
function upgradeRefusal({ method, url = "", headers: { upgrade }, httpVersion }: IncomingMessage): GatewayError | null {
  // HTTP/1.0 has no upgrades.
  if (upgrade === undefined || method !== "GET" || httpVersion === "1.0" || pathOf(url) !== "/v1/responses")
    return null;
  if (!upgrade.split(",").some((protocol) => protocol.trim().toLowerCase() === "websocket")) return null;
  const message = "WebSockets are not served here: use POST /v1/responses";
  return new GatewayError("UPGRADE_REQUIRED", message, { headers: UPGRADE });
}
