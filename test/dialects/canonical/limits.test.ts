import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CAPABILITIES, DIALECTS } from "../../../src/dialects/capabilities.ts";
import { readError } from "../../../src/dialects/canonical/errors.ts";
import { bodyReset, explicitWait, waitFrom, windowWait } from "../../../src/dialects/canonical/limits.ts";
import { RESET_TEXTS, RESETS } from "../../../src/dialects/canonical/limits-table.ts";
import type { DialectName, Json } from "../../../src/kit/index.ts";
import { refusalFailure, retryAfter, statusFailure } from "../../../src/upstream/send/classify.ts";
import { FEW_RUNS, PATIENCE, RUNS } from "../../properties/runs.ts";

const NOW = Date.UTC(2026, 10, 21, 12);

interface LimitCase {
  readonly name: string;
  readonly source: string;
  readonly dialect: DialectName;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** Milliseconds; null when it tells no time. */
  readonly wait: number | null;
  /** Whether it is the limit of the whole account. */
  readonly account: boolean;
}

const CASES = JSON.parse(readFileSync(new URL("limits/cases.json", import.meta.url), "utf8")) as readonly LimitCase[];

/** As a 429 of the dialect is read. */
function read({ dialect, headers, body }: Pick<LimitCase, "dialect" | "headers" | "body">) {
  const bytes = Buffer.from(JSON.stringify(body));
  const spoken = DIALECTS[dialect]!;
  const head = statusFailure(429, headers, NOW);
  const error = readError(bytes);
  const code = spoken.codeOf?.(headers) ?? "";
  const known = code === "" ? error : { ...error, codes: [code, ...error.codes] };
  const refused = { dialect, status: 429, error: known };
  const told = { wait: retryAfter(headers, NOW), now: NOW };
  return refusalFailure(refused, head, spoken.errorMessage(bytes), undefined, told);
}

test.each(CASES)("$name", ({ wait, account, ...told }) => {
  expect(read(told)).toMatchObject({ failure: "rate_limited", status: 429, retryAfter: wait, ofAccount: account });
});

test.each(Object.keys(CAPABILITIES) as DialectName[])("%s: a 429 is read by its header, body and words", (dialect) => {
  const message = "Please try again in 20 seconds.";
  const bodies = [{ error: { message } }, { message }, { detail: message }];
  const words = bodies.map((body) => read({ dialect, headers: {}, body }).retryAfter);
  expect(words).toEqual([20_000, 20_000, 20_000]);
  const windows = { "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m30s" };
  expect(read({ dialect, headers: windows, body: {} }).retryAfter).toBe(90_000);
  expect(read({ dialect, headers: { ...windows, "retry-after": "7" }, body: bodies[0] }).retryAfter).toBe(7_000);
  const account = { error: { message: "Your account has reached its rate limit" } };
  expect(read({ dialect, headers: {}, body: account })).toMatchObject({ failure: "rate_limited", ofAccount: true });
});

test("a header of windows says nothing where no limit refused", () => {
  const headers = { "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m30s" };
  expect([500, 503, 401, 404].map((status) => statusFailure(status, headers, NOW).retryAfter)).toEqual([
    null,
    null,
    null,
    null,
  ]);
});

/** Whole milliseconds below a day. */
const WAIT = fc.integer({ min: 1, max: 86_400_000 });
/** How a time is written; each returns how it is read, as some forms are coarser. */
const WRITTEN: Readonly<Record<string, (wait: number) => readonly [text: string, wait: number]>> = {
  milliseconds: (wait) => [String(wait), wait],
  seconds: (wait) => [String(wait / 1_000), wait],
  httpDate: (wait) => [new Date(NOW + wait).toUTCString(), Math.floor(wait / 1_000) * 1_000],
  isoDate: (wait) => [new Date(NOW + wait).toISOString(), wait],
  unixSeconds: (wait) => [String((NOW + wait) / 1_000), wait],
  unixMs: (wait) => [String(NOW + wait), wait],
  duration: (wait) => [durationText(wait), wait],
  protobuf: (wait) => [`${wait / 1_000}s`, wait],
  ietf: (wait) => [`"burst";r=3;t=999, "api";r=0;t=${Math.ceil(wait / 1_000)}`, Math.ceil(wait / 1_000) * 1_000],
  ietfEarly: (wait) => [`limit=9, remaining=0, reset=${Math.ceil(wait / 1_000)}`, Math.ceil(wait / 1_000) * 1_000],
};
const FORMS: Readonly<Record<(typeof RESETS)[number]["form"], readonly string[]>> = {
  milliseconds: ["milliseconds"],
  "seconds-or-date": ["seconds", "httpDate"],
  any: ["seconds", "httpDate", "isoDate", "unixSeconds", "unixMs", "duration"],
  protobuf: ["protobuf"],
  ietf: ["ietf", "ietfEarly"],
};

/** As Go and OpenAI write it: `2m59.56s`, `644ms`. */
function durationText(wait: number): string {
  if (wait < 1_000) return `${wait}ms`;
  const [hours, minutes] = [Math.floor(wait / 3_600_000), Math.floor((wait % 3_600_000) / 60_000)];
  return `${hours > 0 ? `${hours}h` : ""}${hours + minutes > 0 ? `${minutes}m` : ""}${(wait % 60_000) / 1_000}s`;
}

/** A name that a row's pattern takes, with the one that tells what remains. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  "^retry-after-ms$": ["retry-after-ms"],
  "^x-ms-retry-after-ms$": ["x-ms-retry-after-ms"],
  "^x-amz-retry-after$": ["x-amz-retry-after"],
  "^retry-after$": ["retry-after"],
  "^(x-)?rate-?limit(bysize)?(-[a-z0-9-]{1,60})?-reset(-[a-z0-9-]{1,60})?$": [
    "x-ratelimit-reset",
    "x-ratelimit-reset-requests",
    "x-ratelimit-reset-tokens-minute",
    "x-ratelimit-minute-reset",
    "x-rate-limit-reset",
    "ratelimit-reset",
    "ratelimitbysize-reset",
  ],
  "^anthropic-[a-z0-9-]{1,60}-reset$": ["anthropic-ratelimit-requests-reset", "anthropic-priority-input-tokens-reset"],
  "^ratelimit$": ["ratelimit"],
};

/** The clock counts whole milliseconds. */
function assertNear(actual: number | null, expected: number): void {
  if (actual === null) assert.ok(expected <= 0, `nothing was read in place of ${expected}`);
  else assert.ok(Math.abs(actual - expected) <= 1, `${actual} was read in place of ${expected}`);
}

describe("what is written is read", () => {
  const headers = RESETS.flatMap(({ header, form, kind }) =>
    header === undefined ? [] : FORMS[form].map((how) => [header.source, how, kind] as const),
  );
  test.each(headers)("the header %s as %s", { timeout: PATIENCE }, (pattern, how, kind) => {
    const property = fc.property(WAIT, fc.constantFrom(...NAMES[pattern]!), fc.boolean(), (wait, name, isTold) => {
      const [text, expected] = WRITTEN[how]!(wait);
      const remaining = isTold ? { [name.replace("reset", "remaining")]: "0" } : {};
      const read = kind === "explicit" ? explicitWait : windowWait;
      assertNear(read({ ...remaining, [name]: text }, NOW), expected);
      if (kind === "window" && name !== "ratelimit") {
        const left = { [name]: text, [name.replace("reset", "remaining")]: "1" };
        assert.equal(windowWait(left, NOW), null);
      }
    });
    expect(fc.assert(property, { numRuns: FEW_RUNS })).toBeUndefined();
  });

  const fields = RESETS.flatMap(({ field, form }) =>
    field === undefined ? [] : FORMS[form].map((how) => [field, how] as const),
  );
  test.each(fields)("the field %s as %s", { timeout: PATIENCE }, (field, how) => {
    const property = fc.property(WAIT, fc.constantFrom("outside", "inside", "details"), (wait, where) => {
      const [text, expected] = WRITTEN[how]!(wait);
      const of: Json = { [field]: text };
      const body = { outside: { message: "m", ...of }, inside: { error: of }, details: { error: { details: [of] } } };
      const { retryAfter: relative, resetsAt: at } = readError(Buffer.from(JSON.stringify(body[where as "inside"])));
      assertNear(waitFrom({ wait: relative, at }, NOW), expected);
    });
    expect(fc.assert(property, { numRuns: FEW_RUNS })).toBeUndefined();
  });

  const PHRASES: readonly ((text: string) => string)[] = [
    (text) => `Limit 3, used 3. Please try again in ${text}. Visit us.`,
    (text) => `Slow down: retry after ${text}`,
    (text) => `Please wait ${text} before retrying.`,
    (text) => `Your quota will reset after ${text}.`,
  ];
  test("words", { timeout: PATIENCE }, () => {
    const unit = fc.constantFrom(
      ["s", 1_000],
      [" seconds", 1_000],
      [" second", 1_000],
      ["ms", 1],
      [" minutes", 60_000],
    );
    const simple = fc
      .tuple(fc.integer({ min: 1, max: 999 }), unit as fc.Arbitrary<[string, number]>)
      .map(([count, [name, ms]]) => [`${count}${name}`, count * ms] as const);
    const written = fc.oneof(
      simple,
      WAIT.map((wait) => [durationText(wait), wait] as const),
    );
    const property = fc.property(written, fc.constantFrom(...PHRASES), ([text, expected], phrase) => {
      assertNear(bodyReset([], phrase(text)).wait, expected);
    });
    expect(fc.assert(property, { numRuns: RUNS })).toBeUndefined();
  });

  test.each(["2026-11-21 at 12:05 UTC", "2026-11-21T12:05:00Z", "2026-11-21, 12:05:00 UTC", "2026-11-21 12:05 GMT"])(
    "a date in words: %s",
    (date) => {
      expect(bodyReset([], `You will regain access on ${date}.`)).toEqual({ wait: null, at: NOW + 300_000 });
    },
  );

  test("every row has a source and a case", () => {
    for (const { source } of [...RESETS, ...RESET_TEXTS]) expect(source).not.toBe("");
    const patterns = RESETS.flatMap(({ header }) => (header === undefined ? [] : [header.source]));
    expect(patterns.filter((pattern) => NAMES[pattern] === undefined)).toEqual([]);
  });
});

test("nothing that is sent throws, or waits for longer than 300 s", { timeout: PATIENCE }, () => {
  const text = fc.oneof(fc.string(), fc.double().map(String), WAIT.map(durationText), fc.date().map(String));
  const name = fc.constantFrom(...Object.values(NAMES).flat(), "x-ratelimit-remaining", "ratelimit-remaining");
  const sent = fc.dictionary(name, text);
  const body = fc.oneof(
    fc.jsonValue(),
    fc.record({ error: fc.record({ message: text, retry_after: fc.jsonValue() }) }),
  );
  fc.assert(
    fc.property(sent, body, (headers, value) => {
      const { retryAfter: wait } = read({ dialect: "openai", headers, body: value });
      expect(wait === null || (wait >= 50 && wait <= 300_000)).toBe(true);
    }),
    { numRuns: RUNS },
  );
});
