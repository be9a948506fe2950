import { inspect } from "node:util";
import { expect, test } from "vitest";
import { isJson, Secret } from "../../src/kit/index.ts";

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

test.each([
  [{}, true],
  [Object.create(null), true],
  [[], false],
  [null, false],
  ["{}", false],
  [undefined, false],
])("isJson(%j) is %s", (value, expected) => {
  expect(isJson(value)).toBe(expected);
});
