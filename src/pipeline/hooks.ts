import { GatewayError, type Observer, StalePrincipal } from "../kit/index.ts";

interface Named {
  readonly plugin: string;
  readonly failOpen: boolean;
}

/**
 * Judges what a hook threw: a GatewayError is its answer and passes, as does StalePrincipal; anything else is the plugin's own failure, which
 * is named and, unless the step says `fail: open`, fails the request.
 */
export function passOver(hook: Named, error: unknown, observer: Observer): void {
  if (error instanceof GatewayError || error instanceof StalePrincipal) throw error;
  observer.pluginFailed(hook.plugin, error);
  if (!hook.failOpen) throw internalError(error);
}

/** What the client hears of a fault of ours; the cause is for the log. */
export function internalError(cause: unknown): GatewayError {
  return new GatewayError("INTERNAL", "Internal server error", { cause });
}
