import { lineOf, type Place, shortPath } from "../config/diagnostics.ts";
import { annotation, excerpts, MAX_ANNOTATIONS, workflowCommand } from "../config/report.ts";
import type { CaseResult, Failure, FileResult } from "./run.ts";

/** @returns the text in a colour, where colours are wanted. */
export type Paint = (colour: "green" | "red" | "dim", text: string) => string;

/** How often cases ended how. */
export interface Totals {
  readonly tests: number;
  readonly failed: number;
  /** Files that could not be run. */
  readonly broken: number;
  readonly durationMs: number;
}

/** Of one table; the rest is counted. */
const MAX_SHOWN_FAILURES = 5;

export function totalsOf(results: readonly FileResult[]): Totals {
  const cases = results.flatMap((file) => file.cases);
  return {
    tests: cases.length,
    failed: cases.filter(({ failure }) => failure !== null).length,
    broken: results.filter(({ diagnostics }) => diagnostics.length > 0).length,
    durationMs: cases.reduce((sum, { durationMs }) => sum + durationMs, 0),
  };
}

/** For people: a line for each test, and for each that fails what was expected, what was answered, and why. */
export function formatText(results: readonly FileResult[], paint: Paint): string {
  const lines = results.flatMap((file) => [shortPath(file.path), ...fileLines(file, paint), ""]);
  const { tests, failed, broken, durationMs } = totalsOf(results);
  const counts = [
    ...(failed > 0 ? [paint("red", `${failed} failed`)] : []),
    `${tests - failed} passed`,
    ...(broken > 0 ? [paint("red", `${broken} ${broken === 1 ? "file" : "files"} could not be run`)] : []),
  ];
  return `${[...lines, `${counts.join(", ")} (${duration(durationMs)})`].join("\n")}\n`;
}

function fileLines(file: FileResult, paint: Paint): string[] {
  if (file.diagnostics.length > 0) return diagnosticLines(file).map((line) => `  ${line}`);
  const groups = Map.groupBy(file.cases, ({ pointer }) => pointer);
  return [...groups.values()].flatMap((cases) => {
    const failures = cases.filter(({ failure }) => failure !== null);
    const ms = cases.reduce((sum, { durationMs }) => sum + durationMs, 0);
    const isTable = cases.length > 1;
    const count = isTable ? `${cases.length} cases, ` : "";
    const name = isTable ? cases[0]!.group : cases[0]!.name;
    const mark = failures.length === 0 ? paint("green", "✓") : paint("red", "✗");
    const lines = [`  ${mark} ${plain(name)} ${paint("dim", `(${count}${duration(ms)})`)}`];
    for (const one of failures.slice(0, MAX_SHOWN_FAILURES)) {
      if (isTable) lines.push(`    ${paint("red", "✗")} ${plain(one.name)}`);
      lines.push(...failureLines(one.failure!, file).map((line) => `      ${line}`));
    }
    const rest = failures.length - MAX_SHOWN_FAILURES;
    if (rest > 0) lines.push(`    … and ${rest} more of its ${cases.length} cases fail`);
    return lines;
  });
}

/** As `gateway check` says them, with the lines of the test file. */
function diagnosticLines(file: FileResult): string[] {
  return file.diagnostics.flatMap((diagnostic) => [
    lineOf(diagnostic),
    ...excerpt(file, diagnostic).map((line) => `  ${line}`),
  ]);
}

function failureLines({ request, mismatches, way }: Failure, file: FileResult): string[] {
  const compared = mismatches.flatMap(({ pointer, expected, actual, place }) => [
    `${shortPath(place.file)}:${place.line}:${place.column}: ${nameOf(pointer)}`.replace(/: $/, ""),
    ...excerpt(file, place).map((line) => `  ${line}`),
    `  expected ${plain(expected)}`,
    `  actual   ${plain(actual)}`,
  ]);
  return [...(request === "" ? [] : [request]), ...compared, ...way.map(plain)];
}

/** `/headers/retry-after` as `headers retry-after`. */
function nameOf(pointer: string): string {
  return pointer.slice(1).replaceAll("/", " ").replaceAll("~1", "/").replaceAll("~0", "~");
}

/** The line of the file, and carets below the place; nothing of a place in another file. */
function excerpt({ path, text }: FileResult, place: Place): string[] {
  const [line, carets] = excerpts([{ path, text, secrets: [] }])(place);
  if (line === undefined) return [];
  const number = String(place.line);
  return [`${number} | ${line}`, `${" ".repeat(number.length)} | ${carets}`];
}

/** Answers and names may hold what moves a cursor. */
function plain(text: string): string {
  return text.replaceAll(/\p{C}/gu, "\uFFFD");
}

function duration(milliseconds: number): string {
  return milliseconds < 1_000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1_000).toFixed(1)} s`;
}

/** `{ok, tests, failed, broken, duration_ms, files: [{file, diagnostics, tests: [{name, ok, line, failure}]}]}`. */
export function formatJson(results: readonly FileResult[]): string {
  const { tests, failed, broken, durationMs } = totalsOf(results);
  const files = results.map(({ path, diagnostics, cases }) => ({
    file: shortPath(path),
    diagnostics,
    tests: cases.map(({ name, failure, place, durationMs }) => ({
      name,
      ok: failure === null,
      line: place.line,
      duration_ms: rounded(durationMs),
      failure: failure && {
        ...failure,
        mismatches: failure.mismatches.map(({ place: { line, column }, ...one }) => ({ ...one, line, column })),
      },
    })),
  }));
  const ok = failed === 0 && broken === 0;
  return `${JSON.stringify({ ok, tests, failed, broken, duration_ms: rounded(durationMs), files }, null, 2)}\n`;
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10;
}

/** Annotations of GitHub Actions at the lines of what is not as expected, of each case the first, and a notice that counts. */
export function formatGithub(results: readonly FileResult[]): string {
  const { tests, failed, broken } = totalsOf(results);
  const found = results.flatMap(({ diagnostics, cases }) => [
    ...diagnostics.map(annotation),
    ...cases.flatMap(({ name, failure }) => (failure === null ? [] : [failureAnnotation(name, failure)])),
  ]);
  const left = found.length - MAX_ANNOTATIONS;
  const rest = left > 0 ? `; ${left} more are not shown here, run gateway test for all` : "";
  const counts = `${failed} failed, ${tests - failed} passed, ${broken} could not be run${rest}`;
  const notice = workflowCommand("notice", { title: "gateway test" }, counts);
  return `${[...found.slice(0, MAX_ANNOTATIONS), notice].join("\n")}\n`;
}

function failureAnnotation(title: string, failure: Failure): string {
  const { file, line, column, endColumn } = failure.mismatches[0]!.place;
  const place = { file: shortPath(file), line, endLine: line, col: column, endColumn: endColumn ?? column + 1 };
  return workflowCommand(
    "error",
    { ...place, title },
    [summaryOf(failure), failure.request, ...failure.way].join("\n"),
  );
}

/** The first thing that is not as expected. */
function summaryOf({ mismatches }: Failure): string {
  const { pointer, expected, actual } = mismatches[0]!;
  return `${nameOf(pointer)}: expected ${expected}, was ${actual}`;
}

/**
 * JUnit's XML as Jenkins, GitLab and others read it, by
 * https://github.com/jenkinsci/xunit-plugin/blob/master/src/main/resources/org/jenkinsci/plugins/xunit/types/model/xsd/junit-10.xsd
 * A file that cannot be run is one case with an error.
 */
export function formatJunit(results: readonly FileResult[]): string {
  const { tests, failed, broken, durationMs } = totalsOf(results);
  const all = {
    name: "gateway test",
    tests: tests + broken,
    failures: failed,
    errors: broken,
    time: seconds(durationMs),
  };
  const suites = results.map((file) => {
    const counts = totalsOf([file]);
    const name = shortPath(file.path);
    const cases =
      file.diagnostics.length > 0 ? [brokenCase(file, name)] : file.cases.map((one) => junitCase(one, file));
    const attributes = {
      name,
      tests: counts.tests + counts.broken,
      failures: counts.failed,
      errors: counts.broken,
      skipped: 0,
      time: seconds(counts.durationMs),
      file: name,
    };
    return element("testsuite", attributes, cases);
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element("testsuites", all, suites)}\n`;
}

function brokenCase(file: FileResult, name: string): string {
  const { rule: type, message } = file.diagnostics[0]!;
  const error = element("error", { type, message }, [escaped(diagnosticLines(file).join("\n"))]);
  return element("testcase", { name, classname: name, time: seconds(0) }, [error]);
}

function junitCase({ name, failure, durationMs }: CaseResult, file: FileResult): string {
  const attributes = { name, classname: shortPath(file.path), time: seconds(durationMs) };
  if (failure === null) return element("testcase", attributes, []);
  const message = summaryOf(failure);
  const text = escaped(failureLines(failure, file).join("\n"));
  return element("testcase", attributes, [element("failure", { type: "mismatch", message }, [text])]);
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1_000).toFixed(3);
}

function element(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  content: readonly string[],
): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(String(value))}"`);
  const start = `<${name}${written.join("")}`;
  return content.length === 0 ? `${start}/>` : `${start}>${content.join("\n")}</${name}>`;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** As text and as the value of an attribute; what XML 1.0 has no way to write is replaced. */
function escaped(text: string): string {
  const allowed = text.replaceAll(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, "\uFFFD");
  return allowed.replaceAll(/[&<>"]/g, (one) => ENTITIES[one]!).replaceAll(/[\t\r]/g, " ");
}
