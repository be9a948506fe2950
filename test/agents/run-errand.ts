import { mkdirSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { LedgerEntry } from "../../src/kit/index.ts";
import { poll } from "../e2e/support/child.ts";
import type { Setting } from "./agents/agent.ts";
import { type Ended, runAgent } from "./processes.ts";
import { type Cell, slugOf, type Stage } from "./stage.ts";
import { type Exchanged, Tap } from "./tap.ts";
import { type Errand, plainErrand, toolErrand } from "./upstream/errand.ts";
import type { Visit } from "./upstream/server.ts";

/** All that is known of a cell afterwards. */
export interface Run {
  readonly cell: Cell;
  readonly errand: Errand;
  readonly ended: Ended;
  readonly seconds: number;
  /** Between the agent and its provider, which is the gateway or the stand-in. */
  readonly exchanged: readonly Exchanged[];
  /** What reached the stand-in. */
  readonly visits: readonly Visit[];
  /** What the gateway says of it; null for a run without it. */
  readonly books: Books | null;
}

interface Books {
  readonly ledger: readonly LedgerEntry[];
  /** Nano-units that neither balance nor charges explain. */
  readonly drift: bigint;
  readonly running: { readonly requests: number; readonly streams: number; readonly held: bigint };
  /** Lines of the log. */
  readonly log: readonly string[];
}

export interface Terms {
  /** Where agents' programs are. */
  readonly programs: string;
  /** Milliseconds for each call of an agent. */
  readonly limit: number;
  readonly stop: AbortSignal;
}

/** Reserved for discarding: nothing listens there, and what an agent sends elsewhere than to its provider ends. */
const NOWHERE = "http://127.0.0.1:9";
const LOOPBACK = "127.0.0.1,localhost,::1";

/** Lets an agent run an errand in a home of its own, as a user of its own. */
export async function runErrand(stage: Stage, cell: Cell, { programs, limit, stop }: Terms): Promise<Run> {
  const { agent, situation } = cell;
  const { workspace } = stage;
  const slug = slugOf(cell);
  const user = cell.through === "gateway" ? await workspace.account() : null;
  const place = join("runs", slug);
  const work = workspace.path(join(place, "work"));
  const home = workspace.path(join(place, "home"));
  const errand =
    situation.task === "plain" ? plainErrand() : toolErrand(join(work, "first.txt"), join(work, "second.txt"));
  for (const folder of [work, home]) mkdirSync(folder, { recursive: true });
  for (const { path, content } of errand.files) writeFileSync(path, content);
  const provider = stage.providerOf(cell);
  const tap = new Tap(provider.base);
  const origin = await tap.start();
  const setting: Setting = {
    origin,
    key: user?.key ?? "upstream-key",
    model: provider.model,
    home,
    prompt: errand.prompt,
  };
  for (const [path, content] of Object.entries(agent.files?.(setting) ?? {})) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), typeof content === "string" ? content : JSON.stringify(content, null, 2));
  }
  const env = { ...environment(home), ...agent.env?.(setting) };
  const began = performance.now();
  let ended: Ended | null = null;
  for (const args of agent.calls(setting)) {
    const signal = AbortSignal.any([AbortSignal.timeout(limit), stop]);
    ended = await runAgent(join(programs, agent.bin), args, { mark: slug, cwd: work, env, signal });
    if (ended.code !== 0) break;
  }
  const seconds = (performance.now() - began) / 1000;
  if (!ended) throw new Error(`${agent.name} has no call`);
  const books = user === null ? null : await booksOf(stage, user.id, tap.seen);
  tap.close();
  await rm(workspace.path(place), { recursive: true, force: true });
  const visits = stage.upstream.visits.filter(({ run }) => run === slug);
  return { cell, errand, ended, seconds, exchanged: tap.seen, visits, books };
}

async function booksOf({ workspace, gateway }: Stage, userId: string, seen: readonly Exchanged[]): Promise<Books> {
  // An agent may leave while its last answer is still being settled.
  await poll(async () => (await workspace.books(userId)).running.requests === 0).catch(() => null);
  const { ledger, drift, running } = await workspace.books(userId);
  const log = gateway.child.stderr
    .split("\n")
    .filter((line) => seen.some(({ requestId }) => requestId !== "" && line.includes(requestId)));
  return { ledger, drift, running, log };
}

/** Nothing of this process's own but the way to programs. */
function environment(home: string): Record<string, string> {
  const { PATH = "" } = process.env;
  return {
    PATH,
    HOME: home,
    TMPDIR: home,
    TERM: "dumb",
    CI: "1",
    NO_COLOR: "1",
    DO_NOT_TRACK: "1",
    HTTP_PROXY: NOWHERE,
    HTTPS_PROXY: NOWHERE,
    http_proxy: NOWHERE,
    https_proxy: NOWHERE,
    NO_PROXY: LOOPBACK,
    no_proxy: LOOPBACK,
    NODE_USE_ENV_PROXY: "1",
  };
}
