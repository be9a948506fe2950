import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join, matchesGlob, normalize, parse, posix, relative, resolve, sep } from "node:path";
import { decode, disk, type FileAccess, FileError } from "../config/files.ts";
import { EXIT, ExitError } from "./options.ts";

/** A file as git has it. */
export interface Revision {
  /** Where it would be in the working tree. */
  readonly file: string;
  readonly access: FileAccess;
  /** Removes the copies of what was read. */
  close(): void;
}

/** Whether it has the form of `REVISION:PATH`. */
export function isRevision(name: string): boolean {
  return /^[^-:][^:]*:[^:]|^:[^:]/.test(name);
}

/** A file of the tree: its mode, and the name of its content. */
interface Blob {
  readonly mode: string;
  readonly id: string;
}

const MAX_LISTING_BYTES = 256 * 1024 * 1024;
const MAX_FILE_BYTES = 8 * 1024 * 1024;
const LINK_MODE = "120000";
const MAX_LINKS = 10;
/** Those that end a process without its event "exit". */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * `HEAD:gateway.yaml`, and everything that file refers to, as they are in that commit; `:gateway.yaml` as they are
 * staged. What lies outside of the repository is the disk's. @throws ExitError
 */
export async function openRevision(name: string): Promise<Revision> {
  const colon = name.indexOf(":");
  const [revision, path] = [name.slice(0, colon), name.slice(colon + 1)];
  const top = (await git(process.cwd(), ["rev-parse", "--show-toplevel"])).toString().trim();
  const isRelative = /^\.{1,2}\//.test(path);
  const file = isRelative ? resolve(path) : join(top, path);
  const keyOf = (path: string): string | null => {
    const key = relative(top, path).split(sep).join("/");
    return /^\.\.(?:\/|$)/.test(key) || isAbsolute(key) ? null : key;
  };
  if (keyOf(file) === null) throw new ExitError(EXIT.failed, `${name} is outside of the repository`);
  const blobs = await listBlobs(top, revision);
  const copies = mkdtempSync(join(tmpdir(), "gateway-revision-"));
  // Also when the process is ended on the way.
  const onSignal = (signal: NodeJS.Signals): void => {
    close();
    process.kill(process.pid, signal);
  };
  const close = (): void => {
    process.off("exit", close);
    for (const signal of SIGNALS) process.off(signal, onSignal);
    rmSync(copies, { recursive: true, force: true });
  };
  process.once("exit", close);
  for (const signal of SIGNALS) process.once(signal, onSignal);
  const copyOf = (path: string): string => join(copies, relative(parse(path).root, path));
  const access: FileAccess = {
    async read(path) {
      const key = keyOf(path);
      if (key === null) return disk.read(path);
      const text = decode(await contentOf(top, blobs, key, name));
      // Plugins are run from a file.
      await mkdir(dirname(copyOf(path)), { recursive: true });
      await writeFile(copyOf(path), text, { mode: 0o600 });
      return text;
    },
    async expand(pattern, folder) {
      if (keyOf(folder) === null) return disk.expand(pattern, folder);
      const nameOf = (path: string): string => (isAbsolute(pattern) ? path : relative(folder, path));
      const paths = [...blobs.keys()].map((key) => join(top, key));
      return paths.filter((path) => matchesGlob(nameOf(path), normalize(pattern))).sort();
    },
    locate: (path) => (keyOf(path) === null ? path : copyOf(path)),
    importModule: disk.importModule,
  };
  return { file, access, close };
}

async function listBlobs(top: string, revision: string): Promise<ReadonlyMap<string, Blob>> {
  const isStaged = revision === "";
  const listing = isStaged
    ? await git(top, ["ls-files", "--stage", "-z"])
    : await git(top, ["ls-tree", "-r", "-z", "--full-tree", await treeOf(top, revision)]);
  const blobs = new Map<string, Blob>();
  for (const row of listing.toString().split("\0")) {
    const [about = "", path] = row.split("\t", 2);
    const [mode = "", second = "", third = ""] = about.split(" ");
    if (path !== undefined) blobs.set(path, { mode, id: isStaged ? second : third });
  }
  return blobs;
}

async function treeOf(top: string, revision: string): Promise<string> {
  const found = await git(top, ["rev-parse", "--verify", "--quiet", `${revision}^{tree}`]).catch(() => null);
  if (found !== null) return found.toString().trim();
  const hint = "in a shallow clone, fetch it first";
  throw new ExitError(EXIT.failed, `git knows no revision ${revision} (${hint})`);
}

/** @throws FileError */
async function contentOf(top: string, blobs: ReadonlyMap<string, Blob>, key: string, name: string): Promise<Buffer> {
  let path = key;
  for (let links = 0; links <= MAX_LINKS; links += 1) {
    const blob = blobs.get(path);
    if (blob === undefined)
      throw new FileError("file-unreadable", `does not exist in ${name.slice(0, name.indexOf(":")) || "the index"}`);
    const content = await git(top, ["cat-file", "blob", blob.id], MAX_FILE_BYTES);
    if (blob.mode !== LINK_MODE) return content;
    path = posix.join(posix.dirname(path), content.toString());
  }
  throw new FileError("file-unreadable", "is a loop of links");
}

/** @throws ExitError; FileError for an output that is too long. */
function git(folder: string, args: readonly string[], maxBuffer = MAX_LISTING_BYTES): Promise<Buffer> {
  return new Promise((done, fail) => {
    execFile("git", ["-C", folder, ...args], { encoding: "buffer", maxBuffer }, (error, stdout, stderr) => {
      if (error === null) return done(stdout);
      if (error.code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER") {
        return fail(new FileError("file-size", "is larger than 8 MiB"));
      }
      const reason = error.code === "ENOENT" ? "is not installed" : stderr.toString().trim() || error.message;
      fail(new ExitError(EXIT.failed, `git: ${reason}`));
    });
  });
}
