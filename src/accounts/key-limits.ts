import {
  type ApiKey,
  type BudgetPeriod,
  type BudgetState,
  decimal,
  escapeSegment,
  type GatewayError,
  invalidRequest,
  type Json,
  isJson,
  KEY_SCOPES,
  type KeyBudget,
  type KeyChange,
  type KeyLimits,
  type KeyScope,
  MAX_TAG_CHARACTERS,
  nanoToString,
  parseNetwork,
  TAG_NAME,
  type Tags,
  tagValue,
  toNano,
} from "../kit/index.ts";

const MAX_GLOB_COUNT = 50;
const MAX_GLOB_CHARACTERS = 200;
const MAX_TAG_COUNT = 8;
const MAX_ADDRESS_COUNT = 50;
const MAX_SECONDS = 10 * 366 * 86_400;
const SECONDS_PER = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;
/** What a key that is rolled has left when nobody says how long. */
const GRACE_SECONDS = 86_400;
const MAX_SHOWN_CHARACTERS = 64;
const PERIODS: readonly BudgetPeriod[] = ["day", "month", "total"];
const DURATION = /^(\d{1,9})([smhd])$/;
/** A date and time of RFC 3339. */
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/i;
const AMOUNT = /^\d{1,9}(?:\.\d{1,9})?$/;

/** The limits that whoever makes or changes a key may ask for. */
const LIMIT_FIELDS = ["expires_in", "expires_at", "models", "budget", "tags", "scopes", "addresses"] as const;

/** As they come: each field may be left out, or null. */
export type KeyLimitFields = Readonly<Record<(typeof LIMIT_FIELDS)[number], unknown>>;

/** The limits of a key as the API shows them. */
export interface KeyLimitsBody {
  readonly expires_at: string | null;
  readonly models: readonly string[] | null;
  readonly budget: BudgetBody | null;
  readonly tags: Tags;
  readonly scopes: readonly KeyScope[] | null;
  readonly addresses: readonly string[] | null;
  readonly replaced_by: string | null;
}

/** Amounts are decimals. */
interface BudgetBody {
  readonly amount: string;
  readonly per: BudgetPeriod;
  readonly spent: string;
  readonly held: string;
  readonly resets_at: string | null;
}

/**
 * Undefined: none.
 * @param now Unix milliseconds.
 * @throws GatewayError INVALID_REQUEST
 */
export function parseKeyLimits(fields: Partial<KeyLimitFields>, now: number): KeyLimits | undefined {
  const limits = Object.entries(parseLimitFields(fields, now)).filter(([, value]) => value !== null);
  return limits.length === 0 ? undefined : Object.fromEntries(limits);
}

/** null for a limit that is to be taken away. */
type KeyLimitChange = NonNullable<KeyChange["limits"]>;

/** @throws GatewayError INVALID_REQUEST */
function parseLimitFields(fields: Partial<KeyLimitFields>, now: number): KeyLimitChange {
  const { models, budget, tags, scopes, addresses } = fields;
  const expiresAt = parseExpiry(fields, now);
  return {
    ...(expiresAt !== undefined && { expiresAt }),
    ...(models !== undefined && { models: models === null ? null : parseModels(models) }),
    ...(budget !== undefined && { budget: budget === null ? null : parseBudget(budget) }),
    ...(tags !== undefined && { tags: tags === null ? null : parseTags(tags) }),
    ...(scopes !== undefined && { scopes: scopes === null ? null : parseScopes(scopes) }),
    ...(addresses !== undefined && { addresses: addresses === null ? null : parseAddresses(addresses) }),
  };
}

/**
 * A change of a key: the fields that are there change, null takes a limit away.
 * @param now Unix milliseconds.
 * @throws GatewayError INVALID_REQUEST also for a field that a key does not have: it would change nothing, unnoticed.
 */
export function parseKeyChange(fields: Json, now: number): KeyChange {
  const names = Object.keys(fields);
  const known = ["name", ...LIMIT_FIELDS] as const;
  const unknown = names.find((name) => !(known as readonly string[]).includes(name));
  if (unknown !== undefined)
    throw invalidRequest(`/${escapeSegment(unknown.slice(0, MAX_SHOWN_CHARACTERS))}`, `is none of ${known.join(", ")}`);
  if (names.length === 0) throw invalidRequest("/", `must have one of ${known.join(", ")}`);
  const { name, ...limits } = fields;
  if (name !== undefined && !isUsableName(name)) throw unusableName();
  return { ...(name !== undefined && { name }), limits: parseLimitFields(limits, now) };
}

/** The grace of a roll in milliseconds; null: the old key goes at once. @throws GatewayError INVALID_REQUEST */
export function parseGrace(value: unknown): number | null {
  const seconds = isGiven(value) ? parseSeconds(value, "/grace", 0) : GRACE_SECONDS;
  return seconds === 0 ? null : seconds * 1_000;
}

/** Not blank, 1 to 100 code points, well-formed. */
export function isUsableName(name: unknown): name is string {
  if (typeof name !== "string" || name.length > 200) return false;
  return name.trim() !== "" && name.isWellFormed() && Array.from(name).length <= 100;
}

export function unusableName(): GatewayError {
  return invalidRequest("/name", "must be a string of 1 to 100 characters");
}

export function keyLimitsBody({ limits = {}, budget: state }: ApiKey): KeyLimitsBody {
  const { expiresAt, models, budget, tags, scopes, addresses, replacedBy } = limits;
  return {
    expires_at: timeText(expiresAt),
    models: models ?? null,
    budget: budget === undefined ? null : budgetBody(budget, state),
    tags: tags ?? {},
    scopes: scopes ?? null,
    addresses: addresses ?? null,
    replaced_by: replacedBy ?? null,
  };
}

function budgetBody({ amount, per }: KeyBudget, state?: BudgetState): BudgetBody {
  const { spent = 0n, held = 0n, resetsAt } = state ?? {};
  const used = { spent: nanoToString(spent), held: nanoToString(held) };
  return { amount: nanoToString(amount), per, ...used, resets_at: timeText(resetsAt) };
}

function timeText(at: number | null | undefined): string | null {
  return at === undefined || at === null ? null : new Date(at).toISOString();
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Unix milliseconds; null for a key that is not to expire. */
function parseExpiry({ expires_in, expires_at }: Partial<KeyLimitFields>, now: number): number | null | undefined {
  if (isGiven(expires_in) && isGiven(expires_at)) throw invalidRequest("/expires_at", "stands beside expires_in");
  if (isGiven(expires_in)) return now + parseSeconds(expires_in, "/expires_in", 1) * 1_000;
  if (!isGiven(expires_at)) return expires_in === null || expires_at === null ? null : undefined;
  const at = typeof expires_at === "string" && TIMESTAMP.test(expires_at) ? Date.parse(expires_at) : Number.NaN;
  if (at > now && at <= now + MAX_SECONDS * 1_000) return at;
  throw invalidRequest("/expires_at", "must be a time to come, of at most 10 years, such as 2027-01-31T00:00:00Z");
}

/** A number of seconds, or a number with a unit. */
function parseSeconds(value: unknown, pointer: string, least: number): number {
  const [, count, unit] = (typeof value === "string" && DURATION.exec(value)) || [];
  const seconds = count === undefined ? value : Number(count) * SECONDS_PER[unit as keyof typeof SECONDS_PER];
  if (Number.isInteger(seconds) && Number(seconds) >= least && Number(seconds) <= MAX_SECONDS) return Number(seconds);
  throw invalidRequest(pointer, 'must be whole seconds, or a time such as "30d" (s, m, h, d), of at most 10 years');
}

function parseModels(value: unknown): readonly string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_GLOB_COUNT)
    throw invalidRequest("/models", `must be a list of 1 to ${MAX_GLOB_COUNT} models, in which * stands for any text`);
  for (const [index, glob] of value.entries()) {
    if (typeof glob === "string" && glob !== "" && glob.length <= MAX_GLOB_CHARACTERS && glob.isWellFormed()) continue;
    throw invalidRequest(`/models/${index}`, `must be a string of 1 to ${MAX_GLOB_CHARACTERS} characters`);
  }
  return value as readonly string[];
}

function parseScopes(value: unknown): readonly KeyScope[] {
  const known: readonly unknown[] = KEY_SCOPES;
  const scopes = Array.isArray(value) && value.every((scope) => known.includes(scope)) ? (value as KeyScope[]) : [];
  if (scopes.length > 0) return KEY_SCOPES.filter((scope) => scopes.includes(scope));
  throw invalidRequest("/scopes", `must be a list of ${KEY_SCOPES.join(", ")}, at least one of them`);
}

function parseAddresses(value: unknown): readonly string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_ADDRESS_COUNT)
    throw invalidRequest("/addresses", `must be a list of 1 to ${MAX_ADDRESS_COUNT} addresses or CIDRs`);
  for (const [index, entry] of value.entries()) {
    const network = typeof entry === "string" ? parseNetwork(entry) : "no address or CIDR";
    if (typeof network === "string")
      throw invalidRequest(`/addresses/${index}`, `is ${network}: write 192.0.2.7, 10.0.0.0/8 or 2001:db8::/32`);
  }
  return value as readonly string[];
}

function parseBudget(value: unknown): KeyBudget {
  if (!isJson(value)) throw invalidRequest("/budget", "must be an object of amount and per");
  const { amount, per } = value;
  if (!PERIODS.includes(per as BudgetPeriod))
    throw invalidRequest("/budget/per", `must be one of ${PERIODS.join(", ")}`);
  return { amount: parseAmount(amount), per: per as BudgetPeriod };
}

/** A number, or a decimal string: of that no place is lost on the way. */
function parseAmount(value: unknown): bigint {
  const isNumber = typeof value === "number" && Number.isFinite(value) && value >= 0 && value < 1e9;
  const isText = typeof value === "string" && AMOUNT.test(value);
  const nano = isNumber || isText ? toNano(decimal(value)) : 0n;
  if (nano > 0n) return nano;
  throw invalidRequest("/budget/amount", "must be more than 0 and below 1,000,000,000, with at most 9 places");
}

function parseTags(value: unknown): Tags {
  if (!isJson(value)) throw invalidRequest("/tags", "must be an object of names and values");
  const entries = Object.entries(value);
  if (entries.length > MAX_TAG_COUNT) throw invalidRequest("/tags", `must have at most ${MAX_TAG_COUNT} names`);
  for (const [name, text] of entries) {
    if (!TAG_NAME.test(name))
      throw invalidRequest("/tags", "must have names of up to 32 of a-z, 0-9, _ and -, a letter first");
    if (typeof text !== "string" || text === "" || tagValue(text) !== text)
      throw invalidRequest(`/tags/${name}`, `must be a string of 1 to ${MAX_TAG_CHARACTERS} characters in one line`);
  }
  return value as Json & Tags;
}
