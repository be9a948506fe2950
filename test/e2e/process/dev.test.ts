import { existsSync, readFileSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Child, poll } from "../support/child.ts";
import { configuration, eventsOf, textOf } from "../support/configuration.ts";
import { freePort } from "../../support/ports.ts";
import { ROOT, Workspace } from "../support/process.ts";

let workspace: Workspace;

beforeEach(() => {
  workspace = new Workspace();
});

afterEach(() => workspace.close());

/** The shipped configuration, on ports that are free. */
function shipped(): string {
  return readFileSync(`${ROOT}gateway.yaml`, "utf8").replaceAll(/port: \d+/g, "port: 0");
}

/** Runs a printed command line in a shell, with a bound on time. */
function shell(command: string): Child {
  return workspace.spawn("sh", ["-c", command.replace("curl ", "curl --silent --show-error --max-time 10 ")]);
}

/** The lines that `dev` prints, by the word in front. */
function printed(stdout: string): Readonly<Record<string, string>> {
  const lines = [...stdout.matchAll(/^ {2}(Gateway|Dashboard|Console|Admin|Demo key) +(\S.*)$/gm)];
  return Object.fromEntries(lines.map(([, name, value]) => [name, value!.split(/ {2,}/)[0]!]));
}

/** What a page does with the link that led to it. */
async function follow(link: string): Promise<Response> {
  const { origin, pathname, hash } = new URL(link);
  const { email, code } = Object.fromEntries(new URLSearchParams(hash.slice(hash.indexOf("?"))));
  const isConsole = pathname === "/console";
  return fetch(`${origin}${isConsole ? "/admin/session" : "/auth/login/verify"}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(isConsole ? { token: code } : { email, code }),
  });
}

describe("gateway dev", () => {
  test("on an empty store: a key, once, a curl that works, and links that sign in once", async () => {
    workspace.write("gateway.yaml", shipped());
    const dev = workspace.gateway("dev");
    const [, origin] = await dev.printed("stdout", /Gateway +(http:\S+)\/v1 +http:\S+\/v1\n/);
    const [, key] = await dev.printed("stdout", /Demo key +(rk_[0-9a-f]{64}) /);
    const [command] = await dev.printed("stdout", / {2}curl [^]*?'\n/);
    expect(command).toContain(`${origin}/v1/chat/completions`);
    expect(command).toContain(key);
    const { code, stdout, stderr } = await shell(command).exited;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const events = eventsOf(stdout);
    expect(events.at(-1)).toBe("[DONE]");
    expect(textOf(events)).toContain("You said: Hello!");
    expect(dev.stderr, "the log never shows the key").not.toContain(key);
    const first = printed(dev.stdout);
    expect(first["Dashboard"]).toMatch(`${origin}/#/?email=demo@example.com&code=link_`);
    expect(dev.stdout).toContain("sign in as demo@example.com; the sign-in code appears in this log");
    expect(dev.stdout).toContain("sign in with the admin token in data/admin-token");
    const token = readFileSync(workspace.path("data/admin-token"), "utf8").trim();
    expect(statSync(workspace.path("data/admin-token")).mode & 0o777).toBe(0o600);
    expect(dev.stdout + dev.stderr, "no address and no log has the token").not.toContain(token);
    const entered = await follow(first["Dashboard"]!);
    expect([entered.status, await entered.json()]).toMatchObject([200, { user: { email: "demo@example.com" } }]);
    expect((await follow(first["Dashboard"]!)).status).toBe(401);
    expect((await dev.stop("SIGINT")).code).toBe(0);

    // On a port of its own; the others stay free ones.
    const port = await freePort();
    const again = workspace.gateway("dev", "--port", String(port));
    await again.printed("stdout", /Console, later: .*\n\n/);
    const second = printed(again.stdout);
    expect(second["Gateway"]).toBe(`http://127.0.0.1:${port}/v1`);
    expect(second["Demo key"]).toBeUndefined();
    expect(readFileSync(workspace.path("data/admin-token"), "utf8").trim(), "the same at each start").toBe(token);
    const former = second["Console"]!.replace(/link_.*/, /link_.*/.exec(first["Console"]!)![0]);
    expect((await follow(former)).status, "a link of the start before").toBe(401);
    const operator = await follow(second["Console"]!);
    expect([operator.status, await operator.json()]).toMatchObject([200, { name: "admin", role: "operator" }]);
    expect((await follow(second["Console"]!)).status).toBe(401);
    expect((await again.stop()).code).toBe(0);
    const users = await workspace.onStore((store) => store.listUsers());
    expect(users.map(({ email }) => email)).toEqual(["demo@example.com"]);
    const entries = await workspace.onStore(async (store) => store.listAudit({ before: null, limit: 10 }));
    expect(entries.map(({ action, name, outcome }) => [action, name, outcome])).toEqual([
      ["signInFailed", "", "refused"],
      ["signIn", "admin", "done"],
      ["signInFailed", "", "refused"],
      ["userSignIn", "user", "done"],
      ["addKey", "cli", "done"],
      ["addUser", "cli", "done"],
    ]);
  });

  test("no link for a listener that others can reach; a configured token is not made again", async () => {
    const token = "a-token-of-the-operator";
    const reference = ["$", "{env:TOKEN_OF_MINE}"].join("");
    workspace.write("gateway.yaml", {
      ...configuration("http://127.0.0.1:9"),
      store: { url: "memory:" },
      server: {
        listen: [{ host: "0.0.0.0", port: 0 }],
        admin: { host: "127.0.0.1", port: 0, token: reference },
      },
    });
    const dev = workspace.spawn(process.execPath, [`${ROOT}src/cli/main.js`, "dev"], { TOKEN_OF_MINE: token });
    await dev.printed("stdout", /Try it:/);
    const { Dashboard: dashboard, Console: console } = printed(dev.stdout);
    expect(dashboard).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    expect(dev.stdout).toContain("sign in with an admin token of your configuration");
    expect(dev.stdout + dev.stderr).not.toContain(token);
    expect(existsSync(workspace.path("data/admin-token"))).toBe(false);
    expect(await (await follow(console!)).json()).toMatchObject({ name: "admin", role: "operator" });
  });

  test("takes an edit over by itself", async () => {
    workspace.write("gateway.yaml", shipped());
    const dev = workspace.gateway("dev");
    await dev.printed("stdout", /Demo key/);
    // What is saved before the first look at the files is found by the poll, later.
    await sleep(300);
    workspace.replace("gateway.yaml", shipped().replace("cost_multiplier: 1.0", "cost_multiplier: 2.0"));
    const [line] = await dev.printed("stderr", /.*configuration reloaded.*/);
    expect(line, "for people, not JSON").toMatch(/INFO/);
  });

  test("serve makes nobody up", async () => {
    workspace.write("gateway.yaml", configuration("http://127.0.0.1:9"));
    const gateway = await workspace.serve();
    expect(gateway.child.stdout).toBe("");
    expect(await workspace.onStore((store) => store.listUsers())).toEqual([]);
  });
});

test("the shipped configuration serves with --strict", async () => {
  workspace.write("gateway.yaml", shipped());
  const gateway = await workspace.serve("--strict");
  expect(gateway.origins).toHaveLength(2);
});

describe("gateway sim", () => {
  test("prints its origin, answers as scripted, and ends on a signal with 0", async () => {
    const sim = await workspace.sim();
    const ask = (path: string) =>
      fetch(`${sim.origin}${path}/chat/completions`, {
        method: "POST",
        headers: { authorization: "Bearer any", "content-type": "application/json" },
        body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "x" }] }),
      });
    expect((await ask("/v1")).status).toBe(200);
    expect((await ask("/sim/status%3D429/v1")).status).toBe(429);
    const open = ask("/sim/first_byte%3D60s/v1").then(
      () => "answered",
      () => "cut",
    );
    await poll(async () => (await sim.ledger()).length === 3);
    expect(await sim.child.stop()).toMatchObject({ code: 0, stderr: "" });
    expect(await open).toBe("cut");
  });

  test("a busy port ends with 3, a port that is none with 2", async () => {
    const sim = await workspace.sim();
    const port = new URL(sim.origin).port;
    const busy = await workspace.cli("sim", "--port", port);
    expect(busy.code).toBe(3);
    expect(busy.stderr).toContain(`cannot listen on 127.0.0.1:${port}`);
    expect((await workspace.cli("sim", "--port", "70000")).code).toBe(2);
  });
});
