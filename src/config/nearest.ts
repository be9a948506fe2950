import { nearest } from "../kit/index.ts";

/** The nearest candidate as a question, or null. */
export function didYouMean(name: string, candidates: Iterable<string>): string | null {
  const found = nearest(name, candidates);
  return found === null ? null : `did you mean '${found}'?`;
}

/** For a step whose plugin is not known. */
export function pluginHint(name: string, known: readonly string[]): string {
  if (/[/\\]|\.[cm]?[jt]s$/.test(name)) return "write the path of a local plugin with ./ in front";
  return didYouMean(name, known) ?? `plugins: ${known.join(", ")}`;
}
