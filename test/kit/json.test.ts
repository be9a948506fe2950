import { expect, test } from "vitest";
import { isJson } from "../../src/kit/index.ts";

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
