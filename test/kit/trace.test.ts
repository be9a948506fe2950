import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type AttemptSpan,
  newSpanId,
  newTraceId,
  traceHeaders,
  traceParentOf,
  upstreamTime,
} from "../../src/kit/index.ts";
import { RUNS } from "../properties/runs.ts";

const ID = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const VALID = `00-${ID}-${SPAN}-01`;

describe("traceparent", () => {
  test.each([
    [VALID, true],
    [`00-${ID}-${SPAN}-00`, false],
    [`00-${ID}-${SPAN}-05`, true],
    [` ${VALID} `, true],
    // A later version is read as far as it is this one, and passed on as this one.
    [`cc-${ID}-${SPAN}-01-what-comes`, true],
    [`cc-${ID}-${SPAN}-01`, true],
    [`cc-${ID}-${SPAN}-03`, true],
  ])("%s is read", (header, sampled) => {
    const parent = traceParentOf(header, undefined);
    expect(parent).toEqual({ traceId: ID, parentId: SPAN, sampled, state: "", spanId: null });
    expect(traceHeaders(parent!, null)).toEqual({ traceparent: `00-${ID}-${SPAN}-0${sampled ? 1 : 0}` });
  });

  test.each(["02", "03"])("with flags %s says on that its id is random", (flags) => {
    const header = `00-${ID}-${SPAN}-${flags}`;
    expect(traceHeaders(traceParentOf(header, undefined)!, null)).toEqual({ traceparent: header });
  });

  test.each([
    undefined,
    "",
    `00-${ID}-${SPAN}`,
    `00-${ID}-${SPAN}-1`,
    `${VALID}-more`,
    `${VALID}x`,
    `cc-${ID}-${SPAN}-01x`,
    `ff-${ID}-${SPAN}-01`,
    `00-${ID.toUpperCase()}-${SPAN}-01`,
    `00-${"0".repeat(32)}-${SPAN}-01`,
    `00-${ID}-${"0".repeat(16)}-01`,
    `${VALID}, ${VALID}`,
    `${VALID}\r\nx-injected: 1`,
  ])("%j is none", (header) => {
    expect(traceParentOf(header, "a=1")).toBeNull();
  });

  test("whatever comes, what is passed on is valid and one line", () => {
    const junk = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.stringMatching(/^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}.?$/),
    );
    fc.assert(
      fc.property(junk, fc.string({ unit: "binary" }), (traceparent, tracestate) => {
        const parent = traceParentOf(traceparent, tracestate);
        if (parent === null) return;
        const headers = traceHeaders(parent, null);
        expect(headers["traceparent"]).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[0-3]$/);
        expect(headers["tracestate"] ?? "x").toMatch(/^[\x20-\x7e]+$/);
        expect(traceParentOf(headers["traceparent"], headers["tracestate"])).toEqual(parent);
      }),
      { numRuns: RUNS },
    );
  });
});

const stateOf = (state: string | string[]) => traceParentOf(VALID, state)?.state;

const member = (index: number) => `v${index}=x`;

describe("tracestate", () => {
  test.each([
    ["a=1", "a=1"],
    [" a=1 ,, b=2\t", "a=1,b=2"],
    ["tenant@sys=1,0a-_*/@s=2", "tenant@sys=1,0a-_*/@s=2"],
    [["a=1", "b=2"], "a=1,b=2"],
    [`a=${"x".repeat(256)}`, `a=${"x".repeat(256)}`],
    [
      Array.from({ length: 32 }, (_, index) => member(index)),
      Array.from({ length: 32 }, (_, index) => member(index)).join(","),
    ],
  ])("%j is passed on", (given, passed) => {
    expect(stateOf(given)).toBe(passed);
  });

  test.each([
    "a",
    "=1",
    "a=",
    "A=1",
    "a=1,a=2",
    "a==1",
    "a=1\u0000",
    "a=ü",
    "0a=1",
    `a=${"x".repeat(257)}`,
    Array.from({ length: 33 }, (_, index) => member(index)),
    Array.from({ length: 3 }, (_, index) => `v${index}=${"x".repeat(200)}`),
  ])("%j is left out, the trace is not", (given) => {
    expect(stateOf(given)).toBe("");
  });
});

test("ids are new each time, and as the recommendation writes them", () => {
  expect(newTraceId()).toMatch(/^[0-9a-f]{32}$/);
  expect(newSpanId()).toMatch(/^[0-9a-f]{16}$/);
  expect(new Set(Array.from({ length: 100 }, newSpanId)).size).toBe(100);
});

test("the upstreams' time is that in which any attempt ran, each millisecond once", () => {
  const attempt = fc.record({ start: fc.nat(50), length: fc.option(fc.nat(30)) });
  fc.assert(
    fc.property(fc.array(attempt, { maxLength: 6 }), fc.nat(100), (made, now) => {
      const spans = made
        .toSorted((a, b) => a.start - b.start)
        .filter(({ start }) => start <= now)
        .map(({ start, length }) => ({ start, end: length === null ? null : start + length }) as AttemptSpan);
      let busy = 0;
      for (let at = 0; at < now; at += 1) {
        if (spans.some(({ start, end }) => start <= at && at < (end ?? now))) busy += 1;
      }
      expect(upstreamTime(spans, now)).toBe(busy);
    }),
    { numRuns: RUNS },
  );
});
