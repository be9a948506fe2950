import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import transform from "../../plugins/transform.ts";
import type { Call, Json } from "../../src/kit/index.ts";
import { testExchange } from "../support/exchange.ts";
import { deepFreeze, testSnapshot } from "../support/snapshot.ts";
import { pluginHost, setUp } from "./harness.ts";

const snapshot = testSnapshot();
const host = await pluginHost({ snapshot });

interface Options {
  readonly set?: Readonly<Record<string, unknown>>;
  readonly remove?: readonly string[];
}

async function apply(options: Options, fields: Json): Promise<Call> {
  const hooks = await setUp(transform, deepFreeze(options) as never, host);
  const exchange = testExchange(snapshot);
  return hooks.transform!(deepFreeze({ ...exchange.call, body: fields }), exchange);
}

const body = async (options: Options, fields: Json): Promise<Json> => (await apply(options, fields)).body;

describe("set", () => {
  test.each<readonly [string, unknown, Json, Json]>([
    ["/a", 1, {}, { a: 1 }],
    ["/a", null, { a: 1 }, { a: null }],
    ["/a/b", 1, { a: { c: 2 } }, { a: { c: 2, b: 1 } }],
    ["/a/b/c", 1, {}, { a: { b: { c: 1 } } }],
    ["/a/b", 1, { a: "text" }, { a: { b: 1 } }],
    ["/a/b", 1, { a: null }, { a: { b: 1 } }],
    ["/a~1b", 1, {}, { "a/b": 1 }],
    ["/a~0b", 1, {}, { "a~b": 1 }],
    ["/~01", 1, {}, { "~1": 1 }],
    ["/~10", 1, {}, { "/0": 1 }],
    ["/", 1, {}, { "": 1 }],
    ["/a/", 1, {}, { a: { "": 1 } }],
    ["/a/0", 9, { a: [1, 2] }, { a: [9, 2] }],
    ["/a/2", 9, { a: [1, 2] }, { a: [1, 2, 9] }],
    ["/a/-", 9, { a: [1, 2] }, { a: [1, 2, 9] }],
    ["/a/-/b", 9, { a: [1] }, { a: [1, { b: 9 }] }],
    ["/a/0/b", 9, { a: [{ c: 1 }] }, { a: [{ c: 1, b: 9 }] }],
    ["/stream_options/include_obfuscation", false, {}, { stream_options: { include_obfuscation: false } }],
  ])("%s to %j", async (pointer, value, fields, expected) => {
    expect(await body({ set: { [pointer]: value } }, fields)).toEqual(expected);
  });

  test.each([
    "/a/3",
    "/a/-1",
    "/a/01",
    "/a/1.0",
    "/a/1e0",
    "/a/ 1",
    "/a/",
    "/a/0x1",
    "/a/-0",
    "/a/length",
    "/a/__proto__",
  ])("%s names no place in a list of two: nothing changes", async (pointer) => {
    expect(await body({ set: { [pointer]: 9 } }, { a: [1, 2] })).toEqual({ a: [1, 2] });
  });
});

describe("remove", () => {
  test.each<readonly [string, Json, Json]>([
    ["/a", { a: 1, b: 2 }, { b: 2 }],
    ["/a", { b: 2 }, { b: 2 }],
    ["/a/b", { a: { b: 1, c: 2 } }, { a: { c: 2 } }],
    ["/a/b/c", { a: { x: 1 } }, { a: { x: 1 } }],
    ["/a/b", { a: "text" }, { a: "text" }],
    ["/a/0", { a: [1, 2] }, { a: [2] }],
    ["/a/0/b", { a: [{ b: 1, c: 2 }] }, { a: [{ c: 2 }] }],
    ["/a~1b", { "a/b": 1 }, {}],
    ["/toString", { a: 1 }, { a: 1 }],
    ["/constructor/prototype", { a: 1 }, { a: 1 }],
  ])("%s", async (pointer, fields, expected) => {
    expect(await body({ remove: [pointer] }, fields)).toEqual(expected);
  });

  test.each(["/a/2", "/a/-", "/a/", "/a/ 0", "/a/00", "/a/-0", "/a/0x0", "/a/length"])(
    "%s names no element of a list of two: nothing changes",
    async (pointer) => {
      expect(await body({ remove: [pointer] }, { a: [1, 2] })).toEqual({ a: [1, 2] });
    },
  );

  test("happens before set: a field removed and set is set", async () => {
    expect(await body({ remove: ["/a"], set: { "/a/b": 1 } }, { a: { old: 1 } })).toEqual({ a: { b: 1 } });
  });
});

describe("__proto__ is a field like any other", () => {
  test.each(["/__proto__", "/__proto__/polluted", "/a/__proto__/polluted", "/constructor/prototype/polluted"])(
    "%s",
    async (pointer) => {
      const changed = await body({ set: { [pointer]: true } }, { a: {} });
      expect(Object.getPrototypeOf(changed)).toBe(Object.prototype);
      expect("polluted" in {}).toBe(false);
      expect(JSON.stringify(changed)).toContain(pointer.split("/")[1]);
      expect(JSON.stringify(await body({ remove: [pointer] }, changed))).not.toContain("polluted");
    },
  );
});

describe("what the request is cannot be changed", () => {
  test.each(["/model", "/model/x", "/stream", "/stream/0", "/stream/x"])("%s refuses to start", async (pointer) => {
    await expect(setUp(transform, { set: { [pointer]: 1 } }, host)).rejects.toThrow(pointer);
    await expect(setUp(transform, { remove: [pointer] }, host)).rejects.toThrow(pointer);
  });

  test("what the gateway counts by stays as it was", async () => {
    const before = testExchange(snapshot).call;
    const { body: _, ...rest } = await apply({ set: { "/messages": [] }, remove: ["/max_tokens"] }, { max_tokens: 5 });
    const { body: _before, ...restBefore } = before;
    expect(rest).toEqual(restBefore);
  });
});

const escape = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");
const at = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (node, key) =>
      typeof node === "object" && node !== null && Object.hasOwn(node, key) ? (node as Json)[key] : undefined,
    value,
  );

describe("properties", () => {
  const keys = fc
    .array(fc.string(), { minLength: 1, maxLength: 4 })
    .filter(([first]) => first !== "model" && first !== "stream");
  const fields = fc.dictionary(fc.string(), fc.jsonValue());
  test("what is set is there, what is removed is not, and the argument is untouched", async () => {
    await fc.assert(
      fc.asyncProperty(fields, keys, fc.jsonValue(), async (given, path, value) => {
        // A list on the way has rules of its own.
        fc.pre(path.every((_, index) => !Array.isArray(at(given, path.slice(0, index)))));
        const pointer = path.map((key) => `/${escape(key)}`).join("");
        const copy = structuredClone(given);
        const set = await body({ set: { [pointer]: value } }, given);
        expect(at(set, path)).toEqual(value);
        expect(at(await body({ remove: [pointer] }, set), path)).toBeUndefined();
        expect(given).toEqual(copy);
      }),
    );
  });
});
