import type { BalancedStepConfig, BreakerConfig, RetriesConfig } from "#schema";
import type { Kind } from "../../kit/index.ts";
import type { Fallbacks, Group } from "../chains.ts";
import { type Draft, modelPointer } from "../draft.ts";
import { at, type Field, flagOf, numberOf } from "../source.ts";
import { boundedTimeouts, durationOf, type Row, secondsOf } from "./deployments.ts";

/** A setting that LiteLLM takes in several sections: the first one counts. */
export type Setting = (key: string) => Field | undefined;

/** Strategies of LiteLLM's router: https://docs.litellm.ai/docs/routing */
const STRATEGIES: Readonly<
  Record<string, readonly [balance: BalancedStepConfig["balance"], difference: string | null]>
> = {
  "simple-shuffle": ["weighted", null],
  "latency-based-routing": ["latency", null],
  "least-busy": ["latency", "spreads requests by latency: the number of requests in flight is not compared"],
  "usage-based-routing": ["weighted", "spreads requests by weight: limits of deployments are not counted"],
  "usage-based-routing-v2": ["weighted", "spreads requests by weight: limits of deployments are not counted"],
  "cost-based-routing": ["weighted", "spreads requests by weight: order the chain by price to ask the cheapest first"],
};

export function balanceOf(draft: Draft, setting: Setting): BalancedStepConfig["balance"] {
  const field = setting("routing_strategy");
  const [balance, difference] = STRATEGIES[field?.text ?? "simple-shuffle"] ?? [];
  if (balance === undefined) {
    draft.findings.lost(field, "is no strategy that is known: requests are spread by weight");
    return "weighted";
  }
  const told = `is balance: ${balance} of steps with several targets`;
  if (difference == null) draft.findings.mapped(field, "/models", told);
  else draft.findings.changed(field, "/models", difference);
  return balance;
}

/** What the shares of deployments of one name are counted by: https://docs.litellm.ai/docs/routing#weighted-deployments */
const SHARES = ["weight", "rpm", "tpm"] as const;

/** The deployments of one name, each with its share. */
export function withWeights(
  draft: Draft,
  rows: readonly Row[],
  balance: BalancedStepConfig["balance"],
): readonly Row[] {
  const { findings } = draft;
  const isShared = rows.length > 1 && balance === "weighted";
  // LiteLLM looks at the first deployment, and takes 0 for others that say nothing.
  const share = isShared ? SHARES.find((key) => at(rows[0]?.params, key) !== undefined) : undefined;
  return rows.map((row) => {
    for (const key of SHARES) {
      const field = at(row.params, key);
      if (key === share && numberOf(field) !== null) {
        if (key === "weight") findings.mapped(field, "/models", "is the weight of the target");
        else findings.changed(field, "/models", `is the weight of the target: it is no limit a minute here`);
      } else if (key === "weight")
        findings.mapped(field, null, "counts only beside other deployments of the same name");
      else
        findings.lost(
          field,
          "an upstream has no limits a minute here: set concurrency of the upstream, or limits of plans",
        );
    }
    if (share === undefined) return row;
    return { ...row, weight: Math.min(Math.max(numberOf(at(row.params, share)) ?? 0, 0), 1_000_000) };
  });
}

/** Tries, breakers and times of every upstream. */
export function readReliability(draft: Draft, setting: Setting): void {
  const { findings, config } = draft;
  const retries = numberOf(setting("num_retries"));
  const total = secondsOf(setting("timeout") ?? setting("request_timeout"));
  const first = secondsOf(setting("stream_timeout"));
  const wait = numberOf(setting("retry_after"));
  const cooldown = secondsOf(setting("cooldown_time"));
  const fails = numberOf(setting("allowed_fails"));
  const defaults: NonNullable<NonNullable<typeof config.defaults>["upstream"]> = {};
  if (retries !== null && retries >= 0 && retries <= 20 && Number.isInteger(retries)) {
    const tries: RetriesConfig = { attempts: retries + 1 };
    if (wait !== null && wait > 0 && wait <= 60) {
      tries.min_delay = durationOf(Math.round(wait * 1000));
      if (wait > 2) tries.max_delay = tries.min_delay;
      findings.mapped(setting("retry_after"), "/defaults/upstream/retries/min_delay");
    }
    defaults.retries = tries;
    const reason = "tries at the same upstream, the first one included: then the next step of the chain is asked";
    findings.changed(setting("num_retries"), "/defaults/upstream/retries/attempts", reason);
  }
  const timeouts = boundedTimeouts(total, first);
  if (timeouts !== null) defaults.timeouts = timeouts;
  for (const [key, value, name] of [
    ["timeout", total, "total"],
    ["request_timeout", total, "total"],
    ["stream_timeout", first, "first_byte"],
  ] as const)
    if (value !== null) findings.mapped(setting(key), `/defaults/upstream/timeouts/${name}`);
  const breaker: BreakerConfig = {};
  if (fails !== null && fails >= 0 && Number.isInteger(fails) && fails < 1_000_000) {
    breaker.consecutive = fails + 1;
    findings.changed(
      setting("allowed_fails"),
      "/defaults/upstream/breaker/consecutive",
      "so many failures in a row open the breaker of an upstream: LiteLLM counts those of a minute and deployment",
    );
  }
  if (cooldown !== null) {
    breaker.open_for = durationOf(cooldown);
    if (cooldown > 300_000) breaker.max_open_for = durationOf(cooldown);
    findings.changed(
      setting("cooldown_time"),
      "/defaults/upstream/breaker/open_for",
      "is the time a breaker stays open at first: it doubles up to max_open_for",
    );
  }
  if (Object.keys(breaker).length > 0) defaults.breaker = breaker;
  if (Object.keys(defaults).length > 0) config.defaults = { ...config.defaults, upstream: defaults };
}

/** Names of the source to model ids: those of `model_list`, and of `model_group_alias`. */
export type Names = ReadonlyMap<string, string>;

/** Where a failed request goes on, by model id. */
export function fallbacksOf(
  draft: Draft,
  setting: Setting,
  names: Names,
  groups: ReadonlyMap<string, Group>,
): Fallbacks {
  const reader = new FallbackReader(draft, names, groups);
  const general = reader.read(setting("fallbacks"), null);
  const filter = reader.read(
    setting("content_policy_fallbacks"),
    "only where the provider's content filter refuses, in LiteLLM: here it is the next step of the chain for every failure, and fail_over_on lets the filter count as one",
  );
  const window = reader.read(
    setting("context_window_fallbacks"),
    "only for prompts that are too long, in LiteLLM: here it is the next step of the chain for every failure",
  );
  for (const [id, more] of window) general.set(id, [...(general.get(id) ?? []), ...more]);
  reader.readDefaults(setting("default_fallbacks"), general);
  return { general, contentFilter: filter };
}

class FallbackReader {
  readonly #draft: Draft;
  readonly #names: Names;
  readonly #groups: ReadonlyMap<string, Group>;

  constructor(draft: Draft, names: Names, groups: ReadonlyMap<string, Group>) {
    this.#draft = draft;
    this.#names = names;
    this.#groups = groups;
  }

  /** A list of maps, from a name to names. `*` is every model without fallbacks of its own. */
  read(field: Field | undefined, difference: string | null): Map<string, string[]> {
    const found = new Map<string, string[]>();
    const everyone: Field[] = [];
    for (const map of field?.items ?? []) {
      for (const [name, list] of map.entries) {
        if (name === "*") {
          everyone.push(list);
          continue;
        }
        const id = this.#names.get(name);
        if (id === undefined || !this.#groups.has(id)) {
          this.#draft.findings.lost(list, "no model of model_list that is imported has the name in front of it");
          continue;
        }
        const ids = this.#idsOf(list, id, difference);
        found.set(id, [...(found.get(id) ?? []), ...ids]);
      }
    }
    for (const list of everyone) this.readDefaults(list, found);
    return found;
  }

  /** For models that have none of their own. */
  readDefaults(list: Field | undefined, found: Map<string, string[]>): void {
    if (list === undefined) return;
    const kinds = new Map<Kind, string[]>();
    for (const item of itemsOf(list)) {
      const id = this.#names.get(item.text ?? "");
      const group = id === undefined ? undefined : this.#groups.get(id);
      if (group === undefined) {
        this.#draft.findings.lost(item, UNKNOWN_MODEL);
        continue;
      }
      kinds.set(group.kind, [...(kinds.get(group.kind) ?? []), group.id]);
      this.#draft.findings.changed(
        item,
        "/models",
        `is the last step of the chains of all other models of kind ${group.kind}, at their own price`,
      );
    }
    for (const { id, kind } of this.#groups.values()) {
      if (found.has(id) || kinds.get(kind) === undefined) continue;
      found.set(
        id,
        kinds.get(kind)!.filter((one) => one !== id),
      );
    }
  }

  #idsOf(list: Field, from: string, difference: string | null): string[] {
    const { findings } = this.#draft;
    const pointer = modelPointer(from, "chain");
    return itemsOf(list).flatMap((item) => {
      const id = this.#names.get(item.text ?? "");
      const group = id === undefined ? undefined : this.#groups.get(id);
      if (group === undefined) {
        findings.lost(item, UNKNOWN_MODEL);
        return [];
      }
      if (group.id === from) {
        findings.lost(item, "is the model itself, which its chain has already");
        return [];
      }
      if (group.kind !== this.#groups.get(from)!.kind) {
        findings.lost(item, `is of kind ${group.kind}, and a chain has one kind`);
        return [];
      }
      const price = `is charged at the price of ${from}`;
      if (difference === null) findings.mapped(item, pointer, `is the next step of the chain, and ${price}`);
      else findings.changed(item, pointer, `${difference}; it ${price}`);
      return [group.id];
    });
  }
}

const UNKNOWN_MODEL = "no model of model_list that is imported has this name";

function itemsOf(list: Field): readonly Field[] {
  return list.kind === "list" ? list.items : [list];
}

/** Further names of models: a model of its own each, with the same chain. */
export function readAliases(
  draft: Draft,
  setting: Setting,
  names: Map<string, string>,
  groups: Map<string, Group>,
): void {
  const { findings } = draft;
  for (const [alias, field] of setting("model_group_alias")?.entries ?? []) {
    const model = field.kind === "map" ? at(field, "model") : field;
    const id = names.get(model?.text ?? "");
    const group = id === undefined ? undefined : groups.get(id);
    if (group === undefined || !draft.secrets.isPublic(alias)) {
      findings.lost(field, UNKNOWN_MODEL);
      continue;
    }
    if (names.has(alias)) {
      findings.lost(field, "a model of model_list has this name itself");
      continue;
    }
    const own = draft.modelId(alias);
    const hidden = at(field, "hidden");
    groups.set(own, {
      ...group,
      id: own,
      model: { ...group.model, ...(flagOf(hidden) === true && { published: false }) },
    });
    names.set(alias, own);
    findings.changed(model, modelPointer(own), `is a model of its own with the chain of ${group.id}`);
    findings.mapped(hidden, modelPointer(own, "published"), "is published: false");
  }
}
