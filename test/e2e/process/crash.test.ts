import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { NANOS_PER_UNIT } from "../../../src/kit/index.ts";
import { poll } from "../support/child.ts";
import { startLoad } from "../support/load.ts";
import { ask, configuration } from "../support/configuration.ts";
import { type Account, type GatewayProcess, type SimProcess, Workspace } from "../support/process.ts";

/** In an ordinary run; `KILLS=50` is the long form. */
const KILLS = Number(process.env["KILLS"] ?? 8);
const LANES = 2;
/** Requests under way in a lane, and at the same time the plan's limit of concurrent streams: one that leaks is missed. */
const REQUESTS = 8;
/** Milliseconds of load before a kill, at most; and between commands, whose starts would take the machine from the load. */
const LONGEST = 450;
const PAUSE = 400;

const hosts = new Workspace();
let sim: SimProcess;

beforeAll(async () => {
  sim = await hosts.sim();
});

afterAll(() => hosts.close());

interface Command {
  readonly args: readonly string[];
  readonly acknowledged: boolean;
  readonly stdout: string;
}

/** Makes keys and grants credits by the command line, one process after the other; every sixth is killed half-way. */
function startCommands(workspace: Workspace, user: Account) {
  const done: Command[] = [];
  const stopping = new AbortController();
  const work = (async () => {
    for (let turn = 0; !stopping.signal.aborted; turn++) {
      const args =
        turn % 2 === 0
          ? ["keys", "add", "--user", user.id, "--name", `key ${turn}`, "--json"]
          : ["credits", "add", user.id, String(turn), "--json"];
      const child = workspace.gateway(...args);
      if (turn % 6 === 5) setTimeout(() => child.process.kill("SIGKILL"), Math.random() * 700).unref();
      const { code, stdout, stderr } = await child.exited;
      if (code !== null) expect({ code, stderr }, `gateway ${args.join(" ")}`).toEqual({ code: 0, stderr: "" });
      done.push({ args, acknowledged: code === 0, stdout });
      await sleep(PAUSE);
    }
  })();
  return {
    done,
    async stop() {
      stopping.abort();
      await work;
    },
  };
}

/** What must hold after a restart, before any new request. */
async function verify(workspace: Workspace, user: Account, seen: readonly { requestId: string; complete: boolean }[]) {
  const { user: found, ledger, running, drift } = await workspace.books(user.id);
  expect({ ...running, userHeld: found.held }).toEqual({ requests: 0, streams: 0, held: 0n, userHeld: 0n });
  expect(drift).toBe(0n);
  const charges = Map.groupBy(ledger, ({ requestId }) => requestId);
  for (const { requestId, complete } of seen) {
    const entries = charges.get(requestId) ?? [];
    if (complete) {
      expect(entries, `charges of ${requestId}`).toHaveLength(1);
      expect(entries[0]).toMatchObject({ outcome: "served", estimated: false });
      expect(entries[0]!.charge).toBeGreaterThan(0n);
    } else {
      expect(entries.length, `at most once: ${requestId}`).toBeLessThanOrEqual(1);
    }
  }
  return found;
}

async function lane(number: number): Promise<{ complete: number; keys: number; grants: number; starts: number[] }> {
  const workspace = new Workspace();
  let commands: ReturnType<typeof startCommands> | null = null;
  try {
    const config = configuration(sim.origin);
    const limits = { day: "none", hour: "none", minute: "none", streams: REQUESTS } as const;
    workspace.write("gateway.yaml", { ...config, tiers: { ...config.tiers, Free: { access: ["Free"], limits } } });
    const starts: number[] = [];
    const start = async (): Promise<GatewayProcess> => {
      const from = performance.now();
      const gateway = await workspace.serve();
      starts.push(performance.now() - from);
      return gateway;
    };
    let gateway = await start();
    const user = await workspace.account();
    commands = startCommands(workspace, user);
    let complete = 0;
    for (let round = 0; round < KILLS / LANES; round++) {
      const load = startLoad(gateway, user, REQUESTS, { chunks: 8, chunk_delay: "2ms" });
      // A busy machine may have answered nothing by then: every second kill waits for one whole answer at least.
      if (round % 2 === 1) await poll(() => load.seen.some((one) => one.complete));
      await sleep(Math.random() * LONGEST);
      await gateway.stop("SIGKILL");
      await load.stop();
      const refused = load.seen.filter(({ status }) => status !== 0 && status !== 200);
      expect(refused, "nobody is refused: no slot and no hold has leaked").toEqual([]);
      complete += load.seen.filter((one) => one.complete).length;
      gateway = await start();
      await verify(workspace, user, load.seen);
    }
    await commands.stop();

    const made = commands.done.filter(({ args, acknowledged }) => args[0] === "keys" && acknowledged);
    for (const { stdout } of made) {
      const { key } = JSON.parse(stdout) as { key: string };
      expect((await gateway.chat(key, ask("x"))).status, `${number}: an acknowledged key`).toBe(200);
    }
    const grants = commands.done.filter(({ args }) => args[0] === "credits");
    const amount = ({ args }: Command) => BigInt(args[3] ?? "0") * NANOS_PER_UNIT;
    const least = grants.filter(({ acknowledged }) => acknowledged).reduce((sum, grant) => sum + amount(grant), 0n);
    const most = grants.reduce((sum, grant) => sum + amount(grant), 0n);
    const { granted } = await verify(workspace, user, []);
    const added = granted - 1_000n * NANOS_PER_UNIT;
    expect(added).toBeGreaterThanOrEqual(least);
    expect(added).toBeLessThanOrEqual(most);
    expect((await gateway.stop()).code).toBe(0);
    return { complete, keys: made.length, grants: grants.length, starts };
  } finally {
    await commands?.stop();
    await workspace.close();
  }
}

test(
  `${KILLS} times kill -9 under load: nothing acknowledged is lost`,
  { timeout: 60_000 + 2_000 * KILLS },
  async () => {
    const lanes = await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)));
    const total = (of: (one: (typeof lanes)[number]) => number) => lanes.reduce((sum, one) => sum + of(one), 0);
    expect(
      total(({ complete }) => complete),
      "answers that came whole",
    ).toBeGreaterThan(KILLS / 5);
    expect(total(({ keys }) => keys)).toBeGreaterThan(0);
    expect(total(({ grants }) => grants)).toBeGreaterThan(0);
    const starts = lanes.flatMap((one) => one.starts).toSorted((a, b) => a - b);
    console.log(
      `${KILLS} kills, ${total(({ complete }) => complete)} whole answers, ${total(({ keys }) => keys)} keys,`,
      `${total(({ grants }) => grants)} grants; start p50 ${Math.round(starts[starts.length >> 1]!)} ms`,
      `(first ${Math.round(lanes[0]!.starts[0]!)} ms)`,
    );
  },
);
