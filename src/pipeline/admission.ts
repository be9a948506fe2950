import {
  type Admitted,
  type Awaitable,
  GatewayError,
  type Host,
  inBackground,
  isPromise,
  isStoreUnavailable,
  keyMayCall,
  notOfKey,
  type Observer,
  StalePrincipal,
} from "../kit/index.ts";
import type { BoundHooks } from "./build.ts";
import type { ExchangeState } from "./exchange.ts";
import { added, isConfirmed, passOver } from "./hooks.ts";
import { giveBackLate } from "./outcome.ts";
import { HookTimeout } from "./timing.ts";

/** Asks whether a request may run, and notes in its state what was reserved for it. */
export class Admission {
  readonly #state: ExchangeState;
  readonly #hooks: BoundHooks["admit"];
  readonly #host: Host;
  readonly #observer: Observer;
  #unwatch: (() => void) | null = null;

  constructor(
    state: ExchangeState,
    hooks: BoundHooks["admit"],
    { host, observer }: { readonly host: Host; readonly observer: Observer },
  ) {
    this.#state = state;
    this.#hooks = hooks;
    this.#host = host;
    this.#observer = observer;
  }

  /** Asks every admit hook in order; without waiting where none has to be waited for. @throws GatewayError, StalePrincipal */
  admit(): Awaitable<void> {
    const { principal, model } = this.#state.exchange;
    // Here and not in a plugin: a pipeline may leave out what checks plans, and the owner of a key relies on its limits.
    const isKnown = principal.version === undefined;
    if (keyMayCall(principal.keyLimits, model.id)) return this.#ask(this.#hooks, isKnown);
    if (isKnown) throw notOfKey(model.id);
    return this.#refuse(notOfKey(model.id), isKnown);
  }

  /** The request is over: its user can no more end it. */
  end(): void {
    this.#unwatch?.();
  }

  /** @param confirmed whether the principal is known to be up to date. */
  #ask(hooks: BoundHooks["admit"], confirmed: boolean): Awaitable<void> {
    let known = confirmed;
    for (let index = 0; index < hooks.length; index += 1) {
      const hook = hooks[index]!;
      try {
        const admitted = hook.call(this.#state.exchange);
        if (isPromise(admitted)) return this.#askLater(admitted, hooks.slice(index), known);
        if (this.#admitted(admitted, hook)) known = true;
      } catch (error) {
        return this.#refused(error, hooks.slice(index), known);
      }
    }
    return known ? undefined : this.#confirm();
  }

  /** @param asked of the first of the hooks. */
  async #askLater(asked: Promise<Admitted | void>, hooks: BoundHooks["admit"], confirmed: boolean): Promise<void> {
    let known = confirmed;
    try {
      if (this.#admitted(await asked, hooks[0]!)) known = true;
    } catch (error) {
      return this.#refused(error, hooks, known);
    }
    return this.#ask(hooks.slice(1), known);
  }

  /** The first of the hooks has thrown: the others are asked if it may fail. @throws GatewayError, StalePrincipal */
  async #refused(error: unknown, [hook, ...others]: BoundHooks["admit"], confirmed: boolean): Promise<void> {
    try {
      if (error instanceof HookTimeout) this.#giveBackLate(error, hook!);
      passOver(hook!, error, this.#observer);
    } catch (refusal) {
      return this.#refuse(refusal, confirmed);
    }
    return this.#ask(others, confirmed);
  }

  /** @throws GatewayError, StalePrincipal */
  async #refuse(refusal: unknown, confirmed: boolean): Promise<never> {
    // The plan or the key that refused may have changed minutes ago: a lost push must not cost a paid model.
    const refused = refusal instanceof GatewayError && !isStoreUnavailable(refusal);
    const stale = refused && !confirmed && !(await isConfirmed(this.#state.exchange.principal, this.#host));
    throw stale ? new StalePrincipal() : refusal;
  }

  async #confirm(): Promise<void> {
    if (!(await this.#host.identities.confirm(this.#state.exchange.principal))) throw new StalePrincipal();
  }

  /** Noted before the next hook may refuse: what one has reserved must be given back. @returns whether it confirms the principal. */
  #admitted(admitted: Admitted | void, hook: BoundHooks["admit"][number]): boolean {
    if (!admitted) return false;
    this.#note(admitted);
    this.#mark(admitted, hook);
    return admitted.confirmed === true;
  }

  #note({ settle, release, windows, stopToken }: Admitted): void {
    const state = this.#state;
    if (settle) state.settlers = added(state.settlers, settle);
    if (release) state.release = both(state.release, release);
    if (windows) state.windows = windows;
    if (stopToken === undefined || !state.call.stream) return;
    // From its admission on the user can end a stream, also one whose upstream says nothing.
    const { client } = state.request;
    this.#unwatch?.();
    const { userId } = state.exchange.principal;
    this.#unwatch = this.#host.streamKills.watch(userId, stopToken, () => client.abort("killed"));
  }

  #giveBackLate({ late }: HookTimeout, { plugin }: BoundHooks["admit"][number]): void {
    const ending = this.#state.ending("refused", 0, null);
    inBackground(this.#host.log, `plugin ${plugin}, which was given up,`, giveBackLate(late, ending));
  }

  #mark({ tags, headers }: Admitted, hook: BoundHooks["admit"][number]): void {
    try {
      if (tags !== undefined) this.#state.mark(tags);
      if (headers !== undefined) this.#state.addHeaders(headers);
    } catch (error) {
      passOver(hook, error, this.#observer);
    }
  }
}

type Release = NonNullable<Admitted["release"]>;

/** One after the other: both run, whichever fails. */
function both(first: Release | null, second: Release): Release {
  if (first === null) return second;
  return async () => {
    await Promise.all([first(), second()]);
  };
}
