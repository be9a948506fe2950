import { type Decimal, decimal, multiply } from "../kit/index.ts";
import type { Field } from "./source.ts";

/** An amount of the source times a whole number, exactly as written; null for what is no price. */
export function priceOf(field: Field, factor: bigint): number | null {
  const text = (field.text ?? "").trim().replaceAll("_", "").replace(/^\+/, "").replace(/^\./, "0.");
  let amount: Decimal;
  try {
    amount = multiply(decimal(text.replace(/\.(?=$|e)/i, "")), { digits: factor, scale: 0 });
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
  const value = Number(textOf(amount));
  return value >= 0 && value <= 1e9 ? value : null;
}

/** Without the noise of a float: 0.0000015 times 1,000,000 is 1.5. */
function textOf({ digits, scale }: Decimal): string {
  const sign = digits < 0n ? "-" : "";
  const all = String(digits < 0n ? -digits : digits).padStart(scale + 1, "0");
  return `${sign}${all.slice(0, all.length - scale)}.${all.slice(all.length - scale)}0`;
}
