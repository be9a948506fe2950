import { readdirSync } from "node:fs";
import { basename } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import messages from "../../schemas/api/messages.schema.json" with { type: "json" };
import responses from "../../schemas/api/responses-create.schema.json" with { type: "json" };
import type { Json } from "../../src/kit/index.ts";
import { type BodyName, validateBody } from "../../src/server/body-schemas.ts";
import { readYaml } from "./cases.ts";
import { claudeCode } from "./messages/client/claude-code.ts";
import codex from "./responses/client/codex.json" with { type: "json" };

/* Which bodies a client may send, and what it is told of others: a file of them for each kind of body. */

interface Bodies {
  readonly good: Readonly<Record<string, Json>>;
  readonly wrong: readonly (readonly [body: Json, mistake: string])[];
}

const FOLDER = new URL("bodies/", import.meta.url);
const NAMES = readdirSync(FOLDER).map((file) => basename(file, ".yaml") as BodyName);

/** The first mistake; null for a good body. */
function mistakeIn(name: BodyName, body: Json): string | null {
  const mistake = validateBody(name, body);
  return mistake && `${mistake.pointer} ${mistake.what}`;
}

describe.each(NAMES)("%s", (name) => {
  const { good, wrong } = readYaml(new URL(`${name}.yaml`, FOLDER)) as Bodies;

  test.each(Object.entries(good))("takes %s", (_, body) => {
    expect(mistakeIn(name, body)).toBeNull();
  });

  test.each(wrong)("%j: %s", (body, mistake) => {
    expect(mistakeIn(name, body)).toBe(mistake);
  });
});

const many = (count: number, item: unknown): unknown[] => Array.from({ length: count }, () => item);
const embed = (input: unknown): Json => ({ model: "route/e", input });
const rerank = (more: Json): Json => ({ model: "route/r", query: "q", documents: ["a"], ...more });
const speak = (input: string): Json => ({ model: "route/v", voice: "v", input });
const nulls = Object.entries(responses.properties).filter(
  ([, { type }]) => Array.isArray(type) && type.includes("null"),
);
const DEEP = 100_000;
const deep = `[${'{"type":"tool_result","tool_use_id":"a","content":['.repeat(DEEP)}${"]}".repeat(DEEP)}]`;

test.each<[BodyName, string, Json, string | null]>([
  ["messages", "what Claude Code sends", claudeCode, null],
  ["count_tokens", "what Claude Code sends", claudeCode, null],
  ["responses", "what codex sends", codex, null],
  [
    "responses",
    "nulls",
    { ...Object.fromEntries(nulls.map(([field]) => [field, null])), model: "a", input: "b" },
    null,
  ],
  ["embeddings", "as many texts as may be", embed(many(2048, "a")), null],
  ["embeddings", "more tokens than texts may be", embed(many(8192, 5)), null],
  ["embeddings", "more texts", embed(many(2049, "a")), "/input must have at most 2048 items"],
  ["embeddings", "more lists of tokens", embed(many(2049, [1])), "/input must have at most 2048 items"],
  ["rerank", "as many documents as may be", rerank({ documents: many(1000, "a") }), null],
  ["rerank", "more", rerank({ documents: many(1001, "a") }), "/documents must have at most 1000 items"],
  ["rerank", "a query as long as may be, in characters", rerank({ query: "🌍".repeat(65_536) }), null],
  ["rerank", "longer", rerank({ query: "x".repeat(65_537) }), "/query must be at most 65536 characters"],
  ["speech", "a text as long as may be, in characters", speak("👍".repeat(40_000)), null],
  ["speech", "longer", speak("x".repeat(40_001)), "/input must be at most 40000 characters"],
  ["image", "a long prompt", { model: "m", prompt: "x".repeat(32_001) }, "/prompt must be at most 32000 characters"],
  [
    "transcription",
    "a long number",
    { model: "m", temperature: "9".repeat(60_000) },
    "/temperature must be a decimal number: the sampling temperature",
  ],
])("%s: %s", (name, _, body, mistake) => {
  expect(mistakeIn(name, body)).toBe(mistake);
});

test("a body nested however deeply is checked", () => {
  const check = new Ajv({ strict: true, strictRequired: false, allowUnionTypes: true }).compile(messages);
  const content = JSON.parse(deep) as unknown;
  expect(check({ model: "m", max_tokens: 1, messages: [{ role: "user", content }] })).toBe(true);
});
