import { join } from "../diagnostics.ts";
import { milliseconds } from "../units.ts";
import type { LinkContext } from "./context.ts";
import { isLoopback } from "../../kit/index.ts";
import { parseUrl } from "./upstreams.ts";

const SHORTEST_SECRET = 32;

/** Tokens, sign-up and identity providers. */
export function linkAuth(context: LinkContext): void {
  const { auth } = context.config;
  context.resolve("tiers", auth?.signup?.tier, "/auth/signup/tier");
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
      message: "is no smtp:// or smtps:// URL",
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
      const message = `the kid ${context.show(`${pointer}/kid`)} is taken by a secret above`;
      context.report(`${pointer}/kid`, { rule: "duplicate-kid", message, hint: "give each secret its own kid" });
    }
    if (kid !== undefined) kids.add(kid);
    if (value !== "" && Buffer.byteLength(value) < SHORTEST_SECRET) {
      const message = `is shorter than ${SHORTEST_SECRET} bytes: tokens could be forged`;
      context.report(`${pointer}/value`, {
        rule: "weak-secret",
        message,
        hint: "make one with: openssl rand -base64 48",
      });
    }
  }
}

function isIssuer(text: string): boolean {
  const url = parseUrl(text);
  if (url === null || url.username !== "" || url.password !== "") return false;
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname));
}
