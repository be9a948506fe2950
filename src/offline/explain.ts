import type { ExplainedStage, ExplainedWindow, Explanation } from "#schema";
import type { RestingTarget } from "../gateway/cooldowns.ts";
import {
  type Endpoint,
  GatewayError,
  type Json,
  modelAt,
  nanoToString,
  onlyTier,
  type Snapshot,
  tierOf,
  type Usage,
  type WindowName,
} from "../kit/index.ts";
import { applies } from "../pipeline/plans.ts";
import { tokensOf } from "../telemetry/decisions.ts";
import type { ManualSetting } from "../upstream/state/manual.ts";
import type { Used } from "./carried.ts";
import { explainedChain } from "./explain-chain.ts";
import { type Configuration, type OfflineOptions, openOffline } from "./offline.ts";
import { type Fault, Providers } from "./providers.ts";
import type { Decision } from "./record.ts";
import { callOf, endpointOf } from "./requests.ts";
import { existing, InvalidQuestion, type Offline, type OfflineResult } from "./room.ts";

/** A user whose request it would be. */
export interface Caller {
  readonly id: string;
  readonly tier: string;
  /** Nano-units: what is left, and what running requests hold of it. */
  readonly balance: bigint;
  readonly held: bigint;
  readonly used: Used;
  /** Whether the key that was named can be used. */
  readonly keyIsLive: boolean;
}

export interface Question {
  readonly model: string;
  /** Unix milliseconds. */
  readonly now: number;
  /** The plan; the caller's unless given, or the only one of the configuration. */
  readonly tier?: string;
  /** Somebody who has used nothing, with credits enough, unless given. */
  readonly caller?: Caller;
  /** That of the model's kind unless given. */
  readonly endpoint?: Endpoint;
  readonly stream?: boolean;
  /** Over the least body that the endpoint takes. */
  readonly body?: Json;
  readonly faults?: Readonly<Record<string, Fault>>;
  /** Upstreams, and targets, whose breaker is open. */
  readonly open?: readonly (string | OpenTarget)[];
  /** Targets for which every key rests. */
  readonly resting?: readonly RestingTarget[];
  /** What operators have set, by upstream. */
  readonly manual?: ReadonlyMap<string, ManualSetting>;
  /** What the upstream will have counted; by the request's size, and by what it holds, unless given. */
  readonly promptTokens?: number;
  readonly outputTokens?: number;
}

/** States by model, for an upstream whose models have breakers of their own. */
export type OpenTarget = Pick<RestingTarget, "upstream" | "model">;

/** What may be kept from one question to the next. */
export type Kept = Pick<OfflineOptions, "tokenizer" | "validateBody">;

const USER = "caller";
const NO_USAGE: Usage = { prompt: 0, completion: 0, cached: 0, reasoning: 0 };
const BYTES_PER_TOKEN = 4;
/** No key has this form. */
const DEAD_KEY = "Bearer rk_revoked";

/**
 * What would become of a request, and why: by the real pipeline, without anything being counted, charged or sent.
 * @throws Error for a model, plan or upstream that there is not, naming the nearest.
 */
export async function explain(loaded: Configuration, asked: Question, kept: Kept = {}): Promise<Explanation> {
  const { snapshot } = loaded;
  const { caller, now, open = [], resting = [], stream = false } = asked;
  const known = named("model", snapshot.models, asked.model);
  // After its sunset it is its successor that serves.
  const model = modelAt(snapshot, known.id, now) ?? known;
  const question = { ...asked, model: model.id };
  const tier = question.tier ?? caller?.tier ?? onlyTier(snapshot) ?? "";
  // A user may be on a plan that there is no longer: it may call nothing.
  if (caller === undefined || question.tier !== undefined) named("tier", snapshot.tiers, tier);
  const endpoint = question.endpoint ?? endpointOf(model.kind);
  const faults = faultsOf(snapshot, question, endpoint);
  const { manual } = question;
  const room = await openOffline(loaded, { ...kept, now, tier, faults, ...(manual && { manual }) });
  try {
    for (const one of open) {
      if (typeof one === "string") room.trip(one);
      else room.trip(one.upstream, one.model);
    }
    for (const one of resting) room.rest(one);
    await room.user(USER, {
      tier,
      ...(caller && { id: caller.id, used: caller.used, credits: positive(caller.balance - caller.held) }),
    });
    const result = await room.request({
      user: USER,
      model: model.id,
      endpoint,
      ...(stream && { stream }),
      ...(question.body && { body: question.body }),
      ...(caller?.keyIsLive === false && { headers: { authorization: DEAD_KEY } }),
    });
    return explanation({ loaded, question, endpoint, tier, room, result });
  } finally {
    await room.close();
  }
}

function positive(amount: bigint): bigint {
  return amount > 0n ? amount : 0n;
}

function named<Value>(what: string, record: Readonly<Record<string, Value>>, name: string): Value {
  return existing(record, name, what);
}

/** What was asked for, with the counts that every upstream will report: by them the charge is what is to be expected. */
function faultsOf(snapshot: Snapshot, question: Question, endpoint: Endpoint): Record<string, Fault> {
  const call = callOf(endpoint, { model: question.model, ...question.body });
  const prompt = question.promptTokens ?? Math.ceil((call?.promptBytes ?? 0) / BYTES_PER_TOKEN);
  const held = call?.maxOutput ?? snapshot.billing.holdOutputTokens * (call?.answers ?? 1);
  const completion = question.outputTokens ?? held;
  const { faults = {} } = question;
  for (const name of Object.keys(faults)) named("upstream", snapshot.upstreams, name);
  return Object.fromEntries(
    Object.keys(snapshot.upstreams).map((name) => [
      name,
      claiming(faults[name] ?? "", { "usage.prompt": prompt, "usage.completion": completion }),
    ]),
  );
}

function claiming(fault: Fault, counts: Readonly<Record<string, number>>): Fault {
  try {
    return Providers.claiming(fault, counts);
  } catch (error) {
    throw new InvalidQuestion(error instanceof Error ? error.message : String(error));
  }
}

interface Told {
  readonly loaded: Configuration;
  readonly question: Question;
  readonly endpoint: Endpoint;
  readonly tier: string;
  readonly room: Offline;
  readonly result: OfflineResult;
}

function explanation(told: Told): Explanation {
  const { loaded, question, endpoint, tier, room, result } = told;
  const { snapshot } = loaded;
  const { caller, now, stream = false } = question;
  const { trace, windows, status } = result;
  const { outcome } = trace;
  const { limits } = tierOf(snapshot, tier);
  const window = (name: WindowName): ExplainedWindow => {
    const { used, limit, resetsAt } = windows[name];
    const left = limit === null ? null : Math.max(0, limit - used);
    return { limit, used, left, resets_at: new Date(resetsAt).toISOString() };
  };
  return {
    request: {
      model: question.model,
      kind: snapshot.models[question.model]!.kind,
      endpoint,
      stream,
      tier,
      user: caller?.id ?? null,
      at: new Date(now).toISOString(),
      hash: snapshot.hash,
    },
    answer: {
      status,
      code: result.code,
      outcome: result.outcome ?? "refused",
      upstream: result.upstream,
      headers: result.headers,
      message: result.code === null ? "" : messageOf(result),
      took_ms: result.took,
    },
    stages: stagesOf(told),
    chain: explainedChain(loaded.snapshot, question.model, room, result),
    limits: {
      day: window("day"),
      hour: window("hour"),
      minute: window("minute"),
      streams: { limit: limits.streams, running: caller?.used.streams ?? 0 },
    },
    credits: {
      currency: snapshot.billing.currency,
      balance: caller ? nanoToString(caller.balance) : null,
      held: caller ? nanoToString(caller.held) : null,
      enforced: snapshot.billing.enforce,
      hold: nanoToString(result.hold),
    },
    charge: {
      expected: nanoToString(result.charge),
      usage: tokensOf(outcome?.bill.usage ?? NO_USAGE),
      estimated: outcome?.bill.estimated ?? false,
    },
  };
}

function stagesOf({ loaded, tier, question, result }: Told): ExplainedStage[] {
  const { decisions } = result.trace;
  const model = loaded.snapshot.models[question.model]!;
  const plan = tierOf(loaded.snapshot, tier);
  const end = decisions.find(({ result: made }) => ["refused", "failed", "answered"].includes(made));
  return loaded.steps.map(({ plugin: { name, stage }, settings: { when } }, step) => {
    const own = decisions.filter((decision) => decision.step === step);
    const last = own.findLast(({ hook }) => hook !== "response") ?? own.at(-1);
    if (last === undefined) {
      if (!applies(when, model, plan)) {
        return { stage, plugin: name, decision: "does not apply", reason: conditionText(when) };
      }
      const isBehind = result.code !== null || result.trace.exchange === null || end !== undefined;
      const decision = isBehind && step > (end?.step ?? -1) ? "not reached" : "nothing to decide";
      return { stage, plugin: name, decision, reason: "" };
    }
    return { stage, plugin: name, decision: last.result, reason: reasonOf(name, own, result) };
  });
}

function conditionText(when: Configuration["steps"][number]["settings"]["when"]): string {
  const parts = Object.entries(when ?? {}).map(([what, names]) => `${what} ${(names as readonly string[]).join(", ")}`);
  return `only for ${parts.join(" and ")}`;
}

function reasonOf(plugin: string, decisions: readonly Decision[], { trace, upstream, charge }: OfflineResult): string {
  const { exchange, admission } = trace;
  const failed = decisions.find(({ error }) => error !== null);
  if (failed) return errorText(failed.error);
  const attempts = decisions.filter(({ hook }) => hook === "attempt");
  if (attempts.length > 0) return attempts.map(({ upstream: of, result }) => `${of}: ${result}`).join(", ");
  const hooks = new Set(decisions.map(({ hook }) => hook));
  if (hooks.has("relay")) return `${upstream} serves`;
  if (hooks.has("settle")) return `charges ${nanoToString(charge)}`;
  if (exchange === null) return "";
  const { tier, model } = exchange;
  if (plugin === "plan-check") return `${tier.name} may call models of ${model.tier}`;
  if (plugin === "quota" && admission !== null) {
    return `counts ${admission.units} of the day, holds ${nanoToString(admission.hold)}`;
  }
  return "";
}

/** Of a failure in a stream that has begun the answer is the status and the events before it. */
function messageOf({ trace: { error }, body }: OfflineResult): string {
  return error instanceof GatewayError ? error.message : body;
}

function errorText(error: unknown): string {
  if (error instanceof GatewayError) return `${error.code}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}
