import { readFileSync, writeFileSync } from "node:fs";
import { appendFile, mkdir, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { disk, noting, type WatchedFile } from "../../src/config/files.ts";
import { watchConfig } from "../../src/config/watch.ts";
import { scratch } from "./support.ts";

const WAIT = { timeout: 10_000, interval: 20 };

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await scratch();
  file = join(folder, "gateway.yaml");
  await writeFile(file, "a: 1\n");
});

const log = { error: (fields: object) => expect.fail(JSON.stringify(fields)) };

interface Watched {
  changes: () => number;
  /** A load that the watcher did not ask for. */
  load: () => Promise<void>;
}

/** Watches what a load of these files found, and waits until the first look is over. */
async function watching(
  paths: () => readonly string[] = () => [file],
  poll = 100,
  then: () => void = () => undefined,
): Promise<Watched> {
  let files: readonly WatchedFile[] = [];
  const load = async (): Promise<void> => {
    const reader = noting(disk);
    for (const path of paths()) {
      if (path.includes("*")) await reader.access.expand(path, folder);
      else await reader.access.read(path).catch(() => undefined);
    }
    files = reader.files();
  };
  await load();
  const onChange = vi.fn<() => Promise<void>>(async () => {
    await load();
    then();
  });
  const watch = watchConfig({ files: () => files, onChange, log, poll });
  onTestFinished(() => watch.close());
  await sleep(300);
  onChange.mockClear();
  return { changes: () => onChange.mock.calls.length, load };
}

/** An editor that writes beside the file and moves it into place. */
async function replace(text: string): Promise<void> {
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
}

test("atomic renames, again and again", async () => {
  const { changes } = await watching();
  for (let round = 1; round <= 3; round++) {
    const before = changes();
    await replace(`a: ${round + 1}\n`);
    await expect.poll(() => changes() > before, WAIT).toBe(true);
  }
});

test("a swap of the folder behind a link, again and again", async () => {
  await rm(file);
  for (const version of ["v1", "v2", "v3"]) {
    await mkdir(join(folder, version));
    await writeFile(join(folder, version, "gateway.yaml"), `a: ${version}\n`);
  }
  await symlink("v1", join(folder, "..data"));
  await symlink("..data/gateway.yaml", file);
  const { changes } = await watching();
  for (const version of ["v2", "v3"]) {
    const before = changes();
    await symlink(version, join(folder, "..tmp"));
    await rename(join(folder, "..tmp"), join(folder, "..data"));
    await expect.poll(() => changes() > before, WAIT).toBe(true);
  }
});

test("a write in place, in two halves, is seen whole", async () => {
  const seen: string[] = [];
  await watching(
    () => [file],
    60_000,
    () => seen.push(readFileSync(file, "utf8")),
  );
  await writeFile(file, "a: 2\n");
  await sleep(50);
  await appendFile(file, "b: 3\n");
  await expect.poll(() => seen.at(-1) === "a: 2\nb: 3\n", WAIT).toBe(true);
  expect(seen.length).toBeLessThanOrEqual(2);
});

test("events alone are enough, and so is polling", async () => {
  const events = await watching(() => [file], 60_000);
  const polled = await watching(() => [file], 50);
  await replace("a: 5\n");
  await expect.poll(() => events.changes() > 0 && polled.changes() > 0, WAIT).toBe(true);
});

test("touching, or writing the same text, is no change", async () => {
  const { changes } = await watching();
  for (let round = 0; round < 3; round++) {
    await utimes(file, new Date(), new Date(Date.now() + round * 1000));
    await replace("a: 1\n");
    await sleep(250);
  }
  expect(changes()).toBe(0);
  // It is still alive.
  await replace("a: 2\n");
  await expect.poll(() => changes() === 1, WAIT).toBe(true);
});

test("deletion and return", async () => {
  const { changes } = await watching();
  await rm(file);
  await expect.poll(() => changes() === 1, WAIT).toBe(true);
  await writeFile(file, "a: 1\n");
  await expect.poll(() => changes() === 2, WAIT).toBe(true);
});

test("a file that is missing at first", async () => {
  const missing = join(folder, "later.yaml");
  const { changes } = await watching(() => [file, missing]);
  await writeFile(missing, "b: 1\n");
  await expect.poll(() => changes() > 0, WAIT).toBe(true);
});

test("a new file that a pattern would match, but no other", async () => {
  await mkdir(join(folder, "conf.d"));
  const { changes } = await watching(() => [file, "conf.d/*.yaml"]);
  await writeFile(join(folder, "conf.d/.a.swp"), "x");
  await sleep(400);
  expect(changes()).toBe(0);
  await writeFile(join(folder, "conf.d/a.yaml"), "b: 1\n");
  await expect.poll(() => changes() > 0, WAIT).toBe(true);
});

test("a database that is written all the time in the same folder puts no look off", async () => {
  const { changes } = await watching(() => [file, "*.yaml"], 60_000);
  const writing = setInterval(() => writeFileSync(join(folder, "gateway.db-wal"), "x"), 20);
  onTestFinished(() => clearInterval(writing));
  await replace("a: 2\n");
  await expect.poll(changes, WAIT).toBe(1);
});

test("files that join the configuration are watched, files that leave it are not", async () => {
  const other = join(folder, "other.yaml");
  await writeFile(other, "b: 1\n");
  await utimes(other, 0, 0);
  let files = [file];
  const { changes, load } = await watching(() => files);
  files = [file, other];
  await load();
  await sleep(400);
  expect(changes()).toBe(0);
  await writeFile(other, "b: 2\n");
  await expect.poll(() => changes() === 1, WAIT).toBe(true);
  files = [file];
  await load();
  await sleep(300);
  await writeFile(other, "b: 3\n");
  await sleep(400);
  expect(changes()).toBe(1);
});

test("a file that was changed, loaded by request, and changed back before a look counts as changed", async () => {
  const { changes, load } = await watching();
  await writeFile(file, "a: 2\n");
  await load();
  await writeFile(file, "a: 1\n");
  await expect.poll(() => changes() > 0, WAIT).toBe(true);
});

test("a file that had two contents while it was loaded differs from both", async () => {
  const texts = ["a: 1\n", "a: 2\n"];
  const reader = noting({ ...disk, read: async () => texts.shift()! });
  await reader.access.read(file);
  await reader.access.read(file);
  const [noted] = reader.files();
  for (const text of ["a: 1\n", "a: 2\n"]) {
    await writeFile(file, text);
    expect(await noted!.look()).not.toBe(noted!.found);
  }
});

test("a load that fails before it reads anything is not asked for again until something changes", async () => {
  const reader = noting(disk);
  await reader.access.read(file);
  const [files, onChange] = [reader.files(), vi.fn<() => Promise<void>>(() => Promise.resolve())];
  const watch = watchConfig({ files: () => files, onChange, log, poll: 20 });
  onTestFinished(() => watch.close());
  await writeFile(file, "a: 2\n");
  await expect.poll(() => onChange.mock.calls.length, WAIT).toBe(1);
  await sleep(300);
  expect(onChange).toHaveBeenCalledTimes(1);
  await writeFile(file, "a: 3\n");
  await expect.poll(() => onChange.mock.calls.length, WAIT).toBe(2);
});

test("a load under way is not joined by a second one", async () => {
  const reader = noting(disk);
  await reader.access.read(file);
  const ends = Promise.withResolvers<void>();
  const onChange = vi.fn<() => Promise<void>>(() => ends.promise);
  const watch = watchConfig({ files: reader.files, onChange, log, poll: 20 });
  onTestFinished(() => watch.close());
  await writeFile(file, "a: 2\n");
  await expect.poll(() => onChange.mock.calls.length, WAIT).toBe(1);
  await writeFile(file, "a: 3\n");
  await sleep(300);
  expect(onChange).toHaveBeenCalledTimes(1);
  ends.resolve();
  await expect.poll(() => onChange.mock.calls.length, WAIT).toBeGreaterThan(1);
});

test("a burst of writes is few changes", async () => {
  const { changes } = await watching(() => [file], 60_000);
  for (let round = 0; round < 100; round++) await writeFile(file, `a: ${round + 10}\n`);
  await expect.poll(() => changes() > 0, WAIT).toBe(true);
  await sleep(500);
  expect(changes()).toBeLessThanOrEqual(3);
});

test("after close nothing is called", async () => {
  const reader = noting(disk);
  await reader.access.read(file);
  const onChange = vi.fn<() => Promise<void>>(() => Promise.resolve());
  const watch = watchConfig({ files: reader.files, onChange, log, poll: 20 });
  await sleep(200);
  await watch.close();
  await writeFile(file, "a: 9\n");
  await sleep(300);
  expect(onChange).not.toHaveBeenCalled();
});
