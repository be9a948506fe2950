import type { Json } from "../../../src/kit/index.ts";
import { TestIssuer } from "../../accounts/sign-in/issuer.ts";
import type { Browser, Page } from "./browser.ts";
import { merge } from "./gateway-config.ts";
import { type SessionBody, type SignInGateway, signInGateway } from "./sign-in.ts";

export const AS_JSON = { accept: "application/json" };

/** A gateway with the provider `corp`, which lets everybody in as one person. */
export interface OAuthGateway extends SignInGateway {
  readonly issuer: TestIssuer;
  /** `/auth/oauth/corp` */
  readonly start: string;
  readonly callback: string;
}

export async function oauthGateway(config: Json = {}): Promise<OAuthGateway> {
  const issuer = await TestIssuer.start();
  const corp = { issuer: issuer.url, client_id: "gateway", client_secret: "client-secret-of-the-gateway" };
  const parts = await signInGateway(merge({ auth: { oauth: { corp } } }, config));
  const start = `${parts.gateway.url}/auth/oauth/corp`;
  return { ...parts, issuer, start, callback: `${start}/callback` };
}

/** As far as the provider's answer. @returns what the browser would open next. */
export async function comeBack(browser: Browser, start: string): Promise<URL> {
  const callback = `${start}/callback`;
  const page = await browser.open(start, {}, (to) => to.origin + to.pathname !== callback);
  return new URL(page.headers.location!, page.url);
}

export function sessionOf({ text }: Page): SessionBody {
  return JSON.parse(text) as SessionBody;
}
