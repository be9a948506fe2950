import { expect, onTestFinished, test } from "vitest";
import { compileOffline } from "../../src/gateway/compile.ts";
import { configuration } from "../e2e/support/configuration.ts";
import { Workspace } from "../e2e/support/process.ts";

async function compiled(change: object, files: Readonly<Record<string, string>> = {}) {
  const workspace = new Workspace();
  onTestFinished(() => workspace.close());
  workspace.write("gateway.yaml", { ...configuration("http://127.0.0.1:9"), ...change });
  for (const [name, text] of Object.entries(files)) workspace.write(name, text);
  const { ok, diagnostics, snapshot } = await compileOffline({
    file: workspace.path("gateway.yaml"),
    env: { SET: "x" },
  });
  return { ok, snapshot, errors: diagnostics.filter(({ severity }) => severity === "error").map(({ rule }) => rule) };
}

const secret = (value: string) => ({ auth: { tokens: { secrets: [{ kid: "a", value }] } } });

test("a file that is not there gets a stand-in; one that is there is read, and what is wrong with it stays wrong", async () => {
  expect(await compiled(secret("${file:key}"))).toMatchObject({ ok: true, errors: [] });
  expect(await compiled(secret("${file:key}"), { key: "short" })).toMatchObject({ ok: false, errors: ["weak-secret"] });
});

test("a variable that is set is what it is, and one that is not is the first that fits", async () => {
  expect(await compiled({ server: { heartbeat: "${env:SET}" } })).toMatchObject({
    ok: false,
    errors: ["wrong-format"],
  });
  const unset = await compiled({ server: { heartbeat: "${env:UNSET}" } });
  expect(unset).toMatchObject({ ok: true, snapshot: { server: { heartbeat: 1000 } } });
});
