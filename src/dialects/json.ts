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
const URLS = /\b[a-z][a-z0-9+.-]*:\/\/\S+/gi;
/** Key-shaped words (`sk-…`, `Bearer …`, long tokens): providers echo keys in their errors. */
const SECRETS = /\b(?:bearer\s+\S+|(?:sk|rk|pk|xai|gsk|key|api)[-_][\w*.-]{6,}|[\w-]{40,})/gi;

/** An upstream's own words, made fit for a client: no markup, URLs or key-shaped words, one line, at most 300 characters. */
export function publicMessage(text: string): string {
  const plain = text
    .slice(0, 4096)
    .replace(MARKUP, " ")
    .replace(URLS, "[url]")
    .replace(SECRETS, "[redacted]")
    .replace(/[\s\p{C}]+/gu, " ")
    .trim();
  return plain.length > 300 ? `${plain.slice(0, 299)}…` : plain;
}
