import type { LedgerEntry, OutcomeKind, RecordedEntry, Settlement, Tags, Usage } from "../../kit/index.ts";
import type { Connection } from "./connection.ts";
import type { Keys } from "./scripts.ts";

/** Counts of a usage in the order in which entries hold them; the last ones are mostly 0 and left out then. */
const COUNTS = [
  "prompt",
  "completion",
  "cached",
  "reasoning",
  "characters",
  "milliseconds",
  "images",
  "cacheWrite",
  "cacheWrite1h",
] as const satisfies readonly (keyof Usage)[];

/** Of these an entry always says something. */
const ALWAYS_STORED_COUNT = 4;

/** Of an entry. */
const FIELDS_BEFORE_COUNTS = 10;

/** Entries read at once. */
const ENTRIES_PER_PAGE = 1_000;

type Packed = readonly [
  id: string,
  requestId: string,
  keyId: string | null,
  model: string,
  upstream: string | null,
  outcome: OutcomeKind,
  estimated: 0 | 1,
  receivedAt: number,
  endedAt: number,
  charge: string,
  /** Behind them may be the request's tags, and its tier. */
  ...counts: (number | Tags | string)[],
];

/** A settlement as its ledger entry is stored: a JSON array, the charge as text. "" when nothing is to be recorded. */
export function packEntry({ id, charge, record }: Settlement): string {
  if (!record) return "";
  const { requestId, keyId, model, upstream, outcome, usage, estimated, receivedAt, endedAt, tags, tier } = record;
  const { prompt, completion, cached, reasoning, characters = 0, milliseconds = 0, images = 0 } = usage;
  const { cacheWrite = 0, cacheWrite1h = 0 } = usage;
  // As one array, without others that are spread into it: one is made for every request.
  const packed: Packed[number][] = [
    id,
    requestId,
    keyId,
    model,
    upstream,
    outcome,
    estimated ? 1 : 0,
    receivedAt,
    endedAt,
    String(charge),
    // In the order of COUNTS.
    prompt,
    completion,
    cached,
    reasoning,
    characters,
    milliseconds,
    images,
    cacheWrite,
    cacheWrite1h,
  ];
  while (packed.at(-1) === 0) packed.pop();
  if (tags !== undefined) packed.push(tags);
  if (tier !== undefined) packed.push(tier);
  return JSON.stringify(packed);
}

function unpackEntry(userId: string, text: string): LedgerEntry {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by packEntry
  const packed = JSON.parse(text) as Packed;
  const [id, requestId, keyId, model, upstream, outcome, estimated, receivedAt, endedAt, charge, ...rest] = packed;
  const counts = rest.filter((item) => typeof item === "number");
  const tags = rest.find((item) => typeof item === "object");
  const tier = rest.find((item) => typeof item === "string");
  const usage = Object.fromEntries(
    COUNTS.flatMap((name, index) => {
      const count = counts[index] ?? 0;
      return index < ALWAYS_STORED_COUNT || count > 0 ? [[name, count]] : [];
    }),
  ) as unknown as Usage;
  const names = { id, userId, requestId, keyId, model, upstream, outcome };
  return {
    ...names,
    usage,
    estimated: estimated === 1,
    receivedAt,
    endedAt,
    charge: BigInt(charge),
    ...(tags && { tags }),
    ...(tier !== undefined && { tier }),
  };
}

const NO_USAGE: Usage = { prompt: 0, completion: 0, cached: 0, reasoning: 0 };

/** Of a request whose lease has ended: when, its id and its reservation (reservations.lua). */
function unpackAbandoned(userId: string, text: string): LedgerEntry {
  // Behind the first line is what it takes from a key's budget.
  const [line = ""] = text.split("\n", 1);
  const [endedAt, id = "", , , , , , , admittedAt, , , ...model] = line.split(" ");
  return {
    id,
    userId,
    requestId: id,
    keyId: null,
    model: model.join(" "),
    upstream: null,
    outcome: "shutdown",
    usage: NO_USAGE,
    estimated: true,
    receivedAt: Number(admittedAt),
    endedAt: Number(endedAt),
    charge: 0n,
  };
}

/** "<Unix milliseconds of writing> <entry>", as entries are kept (reservations.lua). */
export function readWritten(userId: string, written: string): RecordedEntry {
  return { ...entryIn(userId, written), recordedAt: Number(written.slice(0, written.indexOf(" "))) };
}

/** What sums are made of, "" for a name that there is not. */
export interface Summed {
  /** Unix milliseconds. */
  readonly recordedAt: number;
  readonly model: string;
  readonly upstream: string;
  readonly tier: string;
  readonly keyId: string;
  readonly outcome: OutcomeKind;
  /** The first ones; the last of an entry may be left out. */
  readonly counts: readonly [prompt: unknown, completion: unknown, cached: unknown, reasoning: unknown];
  /** Decimal. */
  readonly charge: string;
}

/** As `readWritten`, of all that is recorded: it makes nothing else of an entry. */
export function readSummed(written: string): Summed {
  const end = written.indexOf(" ");
  const recordedAt = Number(written.slice(0, end));
  const text = written.slice(end + 1);
  if (!text.startsWith("[")) {
    const { model, outcome } = unpackAbandoned("", text);
    return { recordedAt, model, upstream: "", tier: "", keyId: "", outcome, counts: [0, 0, 0, 0], charge: "0" };
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by packEntry
  const packed = JSON.parse(text) as Packed;
  const last = packed.at(-1);
  return {
    recordedAt,
    model: packed[3],
    upstream: packed[4] ?? "",
    tier: packed.length > FIELDS_BEFORE_COUNTS && typeof last === "string" ? last : "",
    keyId: packed[2] ?? "",
    outcome: packed[5],
    counts: [
      packed[FIELDS_BEFORE_COUNTS],
      packed[FIELDS_BEFORE_COUNTS + 1],
      packed[FIELDS_BEFORE_COUNTS + 2],
      packed[FIELDS_BEFORE_COUNTS + 3],
    ],
    charge: packed[9],
  };
}

function entryIn(userId: string, written: string): LedgerEntry {
  const text = written.slice(written.indexOf(" ") + 1);
  return text.startsWith("[") ? unpackEntry(userId, text) : unpackAbandoned(userId, text);
}

/**
 * Pages of a user's ledger from its end: entries are added there and taken away at the beginning meanwhile, so one that
 * moves is met twice. What is older than `store.retention` goes as new entries come, or as a whole when none come.
 */
async function* pagesOf(connection: Connection, keys: Keys, userId: string): AsyncGenerator<LedgerEntry[]> {
  for (let last = -1; ; last -= ENTRIES_PER_PAGE) {
    const page = (await connection.call("LRANGE", keys.ledger(userId), last - ENTRIES_PER_PAGE + 1, last)) as string[];
    yield page.map((written) => entryIn(userId, written));
    if (page.length < ENTRIES_PER_PAGE) return;
  }
}

/** The ledger of a user, the oldest first. */
export async function readLedger(connection: Connection, keys: Keys, userId: string): Promise<LedgerEntry[]> {
  const entries = new Map<string, LedgerEntry>();
  for await (const page of pagesOf(connection, keys, userId)) for (const entry of page) entries.set(entry.id, entry);
  return [...entries.values()].toSorted(byEnd);
}

/** Which of these ids are in a user's ledger: read from its end until all are found. */
export async function findRecorded(
  connection: Connection,
  keys: Keys,
  userId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const [searched, found] = [new Set(ids), new Set<string>()];
  for await (const page of pagesOf(connection, keys, userId)) {
    for (const { id } of page) if (searched.has(id)) found.add(id);
    if (found.size === searched.size) break;
  }
  return found;
}

function byEnd(a: LedgerEntry, b: LedgerEntry): number {
  return a.endedAt - b.endedAt || (a.id < b.id ? -1 : Number(a.id > b.id));
}
