import { existsSync } from "node:fs";
import { lstat, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { formatExcerpts } from "../config/report.ts";
import { checkConfig } from "../gateway/configuration.ts";
import type { Json, Kind } from "../kit/index.ts";
import { checkedFlags, Interview, type ProviderOptions, warn } from "./interview.ts";
import { configFile, EXIT, ExitError } from "./options.ts";
import { Questions, type Terminal } from "./questions.ts";
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
  const existing = await existingOf(Object.values(paths));
  const flags = checkedFlags(options);
  for (const path of existing) warn(`${shown(path)} exists: kept as it is`);
  if (existing.length === Object.values(paths).length) throw new ExitError(EXIT.findings, "nothing was written");

  const asked = options.yes || place.terminal === null ? null : new Questions(place.terminal);
  try {
    const answers = await new Interview({ flags, env: place.env, asked, file }).starter();
    const today = new Date(place.now()).toISOString().slice(0, 10);
    const inContainer = Boolean(place.env["GATEWAY_CONTAINER"]);
    const starter: Starter = { ...answers, schemas: schemasFor(file), fileName: basename(file), today, inContainer };
    const written = await writeFiles(starter, paths, existing);
    if (existing.includes(paths.env)) await sayMissingLine(starter, paths.env);
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
      // Somebody may have made it since: `wx` fails then.
      await writeFile(path, text, { flag: "wx", mode });
      written.push(path);
    } catch (error) {
      throw new ExitError(EXIT.failed, `cannot write ${shown(path)}: ${reasonOf(error)}`);
    }
  }
  return written;
}

function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return "its folder does not exist, create it first";
  if (code === "EACCES" || code === "EROFS" || code === "EPERM") return "the folder is not writable";
  return error instanceof Error ? error.message : String(error);
}

/** The variable that a kept `.env` lacks, without its value: what is printed may be recorded. */
async function sayMissingLine({ keyVariable, fromEnvironment }: Starter, path: string): Promise<void> {
  if (keyVariable === null || fromEnvironment) return;
  const text = await readFile(path, "utf8").catch(() => "");
  const has = new RegExp(`^\\s*(?:export\\s+)?${keyVariable}\\s*=`, "m").test(text);
  if (has) warn(`${shown(path)} has ${keyVariable} already: its value is used`);
  else warn(`add this line to ${shown(path)}, with your key: ${keyVariable}=…`);
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

const PACKAGE = join("node_modules", "route-gateway");

/** Where an editor finds the schemas: in the package if it is installed for the configuration's folder, or in a checkout. */
function schemasFor(file: string): Starter["schemas"] {
  const folder = dirname(file);
  const installed = foldersUpFrom(folder).map((parent) => join(parent, PACKAGE));
  const own = fileURLToPath(new URL("../../", import.meta.url));
  const checkout = relative(own, folder).startsWith("..") ? [] : [own];
  const places = [...installed, ...checkout].flatMap((root) => [join(root, "schemas"), join(root, "dist/schemas")]);
  const found = places.find((place) => existsSync(join(place, SCHEMAS.gateway)));
  if (found === undefined) return null;
  const near = relative(folder, found).split(sep).join("/");
  const at = near.startsWith("..") ? near : `./${near}`;
  return { gateway: `${at}/${SCHEMAS.gateway}`, tests: `${at}/${SCHEMAS.tests}` };
}

const SCHEMAS = { gateway: "gateway.schema.json", tests: "config-test.schema.json" };

/** The folder and those that it is in, the nearest first. */
function foldersUpFrom(folder: string): readonly string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...foldersUpFrom(parent)];
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
