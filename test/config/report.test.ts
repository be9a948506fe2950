import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import * as fc from "fast-check";
import { Ajv } from "ajv";
import AjvDraft04 from "ajv-draft-04";
import addFormats from "ajv-formats";
import { describe, expect, test } from "vitest";
import { diagnose, type Diagnostic } from "../../src/config/diagnostics.ts";
import { loadConfig } from "../../src/config/load.ts";
import { excerpts, formatExcerpts, formatGithub, formatSarif } from "../../src/config/report.ts";
import { type RuleId, RULES } from "../../src/config/rules.ts";
import { readCases } from "./cases.ts";
import { options, SMALL } from "./support.ts";

const NUM_RUNS = Number(process.env["NUM_RUNS"] ?? 300);
const PATH = resolve("conf/gateway.yaml");
const plain = (_: unknown, text: string): string => text;

function finding(
  rule: RuleId,
  severity: "error" | "warning" | "note",
  line = 3,
  more: Partial<Diagnostic> = {},
): Diagnostic {
  const place = { file: PATH, line, column: 5, endColumn: 9 };
  return { ...diagnose(place, "/models/a", { rule, severity, message: `message of line ${line}` }), ...more };
}

const anyDiagnostic: fc.Arbitrary<Diagnostic> = fc
  .record({
    file: fc.oneof(fc.string(), fc.constantFrom("a b.yaml", "x,y:z%.yaml", "/abs/ü.yaml")),
    line: fc.integer({ min: 1, max: 500 }),
    column: fc.integer({ min: 1, max: 500 }),
    width: fc.option(fc.integer({ min: 1, max: 40 })),
    pointer: fc.constantFrom("", "/server/listen/0"),
    rule: fc.constantFrom(...(Object.keys(RULES) as RuleId[])),
    severity: fc.constantFrom("error" as const, "warning" as const, "note" as const),
    message: fc.string({ unit: fc.constantFrom("a", "%", ":", ",", "\n", "\r", "=", "::", "ü", " ") }),
    hint: fc.option(fc.string()),
  })
  .map(({ width, ...rest }) => ({ ...rest, ...(width !== null && { endColumn: rest.column + width }) }));

describe("text with excerpts", () => {
  const text = "version: 1\nserver: { heartbeat: 5 }\r\n\tkey: \u001b[31mred\n";
  const sources = [{ path: PATH, text, secrets: [] }];

  test("the line, and carets below what the finding is about", () => {
    const diagnostic = finding("wrong-type", "error", 2, { column: 22, endColumn: 23 });
    expect(formatExcerpts({ ok: false, diagnostics: [diagnostic], sources }, plain)).toBe(
      [
        "conf/gateway.yaml:2:22: error wrong-type message of line 2",
        "  2 | server: { heartbeat: 5 }",
        "    |                      ^",
        "1 error, 0 warnings\n",
      ].join("\n"),
    );
  });

  test("a finding in a file that was not read stays one line", () => {
    const diagnostic = finding("file-unreadable", "error", 1, { file: "nowhere.yaml" });
    expect(formatExcerpts({ ok: false, diagnostics: [diagnostic], sources }, plain).split("\n")).toHaveLength(3);
  });

  test("a control character of the file reaches no terminal, and carets keep their place", () => {
    const [line, carets] = excerpts(sources)(finding("yaml-character", "error", 3, { column: 7, endColumn: 8 }));
    expect(line).toBe(" key: �[31mred");
    expect(carets).toBe("      ^");
  });

  test("secrets are covered, also when the file could not be read to its end", () => {
    const secret = "upstreams: { a: { api_keys: [sk-secret], dialect: openai } }\n  - sk-secret\n";
    const place = { file: PATH, line: 1, column: 30, endColumn: 39 };
    const [known] = excerpts([{ path: PATH, text: secret, secrets: [place] }])(finding("wrong-type", "error", 1));
    expect(known).toBe("upstreams: { a: { api_keys: [•••••••••], dialect: openai } }");
    for (const line of [1, 2]) {
      const [unread] = excerpts([{ path: PATH, text: secret, secrets: null }])(finding("yaml-syntax", "error", line));
      expect(unread).not.toContain("sk-secret");
    }
  });

  const UPSTREAM = 'dialect: openai, base_url: "https://api.example.com/v1"';
  const KEYS = 'api_keys: ["${env:KEY}"]';
  const leaks: readonly (readonly [what: string, upstream: string, more?: string])[] = [
    ["a misspelt key", `{ ${UPSTREAM}, api_key: opaque-value }`],
    ["a misspelt key in camel case", `{ ${UPSTREAM}, ${KEYS}, apiKey: opaque-value }`],
    ["a misspelt map", `{ ${UPSTREAM}, ${KEYS}, header: { authorization: opaque-value } }`],
    ["keys that are no list", `{ ${UPSTREAM}, api_keys: { first: opaque-value } }`],
    ["a key over two lines", `{ ${UPSTREAM}, api_keys: ["first\n     opaque-value", 7] }`],
    ["a key among plain text over two lines", `{ ${UPSTREAM}, api_keys: [first\n     opaque-value, 7] }`],
    ["a key in the wrong section", `{ ${UPSTREAM}, ${KEYS} }`, "api_keys: [opaque-value]"],
    ["a secret that is no map", `{ ${UPSTREAM}, ${KEYS} }`, "auth: { tokens: { secrets: [opaque-value] } }"],
    ["a token that is a list", `{ ${UPSTREAM}, ${KEYS} }`, "server: { admin: { token: [opaque-value] } }"],
    ["a misspelt token", `{ ${UPSTREAM}, ${KEYS} }`, "server: { admin: { tokn: opaque-value } }"],
    ["a password that has no key", `{ ${UPSTREAM}, ${KEYS} }`, "store: { password: opaque-value }"],
    ["what a file before it defines", `{ ${UPSTREAM}, ${KEYS} }`, "include: [part.yaml]"],
    ["a list that cannot be read", `\n    api_keys: [\n      "opaque-value" "x",\n    ]`],
    ["a key that cannot be read", `{ credential: opaque-value, x: ] }`],
  ];
  test.for(leaks)("what may be a secret is covered: %s", async ([, upstream, more = ""]) => {
    const text = SMALL.replace(/^ {2}alpha: .*$/m, `  alpha: ${upstream}`) + more;
    const part = `upstreams:\n  alpha: { ${UPSTREAM}, api_keys: [opaque-value] }\n`;
    const read = (path: string) => Promise.resolve(path === PATH ? text : part);
    const result = await loadConfig(options(PATH, { read, env: { KEY: "key" } }));
    const sources = result.sources.map((source) => ({ ...source, secrets: result.secrets }));
    const shown = formatExcerpts({ ...result, sources }, plain);
    expect(shown).toContain("•");
    expect(shown).toContain(" | ");
    expect(shown).not.toContain("opaque-value");
  });

  test("a control character of a message reaches no terminal", () => {
    const diagnostic = finding("unknown-key", "error", 3, { message: "unknown key '\u001b[31mred'" });
    expect(formatExcerpts({ ok: false, diagnostics: [diagnostic], sources }, plain)).not.toContain("\u001b");
  });

  test("carets stand below the place in any line, however long", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", "b", " ", "{"), maxLength: 400 }),
        fc.nat(400),
        fc.integer({ min: 1, max: 30 }),
        (line, at, width) => {
          const column = 1 + (line.length === 0 ? 0 : at % line.length);
          const numbered = Array.from({ length: line.length }, (_, index) => String.fromCodePoint(0x4e00 + index)).join(
            "",
          );
          const [shown = "", carets = ""] = excerpts([{ path: PATH, text: numbered, secrets: [] }])(
            finding("wrong-type", "error", 1, { column, endColumn: column + width }),
          );
          expect(shown.length).toBeLessThanOrEqual(122);
          expect(shown[carets.indexOf("^")]).toBe(numbered[column - 1]);
          expect(carets.length).toBeLessThanOrEqual(Math.max(shown.length, 1));
        },
      ),
      { numRuns: NUM_RUNS },
    );
  });
});

function unescaped(text: string): string {
  return text.replaceAll("%0D", "\r").replaceAll("%0A", "\n");
}

describe("annotations", () => {
  /** `::name key=value,key=value::data`, as the runner reads it back (actions/runner, ActionCommand.cs). */
  const COMMAND = /^::(error|warning|notice) ([^:\r\n]*)::([^\r\n]*)$/;

  function readBack(line: string) {
    const [, name = "", pairs = "", data = ""] = COMMAND.exec(line) ?? [];
    const properties = Object.fromEntries(
      pairs.split(",").map((pair) => {
        const value = pair.slice(pair.indexOf("=") + 1);
        return [
          pair.split("=", 1)[0],
          unescaped(value.replaceAll("%3A", ":").replaceAll("%2C", ",")).replaceAll("%25", "%"),
        ];
      }),
    );
    return { name, properties, data: unescaped(data).replaceAll("%25", "%") };
  }

  test("the grammar, whatever files and messages hold", () => {
    fc.assert(
      fc.property(anyDiagnostic, (diagnostic) => {
        const [line = "", notice = "", ...rest] = formatGithub({ diagnostics: [diagnostic] }).split("\n");
        expect(rest).toEqual([""]);
        const { name, properties, data } = readBack(line);
        expect(name).toBe(diagnostic.severity === "note" ? "notice" : diagnostic.severity);
        expect(properties).toMatchObject({
          file: diagnostic.file,
          line: String(diagnostic.line),
          col: String(diagnostic.column),
          title: diagnostic.rule,
        });
        expect(data).toContain(diagnostic.message);
        expect(readBack(notice).name).toBe("notice");
      }),
      { numRuns: NUM_RUNS },
    );
  });

  test("errors first, ten of a kind, and a notice that counts all", () => {
    const warnings = Array.from({ length: 12 }, (_, index) => finding("unused-upstream", "warning", index + 1));
    const errors = Array.from({ length: 11 }, (_, index) => finding("unknown-key", "error", index + 1));
    const lines = formatGithub({ diagnostics: [...warnings, ...errors] })
      .trimEnd()
      .split("\n");
    expect(lines.map((line) => readBack(line).name)).toEqual([
      ...Array.from({ length: 10 }, () => "error"),
      ...Array.from({ length: 10 }, () => "warning"),
      "notice",
    ]);
    expect(readBack(lines.at(-1)!).data).toBe(
      "11 errors, 12 warnings; 3 more are not shown here, run gateway check for all",
    );
  });

  test("nothing found: no annotation", () => {
    expect(formatGithub({ diagnostics: [] })).toBe("0 errors, 0 warnings\n");
  });
});

/** Of SARIF 2.1.0 the objects that are written, by the sections of the specification: closed, with their formats. */
const text = { type: "string", minLength: 1 };
const object = (properties: object, required: readonly string[]) => ({
  type: "object",
  additionalProperties: false,
  properties,
  required,
});
const message = object({ text, markdown: text }, ["text"]);
const level = { enum: ["none", "note", "warning", "error"] };
const positive = { type: "integer", minimum: 1 };
const SARIF = object(
  {
    $schema: { type: "string", pattern: String.raw`^https://.*sarif-2\.1\.0\.json$` },
    version: { const: "2.1.0" },
    runs: {
      type: "array",
      items: object(
        {
          // 3.18 and 3.19: a tool has a driver, which has a name; its rules are reportingDescriptors (3.49).
          tool: object(
            {
              driver: object(
                {
                  name: text,
                  rules: {
                    type: "array",
                    uniqueItems: true,
                    items: object(
                      {
                        id: text,
                        shortDescription: message,
                        fullDescription: message,
                        help: message,
                        defaultConfiguration: object({ level }, []),
                      },
                      ["id"],
                    ),
                  },
                },
                ["name"],
              ),
            },
            ["driver"],
          ),
          columnKind: { enum: ["utf16CodeUnits", "unicodeCodePoints"] },
          // 3.27.
          results: {
            type: "array",
            items: object(
              {
                ruleId: text,
                ruleIndex: { type: "integer", minimum: -1 },
                level,
                message,
                // 3.28 to 3.30, 3.33.
                locations: {
                  type: "array",
                  items: object(
                    {
                      physicalLocation: object(
                        {
                          artifactLocation: object(
                            { uri: { type: "string", pattern: String.raw`^[\w.~!$&'()*+,;=:@/%-]+$` } },
                            ["uri"],
                          ),
                          region: object({ startLine: positive, startColumn: positive, endColumn: positive }, [
                            "startLine",
                          ]),
                        },
                        ["artifactLocation"],
                      ),
                      logicalLocations: {
                        type: "array",
                        items: object({ fullyQualifiedName: text, kind: text }, []),
                      },
                    },
                    [],
                  ),
                },
              },
              ["message"],
            ),
          },
        },
        ["tool"],
      ),
    },
  },
  ["version", "runs"],
);

interface Log {
  readonly runs: readonly {
    readonly tool: { readonly driver: { readonly rules: readonly { readonly id: string }[] } };
    readonly results: readonly { readonly ruleId: string; readonly ruleIndex: number }[];
  }[];
}

describe("SARIF", () => {
  const validate = new Ajv({ allErrors: true }).compile(SARIF);
  // OASIS's own schema, which leaves objects open: it is the one above that finds a misspelt key.
  const published = fileURLToPath(import.meta.resolve("@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json"));
  const ajv = new AjvDraft04.default({ allErrors: true, strict: false, unicodeRegExp: false });
  addFormats.default(ajv);
  const validateAsPublished = ajv.compile(JSON.parse(readFileSync(published, "utf8")) as object);

  function sarifOf(diagnostics: readonly Diagnostic[]): Log {
    const log: unknown = JSON.parse(formatSarif({ diagnostics }));
    expect(validate(log) ? [] : validate.errors).toEqual([]);
    expect(validateAsPublished(log) ? [] : validateAsPublished.errors).toEqual([]);
    return log as Log;
  }

  test("what every bad configuration gives is valid, and each result is of its rule", async () => {
    for (const { file, options: more } of readCases()) {
      const { diagnostics } = await loadConfig(options(file, more));
      const [run] = sarifOf(diagnostics).runs;
      expect(run?.results.map(({ ruleId }) => ruleId)).toEqual(diagnostics.map(({ rule }) => rule));
      for (const { ruleId, ruleIndex } of run?.results ?? []) {
        expect(run?.tool.driver.rules[ruleIndex]?.id).toBe(ruleId);
      }
    }
  });

  test("a file name is a URI, relative as it is", () => {
    fc.assert(
      fc.property(
        anyDiagnostic.filter(({ file, message }) => file !== "" && message !== ""),
        (diagnostic) => {
          sarifOf([diagnostic]);
        },
      ),
      { numRuns: NUM_RUNS },
    );
    expect(formatSarif({ diagnostics: [finding("wrong-type", "error", 1, { file: "a b/c%d.yaml" })] })).toContain(
      '"uri": "a%20b/c%25d.yaml"',
    );
  });

  test("the published schema refuses what it should", () => {
    expect(validateAsPublished({ version: "2.1.0", runs: [{ tool: { driver: {} } }] })).toBe(false);
    expect(validateAsPublished({ version: "2.1.0", runs: [{ tool: { driver: { name: "x" } } }] })).toBe(true);
  });

  test("no finding is a run without results", () => {
    expect(sarifOf([]).runs).toMatchObject([{ results: [] }]);
  });
});

test("every rule's paragraph is in schemas/README.md", () => {
  const readme = readFileSync(resolve(import.meta.dirname, "../../schemas/README.md"), "utf8");
  for (const [rule, { paragraph }] of Object.entries(RULES)) {
    expect(readme).toContain(`### ${rule}\n`);
    expect(readme).toContain(paragraph);
  }
});

test("a note is counted where there is one", () => {
  const checked = { ok: true, diagnostics: [finding("breaker-scope", "note")], sources: [] };
  expect(formatExcerpts(checked, (_severity, text) => text)).toContain("0 errors, 0 warnings, 1 note\n");
  expect(formatExcerpts({ ...checked, diagnostics: [] }, (_severity, text) => text)).toBe("0 errors, 0 warnings\n");
});
