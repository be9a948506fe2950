import {
  type Kind,
  type ListedModel,
  matchesGlob,
  type Model,
  type Publishing,
  type Snapshot,
  type Steps,
  type Upstream,
} from "../kit/index.ts";
import type { Finding } from "./diagnostics.ts";
import { isStep } from "./node.ts";

/** What is known of an upstream's models; null: its provider has not told yet. */
export type KnownLists = (upstream: Upstream) => readonly ListedModel[] | null;

/** What an operator should know of an upstream's list. */
export interface ListFinding extends Finding {
  readonly upstream: string;
}

export interface WithListed {
  readonly snapshot: Snapshot;
  readonly findings: readonly ListFinding[];
}

/** Characters of an id after `route/`: as many as the schema allows. */
const MAX_ID_CHARACTERS = 128;

/** The id under which a provider's model is published: what ids may not have becomes `-`. */
export function routeId(listed: string): string {
  const name = listed.replaceAll(/[^A-Za-z0-9_.:@-]/g, "-").replace(/^[^A-Za-z0-9]+/, "");
  return `route/${name.slice(0, MAX_ID_CHARACTERS)}`;
}

/** Whether an upstream publishes a model of this name. */
export function isIncluded({ include, exclude }: Pick<Publishing, "include" | "exclude">, id: string): boolean {
  return include.some((glob) => matchesGlob(glob, id)) && !exclude.some((glob) => matchesGlob(glob, id));
}

/** Whether any model of a configuration may come from a provider's list. */
export function publishesListed({ upstreams }: Pick<Snapshot, "upstreams">): boolean {
  return Object.values(upstreams).some(({ publishes }) => publishes !== undefined);
}

/**
 * A configuration with the models that its upstreams publish of their providers' lists. A model that is written out wins;
 * of two upstreams that list the same id the first in the file has it. Models that another list brought before are gone.
 */
export function* withListed(snapshot: Snapshot, lists: KnownLists): Steps<WithListed> {
  if (!publishesListed(snapshot)) return { snapshot, findings: [] };
  const models = Object.create(null) as Record<string, Model>;
  for (const [id, model] of Object.entries(snapshot.models)) if (model.listedBy === undefined) models[id] = model;
  const findings: ListFinding[] = [];
  for (const upstream of Object.values(snapshot.upstreams)) {
    const { publishes } = upstream;
    if (publishes === undefined) continue;
    const publisher = new Publisher(upstream, publishes, models);
    const listed = lists(upstream);
    let done = 0;
    for (const model of listed ?? []) {
      publisher.publish(model);
      if (isStep(++done)) yield;
    }
    findings.push(...publisher.findings(listed));
  }
  return { snapshot: Object.freeze({ ...snapshot, models: Object.freeze(models) }), findings };
}

/** Examples in a finding; the rest is counted. */
const MAX_NAMES = 3;

/** Publishes one upstream's models, and remembers which it could not. */
class Publisher {
  readonly #upstream: Upstream;
  readonly #publishing: Publishing;
  readonly #models: Record<string, Model>;
  /** Names of models that are published already, by the upstream that has them; of the own one two names are one id. */
  readonly #taken = new Map<string, string[]>();
  /** Names of models of a kind that has no price. */
  readonly #unpriced = new Map<Kind, string[]>();
  #included = 0;

  constructor(upstream: Upstream, publishing: Publishing, models: Record<string, Model>) {
    this.#upstream = upstream;
    this.#publishing = publishing;
    this.#models = models;
  }

  publish(listed: ListedModel): void {
    const { kind } = listed;
    if (!isIncluded(this.#publishing, listed.id)) return;
    this.#included += 1;
    if (kind === "other" || !this.#publishing.served.includes(kind)) return;
    const id = routeId(listed.id);
    if (id === "route/") return;
    const other = this.#models[id];
    if (other !== undefined) {
      const { listedBy } = other;
      if (listedBy !== undefined) note(this.#taken, listedBy, listed.id);
      return;
    }
    const common = this.#publishing.kinds[kind];
    if (common === undefined) note(this.#unpriced, kind, listed.id);
    else this.#models[id] = modelOf(id, kind, listed, { upstream: this.#upstream, ...common });
  }

  findings(listed: readonly ListedModel[] | null): readonly ListFinding[] {
    const { name } = this.#upstream;
    const found: ListFinding[] = [];
    const tell = (message: string, hint: string, severity: "warning" | "note" = "warning"): void => {
      found.push({ upstream: name, rule: "model-list", severity, message, hint });
    };
    if (listed === null) {
      tell(
        `the models that ${name} lists are not known: none is published`,
        "the log says why; it is asked again",
        "note",
      );
    } else if (this.#included === 0) {
      tell(`none of the ${listed.length} models that ${name} lists is included`, "compare the patterns with its names");
    }
    for (const [other, names] of this.#taken) {
      const [what, hint] =
        other === name
          ? ["whose id another of its models has", "exclude them, or write them out under models"]
          : [`that ${other} publishes`, `exclude them here or at ${other}, or write a chain of both under models`];
      tell(`${name} lists ${counted(names)} ${what}: not published again`, hint);
    }
    for (const [kind, names] of this.#unpriced) {
      tell(
        `${name} lists ${counted(names)} of kind ${kind}, which has no price here: not published`,
        "add the units to price, or exclude them",
      );
    }
    return found;
  }
}

function note<Key>(names: Map<Key, string[]>, key: Key, name: string): void {
  const known = names.get(key);
  if (known === undefined) names.set(key, [name]);
  else known.push(name);
}

/** `2 models (a, b)` */
function counted(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).join(", ");
  const more = names.length > MAX_NAMES ? ", …" : "";
  return `${names.length} ${names.length === 1 ? "model" : "models"} (${shown}${more})`;
}

interface Common extends NonNullable<Publishing["kinds"][Kind]> {
  readonly upstream: Upstream;
}

function modelOf(id: string, kind: Kind, listed: ListedModel, common: Common): Model {
  const { upstream, tier, price, multipliers, deadline, timeouts } = common;
  const { displayName, ownedBy, contextWindow = null, maxOutput = null, created = 0 } = listed;
  const hasWindow = kind === "chat" || kind === "embedding" || kind === "rerank";
  const bounds = {
    contextWindow: hasWindow ? contextWindow : null,
    // A provider may list more than fits into its window.
    maxOutput: kind === "chat" && maxOutput !== null && maxOutput <= (contextWindow ?? Infinity) ? maxOutput : null,
  };
  const target = {
    upstream: upstream.name,
    model: listed.id,
    weight: 1,
    timeouts,
    contextWindow: bounds.contextWindow,
    features: NO_NAMES,
  };
  return Object.freeze({
    id,
    kind,
    tier,
    displayName: displayName ?? id.slice("route/".length),
    ownedBy: ownedBy ?? upstream.name,
    created,
    published: true,
    ...bounds,
    features: NO_NAMES,
    voices: NO_NAMES,
    realtime: false,
    strict: false,
    price,
    multipliers,
    deadline,
    chain: Object.freeze([
      Object.freeze({ balance: "single" as const, targets: Object.freeze([Object.freeze(target)]) }),
    ]),
    listedBy: upstream.name,
  });
}

const NO_NAMES: readonly string[] = Object.freeze([]);

/** What a new list changes of the models that are served. */
export interface ModelChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** The same id, with another window, name or price. */
  readonly updated: readonly string[];
}

export function modelChanges(before: Snapshot["models"], after: Snapshot["models"]): ModelChanges {
  const added = Object.keys(after).filter((id) => before[id] === undefined);
  const removed = Object.keys(before).filter((id) => after[id] === undefined);
  const updated = Object.keys(after).filter((id) => before[id] !== undefined && isOther(before[id], after[id]!));
  return { added, removed, updated };
}

function isOther(a: Model, b: Model): boolean {
  return a !== b && toldOf(a) !== toldOf(b);
}

/** What a list says of a model; the rest is the configuration's, which is the same. */
function toldOf({ kind, displayName, ownedBy, created, contextWindow, maxOutput, listedBy, chain }: Model): string {
  const called = chain[0]?.targets[0]?.model;
  return JSON.stringify([kind, displayName, ownedBy, created, contextWindow, maxOutput, listedBy, called]);
}
