import { resolve } from "node:path";
import { expect, test } from "vitest";
import { diagnose, type Diagnostic, formatText, join } from "../../src/config/diagnostics.ts";
import { formatJson } from "../../src/config/report.ts";
import { pathOf } from "../../src/kit/index.ts";

const place = { file: resolve("conf/gateway.yaml"), line: 3, column: 5, endColumn: 9 };
const unknown = diagnose(place, "/models/a", { rule: "unknown-key", message: "unknown key 'a'", hint: "remove it" });
const unused = diagnose({ ...place, file: "/elsewhere/x.yaml" }, "", {
  rule: "unused-upstream",
  message: "is not used in any chain",
  severity: "warning",
});

test("text: one line each, then a count", () => {
  expect(formatText([unknown, unused])).toBe(
    "conf/gateway.yaml:3:5: error unknown-key unknown key 'a' (remove it)\n" +
      "/elsewhere/x.yaml:3:5: warning unused-upstream is not used in any chain\n" +
      "1 error, 1 warning\n",
  );
  expect(formatText([])).toBe("0 errors, 0 warnings\n");
});

test("text: a name with a line break stays one line", () => {
  const broken: Diagnostic = { ...unknown, message: "unknown key 'a\nb'" };
  expect(formatText([broken]).split("\n")).toHaveLength(3);
});

test("json: the documented fields and no others", () => {
  const { endColumn, ...rest } = unknown;
  expect(endColumn).toBe(9);
  expect(JSON.parse(formatJson({ ok: false, diagnostics: [unknown] }))).toEqual({ ok: false, diagnostics: [rest] });
});

test("pointers are escaped and read back", () => {
  const pointer = join("/models", "route/a~b", "chain", 0);
  expect(pointer).toBe("/models/route~1a~0b/chain/0");
  expect(pathOf(pointer)).toEqual(["models", "route/a~b", "chain", "0"]);
});
