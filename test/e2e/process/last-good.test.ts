import { readFileSync } from "node:fs";
import { onTestFinished, expect, test, vi } from "vitest";
import { checkConfig, isLoaded, lastGoodKeeper } from "../../../src/gateway/configuration.ts";
import { configuration } from "../support/configuration.ts";
import { Workspace } from "../support/process.ts";

test("configurations that follow each other faster than they are saved leave the last one, whole", async () => {
  const workspace = new Workspace();
  onTestFinished(() => workspace.close());
  const log = {
    debug: vi.fn<() => void>(),
    info: vi.fn<() => void>(),
    warn: vi.fn<() => void>(),
    error: vi.fn<() => void>(),
  };
  const keeper = lastGoodKeeper({ env: {}, log });
  let last = "";
  for (let edit = 1; edit <= 20; edit++) {
    const text = JSON.stringify({ ...configuration("http://127.0.0.1:9"), billing: { cost_multiplier: edit } });
    workspace.write("gateway.yaml", text);
    const loaded = await checkConfig({ file: workspace.path("gateway.yaml"), env: {} });
    if (!isLoaded(loaded)) throw new Error(JSON.stringify(loaded.diagnostics));
    // As often as a busy file changes: nobody waits for the former save.
    keeper.remember(loaded);
    last = text;
  }
  await keeper.done();
  expect(log.warn).not.toHaveBeenCalled();
  const index = JSON.parse(readFileSync(workspace.path("data/last-good/current.json"), "utf8")) as { copies: string };
  const copy = workspace.path(`data/last-good/${index.copies}${workspace.path("gateway.yaml")}`);
  expect(readFileSync(copy, "utf8")).toBe(last);
});
