import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { keepToken, withConsole } from "../../src/cli/dev.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { ServerSettings } from "../../src/kit/index.ts";
import { options } from "../config/support.ts";

const GOOD = "0123456789abcdef0123456789abcdef";

function scratch(): { folder: string; file: string } {
  const folder = mkdtempSync(join(tmpdir(), "admin-token-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return { folder, file: join(folder, "admin-token") };
}

test("a token is made once, readable for its user alone, also in a folder that is not there", () => {
  const { folder } = scratch();
  const data = join(folder, "a/b");
  const { token, file } = keepToken(data);
  expect([file, statSync(file!).mode & 0o777]).toEqual([join(data, "admin-token"), 0o600]);
  expect(token).toMatch(/^[0-9a-f]{32}$/);
  expect(keepToken(data)).toEqual({ token, file });
});

test.each<[what: string, text: string, mode: number]>([
  ["empty", "", 0o600],
  ["no token", "hello\n", 0o600],
  ["too short", `${GOOD.slice(1)}\n`, 0o600],
  ["two of them", `${GOOD}\n${GOOD}\n`, 0o600],
  ["readable for others", `${GOOD}\n`, 0o644],
])("a file that is %s is replaced", (_, text, mode) => {
  const { folder, file } = scratch();
  writeFileSync(file, text);
  chmodSync(file, mode);
  const { token } = keepToken(folder);
  expect(token).not.toBe(GOOD);
  expect(readFileSync(file, "utf8")).toBe(`${token}\n`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("a link is replaced, and what it leads to stays as it is", () => {
  const { folder, file } = scratch();
  const other = join(folder, "other");
  writeFileSync(other, "mine");
  symlinkSync(other, file);
  const { token } = keepToken(folder);
  expect([readFileSync(other, "utf8"), readFileSync(file, "utf8")]).toEqual(["mine", `${token}\n`]);
});

test("where it cannot be kept it is good for this start, and stderr says why", () => {
  const { folder, file } = scratch();
  mkdirSync(join(file, "in-the-way"), { recursive: true });
  const said = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const { token, file: kept } = keepToken(folder);
  expect([kept, token.length, existsSync(join(file, "in-the-way"))]).toEqual([null, 32, true]);
  expect(String(said.mock.calls[0]![0])).toMatch(/^gateway: the admin token cannot be kept, .*\n$/);
  expect(String(said.mock.calls[0]![0])).not.toContain(token);
});

/** The admin listener that `dev` has for this section `server`, with its tokens in clear. */
async function adminOf(server: object): Promise<unknown> {
  const config = {
    version: 1,
    server,
    upstreams: { local: { dialect: "openai", base_url: "http://127.0.0.1:1/v1" } },
    models: { "route/one": { kind: "chat", chain: [{ upstream: "local", model: "one" }] } },
  };
  const read = async () => JSON.stringify(config);
  const { snapshot, diagnostics } = await loadConfig(options("/gateway.yaml", { read }));
  if (snapshot === null) throw new Error(diagnostics.map(({ message }) => message).join("; "));
  const { admin }: ServerSettings = withConsole(snapshot, () => GOOD).server;
  return admin && { ...admin, tokens: admin.tokens.map(({ name, token }) => [name, token.reveal()]) };
}

test.each<[what: string, server: object, admin: object | null]>([
  ["none at all", {}, { host: "127.0.0.1", port: 0, tokens: [["admin", GOOD]] }],
  ["none beside an address for others", { listen: [{ host: "0.0.0.0", port: 80 }] }, null],
  [
    "one without a token",
    { admin: { host: "127.0.0.1", port: 9090, token: "" } },
    { host: "127.0.0.1", port: 9090, tokens: [["admin", GOOD]] },
  ],
  [
    "one with a token",
    { admin: { host: "127.0.0.1", port: 9090, token: "a-token-of-mine-1234" } },
    { tokens: [["admin", "a-token-of-mine-1234"]] },
  ],
])("the admin listener where the configuration has %s", async (_, server, admin) => {
  const found = await adminOf(server);
  expect(found === null).toBe(admin === null);
  expect(found ?? {}).toMatchObject(admin ?? {});
});
