import { Events, OAuth2Server } from "oauth2-mock-server";
import type { MutableResponse, MutableToken, TokenRequestIncomingMessage } from "oauth2-mock-server";
import { onTestFinished } from "vitest";
import { Secret } from "../../../src/kit/index.ts";
import type { OAuthProvider } from "../../../src/kit/index.ts";

export const CLIENT_SECRET = "client-secret-of-the-gateway";
export const SUBJECT = "subject-1";

/** Keys take long to make: all issuers of a test file share one. */
const KEY = await new OAuth2Server().issuer.keys.generate("RS256");

/** An identity provider on loopback, which lets everybody in as one person; stopped when the test ends. */
export class TestIssuer {
  readonly #server = new OAuth2Server();
  /** Claims of the person, over the provider's own; `undefined` takes one away. */
  claims: Record<string, unknown> = { sub: SUBJECT, email: "Grace@example.com", email_verified: true };
  /** What the UserInfo endpoint says. */
  userInfo: Record<string, unknown> = { sub: SUBJECT };
  /** Changes what is published. */
  publish: (response: MutableResponse) => void = () => {};
  /** Changes what the token endpoint answers. */
  answer: (response: MutableResponse, request: TokenRequestIncomingMessage) => void = () => {};
  /** Changes where the browser is sent. */
  redirect: (url: URL) => void = () => {};
  /** How often the metadata was asked for. */
  discovered = 0;

  static async start(): Promise<TestIssuer> {
    const issuer = new TestIssuer();
    await issuer.#start();
    onTestFinished(() => issuer.stop());
    return issuer;
  }

  get url(): string {
    return this.#server.issuer.url!;
  }

  async stop(): Promise<void> {
    if (this.#server.listening) await this.#server.stop();
  }

  /** As the configuration has it. */
  provider(parts: Partial<OAuthProvider> = {}): OAuthProvider {
    return {
      issuer: this.url,
      clientId: "gateway",
      clientSecret: new Secret(CLIENT_SECRET),
      scopes: ["openid", "email"],
      ...parts,
    };
  }

  async #start(): Promise<void> {
    const { service, issuer } = this.#server;
    await issuer.keys.add({ ...KEY });
    await this.#server.start(0, "127.0.0.1");
    issuer.url = `http://127.0.0.1:${this.#server.address().port}`;
    service.on(Events.BeforeTokenSigning, ({ payload }: MutableToken) => {
      for (const [name, value] of Object.entries(this.claims)) {
        if (value === undefined) Reflect.deleteProperty(payload, name);
        else payload[name] = value;
      }
    });
    service.on(Events.BeforeWellKnownOpenIdConfiguration, (response: MutableResponse) => {
      this.discovered += 1;
      this.publish(response);
    });
    service.on(Events.BeforeUserinfo, (response: MutableResponse) => {
      response.body = this.userInfo;
    });
    service.on(Events.BeforeResponse, (response: MutableResponse, request: TokenRequestIncomingMessage) =>
      this.answer(response, request),
    );
    service.on(Events.BeforeAuthorizeRedirect, ({ url }: { url: URL }) => this.redirect(url));
  }
}

/** What a browser does with an authorization URL. @returns where the provider sends it back to */
export async function visit(location: string): Promise<URL> {
  const answer = await fetch(location, { redirect: "manual" });
  return new URL(answer.headers.get("location") ?? "no:redirect");
}
