import { rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createLog } from "../../../src/telemetry/log.ts";
import { TestGateway } from "../support/in-process.ts";

const WAIT = { timeout: 20_000, interval: 50 };

test("a running gateway takes a key that changes in .env alone, and says what is wrong there", async () => {
  const keys: (string | undefined)[] = [];
  const provider = createServer((request, response) => {
    keys.push(request.headers.authorization);
    request.resume().on("end", () => response.writeHead(500).end());
  });
  await new Promise<void>((done) => provider.listen(0, "127.0.0.1", done));
  onTestFinished(() => void provider.close());
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
  const lines: string[] = [];
  const log = createLog({ level: "debug", pretty: false, destination: { write: (line) => lines.push(line) } });
  const gateway = await TestGateway.start({
    chains: { "route/one": [url] },
    files: { ".env": "UPSTREAM_KEY=planted-key-one\n" },
    config: { upstreams: { "one-1": { api_keys: ["${env:UPSTREAM_KEY}"] } } },
    log,
  });
  onTestFinished(() => gateway.close());
  const file = join(dirname(gateway.file), ".env");
  const someone = await gateway.user();
  const sent = async (): Promise<string | undefined> => {
    await gateway.chat(someone);
    return keys.at(-1);
  };
  expect(await sent()).toBe("Bearer planted-key-one");

  await writeFile(file, "UPSTREAM_KEY='planted-key-two'\n");
  await expect.poll(sent, WAIT).toBe("Bearer planted-key-two");

  const warnings = async () => {
    const { warnings: all } = JSON.parse((await gateway.admin("/admin/config")).text) as {
      warnings: { rule: string }[];
    };
    return all.map(({ rule }) => rule);
  };
  // A line that nobody can read, in a file whose used values are the same.
  await writeFile(file, "UPSTREAM_KEY=planted-key-two\nplanted-key-three\n");
  await expect.poll(warnings, WAIT).toEqual(["env-line"]);
  expect(await sent()).toBe("Bearer planted-key-two");

  // Without it the configuration cannot serve: what served goes on.
  await rm(file);
  const refused = async () => JSON.stringify(JSON.parse((await gateway.admin("/admin/config")).text));
  await expect.poll(refused, WAIT).toContain("the variable UPSTREAM_KEY is not set");
  expect(await sent()).toBe("Bearer planted-key-two");

  const shown = await Promise.all(
    ["/admin/config", "/admin/config/source", "/metrics"].map((path) => gateway.admin(path)),
  );
  expect([...shown.map(({ text }) => text), ...lines].filter((text) => text.includes("planted"))).toEqual([]);
  expect(lines.filter((line) => line.includes(".env:2:1"))).toHaveLength(1);
});
