import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import type { Decision } from "#schema";
import { type Endpoint, isJson } from "../kit/index.ts";

/** A line of a decision log that is none. */
export class BadDecision extends Error {
  override readonly name = "BadDecision";
  readonly file: string;
  readonly line: number;

  constructor(file: string, line: number, why: string) {
    super(`${file}:${line}: ${why}`);
    this.file = file;
    this.line = line;
  }
}

/**
 * The decisions of one file, in its order; blank lines are passed over.
 * @param onBad what to do about a line that is no decision; left out: it is thrown.
 * @param containing lines without this text are passed over unread.
 * @throws BadDecision; Error for a file that cannot be read.
 */
export async function* readDecisions(
  file: string,
  onBad: (bad: BadDecision) => void = (bad) => {
    throw bad;
  },
  containing = "",
): AsyncGenerator<Decision, void, undefined> {
  const lines = createInterface({ input: createReadStream(file, "utf8"), crlfDelay: Infinity });
  let number = 0;
  try {
    for await (const line of lines) {
      number += 1;
      if (!line.includes(containing) || line.trim() === "") continue;
      const decision = decisionOf(line);
      if (typeof decision === "string") onBad(new BadDecision(file, number, decision));
      else yield decision;
    }
  } finally {
    lines.close();
  }
}

type Check = readonly [is: (value: unknown) => boolean, what: string];

const isText = (value: unknown): boolean => typeof value === "string";
const isAmount = (value: unknown): boolean => Number.isFinite(value) && Number(value) >= 0;
const isNullOr =
  (is: Check[0]): Check[0] =>
  (value) =>
    value === null || is(value);
/** Every one, so that a new one is not forgotten. */
const ENDPOINTS: Readonly<Record<Endpoint, true>> = {
  chat: true,
  messages: true,
  responses: true,
  embeddings: true,
  rerank: true,
  speech: true,
  transcription: true,
  image: true,
};

const TEXT: Check = [isText, "must be text"];
const NAME: Check = [isNullOr(isText), "must be text or null"];
const NUMBER: Check = [Number.isFinite, "must be a number"];
const AMOUNT: Check = [isAmount, "must be a number, not less than 0"];
const MAYBE_AMOUNT: Check = [isNullOr(isAmount), "must be a number, not less than 0, or null"];
const FLAG: Check = [(value) => typeof value === "boolean", "must be true or false"];
const LIST: Check = [Array.isArray, "must be a list"];
const OBJECT: Check = [isJson, "must be an object"];

/** What a reader computes with: one line that is not so would end a replay, or make its sums wrong. */
const FIELDS: Readonly<Record<string, Check>> = {
  time: TEXT,
  id: NAME,
  request_id: TEXT,
  config: TEXT,
  endpoint: TEXT,
  user: NAME,
  plan: NAME,
  model: NAME,
  stream: FLAG,
  prompt_bytes: MAYBE_AMOUNT,
  max_output: MAYBE_AMOUNT,
  answers: NUMBER,
  asked: OBJECT,
  estimated: OBJECT,
  features: LIST,
  outcome: TEXT,
  status: NUMBER,
  code: NAME,
  upstream: NAME,
  attempts: LIST,
  dropped: AMOUNT,
  tokens: OBJECT,
  tokens_estimated: FLAG,
  charge: [(value) => isText(value) && /^\d+(?:\.\d+)?$/.test(String(value)), "must be a decimal"],
  given_back: FLAG,
  body_ms: MAYBE_AMOUNT,
  first_event_ms: MAYBE_AMOUNT,
  total_ms: AMOUNT,
};
const ATTEMPT_FIELDS: typeof FIELDS = {
  upstream: TEXT,
  model: TEXT,
  outcome: TEXT,
  status: NUMBER,
  start_ms: AMOUNT,
  answered_ms: MAYBE_AMOUNT,
  end_ms: MAYBE_AMOUNT,
};
const ESTIMATE_FIELDS: typeof FIELDS = { prompt: AMOUNT, completion: MAYBE_AMOUNT };
const TOKEN_FIELDS: typeof FIELDS = { prompt: AMOUNT, completion: AMOUNT, cached: AMOUNT, reasoning: AMOUNT };
/** @returns the decision, or why the line is none. */
function decisionOf(line: string): Decision | string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return "not JSON: the line is cut, or another program's";
  }
  if (!isJson(value)) return "not a JSON object";
  if (value["v"] !== 1) return `version ${JSON.stringify(value["v"])} of the format: this gateway reads version 1`;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as far as it is checked here
  return faultIn(value, FIELDS) ?? faultWithin(value as unknown as Decision) ?? (value as unknown as Decision);
}

/** What is wrong with the lists and objects of a line whose fields are as they should be. */
function faultWithin({ time, endpoint, asked, estimated, attempts, tokens }: Decision): string | null {
  if (Number.isNaN(Date.parse(time))) return "time must be a date";
  if (!Object.hasOwn(ENDPOINTS, endpoint)) return `endpoint ${JSON.stringify(endpoint)} is none of this gateway's`;
  for (const [at, attempt] of attempts.entries()) {
    const fault = isJson(attempt)
      ? faultIn(attempt, ATTEMPT_FIELDS, `attempts/${at}/`)
      : `attempts/${at} must be an object`;
    if (fault !== null) return fault;
  }
  return (
    faultIn(estimated, ESTIMATE_FIELDS, "estimated/") ??
    faultIn(tokens, { ...unitFields(tokens), ...TOKEN_FIELDS }, "tokens/") ??
    faultIn(asked, unitFields(asked), "asked/")
  );
}

function unitFields(units: object): typeof FIELDS {
  return Object.fromEntries(Object.keys(units).map((name) => [name, name === "image_variant" ? TEXT : AMOUNT]));
}

function faultIn(value: object, fields: typeof FIELDS, place = ""): string | null {
  const values = value as Readonly<Record<string, unknown>>;
  for (const name in fields) {
    const [is, what] = fields[name]!;
    if (!is(values[name])) return `${place}${name} ${what}`;
  }
  return null;
}
