import type { ExplainedStep, ExplainedTarget } from "#schema";
import { CAPABILITIES, DIALECTS } from "../dialects/capabilities.ts";
import { restingTargets } from "../gateway/cooldowns.ts";
import {
  AttemptError,
  type Call,
  GatewayError,
  type Model,
  refusedReference,
  type Snapshot,
  type Target,
} from "../kit/index.ts";
import { locationOf } from "../upstream/location.ts";
import { Providers } from "./providers.ts";
import type { Attempt } from "./record.ts";
import { existing, type Offline, type OfflineResult } from "./room.ts";

interface Told {
  readonly snapshot: Snapshot;
  readonly model: Model;
  readonly room: Pick<Offline, "generation">;
  readonly result: OfflineResult;
}

/** Every target of the model's chain: what became of it, why, and what its dialect would lose of the request. */
export function explainedChain(
  snapshot: Snapshot,
  modelId: string,
  room: Pick<Offline, "generation">,
  result: OfflineResult,
): ExplainedStep[] {
  const told = { snapshot, model: snapshot.models[modelId]!, room, result };
  const attempts = [...result.attempts];
  return told.model.chain.map(({ balance, targets }) => {
    const explained = targets.map((target) => {
      const at = attempts.findIndex(({ upstream, model }) => upstream === target.upstream && model === target.model);
      const [attempt] = at < 0 ? [] : attempts.splice(at, 1);
      return { attempt, of: { ...target, ...lossOf(told, target) } };
    });
    const order = explained.toSorted((a, b) => (a.attempt?.startedAt ?? Infinity) - (b.attempt?.startedAt ?? Infinity));
    return { balance, targets: order.map(({ attempt, of }) => explainedTarget(told, of, attempt)) };
  });
}

function explainedTarget(
  { snapshot, result, room }: Told,
  { upstream, model, dropped, lost, contextWindow }: Target & { dropped: readonly string[]; lost: readonly string[] },
  attempt: Attempt | undefined,
): ExplainedTarget {
  const settings = existing(snapshot.upstreams, upstream);
  const what = { upstream, model, dialect: settings.dialect, dropped: [...dropped], lost_features: [...lost] };
  if (attempt === undefined) {
    const { call } = result.trace;
    const refused = call && refusedReference(call, settings);
    const reason = refused ? `its accepts.references does not list ${refused.at}` : whyNotTried(result, contextWindow);
    return { ...what, decision: "not tried", reason, requests: 0, took_ms: 0 };
  }
  const { outcome, reason, startedAt, endedAt } = attempt;
  const requests = result.sent.filter((entry) => entry.upstream === upstream && entry.model === model).length;
  const rest = { requests, took_ms: endedAt - startedAt };
  if (outcome === "served") return { ...what, ...rest, decision: "served", reason: "" };
  if (outcome === "resting")
    return { ...what, ...rest, decision: "skipped", reason: whyResting(room, upstream, model) };
  if (outcome !== "skipped") return { ...what, ...rest, decision: "failed", reason: `${outcome}: ${reason}` };
  return { ...what, ...rest, decision: "skipped", reason: whySkipped(room, upstream, model) };
}

function whyResting({ generation }: Told["room"], upstream: string, model: string): string {
  const found = restingTargets(generation).find((one) => one.upstream === upstream && one.model === model);
  if (found === undefined) return "every key was resting";
  const keys = generation.keys(upstream).length === 1 ? "its key is" : "all its keys are";
  return `${keys} resting until ${new Date(found.until).toISOString()}: ${found.reason}`;
}

function whySkipped({ generation }: Told["room"], upstream: string, model: string): string {
  const manual = generation.manual(upstream);
  if (manual !== null && manual.mode !== "close") {
    const done = manual.mode === "drain" ? "drained" : "opened";
    return `${done} by ${manual.by} until ${new Date(manual.until).toISOString()}: ${manual.reason}`;
  }
  const { state, retryAt } = generation.host.breaker(upstream, model);
  return state === "closed" ? "by a guard" : `its breaker is open until ${new Date(retryAt).toISOString()}`;
}

function whyNotTried({ upstream, attempts, trace }: OfflineResult, contextWindow: number | null): string {
  const answered = trace.decisions.find(({ result }) => result === "answered");
  if (answered) return `${answered.plugin} answered`;
  if (upstream !== null) return `${upstream} served`;
  const refused = trace.decisions.find(({ result, hook }) => result === "refused" && hook !== "relay");
  if (refused) return `refused by ${refused.plugin}`;
  if (attempts.length === 0) return "the request was refused before";
  if (attempts.some(({ outcome }) => outcome === "client_fault")) return "the request itself was refused";
  if (attempts.some(({ outcome }) => outcome === "context_overflow")) {
    return `its window of ${contextWindow ?? "unknown size"} is not known to be larger`;
  }
  return "the model's deadline had passed";
}

/** What the target's dialect has no place for, of this request and of what the model promises. */
function lossOf(
  { snapshot, model: { kind, features }, result }: Told,
  target: Target,
): { dropped: readonly string[]; lost: readonly string[] } {
  const upstream = existing(snapshot.upstreams, target.upstream);
  const base = URL.parse(upstream.baseUrl) ?? new URL(Providers.origin);
  const location = locationOf(base, upstream);
  const spoken = DIALECTS[upstream.dialect];
  const { loses } = CAPABILITIES[upstream.dialect];
  const lost = features.filter((feature) => loses(kind, feature, target.model, location));
  const codec = (spoken?.at?.(location) ?? spoken)?.codecs[kind];
  return { dropped: codec === undefined ? [] : droppedBy(codec, result.trace.call, target), lost };
}

function droppedBy(
  codec: { request(call: Call, target: Target, key: string): { readonly dropped?: readonly string[] } },
  call: Call | null,
  target: Target,
): readonly string[] {
  if (call === null) return [];
  try {
    return codec.request(call, target, "offline").dropped ?? [];
  } catch (error) {
    if (error instanceof AttemptError || error instanceof GatewayError) return [];
    throw error;
  }
}
