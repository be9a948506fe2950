import { relative, sep } from "node:path";
import { escapeSegment, nearest } from "../kit/index.ts";

export type Severity = "error" | "warning";

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
  const lines = diagnostics.map(({ file, line, column, severity, rule, message, hint }) => {
    const text = `${file}:${line}:${column}: ${severity} ${rule} ${message}${hint === null ? "" : ` (${hint})`}`;
    // A file name may hold a line break: one finding stays one line.
    return text.replaceAll(/[\r\n]+/g, " ");
  });
  lines.push(`${count(diagnostics, "error")}, ${count(diagnostics, "warning")}`);
  return `${lines.join("\n")}\n`;
}

/** `{ok, diagnostics:[{file,line,column,pointer,rule,severity,message,hint}]}`. */
export function formatJson(ok: boolean, diagnostics: readonly Diagnostic[]): string {
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

function count(diagnostics: readonly Diagnostic[], severity: Severity): string {
  const found = diagnostics.filter((diagnostic) => diagnostic.severity === severity).length;
  return `${found} ${severity}${found === 1 ? "" : "s"}`;
}

/** Every rule a diagnostic can name, with what it guards. Ids are stable: CI configurations refer to them. */
export const RULES = Object.freeze({
  // files
  "file-unreadable": "A file of the configuration cannot be read.",
  "file-encoding": "A file is not UTF-8.",
  "file-size": "A file is larger than 8 MiB.",
  // YAML
  "yaml-character": "A file has no control characters but tabs and line ends.",
  "yaml-syntax": "The text is not YAML.",
  "yaml-documents": "One file holds one document.",
  "yaml-root": "The document is a map.",
  "yaml-key": "Keys are plain text.",
  "yaml-duplicate-key": "A key stands once in a map.",
  "yaml-merge-key": "Merge keys are not supported.",
  "yaml-tag": "Custom tags are not supported.",
  "yaml-alias": "Aliases refer to an anchor before them, not to themselves, and stay small.",
  "yaml-depth": "Nesting has a limit.",
  // includes
  "include-cycle": "A file does not include itself.",
  "include-twice": "A file is included once.",
  "include-empty": "A pattern matches a file.",
  "duplicate-name": "A name is defined in one file.",
  // references
  "reference-syntax": "References are ${env:NAME}, ${env:NAME:-default} or ${file:path}.",
  "unresolved-reference": "A variable without a default is set.",
  // schema
  "unknown-key": "Only known keys are allowed.",
  "invalid-name": "Names have the form of their section.",
  "missing-key": "Required keys are present.",
  "wrong-type": "Values have the type of their key.",
  "unknown-value": "Values are among the allowed ones.",
  "wrong-format": "Text has the form of its key.",
  "out-of-range": "Numbers are in range.",
  "wrong-length": "Text, lists and maps are long enough, and short enough.",
  "duplicate-item": "A list names each item once.",
  "unsupported-version": "The format's version is one this gateway reads.",
  // server and store
  "body-room": "One user's share of the room for bodies holds the largest body.",
  "duplicate-address": "Each listener has its own address.",
  "admin-open": "An admin listener beyond loopback has a token.",
  "invalid-cidr": "Trusted proxies are CIDRs.",
  "trust-everyone": "Not every address is a trusted proxy.",
  "body-limit": "The body limit fits in memory.",
  "timer-range": "A duration that is waited for is at most 24 days.",
  "store-url": "The store's URL has a known scheme and a target.",
  "store-conflict": "Either url or nodes.",
  "store-retention": "The ledger is kept for as long as a settlement may wait.",
  "workers-store": "Several workers share a store.",
  "workers-agree": "A reload is taken by every worker, or by none.",
  // accounts
  "duplicate-kid": "Each token secret has its own kid.",
  "weak-secret": "Token secrets have at least 32 bytes.",
  "token-ttl": "Refresh tokens outlive access tokens.",
  "smtp-url": "The mail server is an smtp:// or smtps:// URL.",
  "oauth-issuer": "An issuer is https, or http on loopback.",
  // tiers, upstreams, models
  "unknown-tier": "Tiers that are named are defined.",
  "unknown-upstream": "Upstreams that are named are defined.",
  "unused-upstream": "Upstreams are used by a chain.",
  "upstream-url": "A base URL is http(s) or sim:, without user, query or fragment, and complete.",
  "empty-api-key": "A real upstream has a key.",
  "vendor-dialect": "A vendor stands behind the dialect openai; a choice of endpoint behind openai and azure.",
  "vendor-api": "A vendor has the endpoint that is chosen.",
  "google-credentials": "A service account's key can be used, and belongs to an upstream of Google.",
  "reserved-header": "Headers of the connection are the gateway's own.",
  "setting-order": "A smallest value is not above its largest.",
  "dialect-kind": "A step's dialect serves the model's kind.",
  "dialect-unavailable": "This build speaks a step's dialect for the model's kind.",
  "chain-features": "Every step has the features the model promises.",
  "dialect-features": "Every step's dialect can ask for what the model promises.",
  "vendor-features": "Every step's vendor takes what the model promises.",
  "lost-feature": "What a model promises, a step of its chain can carry.",
  "chain-window": "Every step has the window the model promises.",
  "repeated-target": "A chain names each target once.",
  "target-weight": "Weights belong to weighted steps, and are not all zero.",
  "target-parameters": "Parameters change a JSON body, do not contradict each other, and leave model and stream alone.",
  "missing-price": "A model has the prices of its kind.",
  "price-unit": "Prices have a unit of the model's kind.",
  "kind-field": "Fields belong to the model's kind.",
  "output-window": "An answer fits in the window.",
  "unreachable-model": "A published model can be called by a plan.",
  "multiplier-limit": "One request fits in a plan's day.",
  // pipeline
  "unknown-plugin": "Plugins that are named exist.",
  "plugin-load": "A plugin file can be loaded.",
  "plugin-contract": "A plugin file exports a plugin.",
  "plugin-setup": "A plugin's setup succeeds.",
  "plugin-schema": "A plugin's schema can be used.",
  "plugin-writable": "A plugin file is not writable by everyone.",
  "pipeline-order": "Plugins stand in the order of their stages.",
  "duplicate-plugin": "A plugin that can run once stands once.",
  "missing-relay": "A pipeline has a relay.",
  "missing-identify": "A pipeline finds out who is calling.",
  "missing-prerequisite": "A plugin has the plugins it needs.",
  "condition-stage": "Stages that know no model, and the relay, run always.",
  "condition-unmatched": "A model pattern matches a model.",
  // reload
  "reload-fault": "The gateway does not fail while it reads a configuration.",
  "rolled-back": "A configuration that was rolled back has changed before it is tried again.",
  "unknown-generation": "A rollback returns to a generation that is kept.",
  // status
  "duplicate-incident": "Each incident has its own id.",
  "incident-times": "A resolved incident has a time, after its beginning.",
});

export type RuleId = keyof typeof RULES;

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
