import {
  type AbortReason,
  type Admitted,
  AttemptError,
  type Awaitable,
  type Bill,
  type Ending,
  type Exchange,
  GatewayError,
  type Host,
  isPromise,
  type Observer,
  type Outcome,
  type OutcomeKind,
  type Settle,
  shuttingDown,
} from "../kit/index.ts";
import type { Attempts } from "./attempts.ts";
import type { BoundHooks } from "./build.ts";
import { checkedBill, internalError } from "./hooks.ts";

/** Frozen all the way: every request that costs nothing shares it, and plugins are told of it. */
export const FREE: Bill = Object.freeze({
  usage: Object.freeze({ prompt: 0, completion: 0, cached: 0, reasoning: 0 }),
  estimated: false,
  charge: 0n,
});

export function frozenBill(bill: Bill): Bill {
  Object.freeze(bill.usage);
  return Object.freeze(bill);
}

/**
 * The outcome and the client's error that a failure leads to.
 * @param begun a reply had been taken. @param answered an upstream, or a plugin in its stead, had answered.
 */
export function failureOf(
  error: unknown,
  { signal }: Exchange,
  begun: boolean,
  answered: boolean,
  attempts: Attempts | null,
): { readonly kind: OutcomeKind; readonly error: GatewayError } {
  const kind = signal.aborted ? (signal.reason as AbortReason) : kindOf(error, begun, answered, attempts);
  if (kind === "shutdown") {
    return { kind, error: shuttingDown() };
  }
  return { kind, error: error instanceof GatewayError ? error : internalError(error) };
}

function kindOf(error: unknown, begun: boolean, answered: boolean, attempts: Attempts | null): OutcomeKind {
  const known = error instanceof GatewayError ? error : null;
  if (known?.cause instanceof AttemptError && known.cause.failure === "client_fault") return "client_fault";
  const isOurs = known === null || known.code === "INTERNAL";
  if (isOurs && answered) return "gateway_error";
  // A plugin refused what the upstream answered.
  if (begun) return "refused";
  return attempts !== null && attempts.count > 0 ? "failed" : "refused";
}

/**
 * Whether the counters go back as if the request had never been. Its stream slot and its hold are given back always.
 * @param written whether the client got anything of an answer.
 */
export function givesBack({ kind, sent, begun }: Ending, written: boolean): boolean {
  switch (kind) {
    case "failed":
      return true;
    case "gateway_error":
      return !written;
    case "refused":
    case "shutdown":
      return !begun;
    case "client_gone":
    case "killed":
      // Given back here, a limit would bound nobody who leaves in time, while the provider bills every request.
      return !begun && !sent;
    case "served":
    case "client_fault":
    case "upstream_cut":
      return false;
  }
}

/** What the ending costs, by the last hook that says so. Never rejects. @param bill of the hooks before */
export function price(
  hooks: BoundHooks["settle"],
  ending: Ending,
  exchange: Exchange,
  observer: Observer,
  bill = FREE,
): Awaitable<Bill> {
  let last = bill;
  for (let index = 0; index < hooks.length; index += 1) {
    const hook = hooks[index]!;
    try {
      const asked = hook.call(ending, exchange);
      if (isPromise(asked)) return priceLater(asked, hooks.slice(index), ending, exchange, observer, last);
      last = checkedBill(asked);
    } catch (error) {
      observer.pluginFailed(hook.plugin, error);
    }
  }
  return last;
}

/** @param asked of the first of the hooks. */
async function priceLater(
  asked: Promise<Bill>,
  [hook, ...others]: BoundHooks["settle"],
  ending: Ending,
  exchange: Exchange,
  observer: Observer,
  bill: Bill,
): Promise<Bill> {
  let last = bill;
  try {
    last = checkedBill(await asked);
  } catch (error) {
    observer.pluginFailed(hook!.plugin, error);
  }
  return price(others, ending, exchange, observer, last);
}

/** Gives back what an admit hook has reserved that was given up: `late` is its call. */
export async function giveBackLate(late: Promise<unknown>, ending: Ending): Promise<void> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the hook returns, by its type
  const admitted = (await late) as Admitted | void;
  await admitted?.settle?.({ ...ending, bill: FREE, giveBack: true });
}

/** Calls every settler once, the last one first. Never rejects: one that fails must not keep the others from settling. */
export function settleAll(
  settlers: readonly Settle<Outcome>[],
  outcome: Outcome,
  exchange: Exchange,
  host: Host,
): Awaitable<void> {
  const failed = (error: unknown): void => {
    host.log.error({ err: error, id: exchange.id, request_id: exchange.requestId }, "settlement failed");
  };
  for (let index = settlers.length - 1; index >= 0; index -= 1) {
    try {
      const settling = settlers[index]!(outcome);
      if (!isPromise(settling)) continue;
      const settled = settling.then(undefined, failed);
      return index === 0 ? settled : settled.then(() => settleAll(settlers.slice(0, index), outcome, exchange, host));
    } catch (error) {
      failed(error);
    }
  }
  return undefined;
}
