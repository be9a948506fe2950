/**
 * Our keys and refresh tokens, providers' keys, JSON Web Tokens, passwords inside URLs. A token is looked for where its
 * letters begin, never amid them: each of many beginnings would else be read to the end of the line.
 */
const SECRETS =
  /rk_[0-9a-f]{64}|\brt_[\w-]{43}|\bsk-[\w-]{16,}|(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]*|(?<=:\/\/[^\s/@:"]{0,256}:)[^\s/@"]+(?=@)/gi;

/** What every one of them has: a line without any is spared the expression, whose look-behind is slow. */
const SIGNS = ["rk_", "RK_", "rt_", "RT_", "sk-", "SK-", "eyJ", "://"] as const;

/** Characters of the longest line that is written as it is. */
const LONGEST_LINE = 64 * 1024;
/** Characters that are left of each text in a longer one. */
const SHORTENED = 2 * 1024;
const DEPTH = 6;

/** A line of JSON of bounded length: what a client or an upstream made long is cut, the line stays JSON. */
export function bounded(line: string): string {
  if (line.length <= LONGEST_LINE) return line;
  const shorter = `${JSON.stringify(shortened(JSON.parse(line), DEPTH))}\n`;
  return shorter.length <= LONGEST_LINE
    ? shorter
    : `${JSON.stringify({ level: 50, msg: "a line of log was too long" })}\n`;
}

function shortened(value: unknown, depth: number): unknown {
  if (typeof value === "string") {
    return value.length <= SHORTENED
      ? value
      : `${value.slice(0, SHORTENED)}… (${value.length - SHORTENED} more characters)`;
  }
  if (typeof value !== "object" || value === null) return value;
  if (depth === 0) return "…";
  if (Array.isArray(value)) return value.slice(0, 32).map((item: unknown) => shortened(item, depth - 1));
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, 64)
      .map(([name, inner]) => [name.slice(0, 256), shortened(inner, depth - 1)]),
  );
}

/** Takes secrets out of a line of log, wherever they came from: a last net below redaction by field. */
export function scrub(line: string): string {
  return SIGNS.some((sign) => line.includes(sign)) ? line.replace(SECRETS, "[redacted]") : line;
}
