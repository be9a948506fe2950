import { describe, expect, test } from "vitest";
import { refusalOf } from "../../support/refusal.ts";
import { type Call, type Json } from "../../../src/kit/index.ts";
import { accepting, callOf, cases, target } from "./support.ts";

/** A canonical call and what goes over the wire for it. */
interface Case {
  readonly about?: string;
  readonly model?: string;
  /** `accepts.fields` of the upstream. */
  readonly accepts?: readonly string[];
  /** Of the model as it is configured. */
  readonly maxOutput?: number;
  readonly body: Json;
  readonly call?: Partial<Call>;
  /** Fields of the body that must be exactly these. */
  readonly sends?: Json;
  /** Fields that must not be there. */
  readonly without?: readonly string[];
  readonly headers?: Json;
  readonly dropped?: readonly string[];
  /** The message of a refusal instead. */
  readonly refused?: string;
}

const all = cases("requests") as readonly (readonly [string, Case])[];

function sent({ body, call, model = "claude-x-1", accepts, maxOutput }: Case): {
  readonly body: Json;
  readonly headers: Json;
  readonly dropped: unknown;
} {
  const {
    body: text,
    headers,
    dropped,
  } = accepting(accepts).request(
    callOf(body, call),
    { ...target(model), ...(maxOutput !== undefined && { maxOutput }) },
    "sk-ant-api-1",
  );
  return { body: JSON.parse(text as string) as Json, headers, dropped };
}

describe("a canonical call becomes a Messages request", () => {
  test.each(all.filter(([, { refused }]) => refused === undefined))("%s", (_, one) => {
    const { body, headers, dropped } = sent(one);
    expect(body).toMatchObject({ model: one.model ?? "claude-x-1" });
    for (const [name, value] of Object.entries(one.sends ?? {}))
      expect({ [name]: body[name] }).toEqual({ [name]: value });
    for (const name of one.without ?? []) expect(body).not.toHaveProperty(name);
    expect(headers).toMatchObject(one.headers ?? {});
    expect(dropped).toEqual(one.dropped ?? []);
  });
});

describe("what is no canonical call is refused by name", () => {
  test.each(all.filter(([, { refused }]) => refused !== undefined))("%s", (_, one) => {
    expect(() => sent(one)).toThrow(refusalOf(one.refused ?? ""));
  });
});

test("there are cases", () => {
  expect(all.length).toBeGreaterThan(60);
});
