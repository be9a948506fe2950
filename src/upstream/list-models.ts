import { randomUUID } from "node:crypto";
import type { UpstreamDialect } from "../dialects/dialect.ts";
import type { ListPage, ListQuestion } from "../dialects/model-lists/list.ts";
import { parseJson } from "../dialects/canonical/json.ts";
import {
  AttemptError,
  type Cancellation,
  type DialectName,
  type ListedModel,
  type ModelListing,
  type ProxyRules,
  proxyRules,
  Secret,
  type Upstream,
} from "../kit/index.ts";
import { locationOf, proxyOf } from "./location.ts";
import { type Head, protocolError, withoutSecrets } from "./send/classify.ts";
import { canDecompress, decompressed } from "./send/compressed.ts";
import { DeadlineSweeper, type Sweeper } from "./send/deadlines.ts";
import { Pools } from "./send/pools.ts";
import { joinChunks, type Reader, type ReaderOwner } from "./send/relay.ts";
import { told } from "./send/reporting.ts";
import { type Address, addressRequest, withLowerCaseNames } from "./send/request.ts";
import { RequestHandler, type RequestHandlerOptions } from "./send/request-handler.ts";
import { Signer } from "./signing/signer.ts";

/** For the whole list, all pages together. */
const TIMEOUT_MS = 10_000;
const MAX_LIST_BYTES = 16 * 1024 * 1024;
const MAX_PAGES = 50;
const MAX_REFUSAL_BYTES = 64 * 1024;

export interface ListerParts {
  readonly dialects: Partial<Record<DialectName, UpstreamDialect>>;
  readonly pools: Pools;
  readonly signer: Signer;
  readonly sweeper: Sweeper;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly proxies: ProxyRules;
}

/** What came of one request. */
interface Answered {
  readonly status: number;
  readonly body: Uint8Array;
}

/** Why there is no list, in words for an operator. */
class Unlisted extends Error {}

/**
 * Asks an upstream for the models that its provider lists, with its own address, headers, key and connections. Pages are
 * followed, redirects are not. Never rejects.
 * @param base where the upstream is; another address than its `base_url` where that is `sim:`
 */
export async function listModels(
  parts: ListerParts,
  upstream: Upstream,
  base: URL,
  signal: Cancellation,
): Promise<ModelListing> {
  const spoken = parts.dialects[upstream.dialect];
  if (!spoken) return { ok: false, reason: `this version does not speak the dialect ${upstream.dialect}` };
  const location = locationOf(base, upstream);
  // Loaded with the first question: most gateways publish nothing from lists.
  const { modelListOf } = await import("../dialects/model-lists/index.ts");
  const list = modelListOf(upstream.dialect, location);
  if (typeof list === "string") return { ok: false, reason: `${base.host} has no list of models: ${list}` };
  const dialect = spoken.at?.(location) ?? spoken;
  const inquiry = new Inquiry(parts, { upstream, base, dialect, signal });
  try {
    const models = new Map<string, ListedModel>();
    for (const question of list.questions) {
      for (const model of await inquiry.answerTo(question)) if (!models.has(model.id)) models.set(model.id, model);
    }
    return { ok: true, models: [...models.values()] };
  } catch (error) {
    if (error instanceof Unlisted) return { ok: false, reason: error.message };
    return { ok: false, reason: `${base.host} could not be asked for its models` };
  }
}

/** A provider before it is an upstream of a configuration: what `gateway init` knows of it. */
export interface Provider extends Pick<Upstream, "dialect" | "baseUrl">, Partial<Pick<Upstream, "headers" | "vendor">> {
  /** Empty: it takes no key. */
  readonly apiKey: string;
}

export interface AskOptions extends Pick<ListerParts, "dialects"> {
  /** Gives the question up; left out: its own time limit alone does. */
  readonly signal?: AbortSignal;
  /** The address at which a provider of this dialect is simulated; a `base_url` of `sim:` has no list without it. */
  readonly simulated?: (script: string, dialect: DialectName) => Promise<string>;
  /** Those of this process unless given. */
  readonly proxies?: ProxyRules;
}

/**
 * As `listModels`, for a provider that is in no configuration yet. Its connections are closed afterwards.
 * @example await askProvider({ dialect: "openai", baseUrl: "http://127.0.0.1:11434/v1", apiKey: "" }, { dialects: DIALECTS })
 */
export async function askProvider(provider: Provider, options: AskOptions): Promise<ModelListing> {
  const { baseUrl, apiKey, dialect, headers = {}, vendor } = provider;
  const { dialects, simulated, signal = new AbortController().signal } = options;
  const { proxies = proxyRules(process.env) } = options;
  const isSimulated = baseUrl.startsWith("sim:") && simulated !== undefined;
  const base = URL.parse(isSimulated ? await simulated(baseUrl.slice("sim:".length), dialect) : baseUrl);
  if (base?.protocol !== "http:" && base?.protocol !== "https:") {
    return { ok: false, reason: `${baseUrl} is not an http or https URL` };
  }
  const upstream: Upstream = {
    ...SETTINGS,
    dialect,
    baseUrl,
    headers,
    apiKeys: apiKey === "" ? [] : [new Secret(apiKey)],
    ...(vendor && { vendor }),
  };
  const now = Date.now;
  const pools = new Pools();
  try {
    const parts = { dialects, pools, signer: new Signer(), sweeper: new DeadlineSweeper(now), now, proxies };
    return await listModels(parts, upstream, base, signal);
  } finally {
    await pools.destroy();
  }
}

/** The settings of an upstream that a list has use for; the others are never read. */
const SETTINGS: Omit<Upstream, "dialect" | "baseUrl" | "headers" | "apiKeys"> = {
  name: "provider",
  displayName: "provider",
  timeouts: { connect: TIMEOUT_MS, firstByte: TIMEOUT_MS, idle: TIMEOUT_MS, total: TIMEOUT_MS },
  retries: { attempts: 1, minDelay: 0, maxDelay: 0 },
  breaker: { consecutive: 1, window: 1, ratio: 1, minimum: 1, openFor: 1, maxOpenFor: 1, probes: 1 },
  connections: 1,
  http2: false,
  probe: null,
};

interface Asked {
  readonly upstream: Upstream;
  readonly base: URL;
  readonly dialect: UpstreamDialect;
  readonly signal: Cancellation;
}

/** The requests for one list, within one deadline and one bound of bytes. */
class Inquiry {
  readonly #parts: ListerParts;
  readonly #asked: Asked;
  readonly #startedAt: number;
  readonly #keys: readonly string[];
  #bytesLeft = MAX_LIST_BYTES;
  #pagesLeft = MAX_PAGES;
  /** The key that was taken last. */
  #key = 0;

  constructor(parts: ListerParts, asked: Asked) {
    const { apiKeys } = asked.upstream;
    this.#parts = parts;
    this.#asked = asked;
    this.#startedAt = parts.now();
    this.#keys = apiKeys.length === 0 ? [""] : apiKeys.map((key) => key.reveal());
  }

  /** All pages of an answer. @throws Unlisted */
  async answerTo(question: ListQuestion): Promise<readonly ListedModel[]> {
    const models: ListedModel[] = [];
    const seen = new Set<string>();
    for (let page: string | null = null; ;) {
      if (this.#pagesLeft === 0)
        throw new Unlisted(`${this.#host(question)} lists its models on more than ${MAX_PAGES} pages`);
      this.#pagesLeft -= 1;
      const { models: found, next }: ListPage = await this.#page(question, page);
      models.push(...found);
      if (next === null) return models;
      if (seen.has(next)) throw new Unlisted(`${this.#host(question)} lists the same page of models again and again`);
      seen.add(next);
      page = next;
    }
  }

  /** One page, with the next key where one is refused. */
  async #page(question: ListQuestion, page: string | null): Promise<ListPage> {
    for (; ; this.#key += 1) {
      const key = this.#keys[this.#key]!;
      const { status, body } = await this.#answer(question, page, key);
      if ((status === 401 || status === 403) && this.#key + 1 < this.#keys.length) continue;
      const read = status === 200 ? question.read(parseJson(body)) : null;
      if (read !== null) return read;
      const { dialect, upstream } = this.#asked;
      const words = withoutSecrets(new AttemptError("status", dialect.errorMessage(body)), key, upstream).message;
      throw new Unlisted(
        `${meaning(status, this.#host(question), this.#path(question, null))}${words && `: ${words}`}`,
      );
    }
  }

  async #answer(question: ListQuestion, page: string | null, key: string): Promise<Answered> {
    const { upstream, base, dialect } = this.#asked;
    const { now } = this.#parts;
    const host = this.#host(question);
    const address: Address = {
      host,
      basePath: this.#below(question),
      headers: withLowerCaseNames(upstream.headers),
      forward: [],
    };
    // A probe has the key as this dialect sends it.
    const { "content-type": _none, ...headers } = dialect.probe(key).headers;
    const request = addressRequest(
      { method: "GET", path: question.path(page), headers: { ...headers, accept: "application/json" }, body: null },
      address,
      randomUUID(),
    );
    const timeout = Math.max(0, this.#startedAt + TIMEOUT_MS - now());
    const proxyTo = (url: URL): URL | null => proxyOf(upstream, url, this.#parts.proxies);
    const use = this.#parts.pools.acquire({
      upstream,
      origin: `${base.protocol}//${host}`,
      connectTimeout: Math.min(TIMEOUT_MS, upstream.timeouts.connect),
      proxy: proxyTo(new URL(`${base.protocol}//${host}`)),
    });
    try {
      const { signer } = this.#parts;
      const { signal } = this.#asked;
      const signed = await signer.sign({ dialect, request, host, apiKey: key, now: now(), signal, timeout, proxyTo });
      const { promise, resolve, reject } = Promise.withResolvers<Answered>();
      const options: RequestHandlerOptions<Answered> = {
        read: (head, owner) => this.#read(head, owner),
        resolve,
        reject,
        timeouts: { connect: timeout, firstByte: timeout, idle: timeout, total: timeout },
        stream: false,
        deadline: Infinity,
        signal,
        sweeper: this.#parts.sweeper,
        now,
      };
      new RequestHandler(options, now()).run(use.pool, signed);
      const answered = await promise;
      this.#bytesLeft -= answered.body.length;
      return answered;
    } catch (error) {
      throw new Unlisted(failureOf(error, upstream, host, key));
    } finally {
      // Not waited for: it ends when the connection has closed.
      use.release().catch(() => undefined);
    }
  }

  #read(head: Head, owner: ReaderOwner<Answered>): Reader | null {
    const { status, headers } = head;
    if (status !== 200 && !canDecompress(headers)) {
      owner.resolve({ status, body: new Uint8Array() });
      owner.drain();
      return null;
    }
    return decompressed(headers, owner, (plain) => new BodyReader(plain, status, this.#bytesLeft));
  }

  #host({ host }: ListQuestion): string {
    const own = this.#asked.base.host;
    return host ? host(own) : own;
  }

  #below({ beside }: ListQuestion): string {
    const path = this.#asked.base.pathname.replace(/\/+$/, "");
    return beside ? path.replace(beside, "") : path;
  }

  #path(question: ListQuestion, page: string | null): string {
    return `${this.#below(question)}${question.path(page)}`.split("?")[0]!;
  }
}

/** Reads a body whole, up to a bound; of a refusal as much as says why. */
class BodyReader implements Reader {
  readonly #owner: ReaderOwner<Answered>;
  readonly #status: number;
  readonly #maximum: number;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(owner: ReaderOwner<Answered>, status: number, maximum: number) {
    this.#owner = owner;
    this.#status = status;
    this.#maximum = status === 200 ? maximum : Math.min(maximum, MAX_REFUSAL_BYTES);
  }

  data(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes <= this.#maximum) return;
    if (this.#status === 200) return this.#owner.fail(protocolError("its list of models is larger than 16 MiB"));
    this.#owner.resolve({ status: this.#status, body: new Uint8Array() });
    this.#owner.cancel();
  }

  end(): void {
    this.#owner.resolve({ status: this.#status, body: joinChunks(this.#chunks) });
  }

  fail(error: AttemptError): void {
    this.#owner.reject(error);
  }
}

function failureOf(error: unknown, upstream: Upstream, host: string, key: string): string {
  if (!(error instanceof AttemptError)) return `${host} could not be asked for its models`;
  if (error.failure === "aborted") return `the question to ${host} was given up`;
  if (error.failure === "timeout" && !(error.cause instanceof Error)) {
    return `${host} did not list its models within ${TIMEOUT_MS / 1000} s`;
  }
  return `${host}: ${told(error, upstream, { host }, key).explanation}`;
}

/** What a status says of the list. */
function meaning(status: number, host: string, path: string): string {
  if (status === 200) return `${host} answered ${path} with something other than a list of models`;
  if (status === 401 || status === 403) return `${host} refused the API key (${status})`;
  if (status === 404 || status === 405 || status === 501) {
    return `${host} has no list of models at ${path} (${status}), write its models out`;
  }
  if (status === 429) return `${host} is limiting requests (429)`;
  if (status >= 300 && status < 400) {
    return `${host} answered with a redirect (${status}), which is not followed: check base_url`;
  }
  return `${host} answered ${status}`;
}
