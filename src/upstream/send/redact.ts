import type { AttemptError, Upstream } from "../../kit/index.ts";

/** A shorter key is a dummy, as local servers take: a word of it stands in many a sentence. */
const MIN_SECRET_CHARACTERS = 8;
const SECRET_HEADER = /authorization|key|token|secret|cookie|password/i;

/** Takes the key of a request, and secrets in the upstream's configured headers, out of what a failure says: providers quote them. */
export function withoutSecrets(error: AttemptError, key: string, { headers }: Pick<Upstream, "headers">): AttemptError {
  const values = [key, ...Object.entries(headers).flatMap(([name, value]) => (SECRET_HEADER.test(name) ? value : []))];
  const redact = (text: string): string => values.reduce(withoutSecret, text);
  const [message, ownWords] = [redact(error.message), redact(error.ownWords)];
  return message === error.message && ownWords === error.ownWords ? error : error.as({ message, ownWords });
}

/** The text without a secret of at least 8 characters, where it stands as a word of its own. */
export function withoutSecret(text: string, secret: string): string {
  // Credentials of two parts, as AWS's, and a scheme before a token: each part is quoted alone.
  const parts = [secret, ...secret.split(/[:\s]+/)].filter((part) => part.length >= MIN_SECRET_CHARACTERS);
  return parts.reduce((left, part) => {
    if (!left.includes(part)) return left;
    return left.replaceAll(new RegExp(`(?<![\\w-])${RegExp.escape(part)}(?![\\w-])`, "g"), "[redacted]");
  }, text);
}
