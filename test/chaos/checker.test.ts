import { expect, test } from "vitest";
import { check } from "./checker.ts";
import {
  evidenceOf,
  listeningLines,
  logLine,
  START,
  type Whole,
  withLife,
  withSeen,
  withSetup,
  withUser,
} from "./doctored.ts";
import type { Evidence } from "./evidence.ts";

const REQUESTS: readonly Whole[] = [
  { id: "a", user: 0 },
  { id: "b", user: 1 },
  { id: "c", user: 1 },
];
const SOUND = evidenceOf(REQUESTS);

test("finds nothing where nothing is wrong", () => {
  const { violations, allowances, sums } = check(SOUND);
  expect(violations).toEqual([]);
  expect(allowances.size).toBe(0);
  expect(sums.charged).toBeGreaterThan(0n);
  expect(sums.difference).toBe(0n);
});

const charge = (evidence: Evidence, by: bigint) =>
  withUser(evidence, 0, ({ ledger, balance }) => ({
    ledger: ledger.map((entry) => ({ ...entry, charge: entry.charge + by })),
    balance: balance - by,
  }));
const refused = { ending: "refused", status: 429, code: "RATE_LIMIT_ERROR", fault: "" } as const;
const killed = { end: "killed", exit: { code: null, signal: "SIGKILL" } } as const;

const replaced = `${JSON.stringify({ level: 50, msg: "worker exited: signal SIGKILL; replacing it now" })}\n`;
/** Of two workers of which one was killed while everything ran, and replaced. */
const KILLED_WORKER = withLife(withSetup(SOUND, { workers: 2 }), ({ log }) => ({
  killings: [START + 20],
  log: `${listeningLines(3)}${replaced}${log}`,
}));
const unavailable = { ending: "refused", status: 503, code: "STORE_UNAVAILABLE", fault: "" } as const;
/** As `evidence`, but one of its requests was never admitted. */
const unadmitted = (evidence: Evidence, id: string, change: Parameters<typeof withSeen>[2]) => {
  const one = withSeen(evidence, id, change);
  const { user } = REQUESTS.find((each) => each.id === id)!;
  const without = withUser(one, user, ({ ledger, granted }) => {
    const left = ledger.filter(({ requestId }) => requestId !== id);
    return { ledger: left, balance: left.reduce((rest, { charge }) => rest - charge, granted) };
  });
  const isOther = (text: string) => !text.includes(`"request_id":"${id}"`);
  const line = JSON.stringify({ level: 30, request_id: id, outcome: "refused", status: change.status, msg: "request" });
  return withLife(without, ({ log }) => ({ log: `${log.split("\n").filter(isOther).join("\n")}${line}\n` }));
};
const OPEN_AND_AWAY: Evidence = {
  ...withSetup(SOUND, { onFailure: "open" }),
  disturbed: [{ from: START - 1_000, until: START + 1_000 }],
};
const open = (limits: Parameters<typeof evidenceOf>[1], requests = REQUESTS): Evidence => ({
  ...evidenceOf(requests, limits),
  setup: OPEN_AND_AWAY.setup,
  disturbed: OPEN_AND_AWAY.disturbed,
});
const crowd = Array.from({ length: 5 }, (_, index) => ({ id: `crowd-${index}`, user: 1 }));
const later = { sentAt: START + 30_000, endedAt: START + 30_005 };

/** Each doctored in one place: the invariants that have to say so, and what they have to say. */
const DOCTORED: readonly (readonly [name: string, evidence: Evidence, invariants: readonly string[], says: RegExp])[] =
  [
    ["a charge that is a nano-unit too high", charge(SOUND, 1n), ["I1", "I6"], /^a: charged/],
    ["a charge that is a nano-unit too low", charge(SOUND, -1n), ["I1", "I6"], /^a: charged/],
    [
      "usage that the upstream never claimed",
      withUser(SOUND, 0, ({ ledger }) => ({
        ledger: ledger.map((entry) => ({ ...entry, usage: { ...entry.usage, completion: 12 } })),
      })),
      ["I1", "I2"],
      /the upstream claims/,
    ],
    [
      "a charge that is missing",
      withUser(SOUND, 0, ({ granted }) => ({ ledger: [], balance: granted })),
      ["I2", "I6"],
      /a whole answer is not in the ledger/,
    ],
    [
      "a charge that was made twice",
      withUser(SOUND, 0, ({ ledger, balance }) => ({
        ledger: [...ledger, { ...ledger[0]!, id: "own-again" }],
        balance: balance - ledger[0]!.charge,
      })),
      ["I2"],
      /a is in the ledger 2 times/,
    ],
    [
      "one id for two charges",
      withUser(SOUND, 1, ({ ledger }) => ({ ledger: ledger.map((entry) => ({ ...entry, id: "same" })) })),
      ["I2"],
      /the ledger has the id same 2 times/,
    ],
    [
      "another user's charge",
      withUser(SOUND, 0, ({ ledger }) => ({ ledger: ledger.map((entry) => ({ ...entry, userId: "user-1" })) })),
      ["I2"],
      /another user's charge/,
    ],
    [
      "a charge of a request that was refused",
      withSeen(SOUND, "b", refused),
      ["I2", "I5", "I6"],
      /refused, and recorded as served/,
    ],
    ["a whole answer that no upstream gave", { ...SOUND, served: new Map() }, ["I2"], /no upstream gave/],
    ["an answer to another request", withSeen(SOUND, "a", { ending: "wrong", fault: "mixed up" }), ["I2"], /mixed up/],
    ["money from nowhere", withUser(SOUND, 0, ({ balance }) => ({ balance: balance + 1n })), ["I3"], /granted/],
    [
      "a gift that was lost",
      withUser(SOUND, 0, ({ gifts }) => ({ gifts: { least: gifts.least + 5n, most: gifts.most + 5n } })),
      ["I3"],
      /not from/,
    ],
    [
      "a debt beyond what requests exceeded their holds",
      withUser(SOUND, 0, ({ ledger }) => {
        const granted = ledger[0]!.charge - 1n;
        return { granted, balance: -1n, gifts: { least: granted, most: granted } };
      }),
      ["I3"],
      /balance -1/,
    ],
    [
      "a slot that is left",
      withUser(SOUND, 1, () => ({ running: { requests: 1, streams: 1, held: 0n } })),
      ["I4"],
      /1 of them streams/,
    ],
    ["a hold that is left", withUser(SOUND, 1, () => ({ held: 3n })), ["I4"], /3 nano-units/],
    [
      "a settlement left in the journal",
      { ...SOUND, journal: { pending: 1, rejected: 0 } },
      ["I4"],
      /wait in the journal/,
    ],
    [
      "a settlement that the store refused",
      { ...SOUND, journal: { pending: 0, rejected: 1 } },
      ["I4"],
      /would not take/,
    ],
    [
      "a request that was given up though its process lives",
      withUser(SOUND, 0, ({ ledger }) => ({
        ledger: [...ledger, { ...ledger[0]!, id: "x", requestId: "x", outcome: "shutdown", charge: 0n }],
      })),
      ["I4"],
      /were given up/,
    ],
    ["a window that was exceeded", evidenceOf(REQUESTS, { minute: 1 }), ["I5"], /user-1: 2 in minute/],
    ["a day that was exceeded", evidenceOf(REQUESTS, { day: 1 }), ["I5"], /user-1: 2 in day/],
    [
      "too many streams at a time",
      { ...SOUND, excesses: [{ user: 1, at: START, streams: 3, limit: 2 }] },
      ["I5"],
      /3 streams at a time/,
    ],
    [
      "a refusal for a window with room",
      withUser(
        withSeen(evidenceOf(REQUESTS, { minute: 5 }), "c", { ...refused, fault: "Per-minute request limit exceeded" }),
        1,
        ({ ledger, granted }) => ({ ledger: ledger.slice(0, 1), balance: granted - ledger[0]!.charge }),
      ),
      ["I5", "I6"],
      /which was not full/,
    ],
    [
      "a refusal for streams that do not run",
      withSeen(evidenceOf(REQUESTS, { streams: 2 }), "c", { ...refused, fault: "Concurrent stream limit exceeded" }),
      ["I2", "I5", "I6"],
      /refused with 1 streams/,
    ],
    [
      "a line that is missing",
      withLife(SOUND, ({ log }) => ({ log: log.slice(log.indexOf("\n") + 1) })),
      ["I6"],
      /no line/,
    ],
    [
      "a line that was written twice",
      withLife(SOUND, ({ log }) => ({ log: `${log}${logLine(REQUESTS[0]!)}\n` })),
      ["I6"],
      /2 lines/,
    ],
    [
      "an unhandled rejection",
      withLife(SOUND, ({ log }) => ({ log: `${log}Error: nobody caught it\n    at x.ts:1:1\n` })),
      ["I7"],
      /nobody caught it/,
    ],
    [
      "a settlement that failed",
      withLife(SOUND, ({ log }) => ({ log: `${log}{"level":50,"msg":"settlement failed"}\n` })),
      ["I7"],
      /settlement failed/,
    ],
    [
      "a process that ended by itself",
      withLife(SOUND, () => ({ end: null, signalledAt: null, exit: { code: 1, signal: null } })),
      ["I7"],
      /never told to end/,
    ],
    ["a connection that broke without a cause", withSeen(SOUND, "a", { ending: "broken" }), ["I7"], /without a cause/],
    ["a 500", withSeen(SOUND, "a", { ending: "refused", status: 500 }), ["I2", "I6", "I7"], /status 500/],
    [
      "a secret in the log",
      withLife(SOUND, ({ log }) => ({ log: `${log}{"msg":"planted-secret"}\n` })),
      ["I8"],
      /a password/,
    ],
    [
      "a key in the log",
      withLife(SOUND, ({ log }) => ({ log: `${log}{"msg":"rk_${"0".repeat(64)}"}\n` })),
      ["I8"],
      /a user's key/,
    ],
    [
      "a worker that ended by itself",
      withLife(KILLED_WORKER, ({ log }) => ({ log: `${replaced}${log}` })),
      ["I7"],
      /2 workers were killed, 1 of them by us/,
    ],
    [
      "a worker that was not replaced",
      withLife(KILLED_WORKER, ({ log }) => ({ log: log.slice(log.indexOf("\n") + 1) })),
      ["I7"],
      /2 workers served, not 2 and 1 more/,
    ],
    [
      "workers that outlive their supervisor",
      withLife(SOUND, () => ({ outlived: 60_000 })),
      ["I7"],
      /ran on for 60000 ms/,
    ],
    [
      "half a line that nobody's death explains",
      withLife(withSetup(SOUND, { workers: 0 }), ({ log }) => ({ log: `{"level":30,"ti\n${log}` })),
      ["I7"],
      /wrote: {"level":30,"ti/,
    ],
    [
      "a connection that broke long after a worker was killed",
      withSeen(KILLED_WORKER, "a", { ...later, ending: "broken" }),
      ["I7"],
      /without a cause/,
    ],
    [
      "a gateway that does not listen while its workers are replaced",
      unadmitted(KILLED_WORKER, "a", { ending: "unreached", status: 0 }),
      ["I6", "I7"],
      /though its gateway was up/,
    ],
    [
      "a request that was given up long after a worker was killed",
      withUser(withSeen(KILLED_WORKER, "a", later), 0, ({ ledger }) => ({
        ledger: [...ledger, { ...ledger[0]!, id: "x", requestId: "x", outcome: "shutdown", charge: 0n }],
      })),
      ["I4"],
      /were given up/,
    ],
    [
      "with open, a window exceeded while the store was there",
      { ...open({ minute: 1 }), disturbed: [] },
      ["I5"],
      /user-1: 2 in minute/,
    ],
    [
      "with open, a window exceeded by more than each process counts",
      open({ minute: 2 }, crowd),
      ["I5"],
      /in 1 processes/,
    ],
    [
      "closed, a window exceeded while the store was away",
      withSetup(open({ minute: 1 }), { onFailure: "closed" }),
      ["I5"],
      /2 in minute/,
    ],
    [
      "with open, more streams than each process counts",
      { ...OPEN_AND_AWAY, excesses: [{ user: 1, at: START, streams: 5, limit: 2 }] },
      ["I5"],
      /5 streams at a time.*in 1 processes/,
    ],
    [
      "with open, more streams when the store was back",
      { ...OPEN_AND_AWAY, excesses: [{ user: 1, at: START + 40_000, streams: 3, limit: 2 }] },
      ["I5"],
      /3 streams at a time/,
    ],
    [
      "with open, a charge that is missing",
      withUser(OPEN_AND_AWAY, 0, ({ granted }) => ({ ledger: [], balance: granted })),
      ["I2", "I6"],
      /a whole answer is not in the ledger/,
    ],
    [
      "with open, money from nowhere",
      withUser(OPEN_AND_AWAY, 0, ({ balance }) => ({ balance: balance + 1n })),
      ["I3"],
      /granted/,
    ],
    [
      "with open, a debt of what was admitted by the store",
      {
        ...withUser(OPEN_AND_AWAY, 0, ({ ledger }) => {
          const granted = ledger[0]!.charge - 1n;
          return { granted, balance: -1n, gifts: { least: granted, most: granted } };
        }),
        disturbed: [],
      },
      ["I3"],
      /balance -1/,
    ],
    [
      "with open, a revoked key that serves while the store is there",
      {
        ...withUser(OPEN_AND_AWAY, 0, () => ({ revoked: [{ from: START - 9_000, until: START - 8_000 }] })),
        disturbed: [],
      },
      ["I8"],
      /a revoked key was served/,
    ],
    [
      "with open, a refusal of a key that the process knows",
      unadmitted(withSeen(OPEN_AND_AWAY, "b", { endedAt: START + 3 }), "c", { ...unavailable, sentAt: START + 10 }),
      ["I9"],
      /though its process knew the key/,
    ],
    [
      "a refusal for a store that was slow and not away",
      unadmitted(withSetup(SOUND, { slowStore: 300 }), "a", unavailable),
      ["I9"],
      /a store that was slow/,
    ],
    ["a secret in an answer", { ...SOUND, shown: ["a password: a"] }, ["I8"], /shown to a client/],
    [
      "a good key that was refused",
      withSeen(SOUND, "a", { ending: "refused", status: 401 }),
      ["I2", "I6", "I8"],
      /a good key was refused/,
    ],
    [
      "credits that were overlooked",
      withSeen(SOUND, "a", { ending: "refused", status: 402 }),
      ["I2", "I6", "I8"],
      /credits that there are/,
    ],
    [
      "a revoked key that serves",
      withUser(SOUND, 0, () => ({ revoked: [{ from: START - 9_000, until: START - 8_000 }] })),
      ["I8"],
      /a revoked key was served/,
    ],
  ];

test.each(DOCTORED)("finds %s", (_, evidence, invariants, says) => {
  const { violations } = check(evidence);
  expect([...new Set(violations.map(({ invariant }) => invariant))].toSorted()).toEqual(invariants);
  expect(violations.map(({ what }) => what)).toContainEqual(expect.stringMatching(says));
});

test.each<readonly [name: string, evidence: Evidence, allowances: readonly string[]]>([
  ["a worker that was killed and replaced", KILLED_WORKER, []],
  [
    "half a line of a worker that was killed",
    withLife(KILLED_WORKER, ({ log }) => ({ log: `{"level":30,"ti\n${log}` })),
    [],
  ],
  [
    "with open, what each process counts for itself while the store is away",
    open({ minute: 1 }),
    ["open: beyond a limit while the store was away, within what each process counts"],
  ],
  [
    "with open, streams that each process counts for itself",
    { ...OPEN_AND_AWAY, excesses: [{ user: 1, at: START + 9_000, streams: 4, limit: 2 }] },
    ["open: beyond a limit while the store was away, within what each process counts"],
  ],
  [
    "with open, a debt of what was admitted without the store",
    withUser(OPEN_AND_AWAY, 0, ({ ledger }) => {
      const granted = ledger[0]!.charge - 1n;
      return { granted, balance: -1n, gifts: { least: granted, most: granted } };
    }),
    [],
  ],
  [
    "a refusal for a slow store that was away as well",
    unadmitted({ ...withSetup(SOUND, { slowStore: 300 }), stalls: OPEN_AND_AWAY.disturbed }, "a", unavailable),
    [],
  ],
])("lets pass %s", (_, evidence, expected) => {
  const { violations, allowances } = check(evidence);
  expect(violations).toEqual([]);
  expect([...allowances.keys()]).toEqual(expected);
});

test("lets pass what a kill -9 may leave, and counts it", () => {
  const broken = withSeen(
    withLife(SOUND, () => ({ ...killed, log: "", signalledAt: START + 20 })),
    "a",
    { ending: "broken" },
  );
  const evidence = withUser(broken, 0, ({ granted, ledger }) => ({
    ledger: ledger.map((entry) => ({ ...entry, id: "x", requestId: "x", outcome: "shutdown", charge: 0n })),
    balance: granted,
  }));
  const { violations, allowances } = check(evidence);
  expect(violations).toEqual([]);
  expect([...allowances]).toEqual([
    ["I: killed -9 before its charge: not charged", 1],
    ["I: given up when the lease of a process that ended had ended: charge 0", 1],
    ["I: the line was not written when the process was killed -9", 3],
  ]);
});
