import { existsSync } from "node:fs";
import { access, constants, lstat, readFile, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { environmentOf, parseEnvFile } from "../config/env-file.ts";
import { formatExcerpts } from "../config/report.ts";
import { checkConfig } from "../gateway/configuration.ts";
import type { Json, Kind } from "../kit/index.ts";
import { checkedFlags, Interview, type ProviderOptions, warn } from "./interview.ts";
import { configFile, EXIT, ExitError } from "./options.ts";
import { Questions, type Terminal } from "./questions.ts";
import { foldersUpFrom, schemasFor } from "./editor-schemas.ts";
import { envFile, gatewayYaml, providerYaml, routesOf, type Starter, type StarterModel, testsYaml } from "./starter.ts";

export interface InitOptions extends ProviderOptions {
  readonly config?: string;
  /** Asks nothing. */
  readonly yes?: boolean;
}

/** Where the command runs. */
export interface InitPlace {
  /** Null: nobody can be asked. */
  readonly terminal: Terminal | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
}

/** Writes a configuration for one provider, with its key and tests, and says what to do next. @throws ExitError */
export async function init(options: InitOptions, place: InitPlace = processPlace()): Promise<void> {
  const file = configFile(options.config);
  const paths = { config: file, env: join(dirname(file), ".env"), tests: testsPath(file) };
  const flags = checkedFlags(options);
  await checkPlace(file);
  const existing = await existingOf(Object.values(paths));
  for (const path of existing) warn(`${shown(path)} exists: kept as it is`);
  if (existing.length === Object.values(paths).length) throw new ExitError(EXIT.findings, "nothing was written");

  const asked = options.yes || place.terminal === null ? null : new Questions(place.terminal);
  try {
    const env = await environmentOf(file, place.env);
    const answers = await new Interview({ flags, env, asked, file }).starter();
    const today = new Date(place.now()).toISOString().slice(0, 10);
    const inContainer = Boolean(place.env["GATEWAY_CONTAINER"]);
    const starter: Starter = {
      ...answers,
      schemas: schemasFor(dirname(file)),
      fileName: basename(file),
      today,
      inContainer,
    };
    const written = await writeFiles(starter, paths, existing);
    await sayWhichKey(starter, paths.env, existing.includes(paths.env), place.env);
    if (starter.key !== null && written.includes(paths.env)) await sayUnlessIgnored(paths.env);
    process.stdout.write(written.map((path) => `wrote ${shown(path)}\n`).join(""));
    if (written.includes(paths.config)) {
      await checkWritten(file, place);
      process.stdout.write(nextSteps(starter, file));
    } else {
      process.stdout.write(`\nTo add the provider to ${shown(file)}:\n\n${providerYaml(starter)}`);
    }
  } finally {
    asked?.close();
  }
}

function processPlace(): InitPlace {
  const { stdin, stderr } = process;
  const terminal = stdin.isTTY && stderr.isTTY ? { input: stdin, output: stderr } : null;
  return { terminal, env: process.env, now: Date.now };
}

/** A path as a person in the current folder writes it. */
function shown(path: string): string {
  const near = relative(process.cwd(), path);
  return near.startsWith("..") ? path : near;
}

function testsPath(config: string): string {
  return join(dirname(config), basename(config).replace(/(?:\.ya?ml)?$/, ".test.yaml"));
}

async function existingOf(paths: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    paths.map((path) =>
      // A link that leads nowhere is there, too.
      lstat(path).then(
        () => true,
        () => false,
      ),
    ),
  );
  return paths.filter((_, index) => found[index]);
}

/** Before anybody is asked anything: whether the files can be written. @throws ExitError */
async function checkPlace(file: string): Promise<void> {
  const folder = dirname(file);
  if ((await stat(file).catch(() => null))?.isDirectory()) {
    throw new ExitError(
      EXIT.failed,
      `${shown(file)} is a folder: name the file, as ${join(shown(file), "gateway.yaml")}`,
    );
  }
  const found = await stat(folder).catch(() => null);
  if (!found?.isDirectory()) throw new ExitError(EXIT.failed, `${shown(folder)} is no folder: create it first`);
  await access(folder, constants.W_OK).catch(() => {
    throw new ExitError(EXIT.failed, `${shown(folder) || "this folder"} is not writable`);
  });
}

interface Paths {
  readonly config: string;
  readonly env: string;
  readonly tests: string;
}

/** Writes what is not there yet. @returns what was written. @throws ExitError */
async function writeFiles(starter: Starter, paths: Paths, existing: readonly string[]): Promise<readonly string[]> {
  const files = [
    [paths.config, gatewayYaml(starter), 0o644],
    [paths.env, envFile(starter), 0o600],
    [paths.tests, testsYaml(starter), 0o644],
  ] as const;
  const written: string[] = [];
  for (const [path, text, mode] of files) {
    if (existing.includes(path)) continue;
    try {
      await writeFile(path, text, { flag: "wx", mode });
      written.push(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") warn(`${shown(path)} exists by now: kept as it is`);
      else throw new ExitError(EXIT.failed, `cannot write ${shown(path)}: ${(error as Error).message}`);
    }
  }
  return written;
}

/** Says why the key that the person gave is not the one that is used. What is printed may be recorded: it is not shown. */
async function sayWhichKey({ keyVariable, key }: Starter, path: string, wasThere: boolean, env: InitPlace["env"]) {
  if (keyVariable === null) return;
  if (wasThere) {
    const text = await readFile(path, "utf8").catch(() => "");
    const has = Object.hasOwn(parseEnvFile(text).values, keyVariable);
    if (!has && env[keyVariable] === undefined)
      warn(`add this line to ${shown(path)}, with your key: ${keyVariable}=…`);
    else if (has && key !== null) warn(`${shown(path)} has ${keyVariable} already: that value is used`);
  } else if (key !== null && env[keyVariable] !== undefined) {
    warn(`the environment has ${keyVariable} too, and wins over .env: unset it`);
  }
}

/** A line of `.gitignore` that keeps `.env` out of a repository, as people write it. */
const IGNORES_ENV = /^(?:\*\*\/|\/)?(?:\.env\*?|\*\.env)$/m;

/** A key that is committed is a key that is lost. */
async function sayUnlessIgnored(path: string): Promise<void> {
  const folders = foldersUpFrom(dirname(path));
  const root = folders.findIndex((folder) => existsSync(join(folder, ".git")));
  if (root === -1) return;
  for (const folder of folders.slice(0, root + 1)) {
    if (IGNORES_ENV.test(await readFile(join(folder, ".gitignore"), "utf8").catch(() => ""))) return;
  }
  warn(`this is a git repository: add .env to ${shown(join(folders[root]!, ".gitignore"))}`);
}

/** The check that `gateway check` makes. @throws ExitError for a configuration that cannot serve */
async function checkWritten(file: string, { env, now }: InitPlace): Promise<void> {
  const result = await checkConfig({ file, env, now: now() });
  const sources = result.sources
    .filter(({ kind }) => kind !== "secret")
    .map(({ path, text }) => ({ path, text, secrets: result.secrets }));
  const { ok, diagnostics } = result;
  if (diagnostics.length > 0)
    process.stderr.write(formatExcerpts({ ok, diagnostics, sources }, (_severity, text) => text));
  if (!ok) throw new ExitError(EXIT.findings, `${shown(file)} was written, and needs the changes above`);
}

/** How a first request to a model of each kind looks: path and fields of the body beside the model. */
const REQUESTS: Readonly<Record<Kind, readonly [path: string, fields: Json]>> = {
  chat: ["chat/completions", { messages: [{ role: "user", content: "Hello!" }] }],
  embedding: ["embeddings", { input: "Hello!" }],
  rerank: ["rerank", { query: "greeting", documents: ["Hello!", "Goodbye!"] }],
  speech: ["audio/speech", { input: "Hello!", voice: "alloy" }],
  transcription: ["audio/transcriptions", {}],
  image: ["images/generations", { prompt: "a lighthouse" }],
};

function curlLines(origin: string, route: string, kind: Kind): string {
  const [path, fields] = REQUESTS[kind];
  const sent =
    kind === "transcription"
      ? `-F model=${route} -F file=@recording.mp3`
      : `-H "Content-Type: application/json" \\\n    -d '${JSON.stringify({ model: route, ...fields })}'`;
  return `  curl ${origin}/v1/${path} \\\n    -H "Authorization: Bearer $KEY" ${sent}`;
}

function nextSteps(starter: Starter, file: string): string {
  const isUsual = basename(file) === "gateway.yaml" && dirname(file) === process.cwd();
  const option = isUsual || starter.inContainer ? "" : ` --config ${shown(file)}`;
  const command = starter.inContainer ? "docker run … " : "npx gateway ";
  const origin = `http://127.0.0.1:${starter.port ?? 8080}`;
  const [[route, { kind }]] = routesOf(starter.models) as [[string, StarterModel]];
  const editor =
    starter.schemas === null
      ? `${command}schema > gateway.schema.json, and this as the first line of ${basename(file)}:\n  # yaml-language-server: $schema=./gateway.schema.json`
      : `the first line of ${basename(file)} gives completion where the YAML language server is installed`;
  return `
Next:
  ${command}dev${option}     serves at ${origin}/v1, and prints a key for a first request
  ${command}test${option}    runs ${basename(testsPath(file))}, offline

A request, with that key as $KEY:
${curlLines(origin, route, kind)}

Pages: ${origin}/ (dashboard), ${origin}/status
Editor: ${editor}
`;
}
