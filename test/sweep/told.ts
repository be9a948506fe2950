import { isJson, type Json } from "../../src/kit/index.ts";
import type { SweepCase } from "./cases.ts";

export function untold(_one: SweepCase, _sent: Json, _dropped: readonly string[]): readonly string[] {
  return isJson(null) ? [] : [];
}
