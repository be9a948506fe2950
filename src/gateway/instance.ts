import { randomBytes } from "node:crypto";
import { hostname } from "node:os";

/** Names this process among all that share a store, for as long as it lives: `<host>-<pid>-<random>`. */
export function createInstanceName(): string {
  return `${hostname()}-${process.pid}-${randomBytes(4).toString("hex")}`;
}
