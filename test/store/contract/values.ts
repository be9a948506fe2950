import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_VALUE_BYTES, type PluginStorage, pluginStorage, type Store } from "../../../src/kit/index.ts";
import { PATIENCE } from "../../properties/runs.ts";
import { DAY, MINUTE, unique } from "../support.ts";

const SPACE_MIB = 64;
const MAX_INTEGER = 2n ** 63n - 1n;

const STRANGE = [
  "",
  "a",
  "A",
  " ",
  "{a}",
  "*",
  "a\u0000b",
  "a\r\nb",
  "ü",
  "u\u0308",
  "🔑",
  "__proto__",
  "x".repeat(9_999),
];
const KEY = fc.constantFrom("a", "b", "bytes", "sum");
const TTL = fc.constantFrom(1, 999, MINUTE);
const COMMAND = fc.oneof(
  fc.record({ do: fc.constant("set" as const), key: KEY, value: fc.constantFrom("0", "-7", "text", ""), ttl: TTL }),
  fc.record({ do: fc.constant("add" as const), key: KEY, amount: fc.bigInt(-9n, 9n), ttl: TTL }),
  fc.record({ do: fc.constant("get" as const), key: KEY }),
  fc.record({ do: fc.constant("delete" as const), key: KEY }),
  fc.record({ do: fc.constant("pass" as const), time: fc.constantFrom(1, 998, MINUTE) }),
);

type Command = typeof COMMAND extends fc.Arbitrary<infer Value> ? Value : never;

async function asked(storage: PluginStorage, command: Command, clock: { now: number }): Promise<unknown> {
  switch (command.do) {
    case "pass":
      clock.now += command.time;
      return undefined;
    case "get":
      return storage.get(command.key);
    case "set":
      return storage.set(command.key, command.value, command.ttl);
    case "delete":
      return storage.delete(command.key);
    case "add":
      return storage.add(command.key, command.amount, command.ttl).catch(String);
  }
}

class Model {
  readonly #values = new Map<string, { readonly value: string; readonly until: number }>();

  ask(command: Command, now: number): unknown {
    if (command.do === "pass") return undefined;
    const { key } = command;
    const entry = this.#values.get(key);
    const live = entry !== undefined && entry.until > now ? entry : null;
    switch (command.do) {
      case "get":
        return live?.value ?? null;
      case "set":
        this.#values.set(key, { value: command.value, until: now + command.ttl });
        return undefined;
      case "delete":
        this.#values.delete(key);
        return undefined;
      case "add": {
        const { value, until } = live ?? { value: "0", until: now + command.ttl };
        if (!/^-?\d+$/.test(value)) return "RangeError: the value is no whole number, or would have more than 64 bits";
        const sum = BigInt(value) + command.amount;
        this.#values.set(key, { value: String(sum), until });
        return sum;
      }
    }
  }
}

/** What plugins keep; `clock` is the store's own and only goes forward. */
export function valueSuite(store: () => Store, clock: { now: number }, numRuns: number): void {
  const newStorage = () => pluginStorage(store(), unique("plugin"));

  describe("values of plugins", () => {
    test("are read back to the letter, by keys of any content", async () => {
      const storage = newStorage();
      for (const [index, key] of STRANGE.entries()) await storage.set(key, `${key} ${index}`, MINUTE);
      for (const [index, key] of STRANGE.entries()) expect(await storage.get(key)).toBe(`${key} ${index}`);
      expect(await storage.get("none")).toBeNull();
    });

    test("are apart by plugin", async () => {
      const [one, other] = [newStorage(), newStorage()];
      await one.set("a", "1", MINUTE);
      await other.add("a", 5n, MINUTE);
      await other.delete("b");
      expect([await one.get("a"), await other.get("a")]).toEqual(["1", "5"]);
    });

    test("go when their time has passed; a sum keeps the time it began with", async () => {
      const storage = newStorage();
      await storage.set("value", "v", MINUTE);
      await storage.add("sum", 1n, MINUTE);
      clock.now += MINUTE - 1;
      await storage.add("sum", 1n, DAY);
      expect([await storage.get("value"), await storage.get("sum")]).toEqual(["v", "2"]);
      clock.now += 1;
      expect([await storage.get("value"), await storage.get("sum")]).toEqual([null, null]);
      expect(await storage.add("sum", 3n, MINUTE)).toBe(3n);
    });

    test("are added to exactly, by many at once and up to 64 bits", async () => {
      const storage = newStorage();
      await Promise.all(Array.from({ length: 50 }, () => storage.add("a", 2n ** 53n + 1n, MINUTE)));
      expect(await storage.get("a")).toBe(String(50n * (2n ** 53n + 1n)));
      await storage.set("b", String(MAX_INTEGER - 1n), MINUTE);
      expect(await storage.add("b", 1n, MINUTE)).toBe(MAX_INTEGER);
      await expect(storage.add("b", 1n, MINUTE)).rejects.toThrow(RangeError);
      expect(await storage.get("b")).toBe(String(MAX_INTEGER));
    });

    test.each(["text", "", "1.5", "007", String(MAX_INTEGER + 1n)])("nothing is added to %j", async (value) => {
      const storage = newStorage();
      await storage.set("a", value, MINUTE);
      await expect(storage.add("a", -1n, MINUTE)).rejects.toThrow(RangeError);
      expect(await storage.get("a")).toBe(value);
    });

    test("have a bounded size and time", async () => {
      const storage = newStorage();
      await storage.set("a", "x".repeat(MAX_VALUE_BYTES), MINUTE);
      await expect(storage.set("a", "ü".repeat(MAX_VALUE_BYTES / 2 + 1), MINUTE)).rejects.toThrow(RangeError);
      for (const ttl of [0, -1, NaN, 401 * DAY]) await expect(storage.set("a", "", ttl)).rejects.toThrow(RangeError);
      expect(await storage.get("a")).toHaveLength(MAX_VALUE_BYTES);
    });

    test(
      `of one plugin ${SPACE_MIB} MiB are kept: what expires soonest goes first, and no other plugin's`,
      async () => {
        const [storage, other] = [newStorage(), newStorage()];
        await other.set("a", "1", MINUTE);
        const half = "x".repeat(MAX_VALUE_BYTES / 2);
        const names = Array.from({ length: 3 * SPACE_MIB }, (_, index) => `${index}`);
        for (const [index, name] of names.entries()) await storage.set(name, half, MINUTE + index);
        const kept: number[] = [];
        for (const [index, name] of names.entries()) if ((await storage.get(name)) !== null) kept.push(index);
        expect(kept.length).toBeLessThanOrEqual(2 * SPACE_MIB);
        expect(kept.length).toBeGreaterThan(SPACE_MIB);
        expect(kept).toContain(names.length - 1);
        expect(kept).not.toContain(0);
        expect(await other.get("a")).toBe("1");
        for (const name of names) await storage.delete(name);
      },
      PATIENCE,
    );

    test(
      "random calls do what the model does",
      async () => {
        const property = fc.asyncProperty(fc.array(COMMAND, { maxLength: 20 }), async (commands) => {
          const storage = newStorage();
          const model = new Model();
          for (const command of commands) {
            expect(await asked(storage, command, clock)).toBe(model.ask(command, clock.now));
          }
        });
        await fc.assert(property, { numRuns });
      },
      PATIENCE,
    );
  });
}
