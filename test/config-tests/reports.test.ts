import * as fc from "fast-check";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { formatGithub, formatJunit } from "../../src/config-tests/report.ts";
import { type CaseResult, type FileResult, runTests } from "../../src/config-tests/run.ts";

const NUM_RUNS = Number(process.env["NUM_RUNS"] ?? 200);
const CASES = resolve(import.meta.dirname, "cases");

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Element[];
  readonly text: string;
}

/** What Jenkins' junit-10.xsd allows of the elements that are written: attributes (`!` required) and children. */
const STRUCTURE: Readonly<Record<string, { readonly attributes: string; readonly children: readonly string[] }>> = {
  testsuites: { attributes: "name time tests failures errors", children: ["testsuite"] },
  testsuite: {
    attributes: "name! tests! failures! errors! group time skipped timestamp hostname id package file log url",
    children: ["testsuite", "properties", "testcase", "system-out", "system-err"],
  },
  testcase: {
    attributes: "name! time classname group",
    children: ["skipped", "error", "failure", "system-out", "system-err"],
  },
  failure: { attributes: "type message", children: [] },
  error: { attributes: "type message", children: [] },
};
const SUREFIRE_TIME = /^(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]*)?$/;
/** What XML 1.0 cannot hold in any way. */
// oxlint-disable-next-line no-control-regex -- these are what is looked for
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])/;
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"' };

/** @throws Error for an entity that there is not */
function decoded(text: string): string {
  return text.replaceAll(/&(\w*;?)/g, (_all, name: string) => {
    const value = ENTITIES[name.replace(/;$/, "")];
    if (value === undefined || !name.endsWith(";")) throw new Error(`no entity: ${name}`);
    return value;
  });
}

/** @throws Error for what is not well-formed */
function parseXml(xml: string): Element {
  const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n';
  expect(xml.startsWith(declaration)).toBe(true);
  expect(FORBIDDEN.test(xml)).toBe(false);
  let at = declaration.length;
  const take = (pattern: RegExp): RegExpExecArray => {
    pattern.lastIndex = at;
    const match = pattern.exec(xml);
    if (match === null) throw new Error(`not well-formed: ${xml.slice(at, at + 40)}`);
    at += match[0].length;
    return match;
  };
  const element = (): Element => {
    const [, name = "", written = "", empty] = take(/<([a-z]+)((?: [a-z]+="[^"<]*")*)(\/)?>/y);
    const attributes = Object.fromEntries(
      [...written.matchAll(/([a-z]+)="([^"]*)"/g)].map(([, key, value]) => [key!, decoded(value!)]),
    );
    const children: Element[] = [];
    if (empty !== undefined) return { name, attributes, children, text: "" };
    let text = decoded(take(/[^<]*/y)[0]);
    while (!xml.startsWith("</", at)) {
      children.push(element());
      text += decoded(take(/[^<]*/y)[0]);
    }
    if (take(/<\/([a-z]+)>/y)[1] !== name) throw new Error(`${name} is not ended`);
    return { name, attributes, children, text };
  };
  const root = element();
  expect(xml.slice(at)).toBe("\n");
  return root;
}

/** What of an element the structure does not allow. */
function faultsOf({ name, attributes, children, text }: Element): string[] {
  const rule = STRUCTURE[name];
  if (rule === undefined) return [`no element ${name}`];
  const allowed = new Set(rule.attributes.split(" ").map((key) => key.replace("!", "")));
  const required = rule.attributes.split(" ").filter((key) => key.endsWith("!"));
  return [
    ...Object.keys(attributes)
      .filter((key) => !allowed.has(key))
      .map((key) => `${name} has no ${key}`),
    ...required.filter((key) => !(key.slice(0, -1) in attributes)).map((key) => `${name} needs ${key}`),
    ...(attributes["time"] === undefined || SUREFIRE_TIME.test(attributes["time"]) ? [] : [`time of ${name}`]),
    ...children.filter((child) => !rule.children.includes(child.name)).map((child) => `${child.name} in ${name}`),
    ...(rule.children.length > 0 && text.trim() !== "" ? [`text in ${name}`] : []),
    ...children.flatMap(faultsOf),
  ];
}

test("files that pass, fail and cannot be run are JUnit's XML, with their counts", async () => {
  const files = ["every-body", "differences", "wrong-shape", "no-configuration"];
  const results = await runTests(
    files.map((name) => resolve(CASES, `${name}.test.yaml`)),
    { env: {}, clock: () => performance.now() },
  );
  const root = parseXml(formatJunit(results));
  expect(faultsOf(root)).toEqual([]);
  expect(root.attributes).toMatchObject({ name: "gateway test", tests: "29", failures: "13", errors: "2" });
  const counts = root.children.map(({ attributes: { tests, failures, errors } }) =>
    [tests, failures, errors].join(" "),
  );
  expect(counts).toEqual(["10 0 0", "17 13 0", "1 0 1", "1 0 1"]);
  for (const { attributes, children } of root.children) {
    const kinds = children.flatMap((one) => one.children.map(({ name }) => name));
    expect(String(children.length)).toBe(attributes["tests"]);
    expect(kinds.filter((kind) => kind === "failure").length).toBe(Number(attributes["failures"]));
    expect(kinds.filter((kind) => kind === "error").length).toBe(Number(attributes["errors"]));
  }
  const [failure] = root.children[1]!.children[0]!.children;
  expect(failure!.attributes["message"]).toBe("status: expected 429, was 200");
  expect(failure!.text).toContain(":6:15: status\n  6 |       status: 429\n    |               ^^^\n  expected 429");
  const [error] = root.children[2]!.children[0]!.children;
  expect(error!.attributes).toMatchObject({ type: "unknown-key", message: "unknown key 'clok'" });
  expect(error!.text).toContain("2 | clok: 2026-01-05T12:00:00Z\n    | ^^^^");
});

/** As it can be written. */
function writable(name: string): string {
  // oxlint-disable-next-line no-control-regex -- these can be
  const replaced = name.replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\uFFFD");
  return replaced.replaceAll(/[\t\r]/g, " ");
}

test("whatever a name or an answer holds, the file is well-formed and says it", () => {
  const text = fc.string({ unit: "binary", maxLength: 60 });
  fc.assert(
    fc.property(fc.array(fc.record({ name: text, expected: text, actual: text }), { maxLength: 5 }), (rows) => {
      const place = { file: "/a.yaml", line: 1, column: 1 };
      const cases = rows.map(({ name, expected, actual }): CaseResult => {
        const mismatches = [{ pointer: "/body", expected, actual, place }];
        const failure = { request: name, mismatches, way: [actual] };
        return { name, group: name, pointer: "/tests/0", place, durationMs: 1.5, failure };
      });
      const file: FileResult = { path: "/a.yaml", text: readFileSync("gateway.yaml", "utf8"), diagnostics: [], cases };
      const root = parseXml(formatJunit([file]));
      expect(faultsOf(root)).toEqual([]);
      expect(root.children[0]!.children.map(({ attributes }) => attributes["name"])).toEqual(
        rows.map(({ name }) => writable(name)),
      );
    }),
    { numRuns: NUM_RUNS },
  );
});

/** As https://docs.github.com/actions/reference/workflow-commands-for-github-actions has it: values are escaped. */
const COMMAND = /^::(error|notice) ([a-zA-Z]+=[^,:\r\n]*(?:,[a-zA-Z]+=[^,:\r\n]*)*)::([^\r\n]+)$/;

const linesOf = (...results: readonly FileResult[]) => formatGithub(results).trimEnd().split("\n");

test("annotations are commands of GitHub, ten at most, with a count of all", async () => {
  const files = ["differences", "wrong-shape", "every-body"].map((name) => resolve(CASES, `${name}.test.yaml`));
  const [failing, broken, passing] = await runTests(files, { env: {}, clock: () => 0 });
  const lines = linesOf(failing!, broken!, passing!);
  expect(lines.filter((line) => !COMMAND.test(line))).toEqual([]);
  expect(lines).toHaveLength(11);
  expect(lines[0]).toMatch(
    /^::error file=test\/config-tests\/cases\/differences\.test\.yaml,line=6,endLine=6,col=15,endColumn=18,title=an answer::status: expected 429, was 200%0A/,
  );
  expect(lines.at(-1)).toBe(
    "::notice title=gateway test::13 failed, 14 passed, 1 could not be run; 20 more are not shown here, run gateway test for all",
  );
  expect(linesOf(passing!)).toEqual(["::notice title=gateway test::0 failed, 10 passed, 0 could not be run"]);
  expect(linesOf(broken!)[0]).toContain("title=unknown-key::unknown key 'clok' (did you mean 'clock'?)");
});
