import { isAbsolute, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { countsOf, type Diagnostic, lineOf, type Place, type Severity } from "./diagnostics.ts";
import type { Source } from "./load.ts";
import { RULES } from "./rules.ts";
import { masked } from "./secrets.ts";
import { maskedUnread } from "./unread.ts";

/** What a check found, with the texts that it read. */
export interface Checked {
  readonly ok: boolean;
  readonly diagnostics: readonly Diagnostic[];
  readonly sources: readonly SourceText[];
}

interface SourceText extends Pick<Source, "path" | "text"> {
  /** Places that are never quoted; null when they are not known, because a file could not be read to its end. */
  readonly secrets: readonly Place[] | null;
}

/** @returns the text in colour, where colours are wanted. */
export type Paint = (severity: Severity, text: string) => string;

const MAX_EXCERPT_CHARACTERS = 120;
/** How much of a long line stands before what is pointed at. */
const EXCERPT_LEAD_CHARACTERS = 60;

/** One finding a paragraph: its line, the line of the file, and a caret below what it is about. */
export function formatExcerpts(checked: Checked, paint: Paint): string {
  const { diagnostics, sources } = checked;
  const excerptOf = excerpts(sources);
  const paragraphs = diagnostics.map((diagnostic) => {
    const [line = "", caret = ""] = excerptOf(diagnostic);
    const number = String(diagnostic.line);
    const head = lineOf(diagnostic).replace(` ${diagnostic.severity} `, (word) => paint(diagnostic.severity, word));
    if (caret === "") return `${head}\n`;
    return `${head}\n  ${number} | ${line}\n  ${" ".repeat(number.length)} | ${paint(diagnostic.severity, caret)}\n`;
  });
  return `${paragraphs.join("")}${countsOf(diagnostics)}\n`;
}

/** The line of a place without its secrets and the carets below it; nothing when it cannot be shown. */
export function excerpts(
  sources: readonly SourceText[],
): (place: Pick<Diagnostic, "file" | "line" | "column" | "endColumn">) => string[] {
  const lines = new Map<string, readonly string[]>();
  return ({ file, line, column, endColumn }) => {
    const path = resolve(file);
    const source = sources.find((one) => one.path === path);
    if (source === undefined) return [];
    if (!lines.has(path)) lines.set(path, readable(source, path));
    // A control character would be carried out by the terminal; as long as what it stands for, it keeps the carets in place.
    // oxlint-disable-next-line no-control-regex -- these are what is looked for
    const shown = (lines.get(path)?.[line - 1] ?? "").replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, (one) =>
      one === "\t" ? " " : "�",
    );
    const end = Math.min(endColumn ?? column + 1, shown.length + 1);
    return cropped(shown, column - 1, Math.max(1, end - column));
  };
}

/** The lines of a file without its secrets. */
function readable({ text, secrets }: SourceText, path: string): readonly string[] {
  const lines = text.split("\n").map((line) => line.replace(/\r$/, ""));
  if (secrets === null) return maskedUnread(lines);
  const here = secrets.filter((place) => place.file === path);
  return lines.map((line, index) => masked(line, index + 1, here));
}

function cropped(line: string, from: number, length: number): string[] {
  const start = line.length <= MAX_EXCERPT_CHARACTERS ? 0 : Math.max(0, from - EXCERPT_LEAD_CHARACTERS);
  const part = line.slice(start, start + MAX_EXCERPT_CHARACTERS);
  const [before, after] = [start > 0 ? "…" : "", start + part.length < line.length ? "…" : ""];
  const indent = from - start + before.length;
  const carets = Math.max(1, Math.min(length, part.length - (from - start)));
  return [`${before}${part}${after}`, `${" ".repeat(indent)}${"^".repeat(carets)}`];
}

/** `{ok, diagnostics:[{file,line,column,pointer,rule,severity,message,hint}]}`. */
export function formatJson({ ok, diagnostics }: Pick<Checked, "ok" | "diagnostics">): string {
  const rows = diagnostics.map(({ file, line, column, pointer, rule, severity, message, hint }) => ({
    file,
    line,
    column,
    pointer,
    rule,
    severity,
    message,
    hint,
  }));
  return `${JSON.stringify({ ok, diagnostics: rows }, null, 2)}\n`;
}

/** Annotations that GitHub shows of one step and kind; the rest it drops, whatever they say. */
export const MAX_ANNOTATIONS = 10;

/**
 * Workflow commands of GitHub Actions, `::error file=…,line=…::message`, errors first, and a notice that counts them.
 * https://docs.github.com/actions/reference/workflow-commands-for-github-actions
 */
export function formatGithub({ diagnostics }: Pick<Checked, "diagnostics">): string {
  const counts = countsOf(diagnostics);
  if (diagnostics.length === 0) return `${counts}\n`;
  const kinds = (["error", "warning", "note"] as const).map((kind) =>
    diagnostics.filter(({ severity }) => severity === kind),
  );
  const shown = kinds.flatMap((found) => found.slice(0, MAX_ANNOTATIONS));
  const left = diagnostics.length - shown.length;
  const rest =
    left === 0 ? "" : `; ${left} more ${left === 1 ? "is" : "are"} not shown here, run gateway check for all`;
  return `${[...shown.map(annotation), workflowCommand("notice", { title: "gateway check" }, counts + rest)].join("\n")}\n`;
}

export function annotation({ file, line, column, endColumn, severity, rule, message, hint }: Diagnostic): string {
  const properties = { file, line, endLine: line, col: column, endColumn: endColumn ?? column + 1, title: rule };
  return workflowCommand(
    severity === "note" ? "notice" : severity,
    properties,
    hint === null ? message : `${message} (${hint})`,
  );
}

/** @param properties names of places, and a title. */
export function workflowCommand(
  name: string,
  properties: Readonly<Record<string, string | number>>,
  message: string,
): string {
  const pairs = Object.entries(properties).map(([key, value]) => `${key}=${escapedProperty(String(value))}`);
  return `::${name} ${pairs.join(",")}::${escapedData(message)}`;
}

function escapedData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapedProperty(text: string): string {
  return escapedData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

/** SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0/), with the rules that were broken. */
export function formatSarif({ diagnostics }: Pick<Checked, "diagnostics">): string {
  const ids = [...new Set(diagnostics.map(({ rule }) => rule))].toSorted();
  const driver = { name: "route-gateway", rules: ids.map(sarifRule) };
  const results = diagnostics.map((diagnostic) => ({
    ruleId: diagnostic.rule,
    ruleIndex: ids.indexOf(diagnostic.rule),
    level: diagnostic.severity,
    message: { text: diagnostic.hint === null ? diagnostic.message : `${diagnostic.message} (${diagnostic.hint})` },
    locations: [sarifLocation(diagnostic)],
  }));
  const run = { tool: { driver }, columnKind: "utf16CodeUnits", results };
  const log = { $schema: "https://json.schemastore.org/sarif-2.1.0.json", version: "2.1.0", runs: [run] };
  return `${JSON.stringify(log, null, 2)}\n`;
}

function sarifRule(id: Diagnostic["rule"]): object {
  const { severity, title, paragraph } = RULES[id];
  return {
    id,
    shortDescription: { text: title },
    fullDescription: { text: paragraph },
    help: { text: paragraph, markdown: paragraph },
    defaultConfiguration: { level: severity === "warning" || severity === "note" ? severity : "error" },
  };
}

function sarifLocation({ file, line, column, endColumn, pointer }: Diagnostic): object {
  const region = { startLine: line, startColumn: column, ...(endColumn !== undefined && { endColumn }) };
  const physicalLocation = { artifactLocation: { uri: uriOf(file) }, region };
  return pointer === ""
    ? { physicalLocation }
    : { physicalLocation, logicalLocations: [{ fullyQualifiedName: pointer, kind: "member" }] };
}

/** Relative as it is, so that a scan finds the file in its own checkout. */
function uriOf(file: string): string {
  return isAbsolute(file) ? pathToFileURL(file).href : file.split(sep).map(encodeURIComponent).join("/");
}
