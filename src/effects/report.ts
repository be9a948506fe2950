import { type Change, type ChangeClass, type ChangeKind, CLASSES, KINDS, type Value } from "./change.ts";

/** How many users are on some plans, and how many keys they have. */
export interface Touched {
  readonly users: number;
  readonly keys: number;
}

export type Impact = (plans: readonly string[]) => Touched;

/** What is compared, as its reader named it. */
export interface Compared {
  readonly old: string;
  readonly new: string;
  readonly changes: readonly Change[];
  /** Null: nobody has asked the store. */
  readonly impact: Impact | null;
}

/** `{old, new, summary, changes: [{kind, class, subject, before, after, percent, plans, users?, keys?}]}`. */
export function formatJson({ old, new: now, changes, impact }: Compared): string {
  const rows = changes.map((change) => ({ ...change, ...impact?.(change.plans) }));
  return `${JSON.stringify({ old, new: now, summary: summaryOf(changes), changes: rows }, null, 2)}\n`;
}

export function summaryOf(changes: readonly Change[]): Readonly<Record<ChangeClass, number>> {
  const counts = { breaking: 0, risky: 0, safe: 0 };
  for (const { class: is } of changes) counts[is] += 1;
  return counts;
}

/** A line a change, those alike in one; a last line that counts. */
export function formatText({ changes, impact }: Compared): string {
  const rows = rowsOf(changes);
  const cells = rows.map((row) => [row.class, row.kind, `${sentence(row, (text) => text)}${touchedText(row, impact)}`]);
  const widths = [0, 1].map((column) => Math.max(0, ...cells.map((line) => line[column]!.length)));
  const lines = cells.map(([is, kind, text]) => `${is!.padEnd(widths[0]!)}  ${kind!.padEnd(widths[1]!)}  ${text}`);
  return `${[...lines.map(printable), summaryText(changes)].join("\n")}\n`;
}

/** Rows of a class that a comment shows: beyond 65,536 characters a forge refuses it. */
const MAX_ROWS = 100;

/** For a comment on a pull request. */
export function formatMarkdown({ old, new: now, changes, impact }: Compared): string {
  const head = `### Configuration: ${summaryText(changes)}\n\n${code(old)} → ${code(now)}\n`;
  const rows = rowsOf(changes);
  const tables = CLASSES.flatMap((one) => {
    const own = rows.filter((row) => row.class === one);
    if (own.length === 0) return [];
    const table = tableOf(own, impact);
    const title = `${capital(one)} (${own.reduce((sum, { count }) => sum + count, 0)})`;
    if (one === "safe") return [`<details><summary>${title}</summary>\n\n${table}\n\n</details>\n`];
    return [`**${title}**\n\n${table}\n`];
  });
  return [head, ...tables].join("\n");
}

function tableOf(rows: readonly Row[], impact: Impact | null): string {
  const shown = rows.slice(0, MAX_ROWS);
  const heads = ["change", "what it means", ...(impact ? ["users", "keys"] : [])];
  const cells = shown.map((row) => {
    const touched = impact?.(row.touches);
    const counts = touched ? [String(touched.users), String(touched.keys)] : [];
    return [sentence(row, code), KINDS[row.kind].says, ...counts];
  });
  const lines = [heads, heads.map(() => "---"), ...cells].map((line) => `| ${line.join(" | ")} |`);
  const more = rows.length - shown.length;
  return [...lines, ...(more > 0 ? ["", `and ${more} more`] : [])].join("\n");
}

function summaryText(changes: readonly Change[]): string {
  if (changes.length === 0) return "no change in effect";
  const counts = summaryOf(changes);
  return CLASSES.map((one) => `${counts[one]} ${one}`).join(", ");
}

/** Changes that are alike but for whom they are about. */
interface Row {
  readonly kind: ChangeKind;
  readonly class: ChangeClass;
  readonly plans: readonly string[];
  readonly models: readonly string[];
  readonly upstreams: readonly string[];
  readonly plugins: readonly string[];
  readonly setting: string | null;
  readonly before: Value;
  readonly after: Value;
  readonly percent: number | null;
  /** The plans whose users it touches. */
  readonly touches: readonly string[];
  /** Changes in it. */
  readonly count: number;
}

const SUBJECTS = ["models", "upstreams", "plans"] as const;

function rowsOf(changes: readonly Change[]): readonly Row[] {
  const single = changes.map(({ subject, plans: touches, kind, before, after, ...more }): Row => {
    const { plan, model, upstream, plugin, setting = null } = subject;
    // What comes or goes is its own subject, and alike but for its name.
    const isSubject = /-(?:removed|added)$/.test(kind) && setting === null;
    const names = { plans: listOf(plan), models: listOf(model), upstreams: listOf(upstream), plugins: listOf(plugin) };
    const values = isSubject ? { before: null, after: null } : { before, after };
    return { kind, class: more.class, percent: more.percent, setting, ...names, ...values, touches, count: 1 };
  });
  return SUBJECTS.reduce<readonly Row[]>(mergeBy, single);
}

function mergeBy(rows: readonly Row[], name: (typeof SUBJECTS)[number]): readonly Row[] {
  const merged = new Map<string, Row>();
  for (const row of rows) {
    const key = JSON.stringify({ ...row, [name]: row[name].length > 0, touches: 0, count: 0 });
    const former = merged.get(key);
    merged.set(key, former === undefined ? row : join(former, row, name));
  }
  return [...merged.values()];
}

function join(a: Row, b: Row, name: (typeof SUBJECTS)[number]): Row {
  const touches = [...new Set([...a.touches, ...b.touches])];
  return { ...a, [name]: [...a[name], ...b[name]], touches, count: a.count + b.count };
}

function listOf(name: string | undefined): readonly string[] {
  return name === undefined ? [] : [name];
}

const MAX_NAMES = 3;

/** @param quote marks what comes from the configuration. */
function sentence(row: Row, quote: (text: string) => string): string {
  const { before, after, percent, setting } = row;
  const subjects = [
    ...named(row.plans, "plan", quote),
    ...named(row.models, "model", quote),
    ...named(row.upstreams, "upstream", quote),
    ...named(row.plugins, "plugin", quote),
    ...(setting === null ? [] : [quote(setting)]),
  ];
  const sign = percent !== null && percent > 0 ? "+" : "";
  const share = percent === null ? "" : ` (${sign}${percent}%)`;
  const isPlain = (before === null && after === null) || (typeof before === "boolean" && setting === null);
  return `${subjects.join(", ")}${isPlain ? "" : `: ${quote(valueText(before))} → ${quote(valueText(after))}${share}`}`;
}

function named(names: readonly string[], what: string, quote: (text: string) => string): readonly string[] {
  if (names.length === 0) return [];
  const shown = names.slice(0, MAX_NAMES).map(quote).join(", ");
  const more = names.length - MAX_NAMES;
  const all = more > 0 ? `${shown} and ${more} more` : shown;
  return [names.length === 1 ? `${what} ${all}` : `${what}s ${all}`];
}

function valueText(value: Value): string {
  if (value === null) return "none";
  return Array.isArray(value) ? (value.length === 0 ? "none" : value.join(", ")) : String(value);
}

function touchedText({ touches }: Row, impact: Impact | null): string {
  if (impact === null) return "";
  const { users, keys } = impact(touches);
  return `; ${users} ${users === 1 ? "user" : "users"}, ${keys} ${keys === 1 ? "key" : "keys"}`;
}

/** Text that cannot move the cursor, colour the terminal or forge a line. */
function printable(text: string): string {
  return text.replace(/\p{C}/gu, "\uFFFD");
}

/** Text that cannot leave its code span, its cell of a table or its line. */
function code(text: string): string {
  const plain = printable(text).replaceAll("`", "'").replaceAll("|", "\\|");
  return `\`${plain}\``;
}

function capital(word: string): string {
  return `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`;
}
