import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { keepToken } from "../../src/cli/dev.ts";

const GOOD = "0123456789abcdef0123456789abcdef";

function scratch(): { folder: string; file: string } {
  const folder = mkdtempSync(join(tmpdir(), "admin-token-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return { folder, file: join(folder, "admin-token") };
}

test("a token is made once, readable for its user alone, also in a folder that is not there", () => {
  const { folder } = scratch();
  const data = join(folder, "a/b");
  const { token, file } = keepToken(data);
  expect([file, statSync(file!).mode & 0o777]).toEqual([join(data, "admin-token"), 0o600]);
  expect(token).toMatch(/^[0-9a-f]{32}$/);
  expect(keepToken(data)).toEqual({ token, file });
});

test.each<[what: string, text: string, mode: number]>([
  ["empty", "", 0o600],
  ["no token", "hello\n", 0o600],
  ["too short", `${GOOD.slice(1)}\n`, 0o600],
  ["two of them", `${GOOD}\n${GOOD}\n`, 0o600],
  ["readable for others", `${GOOD}\n`, 0o644],
])("a file that is %s is replaced", (_, text, mode) => {
  const { folder, file } = scratch();
  writeFileSync(file, text);
  chmodSync(file, mode);
  const { token } = keepToken(folder);
  expect(token).not.toBe(GOOD);
  expect(readFileSync(file, "utf8")).toBe(`${token}\n`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("a link is replaced, and what it leads to stays as it is", () => {
  const { folder, file } = scratch();
  const other = join(folder, "other");
  writeFileSync(other, "mine");
  symlinkSync(other, file);
  const { token } = keepToken(folder);
  expect([readFileSync(other, "utf8"), readFileSync(file, "utf8")]).toEqual(["mine", `${token}\n`]);
});

test("where it cannot be kept it is good for this start, and stderr says why", () => {
  const { folder, file } = scratch();
  mkdirSync(join(file, "in-the-way"), { recursive: true });
  const said = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const { token, file: kept } = keepToken(folder);
  expect([kept, token.length, existsSync(join(file, "in-the-way"))]).toEqual([null, 32, true]);
  expect(String(said.mock.calls[0]![0])).toMatch(/^gateway: the admin token cannot be kept, .*\n$/);
  expect(String(said.mock.calls[0]![0])).not.toContain(token);
});
