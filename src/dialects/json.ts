const decoder = new TextDecoder();

/** The parsed value, or undefined when it is not JSON. */
export function parseJson(source: Uint8Array | string): unknown {
  try {
    return JSON.parse(typeof source === "string" ? source : decoder.decode(source)) as unknown;
  } catch {
    return undefined;
  }
}

const MARKUP = /<[^>]*>/g;
const URLS = /[a-z][a-z0-9+.-]*:\/\/\S+/gi;
/** Key-shaped words (`sk-…`, `Bearer …`, long tokens): providers echo keys in their errors. */
const SECRETS = new RegExp(
  [
    String.raw`bearer\s+\S+`,
    String.raw`(?<![a-z0-9])(?:sk|rk|pk|xai|gsk)[-_][\w*.-]{6,}`,
    // "api_requests" is a word, "api_1x9…" is a key.
    String.raw`(?<![a-z0-9])(?:key|api)[-_](?=[\w*.-]*[\d*])[\w*.-]{6,}`,
    String.raw`AIza[\w-]{16,}`,
    String.raw`(?<![\w-])(?=[a-z_-]*\d)[\w-]{32,}`,
    String.raw`[\w-]{40,}`,
  ].join("|"),
  "gi",
);

/** An upstream's own words, made fit for a client: no markup, URLs or key-shaped words, one line, at most 300 characters. */
export function publicMessage(text: string): string {
  const plain = text
    .slice(0, 4096)
    .replace(MARKUP, " ")
    .replace(URLS, "[url]")
    .replace(SECRETS, "[redacted]")
    .replace(/[\s\p{C}]+/gu, " ")
    .trim();
  // A cut through a surrogate pair would leave half a character.
  return plain.length > 300 ? `${plain.slice(0, 299).replace(/[\uD800-\uDBFF]$/, "")}…` : plain;
}
