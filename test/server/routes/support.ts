import { onTestFinished } from "vitest";
import { createKey } from "../../../src/accounts/api-keys.ts";
import { createAuthentication } from "../../../src/accounts/authenticate.ts";
import { validateBody } from "../../../src/server/body-schemas.ts";
import { GatewayError, type Snapshot, type Store } from "../../../src/kit/index.ts";
import { createRoutes } from "../../../src/server/endpoints.ts";
import type { RouteParts, Session, SignIn } from "../../../src/server/endpoint.ts";
import { openStore } from "../../../src/store/open.ts";
import { testSnapshot } from "../../support/snapshot.ts";
import { type Answer, type LogLine, memoryLog, type Started, send, start, type StartOptions } from "../support.ts";

/** An access token of ann's; anything else that is no key is none. */
export const TOKEN = "a.good.token";
export const START = Date.UTC(2027, 0, 15, 8, 30, 15);
export const HEALTHY = { state: "healthy", latencyMs: 12, canServe: true } as const;

/** What the routes asked of signing in, call by call. */
export type Asked = readonly [method: string, request: unknown];

export interface RoutesOptions extends Omit<StartOptions, "routes"> {
  readonly snapshot?: () => Snapshot;
  readonly parts?: Partial<RouteParts>;
  readonly signIn?: Partial<SignIn>;
}

export interface Routes extends Started {
  readonly store: Store;
  /** A live key of ann's, whose plan is Free. */
  readonly key: string;
  readonly asked: Asked[];
  /** By the routes themselves. */
  readonly logged: LogLine[];
  readonly ask: (method: string, path: string, headers?: Record<string, string>, body?: string) => Promise<Answer>;
}

/** A public server with the real routes, store and key look-up, and a sign-in that answers as told. */
export async function startRoutes(options: RoutesOptions = {}): Promise<Routes> {
  const { snapshot = () => testSnapshot(), parts, signIn, ...rest } = options;
  const now = options.now ?? (() => START);
  const store = await openStore("memory:", { serving: true, now });
  const ann = { id: "ann", email: "ann@example.com", tier: "Free", credits: 0n };
  await store.addUser(ann);
  await store.addUser({ ...ann, id: "bob", email: "bob@example.com" });
  const { body } = await createKey(store, { userId: "ann", name: "first" });
  const identities = createAuthentication({
    store,
    tokens: { verify: (token) => (token === TOKEN ? { userId: "ann" } : null) },
    now: Date.now,
  });
  const asked: Asked[] = [];
  const logged: LogLine[] = [];
  const routes = createRoutes({
    snapshot,
    store,
    identities,
    signIn: { ...stubSignIn(asked), ...signIn },
    health: () => HEALTHY,
    canServe: ({ upstream }) => (parts?.health?.(upstream) ?? HEALTHY).canServe,
    transitions: () => [],
    shed: () => null,
    kill: async () => 0,
    streams: {
      listOf: async () => ({ streams: [], complete: true }),
      endOf: async () => ({ ended: false, complete: true }),
    },
    validateTokenCount: (body) => validateBody("count_tokens", body),
    tokensIn: async (text) => text.length,
    openApi: () => '{"openapi":"3.1.0"}',
    now,
    log: memoryLog(logged),
    ...parts,
  });
  const started = await start({ ...rest, now, routes });
  onTestFinished(async () => {
    await identities.close();
    await store.close();
  });
  return {
    ...started,
    store,
    key: body.key,
    asked,
    logged,
    ask: (method, path, headers = {}, text = "") => send(started.port, { method, path, headers, body: text }),
  };
}

const BODY = {
  access_token: "access",
  token_type: "Bearer",
  expires_in: 900,
  refresh_token: "rt_new",
  user: { id: "ann" },
};

export const SESSION: Session = {
  body: BODY,
  refreshToken: "rt_new",
  refreshExpiresAt: START + 86_400_000 + 999,
};

function stubSignIn(asked: Asked[]): SignIn {
  return {
    async requestCode(request) {
      asked.push(["requestCode", request]);
    },
    async verifyCode(request) {
      asked.push(["verifyCode", request]);
      if (request.code !== "123456") throw new GatewayError("INVALID_CODE", "Invalid or expired code");
      return SESSION;
    },
    async refresh(token) {
      asked.push(["refresh", token]);
      if (token !== "rt_old") throw new GatewayError("INVALID_TOKEN", "Invalid or expired token");
      return SESSION;
    },
    async logout(token) {
      asked.push(["logout", token]);
    },
    async begin(request) {
      asked.push(["begin", request]);
      if (request.provider !== "google") throw new GatewayError("UNKNOWN_PATH", "Not found");
      return { location: "https://idp.example/authorize?x=1", state: "sealed.state", maxAge: 600 };
    },
    async complete(request) {
      asked.push(["complete", request]);
      if (request.state !== "sealed.state") throw new GatewayError("SIGN_IN_FAILED", "Sign-in failed");
      return { session: SESSION, redirectTo: "/keys?x=1" };
    },
  };
}

export function bearer(value: string): Record<string, string> {
  return { authorization: `Bearer ${value}` };
}

export const BEHIND_PROXY: RoutesOptions = { settings: { trustedProxies: ["127.0.0.0/8"] } };
export const TLS = { "x-forwarded-proto": "https" };

/** Where the client sees the gateway, when `Host` is what an ordinary client sends. */
export function here({ port }: Routes): string {
  return `http://127.0.0.1:${port}`;
}

/** Set-Cookie headers by name: value and attributes in lower case. */
export function cookiesOf(headers: { readonly "set-cookie"?: readonly string[] }) {
  return Object.fromEntries(
    (headers["set-cookie"] ?? []).map((line) => {
      const [pair = "", ...attributes] = line.split("; ");
      const at = pair.indexOf("=");
      return [
        pair.slice(0, at),
        [pair.slice(at + 1), ...attributes.map((attribute) => attribute.toLowerCase()).sort()],
      ];
    }),
  );
}

export const PLAIN = ["httponly", "max-age=86400", "path=/", "samesite=lax"];
export const SECURE = [...PLAIN, "secure"];
export const CLEARED = ["", "httponly", "max-age=0", "path=/", "samesite=lax"];
