import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RUNS } from "../../properties/runs.ts";
import type { UpstreamRequest } from "../../../src/dialects/dialect.ts";
import { bytesBody } from "../../../src/dialects/canonical/body-text.ts";
import { addressRequest, BodyChunks, joinPath, withLowerCaseNames } from "../../../src/upstream/send/request.ts";

describe("joinPath", () => {
  it.each([
    ["", "/v2/rerank", "/v2/rerank"],
    ["/v1", "/v2/rerank", "/v1/rerank"],
    ["/v2", "/v2/rerank", "/v2/rerank"],
    ["/v1beta", "/v1/models/m:generate", "/v1beta/models/m:generate"],
    ["/v1beta2", "/v1/models", "/v1beta2/models"],
    ["/openai/v1", "/v2/rerank", "/openai/v1/rerank"],
    ["/v1/proxy", "/v2/rerank", "/v1/proxy/v2/rerank"],
    ["/api", "/v1/text-to-speech/a?output_format=mp3", "/api/v1/text-to-speech/a?output_format=mp3"],
    ["/v1", "/v1/text-to-speech/a?output_format=mp3", "/v1/text-to-speech/a?output_format=mp3"],
    ["/v1", "/v1?x=/v2/y", "/v1?x=/v2/y"],
    ["/v1", "/v2", "/v1"],
    ["/v1", "/chat/completions", "/v1/chat/completions"],
    ["", "/chat/completions", "/chat/completions"],
    ["/v1", "/v2beta", "/v1"],
    ["/v1", "/voices/v2", "/v1/voices/v2"],
    ["/v1", "/v2x/rerank", "/v1/v2x/rerank"],
    ["/vendor", "/v2/rerank", "/vendor/v2/rerank"],
    ["/v", "/v2/rerank", "/v/v2/rerank"],
    ["/xv1", "/v2/rerank", "/xv1/v2/rerank"],
    ["/sim/-/v1", "/v2/rerank", "/sim/-/v1/rerank"],
    ["/v1/projects/p/locations/l/publishers/google", "/v1beta/m:g", "/v1/projects/p/locations/l/publishers/google/m:g"],
    ["/projects/p/locations/l/publishers/google", "/v1/m", "/projects/p/locations/l/publishers/google/v1/m"],
    ["/v1/projects/p", "/v1beta/m", "/v1/projects/p/v1beta/m"],
  ])("%j and %j: %j", (base, path, expected) => {
    expect(joinPath(base, path)).toBe(expected);
  });

  it("never has two versions side by side, and never loses another segment", () => {
    const segment = fc.constantFrom("v1", "v2", "v1beta", "openai", "rerank", "m", "v1x");
    const version = /^v\d+(beta)?$/;
    fc.assert(
      fc.property(fc.array(segment), fc.array(segment, { minLength: 1 }), (base, path) => {
        const joined = joinPath(base.map((one) => `/${one}`).join(""), `/${path.join("/")}`);
        const dropped = version.test(base.at(-1) ?? "") && version.test(path[0] ?? "") ? 1 : 0;
        expect(joined.split("/").slice(1)).toEqual([...base, ...path.slice(dropped)]);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("addressed", () => {
  const request: UpstreamRequest = {
    method: "GET",
    path: "/models",
    headers: { accept: "a", "x-own": "b" },
    body: null,
  };

  it("the operator's headers win over the dialect's, ours over both", () => {
    const headers = withLowerCaseNames({ "X-Own": "c", "Accept-Encoding": "gzip", "User-Agent": "mine" });
    expect(addressRequest(request, { host: "h", basePath: "/v1", headers, forward: [] }, "r")).toEqual({
      method: "GET",
      path: "/v1/models",
      headers: { "user-agent": "mine", accept: "a", "x-own": "c", "accept-encoding": "identity", "x-request-id": "r" },
      body: null,
    });
  });
});

/** What is sent of chunks of these sizes. */
const parts = async (sizes: readonly number[]): Promise<readonly Uint8Array[]> => {
  const chunks = sizes.map((size, index) => Buffer.alloc(size, index + 1));
  const sent = await Array.fromAsync(new BodyChunks(bytesBody(chunks)));
  expect(Buffer.concat(sent).equals(Buffer.concat(chunks))).toBe(true);
  return sent;
};

describe("a body in chunks", () => {
  it("is sent as it is, but for small chunks, which go together", async () => {
    const size = fc.oneof(fc.integer({ min: 1, max: 3_000 }), fc.integer({ min: 4_000, max: 65_536 }));
    await fc.assert(
      fc.asyncProperty(fc.array(size, { maxLength: 12 }), async (sizes) => {
        const sent = (await parts(sizes)).map(({ length }) => length);
        for (const [index, length] of sent.entries()) {
          expect(length + (sent[index + 1] ?? Infinity)).toBeGreaterThan(4096);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it("is cut into steps in which its progress is seen", async () => {
    expect((await parts([140_000, 1])).map(({ length }) => length)).toEqual([65_536, 65_536, 8_928, 1]);
  });

  it("that has another model in its first chunk goes in two parts", async () => {
    expect((await parts([9, 12, 60_000])).map(({ length }) => length)).toEqual([21, 60_000]);
  });
});
