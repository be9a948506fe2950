import { inspect } from "node:util";
import { expect, test } from "vitest";
import { isLoopback, Secret } from "../../src/kit/index.ts";

const secret = new Secret("hunter2");

test.each([
  ["a template", `${secret}`],
  ["concatenation", `key: ${String(secret)}`],
  ["JSON", JSON.stringify({ secret })],
  ["inspection", inspect({ deep: { secret } }, { depth: 9, showHidden: true })],
  ["enumeration", JSON.stringify([Object.keys(secret), Object.values(secret), Object.assign({}, secret)])],
])("a secret does not show in %s", (_, text) => {
  expect(text).not.toContain("hunter2");
});

test("only reveal gives it away", () => {
  expect(secret.reveal()).toBe("hunter2");
  expect(secret.empty).toBe(false);
  expect(new Secret("").empty).toBe(true);
  expect(Object.isFrozen(secret)).toBe(true);
});

test.each(["localhost", "127.0.0.1", "127.255.0.9", "::1", "[::1]"])("%s is this machine", (host) => {
  expect(isLoopback(host)).toBe(true);
});

test.each([
  "",
  "127",
  "127.0.0.256",
  "127.0.0.01",
  "127.0.0.1.example.com",
  "127.example.com",
  "128.0.0.1",
  "localhost.example",
  "::2",
])("%j is not", (host) => {
  expect(isLoopback(host)).toBe(false);
});
