import { resolve } from "node:path";
import { InvalidArgumentError } from "commander";
import { isUsableName } from "../accounts/key-limits.ts";
import { parseEmail } from "../accounts/users.ts";
import { ConfigurationError } from "../config/diagnostics.ts";
import { decimal, isPluginName, toNano } from "../kit/index.ts";

/** Exit codes: 0 fine, 1 findings, 2 wrong use, 3 could not run. */
export const EXIT = Object.freeze({ fine: 0, findings: 1, usage: 2, failed: 3 });

/** Ends the command with a code and a message for stderr. */
export class ExitError extends Error {
  override readonly name = "ExitError";
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The configuration file: `--config`, else `$GATEWAY_CONFIG`, else `./gateway.yaml`. */
export function configFile(option: string | undefined): string {
  return resolve(option ?? process.env["GATEWAY_CONFIG"] ?? "gateway.yaml");
}

/** Whether the configuration file itself could not be read: then the command could not run. */
export function isUnread(error: unknown): error is ConfigurationError {
  if (!(error instanceof ConfigurationError)) return false;
  return error.diagnostics.some(({ rule, pointer }) => rule === "file-unreadable" && pointer === "");
}

/**
 * `github` under GitHub Actions, which shows annotations at the lines of a pull request; else `text`.
 * https://docs.github.com/actions/reference/workflows-and-actions/variables
 */
export function defaultFormat(env: Readonly<Record<string, string | undefined>> = process.env): "github" | "text" {
  return env["GITHUB_ACTIONS"] === "true" ? "github" : "text";
}

/** How help texts say what `defaultFormat` is. */
export const DEFAULT_FORMAT = "(default: text; github under GitHub Actions)";

/** No exponents, and no more digits than the ledger's integers have: "1e99999999" would take for ever. */
const AMOUNT = /^-?\d{1,9}(?:\.\d{1,9})?$/;

/** @returns nano-units. */
export function parseAmount(value: string): bigint {
  if (!AMOUNT.test(value)) {
    throw new InvalidArgumentError("An amount is a decimal number below 1,000,000,000 with at most 9 places.");
  }
  return toNano(decimal(value));
}

/** @returns nano-units, not negative. */
export function parseCredits(value: string): bigint {
  const credits = parseAmount(value);
  if (credits < 0n) throw new InvalidArgumentError("A user does not begin with debts.");
  return credits;
}

export function parseAddress(value: string): string {
  try {
    return parseEmail(value);
  } catch {
    throw new InvalidArgumentError("An address looks like name@example.com.");
  }
}

export function parseKeyName(value: string): string {
  if (!isUsableName(value)) throw new InvalidArgumentError("A name has 1 to 100 characters.");
  return value;
}

/** An amount and a period. */
export function parseKeyBudget(value: string): { readonly amount: string; readonly per: string } {
  const [, amount, per] = /^([0-9.]+)\/(day|month|total)$/.exec(value) ?? [];
  if (amount === undefined || per === undefined)
    throw new InvalidArgumentError("A budget looks like 5/month: an amount, and day, month or total.");
  return { amount, per };
}

/** Options of the same name add up. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** Options of the same name add up. */
export function parseTag(
  value: string,
  before: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const at = value.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("A tag looks like team=search.");
  return { ...before, [value.slice(0, at)]: value.slice(at + 1) };
}

/** A parser that leaves `none` as it is: it takes a limit away. */
export function unlessNone<T>(parse: (value: string, before?: T) => T) {
  return (value: string, before?: T | "none"): T | "none" =>
    value === "none" ? "none" : parse(value, before === "none" ? undefined : before);
}

export function parseCount(value: string): number {
  const count = Number(value);
  if (!/^\d+$/.test(value) || count > 1_000_000) throw new InvalidArgumentError("A whole number up to 1,000,000.");
  return count;
}

export function parsePluginName(value: string): string {
  if (!isPluginName(value)) {
    throw new InvalidArgumentError("A plugin's name has up to 64 of a-z, 0-9 and -, and begins with a letter.");
  }
  return value;
}

/** The address of a gateway, without the `/v1` that some clients want behind it. */
export function parseConnectUrl(value: string): string {
  const url = URL.parse(value);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "" || url.username !== "")
    throw new InvalidArgumentError("An address looks like http://127.0.0.1:8080.");
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "").replace(/\/v1$/, "").replace(/\/+$/, "");
}

/** Settings of clients hold it as it is, quoted or not. */
export function parseConnectKey(value: string): string {
  if (!/^[!-~]+$/.test(value)) throw new InvalidArgumentError("A key has visible ASCII characters and no blanks.");
  return value;
}

export function parseConnectModel(value: string): string {
  if (!/^[!-~]+$/.test(value)) throw new InvalidArgumentError("A model looks like route/swift-mini.");
  return value;
}

export function parsePort(value: string): number {
  const port = Number(value);
  if (!/^\d+$/.test(value) || port > 65_535) throw new InvalidArgumentError("A port is a number from 0 to 65535.");
  return port;
}

/** What of a replay a command fails on: more than so many requests, or percent. */
export interface Threshold {
  readonly what: "any" | "refusals" | "cost" | "upstreams" | "models";
  readonly most: number;
  /** Percent of all requests; of cost always of what was charged. */
  readonly isShare: boolean;
  /** As it was written. */
  readonly text: string;
}

const THRESHOLD = /^(any|refusals|cost|upstreams|models)(?::(\d+(?:\.\d+)?)(%?))?$/;

export function parseThreshold(value: string): Threshold {
  const match = THRESHOLD.exec(value);
  const [, what, most = "0", unit = ""] = match ?? [];
  if (what === undefined || (what === "cost" && match?.[2] !== undefined && unit === "")) {
    throw new InvalidArgumentError("One of any, refusals, upstreams, models, with :10 or :1%; or cost:5%.");
  }
  return { what: what as Threshold["what"], most: Number(most), isShare: unit === "%", text: value };
}

/** @returns Unix milliseconds. */
export function parseTime(value: string): number {
  const time = Date.parse(value);
  if (!/^\d{4}-\d\d-\d\d/.test(value) || Number.isNaN(time)) {
    throw new InvalidArgumentError("A time looks like 2026-01-10 or 2026-01-10T08:00:00Z.");
  }
  return time;
}

/** A short number is one of configurations back: a hash has more digits than there are configurations. */
export function parseRollbackTarget(value: string): string | number {
  if (/^\d{1,3}$/.test(value)) return Number(value);
  if (/^[0-9a-f]{4,64}$/i.test(value)) return value.toLowerCase();
  throw new InvalidArgumentError("A target is a number, or at least the first 4 digits of a hash.");
}

/** A line for people beside a command's result, which it is no part of. */
export function note(line: string): void {
  process.stderr.write(`gateway: ${line}\n`);
}
