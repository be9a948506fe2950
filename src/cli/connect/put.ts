import { isUtf8 } from "node:buffer";
import { randomUUID } from "node:crypto";
import { chmod, mkdir, readFile, readlink, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Json } from "../../kit/index.ts";
import { EXIT, ExitError } from "../options.ts";
import { type Connection, KEY_VARIABLE } from "./clients.ts";
import {
  addSettings,
  BrokenSettings,
  type Format,
  PLACEHOLDER,
  readSettings,
  UneditableSettings,
  writeSettings,
} from "./formats.ts";
import { contains, type Kept, mergeSettings, withoutKey } from "./merge.ts";

export interface Change {
  readonly written: boolean;
  readonly kept: readonly Kept[];
  /** The file sends keys to another address than the gateway's. */
  readonly keyLeftOut: boolean;
  readonly holdsPlaceholder: boolean;
}

const PRIVATE_MODE = 0o600;
const NOTHING: Change = { written: false, kept: [], keyLeftOut: false, holdsPlaceholder: false };

/** Adds settings to a file, or makes it; nothing that is there is changed. @throws ExitError */
export async function putSettings(
  format: Format,
  file: string,
  settings: Json | string,
  { url, key }: Connection,
): Promise<Change> {
  const target = await targetOf(file);
  const found = await textOf(target);
  const [bom = "", text = ""] = found === null ? [] : split(found);
  if (text.trim() === "") {
    const whole = writeSettings(format, settings);
    await replace(target, whole, key !== null && whole.includes(key));
    return { ...NOTHING, written: true, holdsPlaceholder: whole.includes(PLACEHOLDER) };
  }
  if (format === "program" || typeof settings === "string") return NOTHING;
  const merge = mergeSettings(readOrExplain(format, file, text), settings);
  // A key beside somebody else's address would be sent there.
  const isElsewhere = merge.kept.some(({ wanted }) => contains(wanted, url));
  const isKey = (value: unknown) => contains(value, key ?? KEY_VARIABLE);
  const keyLeftOut = isElsewhere && merge.additions.some(({ value }) => isKey(value));
  const { additions, kept } = keyLeftOut ? withoutKey(merge, isKey) : merge;
  if (additions.length === 0) return { ...NOTHING, kept, keyLeftOut };
  const edited = addOrExplain(format, file, text, additions, settings);
  await replace(target, bom + edited, key !== null && additions.some(({ value }) => contains(value, key)));
  return { written: true, kept, keyLeftOut, holdsPlaceholder: edited.includes(PLACEHOLDER) };
}

/** What a link leads to, whether it is there or not: the link stays. */
async function targetOf(file: string): Promise<string> {
  try {
    return await realpath(file);
  } catch {
    const link = await readlink(file).catch(() => null);
    return link === null ? file : resolve(dirname(file), link);
  }
}

/** Null: there is no such file. */
async function textOf(file: string): Promise<string | null> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return null;
    throw failed(file, "read", error);
  }
  // Written back, other bytes would be lost.
  if (!isUtf8(bytes)) throw new ExitError(EXIT.findings, `${file} is not UTF-8: nothing was written; save it as UTF-8`);
  return bytes.toString();
}

function split(text: string): readonly [bom: string, text: string] {
  return text.startsWith("\uFEFF") ? ["\uFEFF", text.slice(1)] : ["", text];
}

function readOrExplain(format: Exclude<Format, "program">, file: string, text: string): Json {
  try {
    return readSettings(format, text);
  } catch (error) {
    if (!(error instanceof BrokenSettings)) throw error;
    const why = `${file}:${error.line} is not valid ${format.toUpperCase()} (${error.message})`;
    throw new ExitError(EXIT.findings, `${why}: nothing was written; correct the line and run this again`);
  }
}

function addOrExplain(
  format: Exclude<Format, "program">,
  file: string,
  text: string,
  additions: Parameters<typeof addSettings>[2],
  settings: Json,
): string {
  try {
    return addSettings(format, text, additions);
  } catch (error) {
    if (!(error instanceof UneditableSettings)) throw error;
    const why = `${file} cannot be edited without changing what is there (${error.message})`;
    throw new ExitError(
      EXIT.findings,
      `${why}: nothing was written; add these by hand\n${writeSettings(format, settings)}`,
    );
  }
}

/** Puts a text in the place of a file at once: a reader has the old one or the new one. @throws ExitError */
async function replace(file: string, text: string, isPrivate: boolean): Promise<void> {
  const draft = `${file}.${randomUUID()}.tmp`;
  try {
    await mkdir(dirname(file), { recursive: true });
    const before = await stat(file).catch(() => null);
    await writeFile(draft, text, { flag: "wx", mode: isPrivate ? PRIVATE_MODE : undefined });
    if (before !== null && !isPrivate) await chmod(draft, before.mode & 0o777);
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {});
    throw failed(file, "written", error);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the disk is read-only",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of its path is a file",
  EEXIST: "a part of its path is a file",
  ENOSPC: "the disk is full",
};

function failed(file: string, what: "read" | "written", error: unknown): ExitError {
  const { code = "", message } = error as NodeJS.ErrnoException;
  return new ExitError(EXIT.failed, `${file} cannot be ${what}: ${REASONS[code] ?? message}`);
}
