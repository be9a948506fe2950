import { afterAll, beforeAll, expect, test } from "vitest";
import type { Json } from "../../../../src/kit/index.ts";
import { ALL_ENDPOINTS, FORMATS, placeOf } from "../../support/formats.ts";
import { file, formOf, formSent, text } from "../../support/form.ts";
import { shown } from "../../support/http.ts";
import type { TestUser } from "../../support/in-process.ts";
import { AUDIO, PLACES } from "../../support/kinds.ts";
import { expectReplay, keyed, type Stage, startStage } from "./stage.ts";

/** Keys and bodies: these rules do not depend on the store. */
let stage: Stage;
let user: TestUser;
beforeAll(async () => {
  stage = await startStage(1, null);
});
afterAll(() => stage.close());
const newUser = async () => (user = await stage.gateways[0].user());

/** The same JSON value in other words: names the other way round, blanks between, letters escaped. */
function rewritten(body: Json): string {
  const text = JSON.stringify(body, (_name, value: unknown) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).toReversed());
  });
  return text.replaceAll('":', '" : ').replaceAll("e", (letter, at: number) => {
    // Not of a literal.
    return /[a-z]e[a-z]/.test(text.slice(at - 1, at + 2)) && text[at - 1] !== "u" ? "\\u0065" : letter;
  });
}

test.each(ALL_ENDPOINTS.filter((endpoint) => endpoint !== "transcription"))(
  "%s: the same JSON value is the same request, however it is written",
  async (endpoint) => {
    await newUser();
    const [one] = stage.gateways;
    const { path, model } = placeOf(endpoint);
    const { body } = endpoint in PLACES ? PLACES[endpoint as keyof typeof PLACES] : FORMATS[endpoint as "messages"];
    const headers = {
      authorization: `Bearer ${user.key}`,
      "content-type": "application/json",
      "idempotency-key": "k",
    };
    const value = { model, ...body, extra: { b: [1, { c: null }], a: 1e2 } };
    const other = rewritten(value).replace(/:\s*100\b/, ":1.0E+2");
    expect(JSON.parse(other)).toEqual(value);
    const first = await one.send(path, { headers, body: JSON.stringify(value) });
    expect(first.status).toBe(200);
    expectReplay(await one.send(path, { headers, body: other }), first);
  },
);

test.each([20_000, 400_000])("texts of %i characters count, whatever is done to them on the way", async (length) => {
  await newUser();
  const [one] = stage.gateways;
  const asking = (last: string): Json => ({ messages: [{ role: "user", content: "x".repeat(length) + last }] });
  const first = await keyed(one, user, "chat", "k", { changes: asking("a") }).whole();
  expect(first.status).toBe(200);
  expectReplay(await keyed(one, user, "chat", "k", { changes: asking("a") }).whole(), first);
  const escaped = JSON.stringify({ model: "route/one", ...asking("a") }).replace("xxx", String.raw`\u0078xx`);
  const headers = {
    authorization: `Bearer ${user.key}`,
    "content-type": "application/json",
    "idempotency-key": "k",
  };
  expectReplay(await one.send(FORMATS.chat.path, { headers, body: escaped }), first);
  expect((await keyed(one, user, "chat", "k", { changes: asking("b") }).whole()).status).toBe(422);
});

test("a form is its fields, in any order, and the bytes of its file", async () => {
  await newUser();
  const [one] = stage.gateways;
  const { path, model, body } = PLACES.transcription;
  const first = await keyed(one, user, "transcription", "k").whole();
  const form = formOf([file(AUDIO), text("language", String(body["language"])), text("model", model)]);
  const headers = { authorization: `Bearer ${user.key}`, "idempotency-key": "k" };
  const again = await one.send(path, formSent(form, headers));
  expectReplay(again, first);
  expect(again.status).toBe(200);
});

test.each([
  ["empty", ""],
  ["too long", "k".repeat(256)],
  ["of two words", "a b"],
  ["not ASCII", "k\u00fc"],
])("a key that is %s is a 400, also before the body", async (_, key) => {
  await newUser();
  const { count } = stage.gate;
  for (const endpoint of ALL_ENDPOINTS) {
    const answer = await keyed(stage.gateways[0], user, endpoint, key, { changes: { model: 5 } }).whole();
    expect(shown(answer)).toEqual([
      400,
      "INVALID_REQUEST",
      "text/plain; charset=utf-8",
      "Invalid request: Idempotency-Key must be 1 to 255 visible ASCII characters",
    ]);
  }
  expect(stage.gate.count).toBe(count);
});

test("a key may have 255 characters; two are none", async () => {
  await newUser();
  const [one] = stage.gateways;
  const longest = "k".repeat(254) + "~";
  const first = await keyed(one, user, "chat", longest).whole();
  expectReplay(await keyed(one, user, "chat", longest).whole(), first);
  const twice = { "idempotency-key": ["a", "b"] as unknown as string };
  expect((await keyed(one, user, "chat", "", { headers: twice }).whole()).status).toBe(400);
});

test("a page of another site may send keys and read what was said of them", async () => {
  await newUser();
  const [one] = stage.gateways;
  const headers = { origin: "https://app.example" };
  await keyed(one, user, "chat", "k", { headers }).whole();
  const again = await keyed(one, user, "chat", "k", { headers }).whole();
  expect(again.headers["access-control-expose-headers"]).toContain("Idempotency-Replayed");
  expect(again.headers["access-control-allow-origin"]).toBe("*");
});
