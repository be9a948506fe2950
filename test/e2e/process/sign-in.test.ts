import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { configuration } from "../support/configuration.ts";
import { send } from "../support/http.ts";
import { type GatewayProcess, Workspace } from "../support/process.ts";
import { bearer, Mailbox, post, type SessionBody } from "../support/sign-in.ts";

const EMAIL = "ada@example.com";
const INVALID_CODE = '{"message":"Invalid or expired code"}';
const INVALID_TOKEN = '{"message":"Invalid or expired token"}';

let workspace: Workspace;
let mailbox: Mailbox;
let gateway: GatewayProcess;

beforeEach(() => {
  workspace = new Workspace();
});
afterEach(() => workspace.close());

/** A gateway process that mails its codes; nothing listens behind it. */
async function start(auth: object = {}): Promise<void> {
  mailbox = await Mailbox.start();
  const signup = { tier: "Free", credits: 2.5 };
  const config = configuration("http://127.0.0.1:9");
  workspace.write("gateway.yaml", { ...config, auth: { signup, email: mailbox.settings, ...auth } });
  gateway = await workspace.serve();
}

/** Dies without a word and is started again. @returns what it had printed */
async function crash(): Promise<string> {
  const { stdout, stderr } = await gateway.stop("SIGKILL");
  gateway = await workspace.serve();
  return stdout + stderr;
}

const verify = (code: string, email = EMAIL) => post(`${gateway.origin}/auth/login/verify`, { email, code });
const refresh = (token: string) => post(`${gateway.origin}/auth/refresh`, { refresh_token: token });
const keys = ({ access_token: token }: SessionBody) =>
  send(`${gateway.origin}/v1/user/key`, { method: "GET", headers: bearer(token) });

async function follow(token: string): Promise<SessionBody> {
  const { status, text } = await refresh(token);
  expect({ status, text }).toMatchObject({ status: 200 });
  return JSON.parse(text) as SessionBody;
}

test("after a crash codes, access tokens and sessions are what they were", async () => {
  await start();
  const code = await mailbox.ask(gateway.origin, EMAIL);
  await crash();
  const verified = await verify(code);
  expect(verified).toMatchObject({ status: 200 });
  const session = JSON.parse(verified.text) as SessionBody;
  await crash();
  expect((await verify(code)).text, "used up stays used up").toBe(INVALID_CODE);
  expect((await keys(session)).status).toBe(200);
  const second = await follow(session.refresh_token);
  expect(second.user).toEqual(session.user);
  const third = await follow(second.refresh_token);
  await crash();
  expect((await refresh(session.refresh_token)).text, "a reuse is known").toBe(INVALID_TOKEN);
  expect((await refresh(third.refresh_token)).text, "and has killed the family").toBe(INVALID_TOKEN);
  const { drift, user } = await workspace.books(session.user.id);
  expect([drift, user.balance]).toEqual([0n, 2_500_000_000n]);
});

test("a crash gives no further tries, no further codes, and brings no session back", async () => {
  await start();
  const session = await mailbox.signIn(gateway.origin, EMAIL);
  const code = await mailbox.ask(gateway.origin, EMAIL);
  const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, "0");
  for (let count = 0; count < 4; count += 1) expect((await verify(wrong)).text).toBe(INVALID_CODE);
  expect((await post(`${gateway.origin}/auth/logout`, { refresh_token: session.refresh_token })).status).toBe(204);
  await crash();
  expect((await verify(wrong)).text).toBe(INVALID_CODE);
  expect((await verify(code)).text, "the fifth try was the last").toBe(INVALID_CODE);
  expect((await refresh(session.refresh_token)).text).toBe(INVALID_TOKEN);
  for (let count = 0; count < 3; count += 1) await mailbox.ask(gateway.origin, EMAIL);
  expect((await post(`${gateway.origin}/auth/login`, { email: EMAIL })).status).toBe(429);
});

test("a key's last use is on record after a stop; tokens by a secret of the configuration are good on", async () => {
  await start({ tokens: { secrets: [{ kid: "a", value: "0123456789abcdef0123456789abcdef" }] } });
  const session = await mailbox.signIn(gateway.origin, EMAIL);
  const made = await post(`${gateway.origin}/v1/user/key`, { name: "laptop" }, bearer(session.access_token));
  const { key, created_at } = JSON.parse(made.text) as { key: string; created_at: string };
  await send(`${gateway.origin}/v1/user/requests`, { method: "GET", headers: { "x-api-key": key } });
  await gateway.stop();
  gateway = await workspace.serve();
  expect((await follow(session.refresh_token)).user).toEqual(session.user);
  const { data } = JSON.parse((await keys(session)).text) as { data: { last_used_at: string | null }[] };
  expect(data).toMatchObject([{ last_used_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) }]);
  expect(Date.parse(data[0]!.last_used_at!)).toBeGreaterThanOrEqual(Date.parse(created_at));
});

test("what is secret in a sign-in is in no log and in no file of the store", async () => {
  await start();
  const first = await mailbox.signIn(gateway.origin, EMAIL);
  const session = await follow(first.refresh_token);
  const made = await post(`${gateway.origin}/v1/user/key`, { name: "laptop" }, bearer(session.access_token));
  const { key } = JSON.parse(made.text) as { key: string };
  const code = await mailbox.ask(gateway.origin, EMAIL);
  const { stdout, stderr, code: exit } = await gateway.stop();
  expect(exit).toBe(0);
  const folder = workspace.path("data");
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1"));
  expect(files.some((text) => text.startsWith("SQLite format 3"))).toBe(true);
  const secrets = [first.access_token, session.access_token, first.refresh_token, session.refresh_token, key];
  for (const secret of secrets) {
    expect(stdout + stderr).not.toContain(secret);
    expect(files.filter((text) => text.includes(secret))).toEqual([]);
  }
  expect(stdout + stderr).not.toContain(`"${code}"`);
  expect(stdout + stderr).not.toContain(EMAIL);
});
