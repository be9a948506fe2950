/** OAuth's own error codes are such words; anything else a provider or a browser sent is not repeated. */
const WORD = /^[A-Za-z0-9_]{1,64}$/;
const DEPTH = 4;

/** Why a provider's answer was not good, as one word for the log: no text, token or address that came from outside. */
export function reasonOf(error: unknown): string {
  let reason = "unknown";
  for (let depth = 0, at = error; depth < DEPTH && at instanceof Error; depth += 1, at = at.cause) {
    const { error: named, code } = at as { readonly error?: unknown; readonly code?: unknown };
    const word = [named, code].find((value) => typeof value === "string" && WORD.test(value));
    // The innermost is the most telling: ECONNREFUSED below "fetch failed".
    if (typeof word === "string") reason = word;
  }
  return reason;
}
