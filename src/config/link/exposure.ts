import { isLoopback } from "../../kit/index.ts";
import { join } from "../diagnostics.ts";
import { isPrivateHost } from "../local.ts";
import type { LinkContext } from "./context.ts";
import { parseUrl } from "./upstreams.ts";

const MIN_TOKEN_CHARACTERS = 16;
const CREDENTIAL_HEADER = /^(?:authorization|x-api-key|api-key|x-goog-api-key)$/i;

/** What others on the network could read or guess. */
export function linkExposure(context: LinkContext): void {
  linkAdminTokens(context);
  linkAdminText(context);
  linkCodes(context);
  for (const name of Object.keys(context.config.upstreams ?? {})) linkUpstreamText(context, name);
}

function isExposed(host: string | undefined): boolean {
  return host !== undefined && !isLoopback(host);
}

function linkAdminTokens(context: LinkContext): void {
  const { admin } = context.config.server ?? {};
  if (!isExposed(admin?.host)) return;
  const tokens = (admin?.tokens ?? []).map((one, index) => ({
    token: one?.token,
    in: join("/server/admin/tokens", index),
  }));
  for (const { token = "", in: pointer } of [{ token: admin?.token, in: "/server/admin" }, ...tokens]) {
    if (token === "" || token.length >= MIN_TOKEN_CHARACTERS) continue;
    context.report(`${pointer}/token`, {
      rule: "admin-token-short",
      severity: "warning",
      message: `has fewer than ${MIN_TOKEN_CHARACTERS} characters, and other machines can reach the listener`,
      hint: "generate one with openssl rand -hex 32",
    });
  }
}

function linkAdminText(context: LinkContext): void {
  const { admin } = context.config.server ?? {};
  // Without a token there is nothing to overhear, which has a finding of its own.
  const hasToken = [admin?.token, ...(admin?.tokens ?? []).map((one) => one?.token)].some(
    (token) => (token ?? "") !== "",
  );
  const mayHave = hasToken || context.isUnset("/server/admin/token");
  if (!isExposed(admin?.host) || !mayHave || admin?.behind_tls === true || admin?.tls !== undefined) return;
  context.report("/server/admin/host", {
    rule: "admin-clear-text",
    severity: "warning",
    message: "tokens cross the network in clear text",
    hint: "add server.admin.tls, listen on 127.0.0.1, or let a proxy speak TLS and set server.admin.behind_tls: true",
  });
}

function linkCodes(context: LinkContext): void {
  const { server, auth } = context.config;
  const exposed = (server?.listen ?? []).findIndex((address) => isExposed(address?.host));
  const smtp = auth?.email?.smtp;
  if (exposed < 0 || auth?.signup === "off" || (smtp ?? "") !== "") return;
  if (context.misspelt("/auth/email") || context.isInvalid("/auth/signup")) return;
  const written = auth?.email === undefined ? join("/server/listen", exposed) : "/auth/email";
  context.report(smtp === undefined ? written : "/auth/email/smtp", {
    rule: "codes-in-log",
    severity: "warning",
    message: "other machines reach the gateway, and without a mail server sign-in codes are written to the log",
    hint: "set auth.email.smtp, or auth.signup: off",
  });
}

function linkUpstreamText(context: LinkContext, name: string): void {
  const upstream = context.config.upstreams?.[name];
  const url = parseUrl(upstream?.base_url ?? "");
  if (url?.protocol !== "http:" || isPrivateHost(url.hostname)) return;
  const hasKey =
    (upstream?.api_keys ?? []).length > 0 ||
    Object.keys(upstream?.headers ?? {}).some((header) => CREDENTIAL_HEADER.test(header));
  if (!hasKey) return;
  context.report(join("/upstreams", name, "base_url"), {
    rule: "upstream-clear-text",
    severity: "warning",
    message: "keys and prompts cross the network in clear text",
    hint: "write https://",
  });
}
