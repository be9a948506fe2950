import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** The path of a folder that is not there yet, and no longer when the test is finished. */
export function passingFolder(): string {
  const folder = join(tmpdir(), `gateway-test-${randomUUID()}`);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
