import { createPrivateKey } from "node:crypto";
import type { UpstreamConfig } from "#schema";
import type { Finding } from "../diagnostics.ts";
import { join } from "../diagnostics.ts";
import { isRecord } from "../runtime-schema.ts";
import type { Loose } from "../validate.ts";
import type { LinkContext } from "./context.ts";
import { isLoopback, parseUrl } from "./hosts.ts";

const HINT = "give a service account's key file, ${file:PATH}, or application-default";
const VERTEX_HOST = /(?:^|[.-])aiplatform\.googleapis\.com$/;
const VERTEX_PATH = /^\/v\d+(?:beta\d+)?(?:\/projects\/[^/]+\/locations\/[^/]+\/publishers\/[^/]+)?\/?$/;

/** Keys that are Google's credentials, and addresses of Vertex AI. */
export function linkGoogle(context: LinkContext, upstream: Loose<UpstreamConfig>, pointer: string): void {
  const { dialect, api_keys: keys = [], base_url: url } = upstream;
  for (const [index, key] of keys.entries()) {
    const wrong = key === undefined || !key.trimStart().startsWith("{") ? null : wrongKey(dialect, key);
    if (wrong !== null) context.report(join(pointer, "api_keys", index), { rule: "google-credentials", ...wrong });
  }
  const address = dialect === "gemini" && url !== undefined ? parseUrl(url) : null;
  if (address === null || !VERTEX_HOST.test(address.hostname) || VERTEX_PATH.test(address.pathname)) return;
  context.report(join(pointer, "base_url"), vertexUrl(address.host));
}

function vertexUrl(host: string): Finding {
  const message = "an address of Vertex AI names its version, project and location";
  return {
    rule: "upstream-url",
    message,
    hint: `https://${host}/v1/projects/PROJECT/locations/LOCATION/publishers/google`,
  };
}

/** What is wrong with a key that seems to be a key file's text, in words that hold none of it. */
function wrongKey(
  dialect: UpstreamConfig["dialect"] | undefined,
  text: string,
): Pick<Finding, "message" | "hint"> | null {
  const file = parsed(text);
  if (file !== null && dialect !== undefined && dialect !== "gemini") {
    if (file["type"] !== "service_account") return null;
    const message = `the dialect ${dialect} would send the service account's key file as it is`;
    return { message, hint: "set dialect: gemini, or give a key of the provider" };
  }
  if (dialect !== "gemini") return null;
  const message = file === null ? "the upstream's key begins like JSON and is none" : wrongFile(file);
  return message === null ? null : { message, hint: HINT };
}

function wrongFile(file: Readonly<Record<string, unknown>>): string | null {
  if (file["type"] !== "service_account") return "the upstream's key is JSON, and no service account's key file";
  const { client_email: email, private_key: key, token_uri: endpoint } = file;
  if (typeof email !== "string" || email === "") return "the service account's key file has no client_email";
  if (typeof key !== "string" || !isRsaKey(key)) return "the private_key of the service account cannot be read";
  if (endpoint === undefined || (typeof endpoint === "string" && isSafe(endpoint))) return null;
  return "the token_uri of the service account must be an https URL, or http on loopback";
}

function parsed(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

function isRsaKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === "rsa";
  } catch {
    return false;
  }
}

function isSafe(text: string): boolean {
  const url = parseUrl(text);
  return url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname));
}
