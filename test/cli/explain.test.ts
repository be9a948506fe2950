import { afterAll, beforeAll, expect, test } from "vitest";
import type { Explanation } from "#schema";
import { configuration } from "../e2e/support/configuration.ts";
import { type Account, Workspace } from "../e2e/support/process.ts";

const workspace = new Workspace();
let account: Account;

beforeAll(async () => {
  workspace.write("gateway.yaml", configuration("http://127.0.0.1:9"));
  await workspace.json("users", "add", "--email", "first@example.com");
  account = await workspace.account("Free", 1_000_000_000n);
});
afterAll(() => workspace.close());

const explain = (...args: readonly string[]) => workspace.cli("explain", ...args);

test("a request is explained, offline: its upstream is not there", async () => {
  const { code, stdout, stderr } = await explain("route/one", "--tier", "Free");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("→ 200 served by alpha");
});

test("a refusal is an answer, too; of a user and key in the store, who are left as they are", async () => {
  const before = await workspace.books(account.id);
  const args = ["--user", account.email, "--key", account.keyId, "--store", "--format", "json"];
  const served = await explain("route/one", ...args);
  expect(JSON.parse(served.stdout)).toMatchObject({ answer: { status: 402 }, credits: { balance: "1" } });
  const cheap = await explain("route/one", ...args, "--body", '{"max_tokens":1}', "--down", "alpha");
  const { answer, request } = JSON.parse(cheap.stdout) as Explanation;
  expect({ code: cheap.code, answer, request }).toMatchObject({
    code: 0,
    answer: { status: 502, code: "PROVIDER_ERROR" },
    request: { user: account.id, tier: "Free" },
  });
  expect(await workspace.books(account.id)).toEqual(before);
});

test.each([
  [
    "a model that there is not",
    ["route/onn", "--tier", "Free"],
    2,
    "there is no model route/onn: did you mean route/one?",
  ],
  ["a plan that there is not", ["route/one", "--tier", "Fre"], 2, "there is no tier Fre: did you mean Free?"],
  ["nobody", ["route/one"], 2, "name a plan with --tier, or a user with --user and --store"],
  ["a user without their store", ["route/one", "--user", "x"], 2, "--user and --store go together"],
  ["a user that there is not", ["route/one", "--user", "x", "--store"], 1, "there is no user x"],
  ["a script that is none", ["route/one", "--tier", "Free", "--fault", "alpha=?statsu=1"], 2, "Did you mean 'status'?"],
  ["a file that there is not", ["-c", "none.yaml", "route/one", "--tier", "Free"], 3, "none.yaml"],
])("%s ends with its code", async (_what, args, code, message) => {
  const exit = await explain(...args);
  expect(exit).toMatchObject({ code, stdout: "" });
  expect(exit.stderr).toContain(message);
});
