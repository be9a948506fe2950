/** When a model comes to its end, and what serves its requests then. */
export interface Lifecycle {
  /** Unix milliseconds. From then on it should not be used for anything new; may lie ahead. */
  readonly deprecatedAt: number | null;
  /** Unix milliseconds. From then on there is no such model, or its successor serves. */
  readonly sunsetAt: number | null;
  /** Id of the model that serves in its place after the sunset; null: none does. */
  readonly successor: string | null;
  /** What every answer to a request for the model carries: `Deprecation` (RFC 9745), `Sunset` (RFC 8594). */
  readonly headers: Readonly<Record<string, string>>;
}

interface Ending {
  readonly lifecycle?: Lifecycle;
}

interface Models<Model extends Ending> {
  readonly models: Readonly<Record<string, Model>>;
}

/** Beyond it nobody meant a chain of successors; one that goes round is an error of the configuration. */
const MAX_SUCCESSIONS = 16;

export function isSunset({ lifecycle }: Ending, now: number): boolean {
  return lifecycle !== undefined && lifecycle.sunsetAt !== null && now >= lifecycle.sunsetAt;
}

/** The model that serves requests for an id at a time: itself, or its successor after the sunset; null without a successor. */
export function modelAt<Model extends Ending>({ models }: Models<Model>, id: string, now: number): Model | null {
  let model = Object.hasOwn(models, id) ? models[id] : undefined;
  for (let left = MAX_SUCCESSIONS; model !== undefined && isSunset(model, now); left -= 1) {
    const next = model.lifecycle?.successor ?? null;
    model = left > 0 && next !== null && Object.hasOwn(models, next) ? models[next] : undefined;
  }
  return model ?? null;
}

const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});

/** What answers say of the end of the model that a client named, also where its successor serves. */
export function lifecycleHeaders({ models }: Models<Ending>, id: string): Readonly<Record<string, string>> {
  const model = Object.hasOwn(models, id) ? models[id] : undefined;
  return model?.lifecycle?.headers ?? NO_HEADERS;
}
