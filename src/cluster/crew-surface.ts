import type { ReloadResult } from "../server/admin.ts";
import { aggregate, aggregateText, countsOf, type Scrape } from "../telemetry/aggregate.ts";
import { canAnswer, type Crew, isBlocked } from "./crew.ts";
import type { Hand } from "./hand.ts";
import type { Answers, Question } from "./protocol.ts";
import type { Surface, View } from "./surface.ts";

/** Milliseconds for a worker to read the configuration and set its plugins up. */
const RELOAD_PATIENCE = 30_000;
/** Files may be written while the workers read them. */
const ROUNDS = 3;

export interface CrewSurface extends Surface {
  /** Keeps the counts of a worker that has ended. */
  bequeath(hand: Hand): void;
}

/** What the admin listener shows of all workers: it asks those that can answer. @param file the configuration's path */
export function surfaceOfCrew(crew: Pick<Crew, "hands" | "stopping">, file: string): CrewSurface {
  const latest = new WeakMap<Hand, Scrape>();
  /** Counts of workers that have ended. */
  let left: Scrape = [];
  let seen: View | null = null;

  /** The answers that came; a worker that is ending or blocked has none. @param onAnswer called as each comes. */
  const askAll = async <Q extends Question>(
    question: Q,
    onAnswer: (hand: Hand, answer: Answers[Q]) => void = () => {},
  ): Promise<readonly Answers[Q][]> => {
    const ask = async (hand: Hand): Promise<readonly Answers[Q][]> => {
      try {
        const answer = await hand.ask(question);
        onAnswer(hand, answer);
        return [answer];
      } catch {
        return [];
      }
    };
    return (await Promise.all(crew.hands.filter(canAnswer).map(ask))).flat();
  };

  /** null for a worker that ended meanwhile: the one in its place reads the file by itself. */
  const reloadOne = (hand: Hand): Promise<ReloadResult | null> =>
    hand
      .ask("reload", { patience: RELOAD_PATIENCE })
      .catch(() => (hand.ended ? null : fault(`worker ${hand.pid} does not answer`, "see the log")));

  const fault = (message: string, hint: string): ReloadResult => {
    const place = { file, line: 1, column: 1, pointer: "" };
    return { ok: false, diagnostics: [{ ...place, rule: "workers-agree", severity: "error", message, hint }] };
  };

  return {
    async notReady() {
      if (crew.stopping) return ["draining"];
      const reasons = await askAll("ready");
      if (reasons.some(({ length }) => length === 0)) return [];
      const blocked = crew.hands.some(isBlocked) ? ["event loop blocked"] : [];
      const all = [...new Set([...reasons.flat(), ...blocked])];
      return all.length > 0 ? all : ["no worker answers"];
    },
    async metrics() {
      // Each at once: behind a worker that is slow to answer, an earlier answer could come in place of a later one.
      await askAll("metrics", (hand, scrape) => latest.set(hand, scrape));
      return aggregateText([left, ...crew.hands.flatMap((hand) => [latest.get(hand) ?? []])]);
    },
    async view() {
      const [first, ...more] = await askAll("view");
      if (first !== undefined) seen = merge(first, more);
      else if (seen !== null) seen = { ...seen, complete: false };
      else throw new Error("no worker answers");
      return seen;
    },
    async streams() {
      const counts = await askAll("streams");
      return { active: counts.reduce((sum, count) => sum + count, 0) };
    },
    async settlements() {
      const all = await askAll("settlements");
      // They share a journal: what is in it is known to each.
      const rejected = new Map(all.flatMap(({ rejected }) => rejected.map((one) => [one.id, one] as const)));
      return { pending: Math.max(0, ...all.map(({ pending }) => pending)), rejected: [...rejected.values()] };
    },
    async reload() {
      for (let round = 0; round < ROUNDS; round++) {
        const results = await Promise.all(crew.hands.filter(({ serving }) => serving).map(reloadOne));
        const refused = results.find((result) => result !== null && !result.ok);
        if (refused) return refused;
        const hashes = new Set(results.map((result) => (result?.ok ? result.hash : null)));
        hashes.delete(null);
        const [hash] = hashes;
        if (hashes.size === 1) return { ok: true, hash: hash! };
      }
      return fault("the workers do not agree on a configuration", "ask again when the files are no longer written to");
    },
    bequeath(hand) {
      const scrape = latest.get(hand);
      if (scrape !== undefined) left = aggregate([left, countsOf(scrape)]);
    },
  };
}

/** The first worker's view, with what every worker says of itself in place of what the store has heard of it. */
function merge(first: View, more: readonly View[]): View {
  const own = new Map(more.map(({ self }) => [self.instance, self]));
  const others = [...first.others.filter(({ instance }) => !own.has(instance)), ...own.values()];
  const statuses = [first, ...more].map(({ status }) => status);
  const pending = [...new Set(statuses.flatMap((status) => status.pending))];
  const rejection = statuses.find(({ last_rejection }) => last_rejection !== null)?.last_rejection ?? null;
  return { ...first, status: { ...first.status, pending, last_rejection: rejection }, others };
}
