import type { Decision } from "#schema";
import type { Configuration } from "../offline.ts";
import { Comparison, type Differences, type Ended } from "./comparison.ts";
import { Demand, type PlanDemand } from "./demand.ts";
import { ReplayEngine } from "./engine.ts";
import { DecisionLog, type LogFacts } from "./log.ts";
import { PastRequest } from "./past.ts";

export interface ReplayQuestion {
  readonly files: readonly string[];
  readonly configuration: Configuration;
  /** What the log is replayed with as well, to be compared with in its place; null: the log itself. */
  readonly against: Configuration | null;
  /** Whether the demand of each plan is told. */
  readonly limits: boolean;
  /** Unix milliseconds: what came before is replayed, and not compared. */
  readonly since: number | null;
  /** Unix milliseconds: what came later is not replayed. */
  readonly until: number | null;
  /** Others are replayed, and not compared. */
  readonly tier: string | null;
  readonly model: string | null;
}

/** Amounts of money are decimals in `currency`, times ISO 8601. */
export interface ReplayReport extends Differences {
  readonly config: string;
  /** Hash of what is compared with; null: what was logged. */
  readonly against: string | null;
  readonly currency: string;
  readonly log: LogFacts & {
    readonly from: string | null;
    readonly to: string | null;
    /** Of the configurations that decided then. */
    readonly configs: readonly string[];
    readonly users: number;
    /** Requests that no pipeline has seen, by what became of them. */
    readonly passed_over: Readonly<Record<string, number>>;
  };
  readonly limits: readonly PlanDemand[] | null;
}

const MAX_CONFIGS_COUNT = 20;

/**
 * Puts the requests of a decision log to a configuration, in the order and at the times in which they came.
 * @throws Error for a file that cannot be read.
 */
export async function replay(question: ReplayQuestion): Promise<ReplayReport> {
  const run = new Replay(question);
  try {
    return await run.report();
  } finally {
    await run.close();
  }
}

class Replay {
  readonly #question: ReplayQuestion;
  readonly #log: DecisionLog;
  readonly #comparison = new Comparison();
  readonly #demand: Demand;
  readonly #answers = new MeanAnswers();
  /** Of requests that run, by the number of each. */
  readonly #plans = new Map<string, string>();
  readonly #engines: ReplayEngine[] = [];
  readonly #users = new Set<string>();
  readonly #configs = new Set<string>();
  readonly #passedOver = new Map<string, number>();
  #from: number | null = null;
  #to: number | null = null;

  constructor(question: ReplayQuestion) {
    this.#question = question;
    this.#log = new DecisionLog(question.files);
    this.#demand = new Demand((id) => this.#plans.get(id) ?? null);
  }

  async report(): Promise<ReplayReport> {
    const { configuration, against, limits, until } = this.#question;
    let number = 0;
    for await (const decision of this.#log.read()) {
      const at = Date.parse(decision.time);
      if (until !== null && at >= until) continue;
      if (this.#engines.length === 0) await this.#open(at);
      number += 1;
      await this.#begin(number, decision, at);
      this.#answers.add(decision);
    }
    for (const engine of this.#engines) await engine.end();
    const { snapshot } = configuration;
    return {
      config: snapshot.hash,
      against: against?.snapshot.hash ?? null,
      currency: snapshot.billing.currency,
      log: {
        ...this.#log.facts,
        from: this.#from === null ? null : new Date(this.#from).toISOString(),
        to: this.#to === null ? null : new Date(this.#to).toISOString(),
        configs: [...this.#configs],
        users: this.#users.size,
        passed_over: Object.fromEntries([...this.#passedOver].toSorted(([, a], [, b]) => b - a)),
      },
      ...this.#comparison.differences,
      limits: limits ? this.#demand.plans(snapshot) : null,
    };
  }

  async close(): Promise<void> {
    for (const engine of this.#engines) await engine.close();
  }

  async #open(now: number): Promise<void> {
    const { configuration, against } = this.#question;
    const admissions = this.#demand;
    // What chance or latency chose then, it would have chosen now; two replays draw the same numbers instead.
    const keepsChoices = against === null;
    this.#engines.push(await ReplayEngine.open({ configuration, now, keepsChoices, admissions }));
    if (against !== null) this.#engines.push(await ReplayEngine.open({ configuration: against, now, keepsChoices }));
  }

  /** The request in every engine, compared once it has ended in all. */
  async #begin(number: number, decision: Decision, at: number): Promise<void> {
    const isCompared = this.#isCompared(decision, at);
    if (isCompared) this.#note(decision, at);
    const mean = this.#answers.of(decision);
    const past = (): PastRequest => new PastRequest(decision, mean);
    const logged = past();
    if (!logged.isReplayable) {
      if (isCompared) this.#passedOver.set(logged.result, (this.#passedOver.get(logged.result) ?? 0) + 1);
      return;
    }
    const plan = decision.plan!;
    if (isCompared) this.#plans.set(String(number), plan);
    const ends: Ended[] = [];
    const onEnd = (engine: number, ended: Ended): void => {
      ends[engine] = ended;
      if (ends.filter(Boolean).length < this.#engines.length) return;
      this.#plans.delete(String(number));
      const [now, before = { result: logged.result, upstream: decision.upstream, charge: logged.charge }] = ends;
      const { user, model } = decision;
      if (!isCompared) return;
      const { isCounted } = logged;
      this.#comparison.add({ user: user ?? "", plan, model: model!, now: now!, before, isCounted });
    };
    for (const [index, engine] of this.#engines.entries()) {
      await engine.begin(number, past(), (ended) => onEnd(index, ended));
    }
  }

  #isCompared({ plan, model }: Decision, at: number): boolean {
    const { since, tier, model: only } = this.#question;
    return (since === null || at >= since) && (tier === null || plan === tier) && (only === null || model === only);
  }

  #note({ config, user }: Decision, at: number): void {
    this.#from = Math.min(this.#from ?? at, at);
    this.#to = Math.max(this.#to ?? at, at);
    if (this.#configs.size < MAX_CONFIGS_COUNT) this.#configs.add(config);
    if (user !== null) this.#users.add(user);
  }
}

/** What an answer of a model had on the average so far: what is assumed of a request that was not served then. */
class MeanAnswers {
  readonly #sums = new Map<string, { count: number; completion: number }>();

  add({ model, outcome, tokens }: Decision): void {
    if (model === null || outcome !== "served") return;
    const sum = this.#sums.get(model) ?? { count: 0, completion: 0 };
    this.#sums.set(model, sum);
    sum.count += 1;
    sum.completion += tokens.completion;
  }

  /** null: none was served so far. */
  of({ model, max_output }: Decision): number | null {
    const sum = this.#sums.get(model ?? "");
    return sum === undefined ? null : Math.min(max_output ?? Infinity, Math.round(sum.completion / sum.count));
  }
}
