import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { isJson, type Json } from "../../src/kit/index.ts";
import { sharedFixtures } from "../support/shared.ts";
import { ALL_CASES, casesOf } from "./cases.ts";

/* The cases are legal by the clients' own definitions. What is not would show nothing about the gateway. */

const openapi = sharedFixtures("openai-openapi");

/** A check of a schema of OpenAI's description; each message a line. */
function openaiCheck(folder: string): (schema: string, value: unknown) => readonly string[] {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false, logger: false });
  const { components } = JSON.parse(readFileSync(join(folder, "openapi.json"), "utf8")) as Json;
  ajv.addSchema({ $id: "openapi", components: lenient(components) });
  return (schema, value) => {
    const validate = ajv.getSchema(`openapi#/components/schemas/${schema}`);
    if (validate === undefined) throw new Error(`no schema ${schema}`);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };
}

/**
 * The description as it is meant: its alternatives overlap (a message with a type is both of two), and `nullable` is of an
 * older version of OpenAPI than it names.
 */
function lenient(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lenient);
  if (!isJson(value)) return value;
  const { oneOf, nullable, discriminator: _discriminator, ...rest } = value;
  const inner = Object.fromEntries(Object.entries(rest).map(([name, of]) => [name, lenient(of)]));
  const whole = oneOf === undefined ? inner : { ...inner, anyOf: lenient(oneOf) };
  return nullable === true ? { anyOf: [whole, { type: "null" }] } : whole;
}

/** What clients send, whatever the description of the API says. */
const BY_CLIENTS: ReadonlySet<string> = new Set(["codex-loop"]);

const SCHEMAS = { chat: "CreateChatCompletionRequest", responses: "CreateResponse" } as const;

describe.skipIf(openapi === null).each(["chat", "responses"] as const)("%s", (format) => {
  const check = openaiCheck(openapi ?? "");

  test.each(
    casesOf(format)
      .filter(({ name }) => !BY_CLIENTS.has(name))
      .map((one) => [one.name, one] as const),
  )("%s is legal", (_, { body }) => {
    expect(check(SCHEMAS[format], { model: "gpt-5", ...body })).toEqual([]);
  });
});

/** Claude Code sends it; the SDK's types do not have it. */
const UNTYPED = /and '"scope"' does not exist in type 'BetaCacheControlEphemeral'/;
/** Sampling fields are of the API's version 2023-06-01, which most clients send; the SDK's types are of a later one. */
const SAMPLING = "{ temperature?: number; top_p?: number; top_k?: number }";

test("cases of Messages are of the SDK's types", () => {
  const folder = mkdtempSync(fileURLToPath(new URL("types-", import.meta.url)));
  try {
    const cases = casesOf("messages").map(({ name, body }) => `  ${JSON.stringify(name)}: ${JSON.stringify(body)},`);
    const text = [
      'import type { MessageCreateParamsNonStreaming } from "@anthropic-ai/sdk/resources/beta/messages/messages";',
      `export const cases: Record<string, Omit<MessageCreateParamsNonStreaming, "model"> & ${SAMPLING}> = {`,
      ...cases,
      "};",
    ];
    writeFileSync(join(folder, "cases.ts"), text.join("\n"));
    const options =
      "--ignoreConfig --noEmit --strict --skipLibCheck --module nodenext --target esnext --pretty false".split(" ");
    const tsc = fileURLToPath(new URL("../../node_modules/.bin/tsc", import.meta.url));
    const { stdout } = spawnSync(tsc, [...options, join(folder, "cases.ts")], { encoding: "utf8", cwd: folder });
    expect(stdout.split("\n").filter((line) => line !== "" && !UNTYPED.test(line))).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 60_000);

test("there are as many cases as there were", () => {
  expect(ALL_CASES.length).toBeGreaterThanOrEqual(110);
});
