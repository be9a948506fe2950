/** A value of any type as text: `String` throws for an object whose own `toString` is none. */
export function shown(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "undefined");
}
