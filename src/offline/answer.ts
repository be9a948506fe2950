import { existsSync } from "node:fs";
import type {
  ExplainAnswer,
  ExplainRequest,
  Explanation,
  NewRequestQuestion,
  PastExplanation,
  PastRequestQuestion,
} from "#schema";
import type { Loaded } from "../gateway/configuration.ts";
import type { RestingTarget } from "../gateway/cooldowns.ts";
import { GatewayError, invalidRequest, onlyTier, overloaded, type Snapshot, type Store } from "../kit/index.ts";
import { validateBody } from "../server/body-schemas.ts";
import type { BreakerSample } from "../telemetry/state-metrics.ts";
import type { ManualSetting } from "../upstream/state/manual.ts";
import { callerOf } from "./caller.ts";
import { explain, type Question } from "./explain.ts";
import { explainPast } from "./explain-past.ts";
import { findDecision, logFiles } from "./replay/log.ts";
import { InvalidQuestion } from "./room.ts";

/** What of a process that serves is asked; nothing of it is changed. */
export interface ExplainedProcess {
  readonly loaded: () => Pick<Loaded, "snapshot" | "steps">;
  readonly store: Pick<Store, "findUser" | "windows" | "running" | "listKeys">;
  readonly breakers: () => Iterable<BreakerSample>;
  /** Targets for which every key rests. */
  readonly resting: () => readonly RestingTarget[];
  /** What operators have set. */
  readonly manual: () => Iterable<readonly [upstream: string, setting: ManualSetting]>;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/**
 * Answers `POST /admin/explain` for a process that serves: its configuration, its breakers as they are, a user's own
 * counters. One question at a time: each takes as long as some tens of requests.
 */
export class Explainer {
  readonly #process: ExplainedProcess;
  readonly #kept = { validateBody };
  #busy = false;

  constructor(process: ExplainedProcess) {
    this.#process = process;
  }

  /** @throws GatewayError INVALID_REQUEST, OVERLOADED, STORE_UNAVAILABLE */
  async answer(question: ExplainRequest): Promise<ExplainAnswer> {
    const ask = "request" in question ? this.#askerOfPast(question) : this.#asker(question);
    if (this.#busy) throw overloaded();
    this.#busy = true;
    try {
      return await ask();
    } catch (error) {
      if (error instanceof InvalidQuestion)
        throw new GatewayError("INVALID_REQUEST", `Invalid request: ${error.message}`);
      throw error;
    } finally {
      this.#busy = false;
    }
  }

  /** @throws GatewayError INVALID_REQUEST */
  #asker(asked: NewRequestQuestion): () => Promise<Explanation> {
    const { loaded, now, breakers, resting, manual } = this.#process;
    const question = questionOf(asked, loaded().snapshot);
    return async () => {
      const caller = await this.#caller(asked);
      const found = [...breakers()].filter(([, state]) => state === "open");
      const open = found.map(([upstream, , model]) => (model === undefined ? upstream : { upstream, model }));
      const whole = {
        ...question,
        open: [...(question.open ?? []), ...open],
        resting: resting(),
        now: now(),
        manual: new Map(manual()),
        ...(caller && { caller }),
      };
      return explain(loaded(), whole, this.#kept);
    };
  }

  /** Of a request of this gateway's decision log. */
  #askerOfPast({ request, tier, down = [], open = [] }: PastRequestQuestion): () => Promise<PastExplanation> {
    const more = { tier, open, faults: allDown(down) };
    return async () => {
      const configuration = this.#process.loaded();
      const files = await logFiles(configuration.snapshot);
      if (files === null)
        throw invalidRequest("/request", "is looked for in telemetry.decision_log, which is not configured");
      const { decision } = await findDecision(files.filter(existsSync), request);
      if (decision === null) throw invalidRequest("/request", "is not in the decision log");
      return explainPast(configuration, decision, more, this.#kept);
    };
  }

  async #caller({ user, key }: NewRequestQuestion): Promise<Question["caller"]> {
    if (user === undefined) return undefined;
    const { store, loaded } = this.#process;
    const { snapshot } = loaded();
    const caller = await callerOf(store, snapshot, user, key);
    if (caller === null) throw new InvalidQuestion(`there is no user ${user}`);
    return caller;
  }
}

/** Of the scripts that upstreams can follow no other can be asked for: one may keep the process busy for as long as it says. */
function allDown(upstreams: readonly string[]): Record<string, string> {
  return Object.fromEntries(upstreams.map((name) => [name, "down"]));
}

/** What no schema of the question can say. @throws GatewayError INVALID_REQUEST */
function questionOf(asked: NewRequestQuestion, snapshot: Snapshot): Omit<Question, "now" | "manual"> {
  const { model, tier, user, key, endpoint, stream, body, down = [], open } = asked;
  if (tier === undefined && user === undefined && onlyTier(snapshot) === null)
    throw invalidRequest("/tier", "is missing, and so is user");
  if (key !== undefined && user === undefined) throw invalidRequest("/user", "is missing: whose key?");
  const { prompt_tokens: promptTokens, output_tokens: outputTokens } = asked;
  return { model, tier, endpoint, stream, body, open, promptTokens, outputTokens, faults: allDown(down) };
}
