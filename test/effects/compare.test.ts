import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Change, KINDS, type Side } from "../../src/effects/change.ts";
import { compare } from "../../src/effects/compare.ts";
import { decimal, Secret, type Snapshot } from "../../src/kit/index.ts";
import { testModel, testSnapshot, testTarget, testTier, testUpstream } from "../support/snapshot.ts";

const NUM_RUNS = Number(process.env["NUM_RUNS"] ?? 200);

/** A configuration that has something of everything. */
const WHOLE: Snapshot = {
  ...testSnapshot({
    tiers: [
      { ...testTier("Free", { access: ["Free"] }), class: 0 },
      { ...testTier("Lite", { access: ["Free", "Lite"], hour: null }), class: 5 },
      { ...testTier("Max"), class: 9 },
    ],
    upstreams: [
      testUpstream("alpha", {
        headers: { "x-team": "one" },
        probe: { every: 60_000, timeout: 5_000 },
        vendor: "vllm",
        accepts: { stop: 16, strictTools: false, fields: ["seed"] },
        api: "chat",
      }),
      testUpstream("beta", { apiKeys: [new Secret("one"), new Secret("two")] }),
    ],
    models: [
      testModel("route/one", {
        features: ["tools", "vision"],
        price: { inputPerMillion: decimal(1), outputPerMillion: decimal("2.5"), cachedInputPerMillion: decimal("0.5") },
        chain: [
          {
            balance: "weighted",
            targets: [
              testTarget("alpha", { weight: 3, contextWindow: 64_000, features: ["tools"], maxOutput: 100 }),
              testTarget("beta", { parameters: { set: { "/top_k": 1 }, remove: ["/seed"], rename: { "/a": "b" } } }),
            ],
          },
          { balance: "single", targets: [testTarget("alpha", { model: "second" })] },
        ],
      }),
      testModel("route/paint", {
        kind: "image",
        tier: "Lite",
        price: { perImage: { default: decimal("0.04"), "1024x1024/high": decimal("0.08") } },
      }),
      testModel("route/voice", {
        kind: "speech",
        tier: "Max",
        voices: ["ada", "eve"],
        price: { perRequest: decimal(1) },
      }),
    ],
    pipeline: [
      { use: "auth", timeout: 5_000 },
      { use: "transform", options: { set: { "/user": "x" } }, when: { models: ["route/o*"], tiers: ["Free"] } },
      "stream-relay",
      "meter",
    ],
  }),
};
const server: Snapshot["server"] = {
  ...WHOLE.server,
  admin: {
    host: "127.0.0.1",
    port: 9090,
    tokens: [
      { name: "admin", role: "operator", token: new Secret("admin") },
      { name: "grace", role: "viewer", token: new Secret("grace") },
    ],
  },
  trustedProxies: ["10.0.0.0/8"],
  connections: { total: 10_000, perAddress: 100 },
  ipLimit: { requests: 600, window: 60_000 },
  shed: { loopDelay: 200, heap: { share: 0.85 } },
  cors: { origins: ["https://one.example"] },
};
const auth: Snapshot["auth"] = {
  ...WHOLE.auth,
  tokens: {
    ...WHOLE.auth.tokens,
    secrets: [
      { kid: "a", value: new Secret("first") },
      { kid: "b", value: new Secret("second") },
    ],
  },
  email: { from: "a@example.com", smtp: new Secret("smtp://mail.example") },
  oauth: { corp: { issuer: "https://id.example", clientId: "c", clientSecret: new Secret("s"), scopes: ["openid"] } },
};
const incident = { id: "i", title: "t", description: "d", severity: "error", status: "ongoing" } as const;
const incidents: Snapshot["incidents"] = [{ ...incident, created_at: "2026-01-10T08:00:00Z", resolved_at: null }];
/** Sections that only operators notice are compared as they are, also one that nobody knows yet. */
const added = { observing: { sampleShare: 0.5, headers: { token: new Secret("observed") } } };
const BASE: Snapshot = { ...WHOLE, server, auth, incidents, ...added };

/** Leaves that say nothing of their own: names repeat their key, the rest is no effect. */
const MUTE: readonly RegExp[] = [
  /^\/hash$/,
  /^\/file$/,
  /^\/(?:tiers|upstreams)\/[^/]+\/name$/,
  /^\/models\/[^/]+(?:\/[^/]+)?\/id$/,
  // Their order counts.
  /^\/tiers\/[^/]+\/class$/,
  // One target alone has the whole weight, however it is balanced.
  /^\/models\/route~1one\/chain\/1\/(?:balance|targets\/0\/weight)$/,
  /^\/models\/route~1(?:paint|voice)\/chain\/0\/(?:balance|targets\/0\/weight)$/,
];

interface Leaf {
  readonly pointer: string;
  readonly path: readonly string[];
  readonly value: unknown;
}

function* leavesOf(value: unknown, path: readonly string[] = []): Generator<Leaf> {
  const isLeaf = typeof value !== "object" || value === null || value instanceof Secret;
  if (!isLeaf) {
    for (const [key, inner] of Object.entries(value)) yield* leavesOf(inner, [...path, key]);
    return;
  }
  const pointer = path.map((key) => `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  if (!MUTE.some((pattern) => pattern.test(pointer))) yield { pointer, path, value };
}

function other(value: unknown, key: string): unknown {
  // Days are what the configuration knows.
  if (key === "created") return Number(value) + 86_400;
  if (key === "when") return { models: ["route/one"] };
  if (value instanceof Secret) return new Secret(`${value.reveal()}x`);
  if (typeof value === "number") return value + 1;
  if (typeof value === "bigint") return value + 1n;
  if (typeof value === "boolean") return !value;
  if (value === null) return 7;
  return `${value as string}x`;
}

/** A copy in which one leaf is another; maps keep their order, or have it turned round. */
function edited<T>(value: T, path: readonly string[] | null, isReversed = false, at = ""): T {
  if (path?.length === 0) return other(value, at) as T;
  if (typeof value !== "object" || value === null || value instanceof Secret) return value;
  const entries = Object.entries(value).map(([key, inner]) => {
    const below = path !== null && path[0] === key ? path.slice(1) : null;
    return [key, edited(inner as unknown, below, isReversed, key)] as const;
  });
  if (Array.isArray(value)) return entries.map(([, inner]) => inner) as T;
  return Object.fromEntries(isReversed ? entries.toReversed() : entries) as T;
}

const LEAVES = [...leavesOf(BASE)];
const side = (snapshot: Snapshot, code: Side["code"] = {}): Side => ({ snapshot, code });
const snapshots = fc
  .uniqueArray(fc.constantFrom(...LEAVES), { maxLength: 8, selector: ({ pointer }) => pointer })
  .map((leaves) => leaves.reduce((snapshot, { path }) => edited(snapshot, path), BASE));

describe("every part of a snapshot is compared", () => {
  test.each(LEAVES.map(({ pointer, path }) => [pointer, path] as const))("%s", (_, path) => {
    const changes = compare(side(BASE), side(edited(BASE, path)));
    expect(changes).not.toEqual([]);
  });

  test("and what is left out of a record, or added to one", () => {
    for (const section of ["tiers", "upstreams", "models"] as const) {
      for (const name of Object.keys(BASE[section])) {
        const { [name]: _, ...others } = BASE[section] as Record<string, unknown>;
        const less = { ...BASE, [section]: others } as Snapshot;
        const subject = { [section.slice(0, -1).replace("tier", "plan")]: name };
        const gone = compare(side(BASE), side(less)).map(({ kind, subject }) => [kind, subject]);
        expect(gone).toContainEqual([expect.stringMatching(/-removed$/), subject]);
        const come = compare(side(less), side(BASE)).map(({ kind, subject }) => [kind, subject]);
        expect(come).toContainEqual([expect.stringMatching(/-added$/), subject]);
      }
    }
  });

  test("also the code of local plugins", () => {
    const changes = compare(side(BASE, { "plugins/x.ts": "a" }), side(BASE, { "plugins/x.ts": "b" }));
    expect(changes.map(({ kind, subject }) => [kind, subject])).toEqual([
      ["plugin-code-changed", { plugin: "plugins/x.ts" }],
    ]);
  });
});

/** A secret that is another is shown as such: there is no more to say of it. */
function shown(value: unknown): string {
  return value === "another" ? "set" : String(value).replace(/^another | other/, "");
}

function rowOf({ kind, subject, plans }: Change, [before, after]: readonly unknown[]): string {
  return JSON.stringify([
    kind,
    JSON.stringify(subject, ["model", "plan", "plugin", "setting", "upstream"]),
    shown(before),
    shown(after),
    plans.toSorted(),
  ]);
}

describe("properties", () => {
  test("nothing differs from itself, in whatever order it is written", () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        expect(compare(side(snapshot), side(edited(snapshot, null, true)))).toEqual([]);
      }),
      { numRuns: NUM_RUNS },
    );
  });

  test("what is lost one way is gained the other way, by the same plans", () => {
    fc.assert(
      fc.property(snapshots, snapshots, (a, b) => {
        const there = compare(side(a), side(b)).map((change) => rowOf(change, [change.before, change.after]));
        const back = compare(side(b), side(a)).map((change) =>
          rowOf({ ...change, kind: KINDS[change.kind].opposite }, [change.after, change.before]),
        );
        expect(there.toSorted()).toEqual(back.toSorted());
      }),
      { numRuns: NUM_RUNS },
    );
  });

  test("the worst comes first, and what touches no plan is safe", () => {
    const order = { breaking: 0, risky: 1, safe: 2 } as const;
    fc.assert(
      fc.property(snapshots, snapshots, (a, b) => {
        const changes = compare(side(a), side(b));
        const classes = changes.map((change) => order[change.class]);
        expect(classes).toEqual(classes.toSorted((one, two) => one - two));
        for (const change of changes) {
          const isFelt = change.plans.length > 0 || change.kind.startsWith("sign-up-");
          expect(change.class).toBe(isFelt ? KINDS[change.kind].class : "safe");
        }
      }),
      { numRuns: NUM_RUNS },
    );
  });

  test("every opposite leads back", () => {
    for (const [kind, { opposite }] of Object.entries(KINDS)) expect(KINDS[opposite].opposite).toBe(kind);
  });
});

test("no secret is in a change", () => {
  const text = (snapshot: Snapshot) => JSON.stringify(compare(side(BASE), side(snapshot)));
  const secrets = LEAVES.filter(({ value }) => value instanceof Secret);
  expect(secrets.length).toBeGreaterThan(7);
  for (const { path, value, pointer } of secrets) {
    if (pointer === "/store/url") continue;
    expect(text(edited(BASE, path))).not.toContain(`${(value as Secret).reveal()}x`);
  }
  const options = edited(BASE, ["pipeline", "1", "options", "set", "/user"]);
  expect(compare(side(BASE), side(options))).toMatchObject([
    { kind: "plugin-options-changed", subject: { setting: "options /set/~1user" }, before: null, after: null },
  ]);
});
