import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import { shown } from "../support/http.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";
import { type KindEndpoint, askKind, ENDPOINTS, KIND_CHAINS, PLACES } from "../support/kinds.ts";

const TEXT = "text/plain; charset=utf-8";
const JSON_PLACES = ENDPOINTS.filter((endpoint) => endpoint !== "transcription");

let gateway: TestGateway;
let user: TestUser;
beforeAll(async () => {
  gateway = await TestGateway.start({
    chains: {
      ...KIND_CHAINS,
      "route/voices": { kind: "speech", scripts: ["-"], voices: ["sage", 'ju"niper'] },
      "route/live": { kind: "transcription", scripts: ["-"], realtime: true },
    },
    config: { server: { body_limit: "8MiB" } },
  });
  user = await gateway.user();
});
afterAll(() => gateway.close());

const VOICES = '"sage", "ju\\"niper"';

/** What is changed in a good request, and what is said about it; all that schemas refuse is in server/body-schemas. */
const REFUSED: Readonly<Record<Exclude<KindEndpoint, "chat" | "transcription">, readonly (readonly [Json, string])[]>> =
  {
    embeddings: [[{ input: ["a", 5] }, "/input/0 must be an integer"]],
    rerank: [
      [{ query: "q".repeat(2 * 1024 * 1024) }, "/query must be at most 65536 characters"],
      [{ documents: [{ id: 1 }] }, "/documents/0/text is required"],
    ],
    speech: [
      [{ speed: 5 }, "/speed must be at most 4"],
      [{ model: "route/voices", voice: "SAGE" }, `/voice must be one of ${VOICES}`],
      [{ model: "route/voices", voice: "__proto__" }, `/voice must be one of ${VOICES}`],
    ],
    image: [
      [{ size: "big" }, "/size must be WIDTHxHEIGHT in pixels, or auto"],
      [{ width: 64 }, "/height is required with /width"],
      [{ height: 64 }, "/width is required with /height"],
      [{ width: 64, height: null }, "/height is required with /width"],
      [{ width: 64, height: 64, size: "64x65" }, "/size must be the same as /width and /height"],
      [{ width: 64, height: 64, size: "auto" }, "/size must be the same as /width and /height"],
      [{ stream: true }, "/stream is not supported for images"],
    ],
  };
const ROWS = Object.entries(REFUSED).flatMap(([endpoint, rows]) =>
  rows.map(([changes, what]) => [endpoint as KindEndpoint, changes, what] as const),
);

/** Sends it, and expects an answer that changes nothing. */
async function expectRefused(
  endpoint: KindEndpoint,
  request: Parameters<typeof askKind>[3],
  expected: readonly unknown[],
  sent: Parameters<typeof askKind>[4] = {},
): Promise<void> {
  const [before, asked] = [await gateway.books(user), gateway.simulator.ledger().length];
  expect(shown(await askKind(gateway, user, endpoint, request, sent))).toEqual(expected);
  expect(await gateway.books(user)).toEqual(before);
  expect(gateway.simulator.ledger()).toHaveLength(asked);
}

const invalid = (what: string) => [400, "INVALID_REQUEST", TEXT, `Invalid request: ${what}`] as const;

describe("what is wrong is named, and changes nothing", () => {
  const named = ROWS.map(
    ([endpoint, changes, what]) => [endpoint, JSON.stringify(changes).slice(0, 60), what, changes] as const,
  );

  test.each(named)("%s %s: %s", async (endpoint, _, what, changes) => {
    expect.hasAssertions();
    await expectRefused(endpoint, changes, invalid(what));
  });

  test.each(JSON_PLACES)("%s without a model, with an empty one, with one that is no string", async (endpoint) => {
    expect.hasAssertions();
    await expectRefused(endpoint, { model: undefined }, invalid("/model is required"));
    await expectRefused(endpoint, { model: "" }, invalid("/model must not be empty"));
    await expectRefused(endpoint, { model: 5 }, invalid("/model must be a string"));
  });

  test.each(JSON_PLACES)("%s with a body that is none", async (endpoint) => {
    expect.hasAssertions();
    await expectRefused(endpoint, {}, invalid("/ must not be empty"), { body: "" });
    await expectRefused(endpoint, {}, invalid("/ must be an object"), { body: "[]" });
    await expectRefused(endpoint, {}, invalid("/ must be UTF-8"), { body: Buffer.from('{"model":"\xff"}', "latin1") });
    await expectRefused(endpoint, {}, invalid("/ must not be nested deeper than 200 levels"), {
      body: `{"a":${"[".repeat(200)}${"]".repeat(200)}}`,
    });
  });
});

describe("models of another kind", () => {
  const pairs = ENDPOINTS.flatMap((endpoint) =>
    ENDPOINTS.filter((other) => other !== endpoint).map((other) => [endpoint, other] as const),
  );

  test.each(pairs)("%s with a model for %s", async (endpoint, other) => {
    expect.hasAssertions();
    const { model } = PLACES[other];
    const refused =
      endpoint === "image"
        ? [404, undefined, "application/json", '{"error":"Model not found"}']
        : [400, "INVALID_MODEL", TEXT, `Invalid model: '${model}'`];
    await expectRefused(endpoint, { model }, refused);
  });

  test("a live model is for live streams only, and no model of another kind", async () => {
    expect.hasAssertions();
    const live = [400, "INVALID_REQUEST", TEXT, "Model 'route/live' is for real-time streaming only"];
    await expectRefused("transcription", { model: "route/live" }, live);
    await expectRefused("chat", { model: "route/live" }, [400, "INVALID_MODEL", TEXT, "Invalid model: 'route/live'"]);
  });

  test.each(ENDPOINTS)("%s with names that are no model's", async (endpoint) => {
    expect.hasAssertions();
    for (const model of ["__proto__", "constructor", "route/embed ", "ROUTE/EMBED", "embed", "route/é\u202e"])
      await expectRefused(endpoint, { model }, [400, "INVALID_MODEL", TEXT, `Invalid model: '${model}'`]);
  });
});

describe("content types", () => {
  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/json; charset=latin1",
    "multipart/form-data; boundary=x",
    "",
  ])("%s is not JSON", async (type) => {
    expect.hasAssertions();
    for (const endpoint of JSON_PLACES) {
      const answer = [415, "UNSUPPORTED_MEDIA_TYPE", TEXT, "Content-Type must be application/json"];
      await expectRefused(endpoint, {}, answer, { headers: { "content-type": type } });
    }
  });
});
