import { hash } from "node:crypto";
import { mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Diagnostic, diagnose, join as pointer } from "../config/diagnostics.ts";
import { type KnownLists, publishesListed, withListed } from "../config/listed-models.ts";
import { inTurns, isJson, type ListedModel, type Log, type Upstream } from "../kit/index.ts";
import type { Loaded } from "./configuration.ts";

/** In the folder of the store's data, beside the last good configuration. */
const FILE = "model-lists.json";
const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;
/** A larger file was not written by a gateway. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** The last list that a provider gave. */
export interface KeptList {
  /** The upstream's name. */
  readonly upstream: string;
  readonly models: readonly ListedModel[];
  /** Unix milliseconds. */
  readonly at: number;
}

/**
 * Tells lists apart: one says nothing about another address, or about another account there. It shows neither the address
 * nor a key.
 */
export function listKey({ name, dialect, baseUrl }: Pick<Upstream, "name" | "dialect" | "baseUrl">): string {
  return hash("sha256", `${name}\n${dialect}\n${baseUrl}`);
}

/** The last lists of providers, in a file that outlives the process. */
export class KeptLists {
  readonly #folder: string | null;
  readonly #lists = new Map<string, KeptList>();

  private constructor(folder: string | null) {
    this.#folder = folder;
  }

  /** A file that cannot be read holds no lists. @param folder null: the lists are in memory alone */
  static async open(folder: string | null): Promise<KeptLists> {
    const kept = new KeptLists(folder);
    if (folder === null) return kept;
    for (const [key, list] of Object.entries(await entriesOf(join(folder, FILE)))) {
      const read = listOf(list);
      if (read !== null) kept.#lists.set(key, read);
    }
    return kept;
  }

  of(upstream: Upstream): KeptList | null {
    return this.#lists.get(listKey(upstream)) ?? null;
  }

  /** As `of`, else the last list of an upstream of that name: its address may be a variable that is not set here. */
  likely(upstream: Upstream): KeptList | null {
    const named = [...this.#lists.values()].filter((list) => list.upstream === upstream.name);
    return this.of(upstream) ?? named.toSorted((a, b) => b.at - a.at)[0] ?? null;
  }

  keep(upstream: Upstream, list: KeptList): void {
    this.#lists.set(listKey(upstream), list);
  }

  /** Writes the lists of these upstreams; a crash leaves the former file or this one, whole. Never rejects. */
  async write(upstreams: readonly Upstream[], log: Pick<Log, "warn">): Promise<void> {
    if (this.#folder === null) return;
    const keys = new Set(upstreams.map(listKey));
    const lists = Object.fromEntries([...this.#lists].filter(([key]) => keys.has(key)));
    const file = join(this.#folder, FILE);
    const draft = `${file}.${process.pid}`;
    try {
      await mkdir(this.#folder, { recursive: true, mode: PRIVATE_FOLDER });
      await writeFile(draft, JSON.stringify({ version: 1, lists }), { mode: PRIVATE_FILE });
      await rename(draft, file);
    } catch (err) {
      log.warn({ err, file }, "the lists of models could not be kept: a restart has to ask for them");
    }
  }
}

async function entriesOf(file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    if ((await stat(file)).size > MAX_FILE_BYTES) return {};
    const body: unknown = JSON.parse(await readFile(file, "utf8"));
    return isJson(body) && body["version"] === 1 && isJson(body["lists"]) ? body["lists"] : {};
  } catch {
    return {};
  }
}

const KINDS: ReadonlySet<unknown> = new Set<ListedModel["kind"]>([
  "chat",
  "embedding",
  "rerank",
  "speech",
  "transcription",
  "image",
  "other",
]);

function listOf(list: unknown): KeptList | null {
  const { upstream, models, at } = isJson(list) ? list : {};
  if (typeof upstream !== "string" || !Array.isArray(models) || typeof at !== "number") return null;
  const sound = models.filter(isListed);
  return sound.length === models.length && sound.length > 0 ? { upstream, models: sound, at } : null;
}

/** A file that somebody has edited must not bring in what a provider could not. */
function isListed(model: unknown): model is ListedModel {
  if (!isJson(model) || typeof model["id"] !== "string" || !KINDS.has(model["kind"])) return false;
  const texts = [model["displayName"], model["ownedBy"]];
  const numbers = [model["contextWindow"], model["maxOutput"], model["created"]];
  return (
    texts.every((value) => value === undefined || typeof value === "string") &&
    numbers.every((value) => value === undefined || (Number.isSafeInteger(value) && Number(value) > 0))
  );
}

/** The same configuration with the models that are listed now, and with what an operator should know of the lists. */
export async function withLists(loaded: Loaded, known: KnownLists): Promise<Loaded> {
  const { snapshot, findings } = await inTurns(withListed(loaded.snapshot, known));
  if (snapshot === loaded.snapshot) return loaded;
  const found = findings.map(({ upstream, ...finding }): Diagnostic => {
    const place = loaded.publishing.get(upstream) ?? { file: snapshot.file, line: 1, column: 1 };
    return diagnose(place, pointer("/upstreams", upstream, "models"), finding);
  });
  // What earlier lists brought is over.
  const places = new Set([...loaded.publishing.keys()].map((name) => pointer("/upstreams", name, "models")));
  const others = loaded.diagnostics.filter((one) => one.rule !== "model-list" || !places.has(one.pointer));
  return { ...loaded, snapshot, diagnostics: [...others, ...found] };
}

/**
 * A configuration that is looked at offline, with the lists that a gateway has kept beside its store. No provider is asked.
 * @param tell gets a line for each upstream that publishes: by which list it does, or that none is kept
 */
export async function withKeptLists(
  loaded: Loaded,
  folder: string,
  tell: ((line: string) => void) | undefined,
): Promise<Loaded> {
  if (!publishesListed(loaded.snapshot)) return loaded;
  const kept = await KeptLists.open(folder);
  const { upstreams } = loaded.snapshot;
  for (const upstream of Object.values(upstreams).filter(({ publishes }) => publishes !== undefined)) {
    const list = kept.likely(upstream);
    const { name } = upstream;
    tell?.(
      list === null
        ? `the models that ${name} lists are not known offline: a gateway that has served this configuration keeps them in ${folder}`
        : `the models of ${name} are those that its provider listed on ${new Date(list.at).toISOString()}`,
    );
  }
  return withLists(loaded, (upstream) => kept.likely(upstream)?.models ?? null);
}
