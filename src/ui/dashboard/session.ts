import { signal } from "@preact/signals";
import { createApi, type Session, type SessionUser } from "../shared/api.ts";
import { createClient, Problem } from "../shared/http.ts";
import { retryDelayMs } from "../shared/resource.ts";
import { failedLink, type SignInLink, takeLink } from "../shared/sign-in-link.ts";
import { router } from "./place.ts";

/** `starting`: not known yet whether this browser is signed in. */
export type SessionState = "starting" | "signed-out" | SessionUser;

export const session = signal<SessionState>("starting");

/** In memory alone: the cookie that it is renewed with is out of reach of scripts. */
const accessToken = signal<string | null>(null);
const renewal = signal<Promise<boolean> | null>(null);

const send = window.fetch.bind(window);
/** Of who is signed in, as it was when the session was last renewed. */
export function planOf(): string {
  return typeof session.value === "object" ? session.value.plan_tier : "";
}

/** For calls without a session, and those that make one. */
const bare = createClient({ fetch: send });

export const client = createClient({
  fetch: send,
  headers: (): Readonly<Record<string, string>> =>
    accessToken.value === null ? {} : { authorization: `Bearer ${accessToken.value}` },
  onUnauthorized: renew,
});

export const api = createApi(client);
export const publicApi = createApi(bare);

/** The bearer of the session, for a call that must be made while the page is being left. */
export function bearer(): Readonly<Record<string, string>> {
  return accessToken.value === null ? {} : { authorization: `Bearer ${accessToken.value}` };
}

function enter({ access_token: token, user }: Session): void {
  accessToken.value = token;
  session.value = user;
}

function leave(): void {
  accessToken.value = null;
  session.value = "signed-out";
}

/** Signs in by the link that led here, or finds out whether this browser is signed in; tries until the gateway answers. */
export async function startSession(): Promise<void> {
  const link = takeLink(router);
  for (let failures = 1; ; failures += 1) {
    try {
      if (link === null || failedLink.value !== null) await renew();
      else if (!(await enterBy(link))) continue;
      return;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const delayMs = retryDelayMs(error, failures);
      await new Promise((resolve) => {
        setTimeout(resolve, delayMs);
      });
    }
  }
}

/** @returns false for a link that is no longer good. @throws Problem when that cannot be found out */
async function enterBy(link: SignInLink): Promise<boolean> {
  try {
    await signInWith(link.email, link.code);
    return true;
  } catch (error) {
    if (!(error instanceof Problem) || (error.isTemporary && error.status !== 429)) throw error;
    failedLink.value = link;
    return false;
  }
}

/** One at a time, and of one page at a time: a refresh token that is used twice ends its session. */
function renew(): Promise<boolean> {
  renewal.value ??= inTurn(refresh).finally(() => {
    renewal.value = null;
  });
  return renewal.value;
}

function inTurn<T>(run: () => Promise<T>): Promise<T> {
  // Left out by browsers on a page without TLS.
  const locks = navigator.locks as LockManager | undefined;
  return locks === undefined ? run() : locks.request("gateway-refresh", run);
}

/** @returns false when there is no session any more. @throws Problem when that cannot be found out */
async function refresh(): Promise<boolean> {
  try {
    enter(await bare.send<Session>("POST", "/auth/refresh"));
    return true;
  } catch (error) {
    if (error instanceof Problem && error.status !== null && error.status < 500 && error.status !== 429) {
      leave();
      return false;
    }
    throw error;
  }
}

export async function askForCode(email: string): Promise<void> {
  await bare.send("POST", "/auth/login", { body: { email } });
}

export async function signInWith(email: string, code: string): Promise<void> {
  enter(await bare.send<Session>("POST", "/auth/login/verify", { body: { email, code } }));
}

export async function signOut(): Promise<void> {
  await bare.send("POST", "/auth/logout");
  leave();
}

/** Ends the user's sessions in every browser and program, this one too. API keys stay. */
export async function signOutEverywhere(): Promise<void> {
  await client.send("DELETE", "/v1/user/sessions");
  // Takes the cookie away.
  await bare.send("POST", "/auth/logout");
  leave();
}

/** Where browsers go to sign in at an identity provider, and come back from. */
export function providerLink(name: string): string {
  return `/auth/oauth/${encodeURIComponent(name)}?redirect_to=%2F`;
}
