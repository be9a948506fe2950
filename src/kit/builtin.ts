import type { Host, Identities } from "./host.ts";
import type { Hooks, Log, Plugin, PluginHost, Stage } from "./plugin.ts";
import type { PublicSnapshot } from "./public-snapshot.ts";
import type { Awaitable } from "./request.ts";
import { type AdmissionStore, pluginStorage } from "./store.ts";

/*
 * Powers of built-in plugins beyond the host of every plugin. A local plugin never gets them: a file that exports what
 * `defineBuiltin` has made, or a copy of it, is refused when it is loaded.
 */

/** What moves money, users and upstreams, by the stage that needs it. */
export interface Powers {
  readonly identify: { readonly identities: Pick<Identities, "presume" | "byToken"> };
  readonly admit: { readonly store: Pick<AdmissionStore, "admit" | "release" | "settle" | "windows"> };
  readonly guard: Pick<Host, "breaker">;
  readonly transform: object;
  readonly relay: Pick<Host, "breaker" | "order">;
  readonly account: object;
}

/** The host of a built-in plugin of a stage. */
export type BuiltinHost<At extends Stage> = PluginHost & Powers[At];

interface BuiltinDefinition<Options, At extends Stage> extends Omit<Plugin<Options>, "setup" | "stage" | "also"> {
  readonly stage: At;
  setup(options: Readonly<Options>, host: BuiltinHost<At>): Awaitable<Hooks>;
}

/**
 * The mark of a definition that gets the powers of its stage. It is the same in every copy of this module, so that a local
 * plugin that has it is refused, whatever it was made by.
 */
const POWERS_OF_STAGE = Symbol.for("route-gateway.powers-of-stage");

/** As `definePlugin`, for a built-in plugin that needs the powers of its stage. */
export function defineBuiltin<Options, At extends Stage>(definition: BuiltinDefinition<Options, At>): Plugin<Options> {
  return Object.freeze({ ...(definition as unknown as Plugin<Options>), [POWERS_OF_STAGE]: true });
}

/** Whether a plugin gets the powers of its stage. */
export function hasPowers(plugin: object): boolean {
  return Object.hasOwn(plugin, POWERS_OF_STAGE);
}

/** The host that a plugin gets. Closures, frozen: no member leads back to what it is made of. */
export function pluginHost(plugin: Plugin, host: Host, snapshot: () => PublicSnapshot): PluginHost {
  return Object.freeze({
    get snapshot() {
      return snapshot();
    },
    storage: Object.freeze(pluginStorage(host.store, plugin.name)),
    now: () => host.now(),
    schedule: (at: number, callback: () => void) => {
      const cancel = host.schedule(at, callback);
      return () => cancel();
    },
    countTokens: (text: string) => host.countTokens(text),
    log: logOf(host),
    ...(hasPowers(plugin) && POWERS[plugin.stage](host)),
  });
}

function logOf({ log }: Host): Log {
  return Object.freeze({
    debug: (fields: object, message: string) => log.debug(fields, message),
    info: (fields: object, message: string) => log.info(fields, message),
    warn: (fields: object, message: string) => log.warn(fields, message),
    error: (fields: object, message: string) => log.error(fields, message),
  });
}

const POWERS: { readonly [At in Stage]: (host: Host) => Powers[At] } = {
  identify: ({ identities }) => ({
    identities: Object.freeze<Powers["identify"]["identities"]>({
      presume: (secret) => identities.presume(secret),
      byToken: (token) => identities.byToken(token),
    }),
  }),
  admit: ({ store }) => ({
    store: Object.freeze<Powers["admit"]["store"]>({
      admit: (admission) => store.admit(admission),
      release: (request) => store.release(request),
      settle: (settlement) => store.settle(settlement),
      windows: (userId, limits) => store.windows(userId, limits),
    }),
  }),
  guard: (host) => ({ breaker: (upstream, model) => host.breaker(upstream, model) }),
  transform: () => ({}),
  relay: (host) => ({
    breaker: (upstream, model) => host.breaker(upstream, model),
    order: (step, exchange) => host.order(step, exchange),
  }),
  account: () => ({}),
};
