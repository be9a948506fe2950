export type Json = Readonly<Record<string, unknown>>;

/** Whether a parsed value is a JSON object. */
export function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
