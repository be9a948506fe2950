import type { Plugin, Stage } from "../../src/kit/index.ts";
import { Bench } from "../support/bench.ts";
import { reserving } from "../support/spy.ts";

export const bug = (): never => {
  throw new TypeError("bug");
};
export const rejects = (): Promise<never> => Promise.reject(new TypeError("bug"));
export const nonError = (): never => {
  // oxlint-disable-next-line no-throw-literal -- plugins do
  throw "not an Error";
};
/** What a hook in plain JavaScript may return whatever its type says. */
export const garbage = (value: unknown) => (): never => value as never;

const PIPELINE = ["auth", "first", "plan-check", "quota", "last", "breaker", "transform", "stream-relay", "meter"];
const AFTER: Readonly<Record<Stage, string>> = {
  identify: "",
  admit: "quota",
  guard: "breaker",
  transform: "transform",
  relay: "",
  account: "meter",
};

function pipelineWith(
  added: Plugin,
  fail: "open" | "closed",
): readonly (string | { use: string; fail: "open" | "closed" })[] {
  const step = { use: added.name, fail };
  const at = PIPELINE.indexOf(AFTER[added.stage]) + 1;
  return [...PIPELINE.slice(0, at), step, ...PIPELINE.slice(at)];
}

export async function benchWith(added: Plugin, fail: "open" | "closed", journal: string[] = []): Promise<Bench> {
  return Bench.create({
    plugins: [added, reserving("first", journal), reserving("last", journal)],
    pipeline: pipelineWith(added, fail),
  });
}
