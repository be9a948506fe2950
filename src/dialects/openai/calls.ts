import { createHash } from "node:crypto";

/** As JSON text: some upstreams give the object itself. */
export function argumentsText(args: unknown): string {
  if (typeof args === "string") return args;
  return args === null || args === undefined ? "" : JSON.stringify(args);
}

/** An id for a tool call that came without one, or with that of another. Equal seeds give equal ids. */
export function madeId(seed: string): string {
  return `call_${createHash("sha256").update(seed).digest("hex").slice(0, 24)}`;
}

export function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
