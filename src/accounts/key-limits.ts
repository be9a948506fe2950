import {
  type ApiKey,
  type BudgetPeriod,
  type BudgetState,
  decimal,
  invalidRequest,
  type Json,
  isJson,
  type KeyBudget,
  type KeyLimits,
  MAX_TAG_CHARACTERS,
  nanoToString,
  TAG_NAME,
  type Tags,
  tagValue,
  toNano,
} from "../kit/index.ts";

const MAX_GLOB_COUNT = 50;
const MAX_GLOB_CHARACTERS = 200;
const MAX_TAG_COUNT = 8;
const MAX_EXPIRES_IN_SECONDS = 10 * 366 * 86_400;
const SECONDS_PER = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;
const PERIODS: readonly BudgetPeriod[] = ["day", "month", "total"];
const DURATION = /^(\d{1,9})([smhd])$/;
const AMOUNT = /^\d{1,9}(?:\.\d{1,9})?$/;

/** What whoever makes a key may ask of it, as it comes: each field may be left out, or null. */
export type KeyLimitFields = Readonly<Record<"expires_in" | "models" | "budget" | "tags", unknown>>;

/** The limits of a key as the API shows them. */
export interface KeyLimitsBody {
  readonly expires_at: string | null;
  readonly models: readonly string[] | null;
  readonly budget: BudgetBody | null;
  readonly tags: Tags;
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
  const { expires_in, models, budget, tags } = fields;
  const limits: KeyLimits = {
    ...(isGiven(expires_in) && { expiresAt: now + parseSeconds(expires_in) * 1_000 }),
    ...(isGiven(models) && { models: parseModels(models) }),
    ...(isGiven(budget) && { budget: parseBudget(budget) }),
    ...(isGiven(tags) && { tags: parseTags(tags) }),
  };
  return Object.keys(limits).length === 0 ? undefined : limits;
}

export function keyLimitsBody({ limits = {}, budget: state }: ApiKey): KeyLimitsBody {
  const { expiresAt, models, budget, tags } = limits;
  return {
    expires_at: timeText(expiresAt),
    models: models ?? null,
    budget: budget === undefined ? null : budgetBody(budget, state),
    tags: tags ?? {},
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

/** A number of seconds, or a number with a unit. */
function parseSeconds(value: unknown): number {
  const [, count, unit] = (typeof value === "string" && DURATION.exec(value)) || [];
  const seconds = count === undefined ? value : Number(count) * SECONDS_PER[unit as keyof typeof SECONDS_PER];
  if (Number.isInteger(seconds) && Number(seconds) >= 1 && Number(seconds) <= MAX_EXPIRES_IN_SECONDS)
    return Number(seconds);
  throw invalidRequest(
    "/expires_in",
    'must be whole seconds, or a time such as "30d" (s, m, h, d), of at most 10 years',
  );
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
