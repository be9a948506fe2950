import { existsSync } from "node:fs";
import type { Loaded } from "../gateway/configuration.ts";
import {
  type BreakerState,
  type Endpoint,
  GatewayError,
  invalidRequest,
  isJson,
  type Json,
  overloaded,
  type Store,
} from "../kit/index.ts";
import { validateBody } from "../server/body-schemas.ts";
import type { ManualSetting } from "../upstream/state/manual.ts";
import { callerOf } from "./caller.ts";
import { explain, type Explanation, type Question } from "./explain.ts";
import { explainPast, type PastExplanation } from "./explain-past.ts";
import { findDecision, logFiles } from "./replay/log.ts";
import { endpointNames } from "./requests.ts";
import { InvalidQuestion } from "./room.ts";

/** What of a process that serves is asked; nothing of it is changed. */
export interface ExplainedProcess {
  readonly loaded: () => Pick<Loaded, "snapshot" | "steps">;
  readonly store: Pick<Store, "findUser" | "windows" | "running" | "listKeys">;
  readonly breakers: () => Iterable<readonly [upstream: string, state: BreakerState]>;
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
  async answer(body: Json): Promise<Explanation | PastExplanation> {
    const ask = body["request"] === undefined ? this.#asker(body) : this.#askerOfPast(body);
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
  #asker(body: Json): () => Promise<Explanation> {
    const { loaded, now, breakers, manual } = this.#process;
    const question = questionOf(body);
    return async () => {
      const caller = await this.#caller(body);
      const open = [...breakers()].filter(([, state]) => state === "open").map(([upstream]) => upstream);
      const asked = {
        ...question,
        open: [...(question.open ?? []), ...open],
        now: now(),
        manual: new Map(manual()),
        ...(caller && { caller }),
      };
      return explain(loaded(), asked, this.#kept);
    };
  }

  /** Of a request of this gateway's decision log. @throws GatewayError INVALID_REQUEST */
  #askerOfPast(body: Json): () => Promise<PastExplanation> {
    checkFields(body, PAST_FIELDS);
    const { request, tier, down = [], open = [] } = body as unknown as PastQuestion;
    const more = { open, faults: allDown(down), ...(tier !== undefined && { tier }) };
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

  async #caller({ user, key }: Json): Promise<Question["caller"]> {
    if (typeof user !== "string") return undefined;
    const { store, loaded } = this.#process;
    const { snapshot } = loaded();
    const caller = await callerOf(store, snapshot, user, typeof key === "string" ? key : undefined);
    if (caller === null) throw new InvalidQuestion(`there is no user ${user}`);
    return caller;
  }
}

type Check = readonly [is: (value: unknown) => boolean, what: string];

const MAX_TOKENS = 1_000_000;
const TEXT: Check = [(value) => typeof value === "string", "must be a string"];
const FLAG: Check = [(value) => typeof value === "boolean", "must be true or false"];
const NAMES: Check = [
  (value) => Array.isArray(value) && value.every((name) => typeof name === "string"),
  "must be a list of upstreams",
];
const COUNT: Check = [
  (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MAX_TOKENS,
  "must be a whole number up to 1,000,000",
];

/** Scripts of the simulator are not among them: one can keep a process busy for as long as it says. */
const FIELDS: Readonly<Record<string, Check>> = {
  model: TEXT,
  tier: TEXT,
  user: TEXT,
  key: TEXT,
  endpoint: [(value) => endpointNames().includes(value as Endpoint), `must be one of ${endpointNames().join(", ")}`],
  stream: FLAG,
  body: [isJson, "must be an object"],
  down: NAMES,
  open: NAMES,
  prompt_tokens: COUNT,
  output_tokens: COUNT,
};

interface PastQuestion {
  readonly request: string;
  readonly tier?: string;
  readonly down?: readonly string[];
  readonly open?: readonly string[];
}

/** Of a past request: what it was is in the log. */
const PAST_FIELDS: typeof FIELDS = {
  // Every line of the log has the empty text in it.
  request: [(value) => typeof value === "string" && value !== "", "must be the id of a request"],
  tier: TEXT,
  down: NAMES,
  open: NAMES,
};

/** @throws GatewayError INVALID_REQUEST */
function checkFields(body: Json, fields: typeof FIELDS): void {
  for (const [name, value] of Object.entries(body)) {
    const check = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (check === undefined) {
      const what = fields === PAST_FIELDS ? "says nothing beside request" : "is not known";
      throw invalidRequest(`/${name}`, `${what}: ${Object.keys(fields).join(", ")}`);
    }
    const [is, what] = check;
    if (!is(value)) throw invalidRequest(`/${name}`, what);
  }
}

function allDown(upstreams: readonly string[]): Record<string, string> {
  return Object.fromEntries(upstreams.map((name) => [name, "down"]));
}

/** @throws GatewayError INVALID_REQUEST */
function questionOf(body: Json): Omit<Question, "now" | "manual"> {
  checkFields(body, FIELDS);
  const { model, tier, user, key, down = [], prompt_tokens: prompt, output_tokens: output, ...rest } = body;
  if (model === undefined) throw invalidRequest("/model", "is missing");
  if (tier === undefined && user === undefined) throw invalidRequest("/tier", "is missing, and so is user");
  if (key !== undefined && user === undefined) throw invalidRequest("/user", "is missing: whose key?");
  return {
    ...(rest as Pick<Question, "endpoint" | "stream" | "body" | "open">),
    model: model as string,
    faults: allDown(down as readonly string[]),
    ...(tier !== undefined && { tier: tier as string }),
    ...(prompt !== undefined && { promptTokens: prompt as number }),
    ...(output !== undefined && { outputTokens: output as number }),
  };
}
