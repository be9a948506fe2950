import * as fc from "fast-check";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkConfig } from "../../src/gateway/configuration.ts";
import { formatFindings, formatFindingsJson } from "../../src/import/findings.ts";
import { importConfiguration, type Imported, KINDS, type SourceKind } from "../../src/import/run.ts";
import { temporaryFolder } from "../store/support.ts";
import { SHAPES } from "./shapes.ts";

const NUM_RUNS = Number(process.env["NUM_RUNS"] ?? 25);

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

async function imported(kind: SourceKind, source: Json, folder: string): Promise<Imported> {
  const path = join(folder, "source.json");
  await writeFile(path, JSON.stringify(source));
  const tests = { path: join(folder, "gateway.test.yaml"), config: join(folder, "gateway.yaml") };
  return importConfiguration({ kind, path, shown: "source.json", tests });
}

/** The paths of all leaves, written a second time: not with the code that is tested. */
function leaves(value: Json, path = ""): string[] {
  const inner: (readonly [string, Json])[] = Array.isArray(value)
    ? value.map((item: Json, index) => [`${path}[${index}]`, item] as const)
    : value !== null && typeof value === "object"
      ? Object.entries(value).map(([key, item]) => [below(path, key), item] as const)
      : [];
  return inner.length === 0 ? [path] : inner.flatMap(([at, item]) => leaves(item, at));
}

function below(path: string, key: string): string {
  if (!/^[A-Za-z_$][\w$-]*$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === "" ? key : `${path}.${key}`;
}

/** What nobody expects at a place: to be put into a configuration anywhere. */
const strange: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(null, true, "", "*", "text", "0", -1, 1e9, 0.1, "os.environ/", "${env:X}", "a/b", "\n"),
    fc.string({ maxLength: 12 }),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "b.c", "d e", "0", "model", "api_key", "__proto__x"), tie("value"), {
      maxKeys: 3,
    }),
  ),
})).value;

/** A configuration of the kind in which some values, up to five of them, are replaced. */
function mutated(shape: Json, replacement: fc.Arbitrary<Json>, maxChanges: number): fc.Arbitrary<Json> {
  const count = leaves(shape).length;
  const changes = fc.array(fc.tuple(fc.nat(count - 1), replacement), { minLength: 1, maxLength: maxChanges });
  return changes.map((all) => {
    const byIndex = new Map(all);
    let index = -1;
    const walk = (value: Json): Json => {
      if (Array.isArray(value) && value.length > 0) return value.map((item: Json) => walk(item));
      if (value !== null && typeof value === "object" && !Array.isArray(value) && Object.keys(value).length > 0)
        return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, walk(item)]));
      index++;
      return byIndex.has(index) ? byIndex.get(index)! : value;
    };
    return walk(shape);
  });
}

test.each(KINDS)(
  "%s: every leaf is named once, and what is written passes a check, whatever stands where",
  async (kind) => {
    const folder = temporaryFolder();
    await fc.assert(
      fc.asyncProperty(mutated(SHAPES[kind], strange, 5), async (source) => {
        const { findings, yaml } = await imported(kind, source, folder);
        expect(findings.map(({ path }) => path)).toEqual(leaves(source));
        const file = join(folder, "gateway.yaml");
        await writeFile(file, yaml);
        const { diagnostics } = await checkConfig({ file, strict: false, now: 0, env: {} });
        const errors = diagnostics.filter(({ severity }) => severity === "error");
        expect(errors.map(({ pointer, message }) => `${pointer} ${message}`)).toEqual([]);
      }),
      { numRuns: NUM_RUNS },
    );
  },
);

const PLANTED = "pLaNtEd7Z3x9Q";
/** Ways in which a secret stands in a configuration. */
const planted = fc.constantFrom<Json>(
  `sk-${PLANTED}`,
  `Bearer ${PLANTED}abc`,
  `https://user:${PLANTED}@example.com/v1`,
  `https://example.com/v1?key=${PLANTED}`,
  `postgresql://u:${PLANTED}@db:5432/x`,
  `redis://:${PLANTED}@redis:6379/0`,
  `Server=db;Password=${PLANTED};`,
  { unknown: { api_key: PLANTED, password: `${PLANTED} ${PLANTED}` } },
  { Authorization: `Bearer ${PLANTED}`, "X-Own": PLANTED },
  [{ headers: { "x-api-key": PLANTED } }],
  { [`sk-${PLANTED}abcdefgh`]: `sk-${PLANTED}` },
);

test.each(KINDS)("%s: a secret is nowhere in what is written, wherever it stands", async (kind) => {
  const folder = temporaryFolder();
  await fc.assert(
    fc.asyncProperty(mutated(SHAPES[kind], planted, 3), async (source) => {
      const { findings, yaml, tests } = await imported(kind, source, folder);
      const written = [yaml, tests ?? "", formatFindings(findings), formatFindingsJson(findings)].join("\n");
      expect(written).not.toContain(PLANTED);
    }),
    { numRuns: NUM_RUNS * 2 },
  );
});
