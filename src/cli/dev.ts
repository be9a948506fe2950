import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { createKey } from "../accounts/api-keys.ts";
import { SignInLinks } from "../accounts/sign-in/links.ts";
import { createUser } from "../accounts/users.ts";
import { environmentOf } from "../config/env-file.ts";
import { dataFolder } from "../gateway/configuration.ts";
import { urlOf } from "../gateway/listeners.ts";
import type { Gateway } from "../gateway/start.ts";
import {
  type Address,
  deepFreeze,
  isLoopback,
  NANOS_PER_UNIT,
  Secret,
  type Snapshot,
  type User,
} from "../kit/index.ts";
import { auditedChange } from "./changes.ts";
import { configFile } from "./options.ts";
import { serve, type ServeOptions } from "./serve.ts";

const DEMO_EMAIL = "demo@example.com";
const DEMO_CREDITS = 10n * NANOS_PER_UNIT;

/** Serves with readable logs, and gives what a first request and a first look at the pages need. */
export async function dev(options: ServeOptions): Promise<void> {
  const links = new SignInLinks(Date.now);
  const env = await environmentOf(configFile(options.config), process.env);
  let made: KeptToken | null = null;
  const adjust = (snapshot: Snapshot): Snapshot => {
    const { admin } = snapshot.server;
    if (admin === null || admin.tokens.some(({ token }) => !token.empty)) return snapshot;
    made ??= keepToken(dataFolder(snapshot.store.url.reveal(), snapshot.file, env));
    const token = { name: "admin", role: "operator", token: new Secret(made.token) } as const;
    return deepFreeze({ ...snapshot, server: { ...snapshot.server, admin: { ...admin, tokens: [token] } } });
  };
  const gateway = await serve("dev", options, { adjust, links });
  if (gateway !== null) await welcome(gateway, links, made);
}

interface KeptToken {
  readonly token: string;
  /** null: it could not be kept, and is good for this start alone. */
  readonly file: string | null;
}

const TOKEN = /^[0-9a-f]{32}$/;

/** The admin token of this folder's gateways: made at the first start, and readable for this user alone. */
function keepToken(folder: string): KeptToken {
  const file = join(folder, "admin-token");
  const token = randomBytes(16).toString("hex");
  try {
    const kept = readToken(file);
    if (kept !== null) return { token: kept, file };
    mkdirSync(folder, { recursive: true });
    // A file that is there would keep its mode, and a link would lead elsewhere.
    rmSync(file, { force: true });
    writeFileSync(file, `${token}\n`, { mode: 0o600, flag: "wx" });
    return { token, file };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`gateway: the admin token cannot be kept, the next start has another one (${reason})\n`);
    return { token, file: null };
  }
}

/** @returns null for a file that is not there, or has no token that this command wrote. */
function readToken(file: string): string | null {
  try {
    const found = readFileSync(file, "utf8").trim();
    if (!TOKEN.test(found)) return null;
    // Others of this machine may have read it.
    if ((statSync(file).mode & 0o077) !== 0 && process.platform !== "win32") return null;
    return found;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** Prints where the gateway listens and how to sign in; on an empty store also a demo user's key, once, with a request. */
async function welcome(gateway: Gateway, links: SignInLinks, kept: KeptToken | null): Promise<void> {
  const { addresses, admin, store, generation } = gateway;
  const { snapshot } = generation;
  const urls = addresses.map(shownUrl);
  const first = (await store.listUsers()).length === 0 ? await addDemoUser(store, snapshot) : null;
  const demo = first?.user ?? (await store.findUser(DEMO_EMAIL));
  const lines = ["", `  Gateway     ${urls.map((url) => `${url}/v1`).join("   ")}`];
  const pages = snapshot.server.dashboard ? dashboardLink(addresses[0], demo, links) : null;
  if (pages !== null) lines.push(`  Dashboard   ${pages.url}`);
  const console = admin && consoleLink(admin, snapshot, links);
  if (console !== null) lines.push(`  Console     ${console.url}`);
  if (admin) lines.push(`  Admin       ${shownUrl(admin)}/readyz`);
  if (first !== null) lines.push(`  Demo key    ${first.key}   (shown once; plan ${first.user.tier})`);
  const notes = signInNotes(snapshot, {
    demo: pages && demo,
    console,
    kept,
    isLinked: Boolean(pages?.isLink || console?.isLink),
  });
  if (notes.length > 0) lines.push("", ...notes.map((note) => `  ${note}`));
  if (first !== null) lines.push("", "  Try it:", "", curl(urls[0] ?? "", first.key, demoModel(snapshot)));
  process.stdout.write(`${lines.join("\n")}\n\n`);
}

/** A page's address; `isLink` when it signs in whoever opens it. */
interface PageUrl {
  readonly url: string;
  readonly isLink: boolean;
}

function dashboardLink(address: Address | undefined, demo: User | null, links: SignInLinks): PageUrl | null {
  if (address === undefined) return null;
  const url = `${shownUrl(address)}/`;
  if (demo === null || demo.disabledAt !== undefined || !isLoopback(address.host)) return { url, isLink: false };
  return { url: `${url}#/?email=${demo.email}&code=${links.issue("user", demo.email)}`, isLink: true };
}

function consoleLink(address: Address, { server }: Snapshot, links: SignInLinks): PageUrl {
  const url = `${shownUrl(address)}/console`;
  const owner = server.admin?.tokens.find(({ token, role }) => !token.empty && role === "operator");
  if (owner === undefined || !isLoopback(address.host)) return { url, isLink: false };
  return { url: `${url}#/?code=${links.issue("operator", owner.token.reveal())}`, isLink: true };
}

interface Notes {
  /** null: there is no demo user, or no dashboard. */
  readonly demo: User | null;
  readonly console: PageUrl | null;
  readonly kept: KeptToken | null;
  readonly isLinked: boolean;
}

function signInNotes({ auth }: Snapshot, { demo, console, kept, isLinked }: Notes): string[] {
  const later = isLinked ? ", later:" : ":";
  const codes = auth.email.smtp.empty ? "the sign-in code appears in this log" : "the sign-in code comes by email";
  const notes = isLinked ? ["Each link signs you in once, in the next 10 minutes."] : [];
  if (demo !== null) notes.push(`Dashboard${later} sign in as ${demo.email}; ${codes}.`);
  if (console !== null) notes.push(`Console${later} sign in with ${tokenPlace(kept)}.`);
  return notes;
}

function tokenPlace(kept: KeptToken | null): string {
  if (kept === null) return "an admin token of your configuration";
  if (kept.file === null) return `the admin token ${kept.token}, of this start`;
  const near = relative(process.cwd(), kept.file);
  return `the admin token in ${near.startsWith("..") ? kept.file : near}`;
}

/** An address to open on this machine: one that stands for every interface is no address of a browser. */
function shownUrl({ host, ...address }: Address): string {
  return urlOf({ ...address, host: host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host });
}

async function addDemoUser(store: Gateway["store"], snapshot: Snapshot): Promise<{ user: User; key: string }> {
  const trail = { store, now: Date.now };
  const user = await auditedChange(trail, { action: "addUser", details: { email: DEMO_EMAIL } }, async (note) => {
    const made = await createUser(store, { email: DEMO_EMAIL, tier: demoTier(snapshot), credits: DEMO_CREDITS });
    note({ target: made.id });
    return made;
  });
  const { body } = await auditedChange(trail, { action: "addKey", target: user.id, details: { name: "demo" } }, () =>
    createKey(store, { userId: user.id, name: "demo" }),
  );
  return { user, key: body.key };
}

/** A plan that may call every model, if there is one. */
function demoTier({ tiers, auth }: Snapshot): string {
  return Object.values(tiers).find(({ access }) => access === "all")?.name ?? auth.signup.tier;
}

function demoModel({ models }: Snapshot): string {
  return Object.values(models).find(({ kind, published }) => kind === "chat" && published)?.id ?? "route/…";
}

function curl(url: string, key: string, model: string): string {
  const body = JSON.stringify({ model, stream: true, messages: [{ role: "user", content: "Hello!" }] });
  return [
    `  curl -N ${url}/v1/chat/completions \\`,
    `    -H 'Authorization: Bearer ${key}' \\`,
    `    -H 'Content-Type: application/json' \\`,
    `    -d '${body}'`,
  ].join("\n");
}
