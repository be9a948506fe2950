import { randomBytes } from "node:crypto";
import { createKey } from "../accounts/api-keys.ts";
import { createUser } from "../accounts/users.ts";
import { environmentOf } from "../config/env-file.ts";
import { urlOf } from "../gateway/listeners.ts";
import type { Gateway } from "../gateway/start.ts";
import { NANOS_PER_UNIT, type Snapshot } from "../kit/index.ts";
import { auditedChange } from "./changes.ts";
import { configFile } from "./options.ts";
import { serve, type ServeOptions } from "./serve.ts";

/** As the shipped gateway.yaml has it. */
const TOKEN_VARIABLE = "GATEWAY_ADMIN_TOKEN";
const DEMO_CREDITS = 10n * NANOS_PER_UNIT;

/** Serves with readable logs, and gives what a first request needs. */
export async function dev(options: ServeOptions): Promise<void> {
  const env = { ...process.env };
  const { [TOKEN_VARIABLE]: own } = await environmentOf(configFile(options.config), env);
  // The console asks for a token: one of this start alone is as good as none, and nobody has to think of one.
  const made = own ? null : randomBytes(16).toString("hex");
  if (made !== null) env[TOKEN_VARIABLE] = made;
  const gateway = await serve("dev", { ...options, env });
  if (gateway !== null) await offerDemo(gateway, made);
}

/** Prints where the gateway listens; on an empty store also a demo user's key, once, with a request to try. */
async function offerDemo({ addresses, admin, store, generation }: Gateway, token: string | null): Promise<void> {
  const urls = addresses.map(urlOf);
  const lines = ["", `  Gateway     ${urls.map((url) => `${url}/v1`).join("   ")}`];
  if (generation.snapshot.server.dashboard) lines.push(`  Dashboard   ${urls[0]}/`);
  if (admin) lines.push(`  Admin       ${urlOf(admin)}/readyz`);
  const opens = generation.snapshot.server.admin?.tokens.some((one) => one.token.reveal() === token);
  if (admin && opens) lines.push(`  Console     ${urlOf(admin)}/console   (token ${token}, of this start)`);
  else if (admin) lines.push(`  Console     ${urlOf(admin)}/console`);
  if ((await store.listUsers()).length === 0) {
    const { snapshot } = generation;
    const trail = { store, now: Date.now };
    const email = "demo@example.com";
    const user = await auditedChange(trail, { action: "addUser", details: { email } }, async (note) => {
      const made = await createUser(store, { email, tier: demoTier(snapshot), credits: DEMO_CREDITS });
      note({ target: made.id });
      return made;
    });
    const { body } = await auditedChange(trail, { action: "addKey", target: user.id, details: { name: "demo" } }, () =>
      createKey(store, { userId: user.id, name: "demo" }),
    );
    lines.push(`  Demo key    ${body.key}   (shown once; tier ${user.tier})`, "", "  Try it:", "");
    lines.push(curl(urls[0] ?? "", body.key, demoModel(snapshot)));
  }
  process.stdout.write(`${lines.join("\n")}\n\n`);
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
