import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as gateway from "route-gateway";
import * as kit from "route-gateway/plugin";
import * as testing from "route-gateway/testing";
import { expect, onTestFinished, test } from "vitest";
import { baseConfig } from "./e2e/support/gateway-config.ts";

async function configFile(change: object = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "gateway-index-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "gateway.yaml");
  await writeFile(file, JSON.stringify({ ...(baseConfig(folder) as object), ...change }));
  return file;
}

test("a program that depends on the package checks a configuration and serves it", async () => {
  const file = await configFile();
  expect(await gateway.checkConfig({ file, env: {} })).toMatchObject({ ok: true });
  const started = await gateway.startGateway({ file, env: {}, logLevel: "silent" });
  onTestFinished(() => started.close());
  const answer = await fetch(`http://127.0.0.1:${started.addresses[0]!.port}/v1/status`);
  expect(answer.status).toBe(200);
});

test("a configuration that cannot serve is told by its own class", async () => {
  const file = await configFile({ pipeline: ["no-such-plugin"] });
  const started = gateway.startGateway({ file, env: {}, strict: true, logLevel: "silent" });
  await expect(started).rejects.toBeInstanceOf(gateway.ConfigurationError);
});

test("a plugin is written with what the package exports, by either door, and tested by a third", async () => {
  expect(gateway.definePlugin).toBe(kit.definePlugin);
  await using room = await testing.openPlugin("transform", { options: { set: { "/seed": 7 } } });
  const { sent } = await room.request({ model: "route/chat" });
  expect(JSON.parse(sent[0]?.body ?? "")).toMatchObject({ seed: 7 });
  expect(gateway.GatewayError).toBe(kit.GatewayError);
  const plugin: gateway.Plugin = gateway.definePlugin({
    name: "nothing",
    stage: "transform",
    schema: new URL("file:///nothing.schema.json"),
    setup: () => ({}),
  });
  expect(plugin.name).toBe("nothing");
});
