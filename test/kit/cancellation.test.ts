import { expect, it } from "vitest";
import { CancellationSource } from "../../src/kit/index.ts";

/** Adds `count` listeners, which note their numbers; every second one is an object. */
function listeners(source: CancellationSource, count: number, told: number[]) {
  return Array.from({ length: count }, (_, number) => {
    const note = (): void => void told.push(number);
    const listener = number % 2 === 0 ? note : { handleEvent: note };
    source.addEventListener("abort", listener);
    return listener;
  });
}

it.each([0, 1, 2, 5])("%i listeners are told once, in their order, of the first reason", (count) => {
  const source = new CancellationSource();
  const told: number[] = [];
  for (const listener of listeners(source, count, told)) source.addEventListener("abort", listener);
  expect(source).toMatchObject({ aborted: false, reason: undefined });
  source.abort("client_gone");
  source.abort("shutdown");
  expect(told).toEqual([...told.keys()]);
  expect(told).toHaveLength(count);
  expect(source).toMatchObject({ aborted: true, reason: "client_gone" });
});

it.each([0, 1, 2])("listener %i of three is not told once it is removed, and its place serves again", (removed) => {
  const source = new CancellationSource();
  const told: number[] = [];
  const all = listeners(source, 3, told);
  source.removeEventListener("abort", all[removed]!);
  source.addEventListener("abort", () => told.push(3));
  source.abort("killed");
  expect(new Set(told)).toEqual(new Set([0, 1, 2, 3]).difference(new Set([removed])));
  expect(told).toHaveLength(3);
});

it("a listener that another one removes, and one that comes later, are not told", () => {
  const source = new CancellationSource();
  const told: string[] = [];
  const last = (): void => void told.push("last");
  source.addEventListener("abort", () => {
    source.removeEventListener("abort", last);
    source.addEventListener("abort", () => told.push("late"));
    told.push("first");
  });
  source.addEventListener("abort", last);
  source.abort("killed");
  source.addEventListener("abort", last);
  expect(told).toEqual(["first"]);
});

it("a listener that throws keeps no other from being told, and is heard of", async () => {
  const source = new CancellationSource();
  const told: number[] = [];
  const thrown = new Promise((resolve) => process.once("uncaughtException", resolve));
  const others = process.listeners("uncaughtException").slice(0, -1);
  for (const other of others) process.off("uncaughtException", other);
  source.addEventListener("abort", () => {
    throw new Error("broken");
  });
  listeners(source, 1, told);
  source.abort("killed");
  expect(told).toEqual([0]);
  expect(await thrown).toMatchObject({ message: "broken" });
  for (const other of others) process.on("uncaughtException", other);
});

it.each(["before", "after"])(
  "its signal, first asked for %s it is aborted, is the same one and aborted as it is",
  (when) => {
    const source = new CancellationSource();
    const early = when === "before" ? source.signal : null;
    expect(early?.aborted ?? false).toBe(false);
    source.abort("client_gone");
    const { signal } = source;
    expect(early ?? signal).toBe(signal);
    expect(source.signal).toBe(signal);
    expect(signal).toMatchObject({ aborted: true, reason: "client_gone" });
  },
);
