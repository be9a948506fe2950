import { isCoveredKey, isLikeSecretName, looksSecret } from "./secrets.ts";

/** A key with its colon, in a block, in { } and in JSON. */
const KEY = /(?<quote>["']?)(?<name>[A-Za-z_][\w.-]*)\k<quote>\s*:(?=[\s"'[{]|$)/g;
/** What may be a value by itself. */
const WORD = /[^\s"',[\]{}]+/g;
/** A section whose name only looks like that of a secret. */
const NO_SECRET = "tokens";

/** A line that others may stand below, by their indentation. */
interface Parent {
  readonly indent: number;
  readonly isItem: boolean;
  readonly isSecret: boolean;
}

/**
 * The lines of a file that could not be read as YAML, without what may be a secret: values of keys that are named like one,
 * what stands below such a key, and texts that look like one. The rest has to be seen to be mended.
 */
export function maskedUnread(lines: readonly string[]): string[] {
  let parents: readonly Parent[] = [];
  /** Whether the nearest line above with a key has one of a secret: what is wrong may be the indentation. */
  let afterSecret = false;
  return lines.map((line) => {
    const [, blank = "", dash = ""] = /^(\s*)((?:-\s+)?)/.exec(line) ?? [];
    const indent = blank.length;
    const isItem = dash !== "";
    if (line.trim() === "") return line;
    parents = parents.filter((one) => one.indent < indent || (one.indent === indent && isItem && !one.isItem));
    const keys = [...line.matchAll(KEY)];
    const secret = keys.find(({ groups }) => isSecretName(groups!["name"]!));
    const isInside = parents.some(({ isSecret }) => isSecret) || (keys.length === 0 && afterSecret);
    const isComment = line.trim().startsWith("#");
    if (!isComment) {
      if (keys.length > 0) afterSecret = secret !== undefined || isInside;
      parents = [...parents, { indent, isItem, isSecret: secret !== undefined }];
    }
    if (isInside && !isComment) return dotted(line, keys[0] === undefined ? indent + dash.length : endOf(keys[0]));
    if (secret !== undefined) return dotted(line, endOf(secret));
    return line.replaceAll(WORD, (word) => (looksSecret(word) ? "•".repeat(word.length) : word));
  });
}

function isSecretName(name: string): boolean {
  return name !== NO_SECRET && (isCoveredKey(name) || isLikeSecretName(name));
}

function endOf(match: RegExpExecArray): number {
  return match.index + match[0].length;
}

function dotted(line: string, from: number): string {
  return line.slice(0, from) + "•".repeat(line.length - from);
}
