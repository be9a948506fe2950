import { mkdirSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { LedgerEntry } from "../../src/kit/index.ts";
import { poll } from "../e2e/support/child.ts";
import type { Agent, Setting } from "./agents/agent.ts";
import { type Ended, runAgent } from "./processes.ts";
import { modelOn, type RouteName, type Stage } from "./stage.ts";
import { type Exchanged, Tap } from "./tap.ts";
import { type Errand, plainErrand, toolErrand } from "./upstream/errand.ts";
import type { Visit } from "./upstream/server.ts";

/** One cell of the matrix. */
export interface Cell {
  readonly agent: Agent;
  readonly dialect: RouteName;
  readonly task: "plain" | "tool";
}

/** All that is known of a cell afterwards. */
export interface Run {
  readonly cell: Cell;
  readonly errand: Errand;
  readonly ended: Ended;
  readonly seconds: number;
  /** Between agent and gateway. */
  readonly exchanged: readonly Exchanged[];
  /** Between gateway and upstream. */
  readonly visits: readonly Visit[];
  readonly ledger: readonly LedgerEntry[];
  /** Nano-units that neither balance nor charges explain. */
  readonly drift: bigint;
  readonly running: { readonly requests: number; readonly streams: number; readonly held: bigint };
  /** What the gateway logged of it. */
  readonly log: readonly string[];
}

export interface Terms {
  /** Where agents' programs are. */
  readonly programs: string;
  /** Milliseconds for each call of an agent. */
  readonly limit: number;
  readonly stop: AbortSignal;
}

/** Reserved for discarding: nothing listens there, and what an agent sends elsewhere than to the gateway ends. */
const NOWHERE = "http://127.0.0.1:9";
const LOOPBACK = "127.0.0.1,localhost,::1";

/** Lets an agent run an errand in a home of its own, as a user of its own. */
export async function runErrand(stage: Stage, cell: Cell, { programs, limit, stop }: Terms): Promise<Run> {
  const { agent, dialect, task } = cell;
  const { workspace } = stage;
  const user = await workspace.account();
  const place = join("runs", user.id);
  const work = workspace.path(join(place, "work"));
  const home = workspace.path(join(place, "home"));
  const errand = task === "plain" ? plainErrand() : toolErrand(join(work, "secret.txt"));
  for (const folder of [work, home]) mkdirSync(folder, { recursive: true });
  if (errand.file) writeFileSync(errand.file.path, errand.file.content);
  const tap = new Tap(stage.gateway.origin);
  const origin = await tap.start();
  const setting: Setting = { origin, key: user.key, model: modelOn(dialect), home, prompt: errand.prompt };
  for (const [path, content] of Object.entries(agent.files?.(setting) ?? {})) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), typeof content === "string" ? content : JSON.stringify(content, null, 2));
  }
  const env = { ...environment(home), ...agent.env?.(setting) };
  const began = performance.now();
  let ended: Ended | null = null;
  for (const args of agent.calls(setting)) {
    const signal = AbortSignal.any([AbortSignal.timeout(limit), stop]);
    ended = await runAgent(join(programs, agent.bin), args, { mark: user.id, cwd: work, env, signal });
    if (ended.code !== 0) break;
  }
  const seconds = (performance.now() - began) / 1000;
  if (!ended) throw new Error(`${agent.name} has no call`);
  // An agent may leave while its last answer is still being settled.
  await poll(async () => (await workspace.books(user.id)).running.requests === 0).catch(() => null);
  tap.close();
  await rm(workspace.path(place), { recursive: true, force: true });
  const { ledger, drift, running } = await workspace.books(user.id);
  const ids = new Set(tap.seen.map(({ requestId }) => requestId));
  const visits = stage.upstream.visits.filter(({ entry }) => ids.has(entry.requestId));
  const log = stage.gateway.child.stderr
    .split("\n")
    .filter((line) => tap.seen.some(({ requestId }) => requestId !== "" && line.includes(requestId)));
  return { cell, errand, ended, seconds, exchanged: tap.seen, visits, ledger, drift, running, log };
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
