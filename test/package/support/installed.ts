import { execFile, type ExecFileException } from "node:child_process";
import {
  cpSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { Child, type Exit } from "../../e2e/support/child.ts";
import { ROOT } from "../../e2e/support/process.ts";

/** Entries of package.json that npm packs by itself. */
const ALWAYS_PACKED = ["package.json", "README.md", "LICENSE"];
const BLOCK_BYTES = 512;

export const MANIFEST = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  readonly version: string;
  readonly files: readonly string[];
  readonly bin: Readonly<Record<string, string>>;
  readonly engines: { readonly node: string };
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
};

/**
 * Packs the package, built in a folder of its own: others in this run use the pages in dist/.
 * @returns the path of the tarball
 */
export async function pack(folder: string): Promise<string> {
  await must(process.execPath, [join(ROOT, "deploy/package/build.ts"), folder], { cwd: ROOT });
  const others = MANIFEST.files.filter((pattern) => pattern !== "dist");
  for (const path of globSync([...ALWAYS_PACKED, ...others], { cwd: ROOT }))
    cpSync(join(ROOT, path), join(folder, path));
  await must("npm", ["pack", "--ignore-scripts", "--silent"], { cwd: folder, env: npmEnv(process.execPath) });
  return join(folder, `route-gateway-${MANIFEST.version}.tgz`);
}

/** The Node of a version; one that does not run this comes from npm. */
export async function nodeOf(version: string): Promise<string> {
  if (process.versions.node === version) return process.execPath;
  const folder = join(tmpdir(), `route-gateway-node-${version}`);
  const name = `node-${process.platform}-${process.arch}`;
  const binary = join(folder, "node_modules", name, "bin/node");
  if (!existsSync(binary)) {
    mkdirSync(folder, { recursive: true });
    const args = ["install", "--prefix", folder, "--no-save", ...QUICK, `${name}@${version}`];
    await must("npm", args, { cwd: folder, env: npmEnv(process.execPath) });
  }
  return binary;
}

const QUICK = ["--prefer-offline", "--no-audit", "--no-fund", "--no-update-notifier"];

/** A folder in which the package was installed as anybody does it, and the Node that runs it there. */
export class Installed {
  readonly folder: string;
  readonly node: string;
  readonly #children = new Set<Child>();

  constructor(node: string) {
    this.node = node;
    this.folder = mkdtempSync(join(tmpdir(), "gateway-installed-"));
  }

  path(...names: readonly string[]): string {
    return join(this.folder, ...names);
  }

  /** @returns what npm printed */
  install(...what: readonly string[]): Promise<string> {
    return this.npm("npm", "install", ...QUICK, ...what);
  }

  /** Runs npm, or a command that does, with the settings and the cache of this machine. */
  async npm(command: string, ...args: readonly string[]): Promise<string> {
    const { stdout, stderr } = await must(command, args, { cwd: this.folder, env: npmEnv(this.node) });
    return stdout + stderr;
  }

  /** Bytes on the disk, as `du` counts them. */
  size(): number {
    const entries = readdirSync(this.path("node_modules"), { recursive: true, encoding: "utf8" });
    return entries.reduce((sum, name) => sum + lstatSync(this.path("node_modules", name)).blocks * BLOCK_BYTES, 0);
  }

  /** Starts a command; those of installed packages are found as `npx` finds them. */
  start(command: string, ...args: readonly string[]): Child {
    const child = new Child(command, args, { cwd: this.folder, env: this.env() });
    this.#children.add(child);
    void child.exited.then(() => this.#children.delete(child));
    return child;
  }

  run(command: string, ...args: readonly string[]): Promise<Exit> {
    return this.start(command, ...args).exited;
  }

  /** Runs a line in a shell, as a person pastes it. */
  shell(line: string): Promise<Exit> {
    return this.run("sh", "-c", line);
  }

  /** A stranger's: nothing of this process's environment but what programs need. */
  env(): Record<string, string> {
    const path = [this.path("node_modules/.bin"), dirname(this.node), ...systemPath()];
    return {
      PATH: path.join(delimiter),
      HOME: this.folder,
      NODE_COMPILE_CACHE: join(tmpdir(), "gateway-compile-cache"),
      GIT_AUTHOR_NAME: "A",
      GIT_AUTHOR_EMAIL: "a@example.com",
      GIT_COMMITTER_NAME: "A",
      GIT_COMMITTER_EMAIL: "a@example.com",
    };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#children].map((child) => child.stop("SIGKILL")));
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The PATH without the folders that npm puts in front of it. */
function systemPath(): readonly string[] {
  return (process.env["PATH"] ?? "").split(delimiter).filter((folder) => !/node_modules|node-gyp-bin/.test(folder));
}

/** npm's own settings stay: its cache, its registry. What an outer `npm run` tells its script does not. */
function npmEnv(node: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^npm_/i.test(name) || /^npm_config_(?:cache|registry|userconfig|globalconfig)$/i.test(name),
  );
  return { ...Object.fromEntries(kept), PATH: [dirname(node), ...systemPath()].join(delimiter), NODE_OPTIONS: "" };
}

interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

/** @throws Error with the output: it failed */
function must(
  file: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv },
): Promise<Output> {
  return new Promise((done, fail) => {
    execFile(file, args, options, (error: ExecFileException | null, stdout: string, stderr: string) => {
      if (error === null) done({ stdout, stderr });
      else fail(new Error(`${file} ${args.join(" ")}: ${error.message}\n${stdout}${stderr}`));
    });
  });
}
