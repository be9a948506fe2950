/** Names of fields whose value is a secret, as they are written in headers, bodies and configurations. */
const SECRET_FIELDS: ReadonlySet<string> = new Set([
  "authorization",
  "cookie",
  "set-cookie",
  "password",
  "secret",
  "token",
  "access_token",
  "refresh_token",
  "api_key",
  "apiKey",
  "x-api-key",
]);
/** As deep as anything is logged: a field, an object, its headers. */
const DEPTH = 3;

/** The fields with the values of secret ones replaced; the same object when it has none, which is the ordinary case. */
export function redact(fields: object, depth = DEPTH): object {
  const given = fields as Readonly<Record<string, unknown>>;
  let copy: Record<string, unknown> | null = null;
  // In place of Object.entries, which would make a list for each line of log.
  for (const name in given) {
    const value = given[name];
    const shown = SECRET_FIELDS.has(name) ? "[redacted]" : redactValue(value, depth - 1);
    if (shown !== value) (copy ??= { ...fields })[name] = shown;
  }
  return copy ?? fields;
}

function redactValue(value: unknown, depth: number): unknown {
  if (depth === 0 || typeof value !== "object" || value === null || value instanceof Error) return value;
  return redact(value, depth);
}
