import * as fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, it, test } from "vitest";
import { DIALECTS } from "../../../src/dialects/capabilities.ts";
import type { DialectName, Json, Parameters } from "../../../src/kit/index.ts";
import { withParameters } from "../../../src/upstream/send/request.ts";
import { scriptedOrigin, type Simulator, startSimulator } from "../../../src/simulator/server.ts";
import { createUpstreams } from "../../../src/upstream/upstreams.ts";
import { call, exchange, lease, read, silent, snapshot, streamOf, target, upstream } from "../support/build.ts";
import { RUNS } from "../../properties/runs.ts";
import { answer, RawUpstream } from "../support/raw-upstream.ts";

const NONE: Parameters = { set: {}, remove: [], rename: {} };

function changed(body: unknown, parameters: Partial<Parameters>): unknown {
  const request = { method: "POST", path: "/a", headers: {}, body: JSON.stringify(body) } as const;
  return JSON.parse(withParameters(request, { ...NONE, ...parameters }).body as string);
}

describe("a body", () => {
  it.each<readonly [string, Partial<Parameters>, Json, Json]>([
    ["set", { set: { "/a": 1, "/b/c/d": null } }, { b: { e: 2 } }, { a: 1, b: { e: 2, c: { d: null } } }],
    ["set makes a map of what is none", { set: { "/a/0": 1 } }, { a: "text" }, { a: { "0": 1 } }],
    ["set makes no list of what is missing", { set: { "/a/0": 1, "/b/-": 2 } }, {}, { a: { "0": 1 }, b: { "-": 2 } }],
    ["set in a list", { set: { "/a/1/b": 1, "/a/-": 3, "/a/9": 4 } }, { a: [0, {}] }, { a: [0, { b: 1 }, 3] }],
    ["set replaces", { set: { "/a": { x: 1 } } }, { a: { y: 2 } }, { a: { x: 1 } }],
    ["remove", { remove: ["/a", "/b/c", "/x", "/b/y/z", "/l/0"] }, { a: 1, b: { c: 2 }, l: [1, 2] }, { b: {}, l: [2] }],
    ["rename", { rename: { "/a": "b" } }, { a: 1, c: 2 }, { b: 1, c: 2 }],
    ["rename onto a name that is there", { rename: { "/a": "b" } }, { a: 1, b: 2 }, { b: 1 }],
    ["rename inside", { rename: { "/m/0/a": "b" } }, { m: [{ a: 1 }] }, { m: [{ b: 1 }] }],
    ["rename what is not there", { rename: { "/a": "b", "/c/d": "e", "/l/0": "x" } }, { l: [1] }, { l: [1] }],
    ["an escaped name", { rename: { "/a~1b": "c" }, set: { "/d~0": 1 } }, { "a/b": 1 }, { c: 1, "d~": 1 }],
    [
      "removed, renamed, set",
      { remove: ["/b"], rename: { "/a": "b" }, set: { "/a": 3 } },
      { a: 1, b: 2 },
      { b: 1, a: 3 },
    ],
  ])("%s", (_, parameters, body, expected) => {
    expect(changed(body, parameters)).toEqual(expected);
  });

  it("keeps a name of Object.prototype a plain field", () => {
    const request = { method: "POST", path: "/a", headers: {}, body: "{}" } as const;
    const { body } = withParameters(request, { ...NONE, set: { "/__proto__/polluted": 1 }, remove: ["/constructor"] });
    expect(body).toBe('{"__proto__":{"polluted":1}}');
    expect(Object.prototype).not.toHaveProperty("polluted");
  });

  it("that is a form is left alone", () => {
    const form = { length: 1, read: async function* () {} };
    const request = { method: "POST", path: "/a", headers: {}, body: form } as const;
    expect(withParameters(request, { ...NONE, set: { "/a": 1 } })).toBe(request);
  });
});

const name = fc.constantFrom("a", "b", "c", "~", "/", "", "0", "__proto__");
const tree = fc.letrec<{ node: unknown }>((tie) => ({
  node: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(1, "text", null),
    fc.dictionary(name, tie("node"), { maxKeys: 3 }),
    fc.array(tie("node"), { maxLength: 3 }),
  ),
}));
const body = fc.dictionary(name, tree.node, { maxKeys: 4 }).map((value) => JSON.parse(JSON.stringify(value)) as Json);
const path = fc.array(name, { minLength: 1, maxLength: 3 });
const pointerOf = (path: readonly string[]): string =>
  path.map((part) => `/${part.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/** What stands at a path; `undefined` for nothing. */
function at(node: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      value !== null && typeof value === "object" && Object.hasOwn(value, key) ? value[key as never] : undefined,
    node,
  );
}

/** Whether a path stays in maps as far as the body goes: lists have places, not names. */
function throughMaps(body: Json, path: readonly string[]): boolean {
  return !path.some((_, end) => Array.isArray(at(body, path.slice(0, end))));
}

function lists(value: unknown): number {
  return JSON.stringify(value).split("[").length;
}

const inMaps = fc.tuple(body, path).filter(([body, path]) => throughMaps(body, path));
const present = inMaps.filter(([body, path]) => at(body, path) !== undefined);
const absent = inMaps.filter(([body, path]) => at(body, path) === undefined);

describe("whatever the body", () => {
  test("what is removed is gone, and nothing else has changed", () => {
    fc.assert(
      fc.property(present, ([before, path]) => {
        const after = changed(before, { remove: [pointerOf(path)] });
        expect(at(after, path)).toBeUndefined();
        expect(changed(after, { set: { [pointerOf(path)]: at(before, path) } })).toEqual(before);
      }),
      { numRuns: RUNS },
    );
  });

  test("what is set is there, and everything beside it as before", () => {
    fc.assert(
      fc.property(inMaps, ([before, path]) => {
        const after = changed(before, { set: { [pointerOf(path)]: "new" } });
        expect(at(after, path)).toBe("new");
        for (const other of Object.keys(before).filter((key) => key !== path[0])) {
          expect(at(after, [other])).toEqual(at(before, [other]));
        }
      }),
      { numRuns: RUNS },
    );
  });

  test("nothing makes a list, or fails", () => {
    fc.assert(
      fc.property(body, path, name, (before, path, name) => {
        const pointer = pointerOf(path);
        const after = changed(before, { set: { [pointer]: "new" }, rename: { [pointer]: name } });
        expect(lists(after)).toBeLessThanOrEqual(lists(before));
      }),
      { numRuns: RUNS },
    );
  });

  test("a rename and its reverse change nothing", () => {
    fc.assert(
      fc.property(present, ([before, path]) => {
        const [own, renamed] = [path.at(-1)!, [...path.slice(0, -1), "free"]];
        const after = changed(before, { rename: { [pointerOf(path)]: "free" } });
        expect(at(after, renamed)).toEqual(at(before, path));
        expect(changed(after, { rename: { [pointerOf(renamed)]: own } })).toEqual(before);
      }),
      { numRuns: RUNS },
    );
  });

  test("what is not there can be removed and renamed", () => {
    fc.assert(
      fc.property(absent, name, ([before, path], name) => {
        const pointer = pointerOf(path);
        expect(changed(before, { remove: [pointer], rename: { [pointer]: name } })).toEqual(before);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("on the wire", () => {
  const open: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((one) => one.close()));
  });

  it.each([false, true])(
    "the body has its own length, over HTTP/2 settings %j too; others are sent as they are",
    async (http2) => {
      const server = await RawUpstream.start(({ socket }) => socket.write(answer("well")));
      const leased = await lease(upstream(`${server.origin}/v1`, { http2 }));
      open.push({ close: () => leased.end() }, server);
      const parameters = { set: { "/größe": "ä" }, remove: ["/stream"], rename: { "/messages": "turns" } };
      await leased.set.send(target({ parameters }), call(), exchange());
      await leased.set.send(target(), call(), exchange());
      const [first, second] = server.requests.map(
        ({ body }) => JSON.parse(Buffer.from(body, "latin1").toString()) as Json,
      );
      expect(first).toEqual({ model: "m1", turns: [{ role: "user", content: "hi" }], größe: "ä" });
      expect(second).toEqual({ model: "m1", messages: [{ role: "user", content: "hi" }], stream: false });
    },
  );
});

describe("to the simulator", () => {
  let simulator: Simulator;
  beforeAll(async () => {
    simulator = await startSimulator();
  });
  afterAll(() => simulator.close());

  /** Where each dialect limits its output: the simulator obeys, so its books show what has arrived. */
  const LIMITS: readonly (readonly [DialectName, string, string])[] = [
    ["openai", "key", "/max_tokens"],
    ["azure", "key", "/max_tokens"],
    ["anthropic", "key", "/max_tokens"],
    ["gemini", "key", "/generationConfig/maxOutputTokens"],
    ["bedrock", "AKIDEXAMPLE:secret", "/inferenceConfig/maxTokens"],
    ["bedrock", "bearer-key", "/inferenceConfig/maxTokens"],
    ["cohere", "key", "/max_tokens"],
  ];

  it.each(LIMITS)(
    "%s with %s: what is set at %s limits the answer, signed as it is sent",
    async (dialect, key, pointer) => {
      const base = scriptedOrigin(simulator.origin, "?chunks=9");
      const url = dialect === "openai" ? `${base}/v1` : base;
      const registry = createUpstreams({ dialects: DIALECTS, now: Date.now, log: silent });
      const set = await registry.lease(snapshot(upstream(url, { dialect, keys: [key] })));
      try {
        const tokens: number[] = [];
        for (const parameters of [NONE, { ...NONE, set: { [pointer]: 2 } }]) {
          for (const stream of [false, true]) {
            const reply = await set.send(target({ model: "a.b-v1:0", parameters }), call({ stream }), exchange());
            if (stream) await read(streamOf(reply));
            tokens.push(simulator.ledger().at(-1)!.tokens);
          }
        }
        expect(tokens).toEqual([9, 9, 2, 2]);
      } finally {
        await registry.close();
      }
    },
  );
});
