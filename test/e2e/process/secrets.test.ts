import { afterEach, beforeEach, expect, test } from "vitest";
import { poll } from "../support/child.ts";
import { ask, configuration } from "../support/configuration.ts";
import { type SimProcess, Workspace } from "../support/process.ts";

let workspace: Workspace;
let sim: SimProcess;

beforeEach(async () => {
  workspace = new Workspace();
  sim = await workspace.sim();
});

afterEach(() => workspace.close());

/** Each stands where an operator puts a secret; but for those that the upstream echoes, no pattern gives them away. */
const PLANTED = {
  UPSTREAM_KEY: "sk-planted-upstream-key-5f0e",
  ADMIN_TOKEN: "planted-admin-token-77aa",
  SIGNING_SECRET: "planted-signing-secret-that-is-long-enough-91c3",
  HEADER_SECRET: "planted-header-secret-2b4d",
  UNUSED_SECRET: "planted-unused-secret-8e6f",
  OPTION_SECRET: "planted-option-secret-3d7a",
};
const FILE_SECRET = "sk-planted-file-secret-c0de";

test("planted secrets appear in no log, no answer, no metric, no admin page, whatever goes wrong", async () => {
  Object.assign(workspace.env, PLANTED);
  workspace.write("second-key.txt", `${FILE_SECRET}\n`);
  const config = configuration(sim.origin);
  const alpha = {
    ...config.upstreams["alpha"]!,
    api_keys: ["${env:UPSTREAM_KEY}", "${file:second-key.txt}"],
    headers: { "x-team": "${env:HEADER_SECRET}" },
    breaker: { consecutive: 1000, minimum: 1000 },
  };
  const good = {
    ...config,
    server: { ...config.server, admin: { ...config.server!.admin!, token: "${env:ADMIN_TOKEN}" } },
    auth: {
      tokens: { secrets: [{ kid: "a", value: "${env:SIGNING_SECRET}" }] },
    },
    upstreams: { alpha },
  };
  workspace.write("gateway.yaml", good);
  const gateway = await workspace.serve("--log-level", "debug");
  const user = await workspace.account();
  const shown: string[] = [];
  const admin = async (path: string, method = "GET") => {
    const response = await fetch(`${gateway.admin}${path}`, {
      method,
      headers: { authorization: `Bearer ${PLANTED.ADMIN_TOKEN}` },
    });
    const text = await response.text();
    shown.push(`${path}: ${JSON.stringify([...response.headers])}${text}`);
    return { status: response.status, text };
  };
  const chat = async (key: string, more: object = {}) => {
    const response = await gateway.chat(key, ask("x", more));
    shown.push(JSON.stringify([...response.headers]) + (await response.text()));
    return response.status;
  };

  // What goes well, and each way in which a key could be told.
  expect(await chat(user.key)).toBe(200);
  expect(await chat(user.key, { stream: true })).toBe(200);
  for (const status of [400, 401, 403, 404, 429, 500]) {
    const message = `Incorrect API key provided: ${PLANTED.UPSTREAM_KEY}`;
    // Also told as 400 it is the gateway's key that was refused, and not the client's request.
    expect(await chat(user.key, { sim: { status, message } })).toBe(502);
    await chat(user.key, { stream: true, sim: { error_first: true, message: `key ${FILE_SECRET}` } });
  }
  const unknown = `rk_${"ab".repeat(32)}`;
  expect(await chat(unknown)).toBe(401);
  expect(await chat(`${user.key}x`)).toBe(401);
  expect(await chat("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl")).toBe(401);
  expect((await fetch(`${gateway.admin}/admin/config`, { headers: { authorization: "Bearer wrong" } })).status).toBe(
    401,
  );

  // A refused edit whose mistakes stand right beside the secrets.
  workspace.write("gateway.yaml", {
    ...good,
    server: { ...good.server, body_limit: "${env:OPTION_SECRET}" },
    upstreams: { alpha: { ...alpha, base_url: "${env:UPSTREAM_KEY}", timeouts: { connect: "${env:HEADER_SECRET}" } } },
  });
  await admin("/admin/reload", "POST");
  await poll(async () => (await admin("/admin/config")).text.includes('"pointer"'));
  for (const path of [
    "/admin/config",
    "/admin/config/source",
    "/admin/upstreams",
    "/admin/streams",
    "/metrics",
    "/readyz",
    "/livez",
  ]) {
    expect((await admin(path)).status).toBe(200);
  }
  const check = await workspace.cli("check", "--format", "json");
  expect(check.code).toBe(1);
  const refused = await workspace.cli("serve", "--strict");
  expect(refused.code).toBe(1);
  const { stderr, code } = await gateway.stop();
  expect(code).toBe(0);

  const places = {
    answers: shown.join("\n"),
    log: stderr,
    check: check.stdout + check.stderr,
    start: refused.stdout + refused.stderr,
  };
  const secrets = [...Object.values(PLANTED), FILE_SECRET, user.key, unknown];
  for (const [place, text] of Object.entries(places)) {
    for (const secret of secrets) {
      for (const form of [secret, Buffer.from(secret).toString("base64"), encodeURIComponent(`x ${secret}`).slice(4)]) {
        expect(text.includes(form), `${form} in ${place}: ${around(text, form)}`).toBe(false);
      }
    }
  }
  expect(stderr).toContain('"msg":"request"');
});

function around(text: string, part: string): string {
  const at = text.indexOf(part);
  return at < 0 ? "" : text.slice(Math.max(0, at - 200), at + 100);
}
