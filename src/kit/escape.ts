/**
 * The text as a regular expression that matches it alone. (`RegExp.escape` comes with Node 24.)
 * @example escapeRegExp("a.b") // "a\\.b"
 */
export function escapeRegExp(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}
