import { expect } from "vitest";
import type { AbortReason, Bill, BillingSettings, Outcome, Usage } from "../../src/kit/index.ts";
import type { Bench, BenchParts } from "../support/bench.ts";
import { chunk, FakeSource } from "../support/source.ts";
import { answers, connects, fails, hangs, type Play, streams, streamsFrom } from "../support/upstream.ts";

export const DONE = "data: [DONE]\n\n";
export const failureEvent = (message: string): string =>
  `data: ${JSON.stringify({ error: { message, type: "api_error" } })}\n\n${DONE}`;

/** 10 prompt tokens at 1 and 5 completion tokens at 2 per million, in nano-units. */
export const CHARGE = 20_000n;
/** "user" and "hi", joined by a line end: two tokens; at 1 per million. */
export const PROMPT = 2_000n;

const NO_USAGE: Usage = { prompt: 0, completion: 0, cached: 0, reasoning: 0 };
const NO_BILL: Bill = { usage: NO_USAGE, estimated: false, charge: 0n };
const PROMPT_BILL: Bill = { usage: { ...NO_USAGE, prompt: 2 }, estimated: true, charge: PROMPT };
/** All else is free. */
const PROMPT_OWED: BillingSettings["outcomes"] = {
  client_gone: "free",
  killed: "free",
  upstream_cut: "free",
  unanswered: "prompt",
  no_usage: "free",
};
const FREE: BillingSettings["outcomes"] = { ...PROMPT_OWED, unanswered: "free" };

export interface Case {
  readonly name: string;
  readonly stream: boolean;
  readonly parts?: BenchParts;
  /** Plays the request to its end. */
  readonly play: (bench: Bench) => Promise<void>;
  readonly outcome: Partial<Outcome>;
  readonly charge: bigint;
  /** What the client of a stream reads last; null when nothing of a stream was sent. */
  readonly last?: string | null;
  /** Refusal of a request whose answer had not begun. */
  readonly refusal?: { readonly code: string; readonly message: string };
}

export const request = (bench: Bench, stream: boolean) => bench.request({ body: { stream } });

export function simple(stream: boolean, ...script: readonly [Play, ...Play[]]): (bench: Bench) => Promise<void> {
  return async (bench) => {
    bench.upstream.play(...script);
    await request(bench, stream).done;
  };
}

/** Aborts while the upstream of the last line has not answered. */
export function abortedBefore(
  stream: boolean,
  reason: AbortReason,
  ...script: readonly Play[]
): (bench: Bench) => Promise<void> {
  return async (bench) => {
    const [first = hangs, ...rest] = script;
    bench.upstream.play(first, ...rest);
    const { client, done } = request(bench, stream);
    await expect.poll(() => bench.upstream.attempts.length).toBe(1 + rest.length);
    client.abort(reason);
    await done;
  };
}

/** Aborts after the first text of a stream. */
export function abortedAfter(reason: AbortReason): (bench: Bench) => Promise<void> {
  return async (bench) => {
    const source = new FakeSource().emit(chunk({ content: "Hello " }));
    bench.upstream.play(streamsFrom(source));
    const { client, done } = request(bench, true);
    await expect.poll(() => source.opened).toBe(true);
    client.abort(reason);
    await done;
    expect(source.cancelled).toBe(true);
  };
}

export const cut: Play = (target) => {
  const source = new FakeSource().emit(chunk({ content: "Hello " })).finish("upstream broke off");
  return { type: "events" as const, target, source };
};

const clientFault = { code: "INVALID_REQUEST", message: "Invalid request: max_tokens is too large" };

export const CASES: readonly Case[] = [
  {
    name: "an answer",
    stream: false,
    play: simple(false, answers()),
    outcome: { kind: "served", begun: true, giveBack: false, status: 200, code: null, attempts: 1 },
    charge: CHARGE,
  },
  {
    name: "a stream",
    stream: true,
    play: simple(true, streams()),
    outcome: { kind: "served", begun: true, giveBack: false, status: 200, code: null, attempts: 1 },
    charge: CHARGE,
    last: DONE,
  },
  {
    name: "an answer after one failed attempt",
    stream: false,
    play: simple(false, fails("connect"), answers()),
    outcome: { kind: "served", attempts: 2, target: expect.objectContaining({ upstream: "beta" }) as never },
    charge: CHARGE,
  },
  {
    name: "an answer without usage is estimated",
    stream: false,
    play: simple(false, answers(null)),
    outcome: {
      kind: "served",
      usage: null,
      bill: { usage: { prompt: 2, completion: 3, cached: 0, reasoning: 0 }, estimated: true, charge: PROMPT + 6_000n },
    },
    charge: PROMPT + 6_000n,
  },
  {
    name: "a stream without usage is estimated",
    stream: true,
    play: simple(true, streams(null)),
    outcome: { kind: "served", usage: null },
    charge: PROMPT + 6_000n,
    last: DONE,
  },
  {
    name: "every upstream failed",
    stream: false,
    play: simple(false, fails("connect"), fails("timeout")),
    outcome: { kind: "failed", begun: false, giveBack: true, status: 502, code: "PROVIDER_ERROR", attempts: 2 },
    charge: 0n,
    refusal: { code: "PROVIDER_ERROR", message: "Every upstream failed: upstream connect; upstream timeout" },
  },
  {
    name: "every upstream failed before a stream began",
    stream: true,
    play: simple(true, fails("timeout")),
    outcome: { kind: "failed", begun: false, giveBack: true, status: 504, code: "PROVIDER_TIMEOUT", attempts: 2 },
    charge: 0n,
    last: null,
    refusal: { code: "PROVIDER_TIMEOUT", message: "Every upstream timed out: upstream timeout" },
  },
  {
    name: "the client's fault counts and costs nothing",
    stream: false,
    play: simple(false, fails("client_fault", "max_tokens is too large")),
    outcome: { kind: "client_fault", begun: false, giveBack: false, status: 400, code: "INVALID_REQUEST", attempts: 1 },
    charge: 0n,
    refusal: clientFault,
  },
  {
    name: "the client's fault after another upstream failed",
    stream: true,
    play: simple(true, fails("status"), fails("client_fault", "max_tokens is too large")),
    outcome: { kind: "client_fault", giveBack: false, attempts: 2 },
    charge: 0n,
    last: null,
    refusal: clientFault,
  },
  {
    name: "a stream cut half-way",
    stream: true,
    play: simple(true, cut),
    outcome: { kind: "upstream_cut", begun: true, giveBack: false, status: 200 },
    charge: PROMPT + 4_000n,
    last: failureEvent("upstream broke off"),
  },
  {
    name: "client gone before anything came counts and costs nothing where billing says so",
    stream: false,
    parts: { billing: { outcomes: FREE } },
    play: abortedBefore(false, "client_gone"),
    outcome: { kind: "client_gone", sent: true, begun: false, giveBack: false, status: 499, code: null, bill: NO_BILL },
    charge: 0n,
  },
  {
    name: "client gone before a stream began counts and costs nothing where billing says so",
    stream: true,
    parts: { billing: { outcomes: FREE } },
    play: abortedBefore(true, "client_gone"),
    outcome: { kind: "client_gone", sent: true, begun: false, giveBack: false, status: 499, code: null, bill: NO_BILL },
    charge: 0n,
  },
  {
    name: "client gone while a connection is made",
    stream: false,
    play: abortedBefore(false, "client_gone", connects),
    outcome: { kind: "client_gone", sent: false, begun: false, giveBack: true, status: 499, attempts: 1 },
    charge: 0n,
  },
  {
    name: "client gone while a connection is made after another upstream could not be reached",
    stream: true,
    play: abortedBefore(true, "client_gone", fails("connect"), connects),
    outcome: { kind: "client_gone", sent: false, begun: false, giveBack: true, attempts: 2 },
    charge: 0n,
  },
  {
    name: "client gone while a connection is made after another upstream was asked",
    stream: true,
    play: abortedBefore(true, "client_gone", fails("status"), connects),
    outcome: { kind: "client_gone", sent: true, begun: false, giveBack: false, attempts: 2, bill: PROMPT_BILL },
    charge: PROMPT,
  },
  ...[true, false].flatMap((stream): Case[] => [
    {
      name: `client gone before anything came costs the prompt, whatever else is free (streamed: ${stream})`,
      stream,
      parts: { billing: { outcomes: PROMPT_OWED } },
      play: abortedBefore(stream, "client_gone"),
      outcome: { kind: "client_gone", sent: true, begun: false, giveBack: false, status: 499, bill: PROMPT_BILL },
      charge: PROMPT,
    },
    {
      name: `client gone while a connection is made costs no prompt (streamed: ${stream})`,
      stream,
      parts: { billing: { outcomes: PROMPT_OWED } },
      play: abortedBefore(stream, "client_gone", connects),
      outcome: { kind: "client_gone", sent: false, begun: false, giveBack: true },
      charge: 0n,
    },
  ]),
  {
    name: "client gone half-way",
    stream: true,
    play: abortedAfter("client_gone"),
    outcome: { kind: "client_gone", begun: true, giveBack: false },
    charge: PROMPT + 4_000n,
  },
  {
    name: "killed before a stream began costs nothing where billing says so",
    stream: true,
    parts: { billing: { outcomes: FREE } },
    play: abortedBefore(true, "killed"),
    outcome: { kind: "killed", sent: true, begun: false, giveBack: false, status: 200, code: null, bill: NO_BILL },
    charge: 0n,
    last: DONE,
  },
  {
    name: "killed while a connection is made",
    stream: true,
    play: abortedBefore(true, "killed", connects),
    outcome: { kind: "killed", sent: false, begun: false, giveBack: true, status: 200, code: null },
    charge: 0n,
    last: DONE,
  },
  {
    name: "killed before a stream began costs the prompt",
    stream: true,
    play: abortedBefore(true, "killed"),
    outcome: { kind: "killed", begun: false, giveBack: false, status: 200, bill: PROMPT_BILL },
    charge: PROMPT,
    last: DONE,
  },
  {
    name: "killed half-way",
    stream: true,
    play: abortedAfter("killed"),
    outcome: { kind: "killed", begun: true, giveBack: false, status: 200, code: null },
    charge: PROMPT + 4_000n,
    last: DONE,
  },
  {
    name: "shutdown before an answer",
    stream: false,
    play: abortedBefore(false, "shutdown"),
    parts: { billing: { outcomes: PROMPT_OWED } },
    outcome: { kind: "shutdown", sent: true, begun: false, giveBack: true, status: 503, code: "SHUTTING_DOWN" },
    charge: 0n,
    refusal: { code: "SHUTTING_DOWN", message: "Server is shutting down" },
  },
  {
    name: "shutdown half-way",
    stream: true,
    play: abortedAfter("shutdown"),
    outcome: { kind: "shutdown", begun: true, giveBack: false },
    charge: PROMPT + 4_000n,
    last: failureEvent("Server is shutting down"),
  },
  {
    name: "cut streams are free where billing says so",
    stream: true,
    parts: {
      billing: {
        outcomes: { ...PROMPT_OWED, client_gone: "delivered", killed: "delivered", no_usage: "estimate" },
      },
    },
    play: simple(true, cut),
    outcome: { kind: "upstream_cut", giveBack: false },
    charge: 0n,
    last: failureEvent("upstream broke off"),
  },
];
