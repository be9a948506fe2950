import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import { RUNS } from "../../properties/runs.ts";
import { ENDPOINTS as ROUTES } from "../../../src/server/endpoints.ts";
import { formOf, FORM_TYPE, type Part } from "../support/form.ts";
import type { Answer } from "../support/http.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";
import { type KindEndpoint, askKind, ENDPOINTS, KIND_CHAINS } from "../support/kinds.ts";

const SEED = 20_260_122;

let gateway: TestGateway;
let user: TestUser;
let token: string;
beforeAll(async () => {
  gateway = await TestGateway.start({ chains: KIND_CHAINS });
  user = await gateway.user({ credits: "1000000" });
  token = await gateway.token(user);
});
afterAll(() => gateway.close());

/** Anything JSON can hold, with names and values that have broken something somewhere. */
const nasty = fc.oneof(
  fc.jsonValue({ maxDepth: 3, noUnicodeString: false }),
  fc.constantFrom<unknown>("", "__proto__", "constructor", "\u0000", "\ud800", "route/one", "x".repeat(70_000)),
  fc.constantFrom<unknown>(0, -1, -0, 0.5, 1e308, 2 ** 53, Number.MAX_SAFE_INTEGER, null, true, [], {}, [[]], [null]),
);
const FIELDS: Readonly<Record<KindEndpoint, readonly string[]>> = {
  chat: ["messages", "stream", "max_tokens", "n", "tools", "tool_choice", "stop", "stream_options", "temperature"],
  embeddings: ["input", "encoding_format", "dimensions", "user"],
  rerank: ["query", "documents", "top_n", "return_documents", "max_chunks_per_doc"],
  speech: ["input", "voice", "response_format", "speed", "instructions", "stream_format"],
  transcription: ["file", "language", "prompt", "response_format", "temperature", "stream"],
  image: ["prompt", "n", "size", "width", "height", "response_format", "stream", "quality"],
};
const changes = (endpoint: KindEndpoint): fc.Arbitrary<Json> =>
  fc.dictionary(fc.constantFrom("model", ...FIELDS[endpoint], "__proto__", "constructor", "toJSON"), nasty, {
    maxKeys: 3,
  });

/** The gateway's own fault is the one thing that it must not be; every answer is checked by the document as well. */
function isSane({ status, headers }: Answer): boolean {
  return status !== 500 && status < 505 && headers["x-request-id"] !== undefined;
}

describe("whatever comes, nothing is the gateway's own fault", () => {
  test.each(ENDPOINTS.filter((endpoint) => endpoint !== "transcription"))(
    "%s: fields of any kind",
    async (endpoint) => {
      const before = await gateway.books(user);
      await fc.assert(
        fc.asyncProperty(changes(endpoint), async (change) => {
          expect(isSane(await askKind(gateway, user, endpoint, change))).toBe(true);
        }),
        { numRuns: Math.ceil(RUNS / 6), seed: SEED },
      );
      expect((await gateway.books(user)).balance).toBeLessThanOrEqual(before.balance);
    },
  );

  test("forms of any parts", async () => {
    const name = fc.oneof(
      fc.constantFrom("file", "model", ...FIELDS.transcription, "a[]", "__proto__", ""),
      fc.string(),
    );
    const part = fc.record<Part>(
      {
        name,
        fileName: fc.string(),
        type: fc.constantFrom("audio/wav", "text/plain", "x"),
        value: fc.oneof(fc.string(), fc.uint8Array()),
      },
      { requiredKeys: ["value"] },
    );
    const good: Part[] = [
      { name: "model", value: "route/listen" },
      { name: "file", fileName: "a.wav", value: "RIFF0000WAVE" },
    ];
    const parts = fc
      .tuple(fc.subarray(good), fc.array(part, { maxLength: 4 }))
      .map(([some, others]) => [...some, ...others]);
    await fc.assert(
      fc.asyncProperty(parts, fc.constantFrom(undefined, "", "--"), async (some, ending) => {
        const body = formOf(some, ending);
        expect(isSane(await askKind(gateway, user, "transcription", {}, { body }))).toBe(true);
      }),
      { numRuns: Math.ceil(RUNS / 5), seed: SEED },
    );
  });

  test("bytes of any kind", async () => {
    const body = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.json().map((text) => Buffer.from(text)),
    );
    const type = fc.constantFrom("application/json", FORM_TYPE, "text/plain", "multipart/form-data; boundary=");
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...ENDPOINTS),
        body,
        type,
        fc.boolean(),
        async (endpoint, bytes, contentType, chunked) => {
          const sent = { body: bytes, chunked, headers: { "content-type": contentType } };
          expect(isSane(await askKind(gateway, user, endpoint, {}, sent))).toBe(true);
        },
      ),
      { numRuns: Math.ceil(RUNS / 3), seed: SEED },
    );
  });

  test("paths, queries, methods, bodies and credentials of any kind", async () => {
    const segment = fc.oneof(
      fc.constantFrom(
        "%00",
        "%2e%2e",
        "..%2f",
        "%ff",
        "%zz",
        "__proto__",
        "rk_",
        "%F0%9F%98%80",
        "a".repeat(300),
        "%25",
      ),
      fc.string({ maxLength: 8 }).map((text) => encodeURIComponent(text.toWellFormed())),
    );
    const path = fc
      .tuple(
        fc.constantFrom(...ROUTES.map(({ path }) => path)),
        segment,
        fc.oneof(
          fc.constant(""),
          fc.webQueryParameters().map((query) => `?${query}`),
        ),
      )
      .map(([template, value, query]) => template.replaceAll(/\{\w+\}/g, value) + query);
    const method = fc.constantFrom("GET", "POST", "DELETE", "PUT");
    const authorization = fc.constantFrom(`Bearer ${user.key}`, `Bearer ${token}`, "Bearer x", "Basic x", "");
    const body = fc.oneof(
      fc.constant(undefined),
      fc.json(),
      fc.dictionary(fc.constantFrom("name", "email", "code", "refresh_token"), nasty),
    );
    await fc.assert(
      fc.asyncProperty(method, path, authorization, body, async (method, where, credentials, content) => {
        const headers = {
          authorization: credentials,
          "content-type": "application/json",
          cookie: "gateway_refresh=x; a=%zz",
        };
        const answer = await gateway.send(where, { method, headers, ...(method !== "GET" && { body: content }) });
        expect(isSane(answer)).toBe(true);
      }),
      { numRuns: Math.ceil(RUNS / 1.5), seed: SEED },
    );
  });
});

test("after all of it the books balance, and every endpoint still serves", async () => {
  await gateway.audit();
  for (const endpoint of ENDPOINTS) expect((await askKind(gateway, user, endpoint)).status).toBe(200);
  expect(({} as Json)["polluted"]).toBeUndefined();
});
