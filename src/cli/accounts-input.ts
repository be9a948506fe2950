import { InvalidArgumentError } from "commander";
import { isUsableName } from "../accounts/keys.ts";
import { parseEmail } from "../accounts/users.ts";
import { didYouMean } from "../config/names.ts";
import { decimal, type Snapshot, toNano } from "../kit/index.ts";
import { EXIT, ExitError } from "./options.ts";

/** No exponents, and no more digits than the ledger's integers have: "1e99999999" would take for ever. */
const AMOUNT = /^-?\d{1,9}(?:\.\d{1,9})?$/;

/** Nano-units. */
export function parseAmount(value: string): bigint {
  if (!AMOUNT.test(value)) {
    throw new InvalidArgumentError("An amount is a decimal number below 1,000,000,000 with at most 9 places.");
  }
  return toNano(decimal(value));
}

/** Nano-units, not negative. */
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

/** @throws ExitError that names the nearest tier when the configuration has no such one. */
export function tierOf({ tiers }: Snapshot, name: string): string {
  if (Object.hasOwn(tiers, name)) return name;
  const names = Object.keys(tiers);
  const hint = didYouMean(name, names) ?? `the configuration has ${names.join(", ")}`;
  throw new ExitError(EXIT.usage, `there is no tier ${name}: ${hint}`);
}
