import { basename } from "node:path";
import { PROVIDER_DIRECTORY, type ProviderEntry } from "../config/providers.ts";
import { CAPABILITIES, DIALECTS } from "../dialects/capabilities.ts";
import { kindByName } from "../dialects/model-lists/kinds.ts";
import { isLoopback, type Kind, type ListedModel, type ModelListing, nearest } from "../kit/index.ts";
import { askProvider } from "../upstream/list-models.ts";
import { EXIT, ExitError } from "./options.ts";
import type { Questions } from "./questions.ts";
import { envValue, lacksPrice, type Starter, type StarterModel, UNKNOWN_MODEL } from "./starter.ts";

/** The options of `gateway init`. */
export interface ProviderOptions {
  readonly provider?: string;
  readonly url?: string;
  readonly key?: string;
  /** Name of a variable that has the key. */
  readonly keyEnv?: string;
  readonly model?: readonly string[];
}

/** Says on stderr what an operator should know. */
export function warn(text: string): void {
  process.stderr.write(`gateway: ${text}\n`);
}

function usage(message: string): ExitError {
  return new ExitError(EXIT.usage, message);
}

// The command line, which is checked whole before anybody is asked anything.

export interface Flags {
  readonly entry: ProviderEntry | null;
  readonly url: string | null;
  readonly key: string | null;
  readonly keyEnv: string | null;
  readonly models: readonly string[];
}

/** @throws ExitError whose message holds no value that may be a secret */
export function checkedFlags({ provider, url, key, keyEnv, model = [] }: ProviderOptions): Flags {
  if (key !== undefined && keyEnv !== undefined) throw usage("give --key or --key-env, not both");
  const badKey = key === undefined ? null : whyNoKey(key);
  if (badKey !== null) throw usage(`--key ${badKey}`);
  if (keyEnv !== undefined && !VARIABLE.test(keyEnv)) {
    throw usage("--key-env takes the name of a variable, such as OPENAI_API_KEY: letters, digits and _");
  }
  const badModel = model.map(whyNoModel).find((why) => why !== null);
  if (badModel !== undefined) throw usage(`--model ${badModel}`);
  const entry = provider === undefined ? null : entryNamed(provider);
  const address = url === undefined ? null : addressOf(url);
  if (address !== null && "wrong" in address) throw usage(`--url ${address.wrong}`);
  return {
    entry,
    url: address?.url ?? null,
    key: key?.trim() ?? null,
    keyEnv: keyEnv ?? null,
    models: [...new Set(model.map((id) => id.trim()))],
  };
}

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const MAX_MODEL_CHARACTERS = 256;

/** A key is sent in a header and kept in a line of `.env`. */
function whyNoKey(key: string): string | null {
  const text = key.trim();
  if (text === "") return "is empty";
  if (!/^[\u0020-\u007e\u0080-\u00ff]+$/.test(text)) return "holds characters that no key has: copy it again";
  return envValue(text) === null
    ? "holds quotes that .env cannot hold: put it into a variable, and name it with --key-env"
    : null;
}

function whyNoModel(id: string): string | null {
  if (id.trim() === "") return "is empty: give the provider's name of a model";
  if (id.length > MAX_MODEL_CHARACTERS) return `is longer than ${MAX_MODEL_CHARACTERS} characters`;
  return /\p{C}/u.test(id) ? "holds characters that no name of a model has" : null;
}

/** @throws ExitError */
function entryNamed(name: string): ProviderEntry {
  const entry = PROVIDER_DIRECTORY.get(name.trim().toLowerCase());
  if (entry !== undefined) return entry;
  throw usage(`${unknownProvider(name)}\nproviders: ${providerNames()}`);
}

function unknownProvider(name: string): string {
  const byDisplayName = [...PROVIDER_DIRECTORY.values()].map((entry) => [entry.displayName, entry.name] as const);
  const candidates = new Map([...byDisplayName, ...[...PROVIDER_DIRECTORY.keys()].map((one) => [one, one] as const)]);
  const near = candidates.get(nearest(name.trim(), candidates.keys()) ?? "");
  const hint = near === undefined ? "for any other server use compatible and --url" : `did you mean '${near}'?`;
  // It may be a key that was given to the wrong option.
  return `${name.length > 32 ? "no such provider" : `no provider is called '${name}'`}: ${hint}`;
}

/** `generic` is `compatible` by another name. */
function providerNames(): string {
  return [...PROVIDER_DIRECTORY.keys()].filter((name) => name !== "generic").join(", ");
}

type Address = { readonly url: string } | { readonly wrong: string };

/** Paths of single operations, which people copy from documentation. */
const OPERATION = /\/(?:chat\/completions|completions|responses|messages|embeddings|models)$/;

function addressOf(text: string): Address {
  const trimmed = text.trim();
  if (/^sim:\S*$/.test(trimmed)) return { url: trimmed };
  if (!/^https?:\/\//i.test(trimmed)) return { wrong: "must begin with http:// or https://" };
  const url = /\s|\p{C}/u.test(trimmed) ? null : URL.parse(trimmed);
  if (url === null) return { wrong: "is not a URL: write it as https://models.example.com/v1" };
  if (url.username !== "" || url.password !== "") {
    return { wrong: "holds a user or a password: remove them, and give the key with --key" };
  }
  if (/[?#]/.test(trimmed)) return { wrong: "must end at the path: remove what begins with ? or #" };
  const path = trimmed.replace(/\/+$/, "").replace(OPERATION, "");
  return { url: path.replace(/^https?/i, (scheme) => scheme.toLowerCase()) };
}

/** Words of an example address that the operator replaces. */
const PLACEHOLDER = /\b(?:HOST|REGION|RESOURCE|NAME)\b/;

function isCompatible({ name }: ProviderEntry): boolean {
  return name === "compatible" || name === "generic";
}

/**
 * The addresses at which the provider may be, the likeliest first. Servers of OpenAI's dialect answer below a version, which
 * people leave out.
 */
function candidatesOf({ dialect, baseUrl }: ProviderEntry, url: string): readonly string[] {
  if (dialect !== "openai" || url === baseUrl || !url.startsWith("http") || /\/v\d\w*$/.test(url)) return [url];
  const versioned = `${url}/v1`;
  return new URL(url).pathname === "/" ? [versioned, url] : [url, versioned];
}

// Questions.

/** Most models of a local server that are taken without asking. */
const MAX_OWN_MODELS = 20;
const MAX_SHOWN_MODELS = 15;
/** Nobody types the prices of more models: they are written in the file. */
const MAX_PRICED_MODELS = 3;
/** The gateway's default port, and the one for a machine where llama.cpp's server has it. */
const PORTS = { usual: "8080", other: 8090 };

/** What `listModels` says of a 401 or 403. */
const REFUSED_KEY = /refused the API key/;

/** What flags and answers say. */
export type Answers = Omit<Starter, "schemas" | "fileName" | "today" | "inContainer">;

interface Found {
  readonly baseUrl: string;
  readonly listing: ModelListing;
}

/** Collects what the files need: from flags, else by asking, else the defaults. */
export class Interview {
  readonly #flags: Flags;
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #asked: Questions | null;
  readonly #file: string;

  constructor(parts: {
    readonly flags: Flags;
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly asked: Questions | null;
    readonly file: string;
  }) {
    this.#flags = parts.flags;
    this.#env = parts.env;
    this.#asked = parts.asked;
    this.#file = parts.file;
  }

  /** @throws ExitError */
  async starter(): Promise<Answers> {
    const entry = this.#flags.entry ?? (await this.#provider());
    const url = await this.#address(entry);
    const free = entry.local || (isCompatible(entry) && isLoopback(URL.parse(url)?.hostname ?? ""));
    let key = await this.#key(entry, free);
    let { baseUrl, listing } = await this.#list(entry, url, key.value);
    while (this.#asked !== null && !listing.ok && key.isSaved && REFUSED_KEY.test(listing.reason)) {
      const value = await this.#typedKey(this.#asked, entry, "keep it");
      if (value === "") break;
      key = { ...key, value };
      ({ baseUrl, listing } = await this.#list(entry, url, value));
    }
    const models = await this.#models({ entry, free }, listing);
    const { hostname, port } = new URL(baseUrl.startsWith("http") ? baseUrl : "http://sim");
    return {
      entry,
      baseUrl,
      keyVariable: key.variable,
      key: key.isSaved ? key.value : null,
      fromEnvironment: key.fromEnvironment,
      free,
      models: await this.#priced({ entry, free }, models),
      port: isLoopback(hostname) && port === PORTS.usual ? PORTS.other : null,
    };
  }

  async #provider(): Promise<ProviderEntry> {
    if (this.#asked === null) throw usage(`name a provider with --provider, one of: ${providerNames()}`);
    const entries = [...PROVIDER_DIRECTORY.values()].filter(({ name }) => name !== "generic");
    const known = entries.find(({ keyVariable }) => this.#env[keyVariable]);
    this.#asked.say(
      `Which provider?\n${numbered(entries.map(({ name, displayName }) => `${name.padEnd(12)} ${displayName}`))}`,
    );
    for (;;) {
      const answer = await this.#asked.ask("Number or name:", known && { fallback: known.name });
      const entry = entries[Number(answer) - 1] ?? PROVIDER_DIRECTORY.get(answer.toLowerCase());
      if (entry !== undefined) return entry;
      if (answer !== "") this.#asked.say(unknownProvider(answer));
    }
  }

  async #address(entry: ProviderEntry): Promise<string> {
    const { baseUrl, displayName, local } = entry;
    if (this.#flags.url !== null) return this.#flags.url;
    const region = this.#env["AWS_REGION"] || this.#env["AWS_DEFAULT_REGION"];
    if (entry.name === "bedrock" && region) return baseUrl.replace("REGION", region);
    const hasPlaceholder = PLACEHOLDER.test(baseUrl);
    if (this.#asked === null) {
      if (isCompatible(entry)) throw usage("give the server's address: --url http://127.0.0.1:8000/v1");
      if (hasPlaceholder)
        warn(`base_url is ${baseUrl}: write your own in place of the word in capitals, or give --url`);
      return baseUrl;
    }
    if (!hasPlaceholder && !local) return baseUrl;
    for (;;) {
      const question = hasPlaceholder ? `Address of ${displayName}, such as ${baseUrl}:` : `Address of ${displayName}:`;
      const address = addressOf(await this.#asked.ask(question, hasPlaceholder ? {} : { fallback: baseUrl }));
      if ("url" in address && !PLACEHOLDER.test(address.url)) return address.url;
      this.#asked.say(`The address ${"wrong" in address ? address.wrong : "still holds a word in capitals"}.`);
    }
  }

  /** The key, where it is known, and the variable that the configuration names. */
  async #key(entry: ProviderEntry, free: boolean): Promise<Key> {
    const { key, keyEnv } = this.#flags;
    const variable = keyEnv ?? entry.keyVariable;
    if (key !== null) return { variable, value: key, isSaved: true, fromEnvironment: false };
    const inEnvironment = this.#env[variable] ?? "";
    const named: Key = { variable, value: inEnvironment, isSaved: false, fromEnvironment: true };
    if (keyEnv !== null) {
      if (inEnvironment === "") warn(`${variable} is not set: set it before you start the gateway`);
      return named;
    }
    if (inEnvironment !== "") {
      warn(`using ${variable} of the environment or .env`);
      return named;
    }
    if (this.#asked === null && free) return { variable: null, value: "", isSaved: false, fromEnvironment: false };
    const typed =
      this.#asked === null ? "" : await this.#typedKey(this.#asked, entry, free ? "it needs none" : "later");
    if (typed !== "") return { variable, value: typed, isSaved: true, fromEnvironment: false };
    if (free) return { variable: null, value: "", isSaved: false, fromEnvironment: false };
    warn(`no key: write it into .env as ${variable}=…`);
    return { variable, value: "", isSaved: false, fromEnvironment: false };
  }

  async #typedKey(asked: Questions, { displayName }: ProviderEntry, enter: string): Promise<string> {
    for (;;) {
      const question = `API key of ${displayName} (not shown; Enter: ${enter}):`;
      const key = await asked.ask(question, { hidden: true });
      const wrong = key === "" ? null : whyNoKey(key);
      if (wrong === null) return key;
      asked.say(`The key ${wrong}.`);
    }
  }

  /** Asks the provider for its models, at each address where it may be. */
  async #list(entry: ProviderEntry, url: string, apiKey: string): Promise<Found> {
    const [likeliest = url, ...others] = candidatesOf(entry, url);
    if (PLACEHOLDER.test(url) || url.startsWith("sim:")) {
      return { baseUrl: likeliest, listing: { ok: false, reason: "" } };
    }
    const { dialect, vendor } = entry;
    const ask = (baseUrl: string): Promise<ModelListing> =>
      askProvider(
        { dialect, baseUrl, apiKey, ...(vendor !== undefined && { vendor }) },
        { dialects: DIALECTS, ...(this.#asked && { signal: this.#asked.signal }) },
      );
    this.#asked?.say(`Asking ${URL.parse(likeliest)?.host} for its models…`);
    const listing = await ask(likeliest);
    if (listing.ok) return { baseUrl: likeliest, listing };
    for (const baseUrl of others) {
      const other = await ask(baseUrl);
      if (other.ok) return { baseUrl, listing: other };
    }
    warn(`cannot list the models: ${listing.reason}`);
    return { baseUrl: likeliest, listing };
  }

  async #models(starter: Pick<Starter, "entry" | "free">, listing: ModelListing): Promise<readonly StarterModel[]> {
    const { entry } = starter;
    const listed = listing.ok ? servedOf(entry, listing.models) : [];
    const named = this.#flags.models;
    for (const id of named) {
      if (listed.length === 0 || listed.some((model) => model.id === id)) continue;
      const near = nearest(
        id,
        listed.map((model) => model.id),
      );
      warn(`${entry.displayName} does not list '${id}'${near === null ? "" : `: did you mean '${near}'?`}`);
    }
    if (named.length > 0) return named.map((id) => modelOf(entry, listed.find((model) => model.id === id) ?? id));
    if (listing.ok && listed.length === 0) warn(`${entry.displayName} lists no models that the gateway serves`);
    if (this.#asked !== null) return await this.#pickedModels(this.#asked, entry, listed);
    if (listed.length === 0) {
      warn(`no model is known: replace ${UNKNOWN_MODEL} in ${basename(this.#file)}, or give --model`);
      return [modelOf(entry, UNKNOWN_MODEL)];
    }
    const taken = starter.free ? listed.slice(0, MAX_OWN_MODELS) : listed.slice(0, 1);
    if (taken.length < listed.length) {
      warn(
        `took ${taken.length === 1 ? taken[0]!.id : `${taken.length} models`} of ${listed.length} that it lists: --model ID takes another`,
      );
    }
    return taken.map((model) => modelOf(entry, model));
  }

  async #pickedModels(
    asked: Questions,
    entry: ProviderEntry,
    listed: readonly Served[],
  ): Promise<readonly StarterModel[]> {
    let offered = listed;
    for (;;) {
      const rest = offered.length - MAX_SHOWN_MODELS;
      if (offered.length > 0) {
        asked.say(`Which models?\n${numbered(offered.slice(0, MAX_SHOWN_MODELS).map(describe))}`);
        if (rest > 0) asked.say(`  and ${rest} more: type a part of a name to find one`);
      }
      const answer = await asked.ask(
        offered.length > 0 ? "Numbers or names, with commas between:" : "Name of a model at the provider:",
        offered.length > 0 ? { fallback: "1" } : {},
      );
      const words = answer.split(/[\s,]+/).filter((word) => word !== "");
      const found = words.map((word) => offered[Number(word) - 1] ?? listed.find(({ id }) => id === word));
      if (words.length > 0 && found.every((model) => model !== undefined)) {
        return [...new Set(found)].map((model) => modelOf(entry, model));
      }
      if (listed.length === 0) {
        const wrong = words.map(whyNoModel).find((why) => why !== null);
        if (words.length > 0 && wrong === undefined) return [...new Set(words)].map((id) => modelOf(entry, id));
        continue;
      }
      const matching = listed.filter(({ id }) => words.every((word) => id.toLowerCase().includes(word.toLowerCase())));
      if (matching.length === 0) asked.say(`No model has '${answer}' in its name.`);
      offered = matching.length === 0 ? listed : matching;
    }
  }

  /** Asks for the prices that the provider does not list. */
  async #priced(
    starter: Pick<Starter, "entry" | "free">,
    models: readonly StarterModel[],
  ): Promise<readonly StarterModel[]> {
    const unpriced = models.filter((model) => lacksPrice(starter, model));
    if (unpriced.length === 0) return models;
    const priced = new Map<StarterModel, StarterModel>();
    if (this.#asked !== null && unpriced.length <= MAX_PRICED_MODELS) {
      for (const model of unpriced.filter(({ kind }) => kind === "chat")) {
        const price = await this.#typedPrice(this.#asked, model.id);
        if (price !== null) priced.set(model, { ...model, price, pricedBy: "operator" });
      }
    }
    for (const model of unpriced.filter((one) => !priced.has(one))) {
      warn(
        `the price of ${model.id} is 0: requests cost your users nothing until you write it in ${basename(this.#file)}`,
      );
    }
    return models.map((model) => priced.get(model) ?? model);
  }

  async #typedPrice(asked: Questions, id: string): Promise<StarterModel["price"] | null> {
    for (;;) {
      const answer = await asked.ask(
        `Price of ${id} in USD per million tokens, input and output, as 0.15 0.60 (Enter: later):`,
      );
      if (answer === "") return null;
      const match = /^(\d{1,6}(?:\.\d{1,9})?)[\s,/]+(\d{1,6}(?:\.\d{1,9})?)$/.exec(answer);
      if (match !== null) return { input: Number(match[1]), output: Number(match[2]) };
      asked.say("A price is two numbers, such as 0.15 0.60.");
    }
  }
}

interface Key {
  readonly variable: string | null;
  /** Empty: not known. */
  readonly value: string;
  /** It goes into `.env`. */
  readonly isSaved: boolean;
  readonly fromEnvironment: boolean;
}

type Served = ListedModel & { readonly kind: Kind };

/** Models of kinds that the dialect serves: chat first, then the newest. */
function servedOf({ dialect }: ProviderEntry, models: readonly ListedModel[]): readonly Served[] {
  const { served } = CAPABILITIES[dialect];
  return models
    .filter((model): model is Served => served.some((kind) => kind === model.kind))
    .toSorted((a, b) => served.indexOf(a.kind) - served.indexOf(b.kind) || (b.created ?? 0) - (a.created ?? 0));
}

function modelOf({ dialect }: ProviderEntry, model: Served | string): StarterModel {
  if (typeof model !== "string") {
    return { id: model.id, kind: model.kind, ...(model.price && { price: model.price, pricedBy: "provider" }) };
  }
  const { served } = CAPABILITIES[dialect];
  const byName = kindByName(model);
  return { id: model, kind: served.find((kind) => kind === byName) ?? served[0] ?? "chat" };
}

function describe({ id, kind, price }: Served): string {
  const cost = price === undefined ? "" : `  USD ${price.input} in, ${price.output} out per million tokens`;
  return `${id}${kind === "chat" ? "" : `  (${kind})`}${cost}`;
}

function numbered(items: readonly string[]): string {
  return items.map((item, index) => `  ${String(index + 1).padStart(2)}  ${item}`).join("\n");
}
