import type { Change, ChangeClass } from "../effects/change.ts";
import { compare } from "../effects/compare.ts";
import { summaryOf } from "../effects/report.ts";
import { GatewayError } from "../kit/index.ts";
import { codeOf } from "./compile.ts";
import { isLoaded, type Loaded } from "./configuration.ts";
import type { KeptGeneration, KeptGenerations } from "./kept-generations.ts";

/** What it meant to go from one configuration to another. */
export interface Effect {
  readonly summary: Readonly<Record<ChangeClass, number>>;
  /** The worst first. */
  readonly changes: readonly Change[];
}

export interface GenerationInfo extends KeptGeneration {
  readonly serves: boolean;
  /** Against the one before; null for the oldest, and where either can no longer be read. */
  readonly effect: (Effect & { readonly from: string }) | null;
}

export interface ConfigDiff extends Effect {
  readonly from: KeptGeneration;
  readonly to: KeptGeneration;
}

/** A generation in full is read in a tenth of a second: what was found once is kept. */
const MAX_KEPT_EFFECTS = 50;
/** Of a generation in the list: a comparison of two has all of them. */
const MAX_LISTED_CHANGES = 100;

interface HistoryOptions {
  readonly kept: Pick<KeptGenerations, "find" | "list" | "load">;
  readonly serving: () => Loaded;
}

/** The last generations, and what each of them meant. */
export class GenerationHistory {
  readonly #options: HistoryOptions;
  readonly #effects = new Map<string, Effect>();
  #queue: Promise<unknown> = Promise.resolve();

  constructor(options: HistoryOptions) {
    this.#options = options;
  }

  /** The latest first. */
  async list(): Promise<readonly GenerationInfo[]> {
    const { kept, serving } = this.#options;
    const { list } = kept;
    const infos: GenerationInfo[] = [];
    for (const [index, generation] of list.entries()) {
      const before = list[index + 1];
      const effect = before === undefined ? null : await this.#effect(before, generation);
      const serves = generation.hash === serving().hash;
      const changes = effect?.changes.slice(0, MAX_LISTED_CHANGES) ?? [];
      infos.push({ ...generation, serves, effect: effect && { ...effect, from: before!.hash, changes } });
    }
    return infos;
  }

  /** @param to the one in force unless given. @throws GatewayError NOT_FOUND */
  async diff(from: string, to: string | null): Promise<ConfigDiff> {
    const sides = [this.#find(from), this.#find(to ?? this.#options.serving().hash)] as const;
    const effect = await this.#effect(...sides);
    if (effect === null) throw new GatewayError("NOT_FOUND", "One of the generations can no longer be read");
    return { from: sides[0], to: sides[1], ...effect };
  }

  #find(to: string): KeptGeneration {
    const found = this.#options.kept.find(to);
    if (typeof found === "string") throw new GatewayError("NOT_FOUND", `No such generation: ${found}`);
    return found;
  }

  /** One at a time: each takes as long as some tens of requests. */
  #effect(from: KeptGeneration, to: KeptGeneration): Promise<Effect | null> {
    const next = this.#queue.then(() => this.#compared(from, to));
    this.#queue = next.catch(() => undefined);
    return next;
  }

  async #compared(from: KeptGeneration, to: KeptGeneration): Promise<Effect | null> {
    const name = `${from.hash} ${to.hash}`;
    const known = this.#effects.get(name);
    if (known !== undefined) return known;
    const [before, after] = [await this.#load(from), await this.#load(to)];
    const changes =
      before &&
      after &&
      compare({ snapshot: before.snapshot, code: codeOf(before) }, { snapshot: after.snapshot, code: codeOf(after) });
    const effect = changes && { summary: summaryOf(changes), changes };
    // What cannot be read may be, when its secrets are there again.
    if (effect === null) return null;
    this.#effects.set(name, effect);
    for (const oldest of this.#effects.keys()) if (this.#effects.size > MAX_KEPT_EFFECTS) this.#effects.delete(oldest);
    return effect;
  }

  async #load(generation: KeptGeneration): Promise<Loaded | null> {
    const { kept, serving } = this.#options;
    if (generation.hash === serving().hash) return serving();
    const loaded = await kept.load(generation);
    return loaded !== null && isLoaded(loaded) ? loaded : null;
  }
}
