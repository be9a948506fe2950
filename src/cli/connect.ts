import { existsSync } from "node:fs";
import { isAbsolute, relative } from "node:path";
import { didYouMean } from "../config/diagnostics.ts";
import { checkConfig } from "../gateway/configuration.ts";
import { isJson, proxyRules, type Snapshot } from "../kit/index.ts";
import { proxiedFetch } from "../network/agents.ts";
import { type Client, CLIENTS, type Connection, KEY_VARIABLE, type Place } from "./connect/clients.ts";
import { PLACEHOLDER, writeSettings } from "./connect/formats.ts";
import { contains, type Kept } from "./connect/merge.ts";
import { type Change, putSettings } from "./connect/put.ts";
import { configFile, EXIT, ExitError } from "./options.ts";

export interface ConnectOptions {
  readonly config?: string;
  readonly url?: string;
  readonly key?: string;
  readonly model?: string;
  readonly write?: boolean;
}

const DEFAULT_URL = "http://127.0.0.1:8080";
const UNKNOWN_MODEL = "route/YOUR_MODEL";
const DEFAULT_CONTEXT_TOKENS = 128_000;
const MODELS_TIMEOUT_MS = 3_000;

/** Prints the settings with which a client reaches a gateway, or puts them where it reads them. @throws ExitError */
export async function connect(name: string, options: ConnectOptions): Promise<void> {
  const client = clientNamed(name);
  const connection = await connectionOf(options);
  const place: Place = { env: process.env, platform: process.platform, folder: process.cwd() };
  const settings = client.settings(connection);
  const file = client.file(place);
  if (options.write) {
    const change = await putSettings(client.format, file, settings, connection);
    const kept = change.kept.filter(({ path }) => !client.formal?.includes(path.join(".")));
    report(client, connection, file, { ...change, kept });
  } else {
    process.stdout.write(writeSettings(client.format, settings));
    const isProgram = client.format === "program";
    tell([isProgram ? `--write makes ${client.shown}` : `for ${client.shown}; --write adds it there`]);
  }
  const isHeld = connection.key !== null && contains(settings, connection.key);
  const key = isHeld ? [] : [`key: ${client.keyFrom}`];
  tell([...key, ...client.next]);
}

/** @throws ExitError that names the nearest one. */
function clientNamed(name: string): Client {
  const asked = name.toLowerCase();
  const found = CLIENTS.find((client) => client.name === asked || client.aliases?.includes(asked));
  if (found) return found;
  const names = CLIENTS.map((client) => client.name);
  const aliases = CLIENTS.flatMap((client) => client.aliases ?? []);
  const hint = didYouMean(asked, [...names, ...aliases]);
  const known = `clients: ${names.join(", ")}`;
  throw new ExitError(EXIT.usage, `no client is named '${name}': ${hint === null ? known : `${hint} (${known})`}`);
}

async function connectionOf({ config, url, key, model }: ConnectOptions): Promise<Connection> {
  const needsConfiguration = url === undefined || model === undefined;
  const snapshot = needsConfiguration ? await configured(config) : null;
  const address = url ?? (snapshot === null ? DEFAULT_URL : addressOf(snapshot, process.env["PORT"]));
  const known = model === undefined ? await firstModel(snapshot, address, key ?? null) : modelOf(snapshot, model);
  if (known === null) tell([`no model is known: put one in place of ${UNKNOWN_MODEL}, or name one with --model`]);
  return {
    url: address,
    key: key ?? null,
    model: known?.id ?? UNKNOWN_MODEL,
    contextWindow: known?.contextWindow ?? DEFAULT_CONTEXT_TOKENS,
  };
}

/** The configuration, if there is one that can serve. One that was asked for must be there. @throws ExitError */
async function configured(option: string | undefined): Promise<Snapshot | null> {
  const file = configFile(option);
  if (!existsSync(file)) {
    if (option === undefined) return null;
    throw new ExitError(EXIT.failed, `${option} does not exist`);
  }
  const { snapshot, diagnostics } = await checkConfig({ file });
  const unread = diagnostics.find(({ rule, pointer }) => rule === "file-unreadable" && pointer === "");
  if (unread && option !== undefined) throw new ExitError(EXIT.failed, `${option} ${unread.message}`);
  if (snapshot === null) tell([`${shorten(file)} is not valid, so it was not used: run gateway check`]);
  return snapshot;
}

/** @param replaced the variable PORT, which replaces the first listener's port for `dev` and `serve`. */
function addressOf({ server }: Snapshot, replaced = ""): string {
  if (server.publicUrl !== undefined) return server.publicUrl;
  const [first] = server.listen;
  const port = /^\d{1,5}$/.test(replaced) ? Number(replaced) : first?.port;
  if (first === undefined || port === 0) return DEFAULT_URL;
  const host = ["0.0.0.0", "::", ""].includes(first.host) ? "127.0.0.1" : first.host;
  const scheme = first.tls === undefined ? "http" : "https";
  return `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

interface KnownModel {
  readonly id: string;
  readonly contextWindow: number | null;
}

function modelOf(snapshot: Snapshot | null, id: string): KnownModel {
  if (snapshot === null) return { id, contextWindow: null };
  const found = snapshot.models[id];
  const isListed = Object.values(snapshot.upstreams).some(({ publishes }) => publishes !== undefined);
  if (found === undefined && !isListed) {
    const hint = didYouMean(id, Object.keys(snapshot.models));
    tell([`the configuration has no model '${id}'${hint === null ? "" : `: ${hint}`}`]);
  }
  return { id, contextWindow: found?.contextWindow ?? null };
}

/** The first model for chats: of the configuration, else of the gateway that runs there. */
async function firstModel(snapshot: Snapshot | null, url: string, key: string | null): Promise<KnownModel | null> {
  const configuredModel = Object.values(snapshot?.models ?? {}).find(
    ({ kind, published }) => kind === "chat" && published,
  );
  return configuredModel ?? (await runningModel(url, key));
}

async function runningModel(url: string, key: string | null): Promise<KnownModel | null> {
  const asked = `${url}/v1/models${key === null ? "" : "?available=true"}`;
  try {
    const response = await proxiedFetch(proxyRules(process.env))(asked, {
      headers: { accept: "application/json", ...(key !== null && { authorization: `Bearer ${key}` }) },
      redirect: "error",
      signal: AbortSignal.timeout(MODELS_TIMEOUT_MS),
    });
    if (!response.ok) throw new Error(response.status === 401 ? "does not take this key" : `status ${response.status}`);
    const body: unknown = await response.json();
    const models = isJson(body) && Array.isArray(body["data"]) ? body["data"].filter(isJson) : [];
    const first = models.find(({ id, kind }) => typeof id === "string" && (kind ?? "chat") === "chat");
    if (first === undefined) throw new Error("lists no model for chats");
    const window = first["context_window"];
    return { id: String(first["id"]), contextWindow: typeof window === "number" ? window : null };
  } catch (error) {
    const { cause } = error as { readonly cause?: unknown };
    tell([
      `${asked} gives no models: ${cause instanceof Error ? cause.message : error instanceof Error ? error.message : String(error)}`,
    ]);
    return null;
  }
}

/** @throws ExitError if nothing was written. */
function report({ title }: Client, { key }: Connection, file: string, change: Change): void {
  for (const kept of change.kept) tell([`kept: ${describe(kept, key)}`]);
  if (change.kept.length > 0) tell(["kept settings apply: change them by hand, or remove them and run this again"]);
  if (change.keyLeftOut) tell([`the key was not written: ${shorten(file)} sends it to another address`]);
  if (!change.written) {
    const why = change.kept.length === 0 ? `${title} is connected already` : "other settings are there already";
    throw new ExitError(EXIT.findings, `${why}: nothing was written to ${shorten(file)}`);
  }
  process.stdout.write(`${shorten(file)}\n`);
  if (change.holdsPlaceholder) tell([`put your key in place of ${PLACEHOLDER}, or run this again with --key`]);
}

/** A setting that stays. What may be a key is not shown. */
function describe({ path, present, wanted, instead }: Kept, key: string | null): string {
  const name = path.join(".");
  if (instead !== undefined) return `${instead}, which takes the place of ${name}`;
  if (isJson(wanted)) return `${name}, which holds no further settings`;
  const isKey = [key, KEY_VARIABLE, PLACEHOLDER].some((one) => one !== null && contains(wanted, one));
  return isKey
    ? `${name} holds another key`
    : `${name} is ${JSON.stringify(present)}, would be ${JSON.stringify(wanted)}`;
}

function shorten(file: string): string {
  const short = relative(process.cwd(), file);
  return short.startsWith("..") || isAbsolute(short) ? file : short;
}

function tell(lines: readonly string[]): void {
  process.stderr.write(lines.map((line) => `${line}\n`).join(""));
}
