import { relative, sep } from "node:path";
import { escapeSegment, nearest } from "../kit/index.ts";
import type { RuleId } from "./rules.ts";

/** A note is a suggestion: it fails nothing, not even `check --strict`. */
export type Severity = "error" | "warning" | "note";

/** One finding, at a place in a file. Lines and columns count from 1. */
export interface Diagnostic {
  /** Relative to the working directory when below it, else absolute. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Column after the end, when the place ends on the same line. */
  readonly endColumn?: number;
  /** JSON pointer into the merged configuration; empty for a file as a whole. */
  readonly pointer: string;
  readonly rule: RuleId;
  readonly severity: Severity;
  /** Never holds a value that came from a reference or a secret. */
  readonly message: string;
  /** What to do about it, or null. */
  readonly hint: string | null;
}

/** A configuration that cannot serve. Its message is the whole report. */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[]) {
    super(`the configuration cannot serve\n${formatText(diagnostics).trimEnd()}`);
    this.diagnostics = diagnostics;
  }
}

/** A place in a file, by absolute path. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endColumn?: number;
  /** Of a scalar that ends on another line: after its last character. */
  readonly end?: { readonly line: number; readonly column: number };
}

export interface Finding {
  readonly rule: RuleId;
  readonly message: string;
  readonly hint?: string | null;
  /** "error" when absent. */
  readonly severity?: Severity;
}

export function diagnose(place: Place, pointer: string, finding: Finding): Diagnostic {
  const { line, column, endColumn } = place;
  const { rule, severity = "error", message, hint = null } = finding;
  return { file: shortPath(place.file), line, column, endColumn, pointer, rule, severity, message, hint };
}

/** Errors and warnings in the order of files and lines, so that output is stable. */
export function sorted(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return diagnostics.toSorted(
    (a, b) => compare(a.file, b.file) || a.line - b.line || a.column - b.column || compare(a.rule, b.rule),
  );
}

export function shortPath(file: string): string {
  const path = relative("", file);
  return path === "" || path === ".." || path.startsWith(`..${sep}`) ? file : path;
}

/** `join("/models", "route/x", "chain", 0)` is `/models/route~1x/chain/0`. */
export function join(pointer: string, ...segments: readonly (string | number)[]): string {
  return segments.reduce<string>((path, segment) => `${path}/${escapeSegment(segment)}`, pointer);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** One line a finding, `file:line:column: severity rule message (hint)`, and a last line that counts. */
export function formatText(diagnostics: readonly Diagnostic[]): string {
  const lines = diagnostics.map(lineOf);
  lines.push(countsOf(diagnostics));
  return `${lines.join("\n")}\n`;
}

export function lineOf({ file, line, column, severity, rule, message, hint }: Diagnostic): string {
  const text = `${file}:${line}:${column}: ${severity} ${rule} ${message}${hint === null ? "" : ` (${hint})`}`;
  // Names of files and keys may hold line breaks and what moves a cursor: one finding stays one line.
  // oxlint-disable-next-line no-control-regex -- these are what is looked for
  return text.replaceAll(/[\r\n]+/g, " ").replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, "�");
}

/** "2 errors, 0 warnings", and notes where there are any. */
export function countsOf(diagnostics: readonly Diagnostic[]): string {
  const notes = diagnostics.some(({ severity }) => severity === "note") ? [countOf(diagnostics, "note")] : [];
  return [countOf(diagnostics, "error"), countOf(diagnostics, "warning"), ...notes].join(", ");
}

/** "2 errors". */
function countOf(diagnostics: readonly Diagnostic[], severity: Severity): string {
  const found = diagnostics.filter((diagnostic) => diagnostic.severity === severity).length;
  return `${found} ${severity}${found === 1 ? "" : "s"}`;
}

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
