import { Ajv } from "ajv";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { RUNS } from "../../../properties/runs.ts";
import schema from "../../../../schemas/api/messages.schema.json" with { type: "json" };
import { messagesFormat, readCountTokens, readMessages } from "../../../../src/dialects/messages/client/format.ts";
import { anthropic } from "../../../../src/dialects/messages/index.ts";
import { GatewayError, type Json } from "../../../../src/kit/index.ts";
import { testTarget } from "../../../support/snapshot.ts";
import { requests } from "./arbitrary.ts";

const validate = new Ajv({ strict: true, strictRequired: false, allowUnionTypes: true }).compile(schema);
const json = fc.jsonValue({ maxDepth: 3 });
const target = testTarget("up", { model: "their-model" });

/** The value with one place in it exchanged, anywhere below. */
function spoiled(value: unknown, way: readonly number[], by: unknown): unknown {
  const [step, ...rest] = way;
  if (step === undefined || typeof value !== "object" || value === null) return by;
  const names = Object.keys(value);
  const name = names[step % (names.length || 1)];
  if (name === undefined) return by;
  const inner = spoiled((value as Json)[name], rest, by);
  if (Array.isArray(value)) return value.map((item: unknown, index) => (index === Number(name) ? inner : item));
  return { ...value, [name]: inner };
}

/** How a body fares on its way to an upstream. */
function outcome(body: Json): string {
  try {
    const call = readMessages(body, { "anthropic-version": "2023-06-01" });
    messagesFormat(call).promptText();
    anthropic.codecs.chat?.request(call, target, "k");
    return "sent";
  } catch (error) {
    return error instanceof GatewayError ? "refused" : String(error);
  }
}

test("what the schema accepts is read, counted and written, or refused with its place", () => {
  let accepted = 0;
  fc.assert(
    fc.property(requests, fc.array(fc.nat(50), { minLength: 1, maxLength: 6 }), json, (request, way, by) => {
      const body = spoiled(request, way, by) as Json;
      if (!validate(body)) return;
      accepted += 1;
      expect(readCountTokens(body).model).toBe(body["model"]);
      expect(["sent", "refused"]).toContain(outcome(body));
    }),
    { numRuns: RUNS },
  );
  expect(accepted).toBeGreaterThan(50);
});
