import { expect, onTestFinished, test } from "vitest";
import { warnOfUntrusted } from "../../../src/server/client-address.ts";
import { createLog } from "../../../src/telemetry/log.ts";
import { memoryLog } from "../../server/support.ts";
import { TestGateway } from "../support/in-process.ts";

async function started(trusted_proxies: readonly string[]) {
  const lines: string[] = [];
  const log = createLog({ level: "warn", pretty: false, destination: { write: (line) => lines.push(line) } });
  const gateway = await TestGateway.start({ config: { server: { trusted_proxies } }, log });
  onTestFinished(() => gateway.close());
  const warnings = () => lines.filter((line) => line.includes("X-Forwarded-For"));
  const ask = (headers: Record<string, string>) => gateway.send("/v1/models", { method: "GET", headers });
  return { gateway, warnings, ask };
}

test("behind a balancer that nobody trusts, the log says so, once in ten minutes, with the remedy", async () => {
  const { gateway, warnings, ask } = await started([]);
  await ask({});
  expect(warnings()).toEqual([]);
  for (let count = 0; count < 3; count += 1) await ask({ "x-forwarded-for": "203.0.113.7" });
  expect(warnings()).toHaveLength(1);
  expect(warnings()[0]).toContain("server.trusted_proxies: [127.0.0.1]");
  expect(warnings()[0]).not.toContain("203.0.113.7");
  gateway.clock.advance(600_000);
  await ask({ "x-forwarded-for": "203.0.113.7" });
  expect(warnings()).toHaveLength(2);
});

test("one that is trusted is not warned of", async () => {
  const { warnings, ask } = await started(["127.0.0.0/8"]);
  await ask({ "x-forwarded-for": "203.0.113.7" });
  expect(warnings()).toEqual([]);
});

test.each([
  ["10.1.2.3", true],
  ["172.20.0.1", true],
  ["192.168.0.9", true],
  ["fd00::1", true],
  ["::1", true],
  ["203.0.113.9", false],
  ["2001:db8::1", false],
  ["", false],
])("the log names %s: %s", (peer, isNamed) => {
  const lines: Parameters<typeof memoryLog>[0] = [];
  warnOfUntrusted(memoryLog(lines))(peer, 0);
  expect(JSON.stringify(lines).includes(`trusted_proxies: [${peer}]`)).toBe(isNamed);
});
