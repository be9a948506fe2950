import { isJson, type Json, type ListedModel } from "../../kit/index.ts";

/** How one provider is asked for its models. */
export interface ModelList {
  /** Asked one after the other; their models are put together, and the first of a name counts. */
  readonly questions: readonly ListQuestion[];
}

export interface ListQuestion {
  /**
   * The path of a page, which may begin with a version as those of calls do.
   * @param page what the page before named as the next; null: the first
   */
  path(page: string | null): string;
  /** The end of a base URL that the path does not stand below. Left out: it stands below the whole. */
  readonly beside?: RegExp;
  /** The host that is asked in place of that of the base URL. Left out: that one. */
  readonly host?: (host: string) => string;
  /** null for what is no list of models. */
  read(body: unknown): ListPage | null;
}

export interface ListPage {
  readonly models: readonly ListedModel[];
  /** Names the next page; null: this is the last. */
  readonly next: string | null;
}

/** Longer names are ignored. */
const MAX_ID_CHARACTERS = 256;
const MAX_TEXT_CHARACTERS = 200;
/** A point in time beyond it is in milliseconds. */
const MAX_SECONDS = 100_000_000_000;

/** The fields of a model that say something; what is not of its type says nothing. */
export function listedModel(fields: {
  readonly id: unknown;
  readonly kind: ListedModel["kind"];
  readonly displayName?: unknown;
  readonly ownedBy?: unknown;
  readonly contextWindow?: unknown;
  readonly maxOutput?: unknown;
  readonly created?: unknown;
  readonly price?: ListedModel["price"] | undefined;
}): readonly ListedModel[] {
  const { id, kind, price } = fields;
  if (!isName(id)) return [];
  const displayName = textOf(fields.displayName);
  const ownedBy = textOf(fields.ownedBy);
  const contextWindow = tokensOf(fields.contextWindow);
  const maxOutput = tokensOf(fields.maxOutput);
  const created = secondsOf(fields.created);
  const model: ListedModel = {
    id,
    kind,
    ...(displayName !== null && displayName !== id && { displayName }),
    ...(ownedBy !== null && { ownedBy }),
    ...(contextWindow !== null && { contextWindow }),
    ...(maxOutput !== null && { maxOutput }),
    ...(created !== null && { created }),
    ...(price !== undefined && { price }),
  };
  return [model];
}

/** What a list holds under a name, when it is a list; entries that are no objects are passed over. */
export function entriesOf(body: unknown, name: string): readonly Json[] | null {
  const entries = isJson(body) ? body[name] : undefined;
  return Array.isArray(entries) ? entries.filter((entry) => isJson(entry)) : null;
}

/** The token of the next page, where a body names one. */
export function nextOf(body: unknown, name: string): string | null {
  const token = isJson(body) ? body[name] : undefined;
  return typeof token === "string" && token !== "" ? token : null;
}

/** A path with the parameters that say something. */
export function withQuery(path: string, query: Readonly<Record<string, string | null>>): string {
  const written = Object.entries(query).flatMap(([name, value]) =>
    value === null ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  return written.length === 0 ? path : `${path}?${written.join("&")}`;
}

/** Visible characters alone: an id stands in lines of log and in headers. */
function isName(id: unknown): id is string {
  return (
    typeof id === "string" && id.length <= MAX_ID_CHARACTERS && /^[^\p{C}\p{Z}](?:[^\p{C}]*[^\p{C}\p{Z}])?$/u.test(id)
  );
}

function textOf(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const text = value.replaceAll(/\p{C}+/gu, " ").trim();
  return text === "" ? null : text.slice(0, MAX_TEXT_CHARACTERS);
}

function tokensOf(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : null;
}

function secondsOf(value: unknown): number | null {
  const given = typeof value === "string" ? Date.parse(value) / 1000 : value;
  if (typeof given !== "number" || !Number.isFinite(given) || given <= 0) return null;
  const seconds = Math.floor(given > MAX_SECONDS ? given / 1000 : given);
  return seconds <= MAX_SECONDS ? seconds : null;
}
