import type { Snapshot } from "../kit/index.ts";
import { same } from "./same.ts";

/** What a change may mean to those who use the gateway, the worst first. */
export const CLASSES = ["breaking", "risky", "safe"] as const;

export type ChangeClass = (typeof CLASSES)[number];

/**
 * Every kind of change, with its class and what it means. The second of a pair is what the first becomes when the sides
 * are swapped; a kind that stands alone is its own. Ids are stable: CI configurations refer to them.
 */
const PAIRS = [
  // plans and models
  [
    ["plan-removed", "breaking", "its users may call nothing"],
    ["plan-added", "safe", "a new plan"],
  ],
  [
    ["model-removed", "breaking", "requests for it are refused"],
    ["model-added", "safe", "a new model"],
  ],
  [
    ["access-lost", "breaking", "the plan may no longer call the model"],
    ["access-gained", "safe", "the plan may call the model"],
  ],
  [
    ["limit-lowered", "breaking", "requests are refused earlier"],
    ["limit-raised", "safe", "requests are refused later"],
  ],
  [
    ["price-raised", "breaking", "requests cost more"],
    ["price-lowered", "safe", "requests cost less"],
  ],
  [["price-restated", "safe", "written otherwise, charged the same"]],
  [
    ["cost-multiplier-raised", "breaking", "requests cost more"],
    ["cost-multiplier-lowered", "safe", "requests cost less"],
  ],
  [
    ["request-units-raised", "breaking", "a request takes more of the day's limit"],
    ["request-units-lowered", "safe", "a request takes less of the day's limit"],
  ],
  [["kind-changed", "breaking", "the model is reached at another endpoint"]],
  [
    ["features-lost", "breaking", "the model no longer has them"],
    ["features-gained", "safe", "the model has more"],
  ],
  [
    ["voices-lost", "breaking", "these voices are refused"],
    ["voices-gained", "safe", "more voices are taken"],
  ],
  [
    ["window-smaller", "breaking", "long prompts do not fit any more"],
    ["window-larger", "safe", "longer prompts fit"],
  ],
  [
    ["output-smaller", "breaking", "answers may be shorter"],
    ["output-larger", "safe", "answers may be longer"],
  ],
  [
    ["made-strict", "breaking", "what an upstream cannot be asked is refused"],
    ["made-lenient", "safe", "what an upstream cannot be asked is left out"],
  ],
  [
    ["made-realtime", "breaking", "requests with a whole file are refused"],
    ["made-ordinary", "safe", "requests with a whole file are taken"],
  ],
  [
    ["model-hidden", "risky", "it is no longer in the catalogue; plans can still call it"],
    ["model-shown", "safe", "it is in the catalogue"],
  ],
  [
    ["end-sooner", "breaking", "the model ends, or ends sooner"],
    ["end-later", "safe", "the model ends later, or not at all"],
  ],
  [["successor-changed", "risky", "another model serves after the end"]],
  [["deprecation-changed", "safe", "answers say otherwise since when the model is deprecated"]],
  [["catalogue-changed", "safe", "shown otherwise in the catalogue"]],
  [
    ["deadline-shorter", "risky", "slow requests are given up"],
    ["deadline-longer", "safe", "slow requests have more time"],
  ],
  // chains and upstreams
  [["chain-changed", "risky", "other upstreams serve, or in another order"]],
  [
    ["chain-shortened", "risky", "fewer upstreams stand in when one fails"],
    ["chain-extended", "safe", "one more upstream stands in when all fail"],
  ],
  [["target-changed", "risky", "a step of the chain is asked otherwise"]],
  [
    ["timeout-shortened", "risky", "slow answers are given up"],
    ["timeout-lengthened", "safe", "slow answers have more time"],
  ],
  [["retries-changed", "risky", "an upstream is asked more or less often before failing over"]],
  [["breaker-changed", "risky", "an upstream is left alone sooner or later"]],
  [["upstream-address-changed", "risky", "requests go elsewhere"]],
  [["upstream-dialect-changed", "risky", "requests are sent in another form"]],
  [["upstream-vendor-changed", "risky", "other fields are sent, or left out"]],
  [
    ["upstream-references-fewer", "breaking", "requests that name what is no longer listed are refused"],
    ["upstream-references-more", "risky", "clients may have the provider read more with your account's identity"],
  ],
  [
    ["upstream-fields-fewer", "risky", "fields, tools and betas are left out that were sent"],
    ["upstream-fields-more", "risky", "clients may choose another model or rate, and the provider bills you for it"],
  ],
  [["published-models-changed", "risky", "other models of the provider's list are published, or at another price"]],
  [["upstream-headers-changed", "risky", "other headers are sent"]],
  [["upstream-keys-changed", "risky", "other keys are sent"]],
  [
    ["upstream-connections-fewer", "risky", "fewer requests fit at once"],
    ["upstream-connections-more", "safe", "more requests fit at once"],
  ],
  [
    ["upstream-queue-shorter", "risky", "fewer requests wait for room, or for less time"],
    ["upstream-queue-longer", "safe", "more requests wait for room, or for more time"],
  ],
  [["upstream-http2-changed", "risky", "requests are sent over another protocol"]],
  [["upstream-tls-changed", "risky", "connections are made with other certificates"]],
  [["upstream-proxy-changed", "risky", "requests take another way"]],
  [["upstream-probe-changed", "safe", "health is probed otherwise"]],
  [["upstream-renamed", "safe", "the same upstream by another name"]],
  [
    ["upstream-removed", "safe", "no longer in the status"],
    ["upstream-added", "safe", "a new one in the status"],
  ],
  // pipeline
  [
    ["plugin-removed", "risky", "it no longer runs"],
    ["plugin-added", "risky", "it runs"],
  ],
  [["pipeline-order-changed", "risky", "plugins run in another order"]],
  [["plugin-options-changed", "risky", "it works otherwise"]],
  [["plugin-condition-changed", "risky", "it runs for other models or plans"]],
  [["plugin-failure-changed", "risky", "its failure ends a request, or no longer does"]],
  [["plugin-code-changed", "risky", "its file, or one that it imports, is another"]],
  // accounts and charging
  [["sign-up-changed", "risky", "new users get another plan"]],
  [
    ["sign-up-narrowed", "breaking", "some who could sign up no longer can"],
    ["sign-up-widened", "risky", "more people can sign up"],
  ],
  [
    ["sign-up-credits-lowered", "breaking", "new users get fewer credits"],
    ["sign-up-credits-raised", "safe", "new users get more credits"],
  ],
  [
    ["sign-in-lost", "breaking", "nobody can sign in this way"],
    ["sign-in-gained", "safe", "a further way to sign in"],
  ],
  [["sign-in-changed", "risky", "signing in works otherwise"]],
  [
    ["token-lifetime-shorter", "breaking", "clients must refresh or sign in more often"],
    ["token-lifetime-longer", "safe", "tokens are valid for longer"],
  ],
  [["tokens-invalidated", "breaking", "tokens that are out are refused"]],
  [
    ["token-secret-removed", "breaking", "tokens that it signed are refused"],
    ["token-secret-added", "safe", "one more secret verifies tokens"],
  ],
  [["token-signer-changed", "safe", "another secret signs new tokens"]],
  [
    ["credits-enforced", "breaking", "requests without credits are refused"],
    ["credits-not-enforced", "safe", "requests without credits are served"],
  ],
  [["currency-changed", "breaking", "prices and credits are in another currency"]],
  [["charging-changed", "risky", "requests are held or charged otherwise"]],
  // the service
  [
    ["room-smaller", "risky", "the gateway is full sooner"],
    ["room-larger", "safe", "the gateway is full later"],
  ],
  [["shedding-changed", "risky", "under overload other requests are refused, or sooner or later"]],
  [
    ["origins-lost", "breaking", "pages from there are refused"],
    ["origins-gained", "safe", "pages from there are served"],
  ],
  [
    ["listen-removed", "breaking", "clients of the address cannot connect"],
    ["listen-added", "safe", "a further address"],
  ],
  [
    ["heartbeat-longer", "risky", "a silent stream may be taken for dead"],
    ["heartbeat-shorter", "safe", "a silent stream is kept open"],
  ],
  [
    ["drain-shorter", "risky", "a stop leaves requests less time"],
    ["drain-longer", "safe", "a stop leaves requests more time"],
  ],
  [
    ["dashboard-lost", "risky", "browsers find no pages any more"],
    ["dashboard-gained", "safe", "browsers find the dashboard and the status page"],
  ],
  [["error-form-changed", "risky", "some clients read errors in another form"]],
  [["proxies-changed", "risky", "other addresses are believed to be the client's"]],
  [["admin-changed", "risky", "the admin listener is reached otherwise"]],
  [["workers-changed", "safe", "other processes serve"]],
  [["store-changed", "breaking", "users, keys and counts are elsewhere"]],
  [["store-failure-changed", "risky", "requests are answered otherwise while the store is away"]],
  [
    ["retention-shorter", "risky", "the ledger forgets sooner"],
    ["retention-longer", "safe", "the ledger is kept for longer"],
  ],
  [["operation-changed", "safe", "only operators notice"]],
  [["incidents-changed", "safe", "the status page shows other incidents"]],
] as const;

type Row = readonly [id: string, is: ChangeClass, says: string];
type IdOf<Pair> = Pair extends readonly (infer One)[]
  ? One extends readonly [infer Id, ...unknown[]]
    ? Id
    : never
  : never;

export type ChangeKind = IdOf<(typeof PAIRS)[number]>;

interface KindFacts {
  readonly class: ChangeClass;
  /** What it means, as the end of a sentence. */
  readonly says: string;
  /** The kind when the sides are swapped. */
  readonly opposite: ChangeKind;
}

export const KINDS: Readonly<Record<ChangeKind, KindFacts>> = Object.freeze(
  Object.fromEntries(
    PAIRS.flatMap((pair: readonly Row[]) =>
      pair.map(([id, is, says], index) => {
        const opposite = (pair[1 - index]?.[0] ?? id) as ChangeKind;
        return [id, { class: is, says, opposite }];
      }),
    ),
  ) as Record<ChangeKind, KindFacts>,
);

/** What a change is about; `setting` is a key as the configuration writes it. */
export interface Subject {
  readonly plan?: string;
  readonly model?: string;
  readonly upstream?: string;
  readonly plugin?: string;
  readonly setting?: string;
}

/** As a person would write it in the configuration; null: not there. */
export type Value = string | number | boolean | null | readonly string[];

export interface Change {
  readonly kind: ChangeKind;
  readonly class: ChangeClass;
  readonly subject: Subject;
  readonly before: Value;
  readonly after: Value;
  /** Of prices, multipliers and limits, to two places; null where there is none. */
  readonly percent: number | null;
  /** The plans of either side whose users it touches. */
  readonly plans: readonly string[];
}

/** One side of a comparison. */
export interface Side {
  readonly snapshot: Snapshot;
  /** Digest of every file of code that local plugins consist of, by path relative to the configuration's folder. */
  readonly code: Readonly<Record<string, string>>;
}

/** For what touches nobody who is there, and those who come. */
export const FUTURE_USERS: readonly string[] = [];

/** Where the comparisons of all subjects put what they find. */
export class Changes {
  readonly found: Change[] = [];
  readonly #everyone: readonly string[];

  /** @param everyone the plans of both sides. */
  constructor(everyone: readonly string[]) {
    this.#everyone = everyone;
  }

  /** What touches nobody is safe. @param plans left out: all. */
  add(
    kind: ChangeKind,
    subject: Subject,
    [before, after]: readonly [Value, Value],
    plans: readonly string[] = this.#everyone,
    percent: number | null = null,
  ): void {
    const isSafe = plans.length === 0 && plans !== FUTURE_USERS;
    this.found.push({ kind, class: isSafe ? "safe" : KINDS[kind].class, subject, before, after, percent, plans });
  }

  /**
   * Of two numbers; null is no bound, more than any number.
   * @param kind when it becomes smaller, and its opposite when larger.
   */
  smaller(kind: ChangeKind, subject: Subject, [before, after]: Two<number | null>, more: NumberOptions = {}): void {
    const [from, to] = [before ?? Infinity, after ?? Infinity];
    if (from === to) return;
    const show = more.show ?? ((value: number) => value);
    const shown = [before, after].map((value) => (value === null ? (more.none ?? null) : show(value)));
    const percent = more.show ? null : percentOf(from, to);
    this.add(to < from ? kind : KINDS[kind].opposite, subject, [shown[0]!, shown[1]!], more.plans, percent);
  }

  /** Of two values of which none is better. */
  differs(kind: ChangeKind, subject: Subject, values: Two<Value>, plans?: readonly string[]): void {
    if (!same(values[0], values[1])) this.add(kind, subject, values, plans);
  }

  /** Of two sets of names of which one that is missing is worse. */
  fewer(kind: ChangeKind, subject: Subject, [before, after]: Two<readonly string[]>, plans?: readonly string[]): void {
    const isLost = before.some((name) => !after.includes(name));
    const isGained = after.some((name) => !before.includes(name));
    if (isLost) this.add(kind, subject, [before, after], plans);
    if (isGained) this.add(KINDS[kind].opposite, subject, [before, after], plans);
  }
}

export type Two<T> = readonly [before: T, after: T];

interface NumberOptions {
  /** As the configuration writes it; a number that is shown as it is has a percentage. */
  readonly show?: (value: number) => Value;
  /** In place of null, which is no bound. */
  readonly none?: string;
  readonly plans?: readonly string[];
}

export function percentOf(before: number, after: number): number | null {
  if (before === 0 || !Number.isFinite(before) || !Number.isFinite(after)) return null;
  return Math.round(((after - before) / before) * 10_000) / 100;
}
