import { AttemptError, definePlugin, type Exchange, GatewayError, type Host } from "#kit";
import type { StreamRelayOptions } from "#schema";

/** Walks the model's chain until one upstream serves; says what happened when none does (decisions 5.1, 5.2). */
export default definePlugin<StreamRelayOptions>({
  name: "stream-relay",
  stage: "relay",
  schema: new URL("../schemas/plugins/stream-relay.schema.json", import.meta.url),
  setup(_options, host) {
    return {
      async relay(exchange, open) {
        const { model, readAt, signal } = exchange;
        const failures: AttemptError[] = [];
        for (const step of model.chain) {
          for (const target of host.order(step, exchange)) {
            if (failures.length > 0 && host.now() >= readAt + model.deadline) throw verdict(failures, exchange, host);
            try {
              return await open(target);
            } catch (error) {
              if (!(error instanceof AttemptError) || signal.aborted) throw error;
              if (error.failure === "client_fault") throw clientFault(error);
              failures.push(error);
            }
          }
        }
        throw verdict(failures, exchange, host);
      },
    };
  },
});

function clientFault(error: AttemptError): GatewayError {
  return new GatewayError("INVALID_REQUEST", `Invalid request: ${error.message}`, { cause: error });
}

function verdict(failures: readonly AttemptError[], exchange: Exchange, host: Host): GatewayError {
  const made = failures.filter((error) => error.failure !== "skipped");
  if (made.length === 0) {
    const opens = exchange.model.chain.flatMap((step) =>
      step.targets.map((target) => host.breaker(target.upstream).retryAt),
    );
    return new GatewayError("CIRCUIT_BREAKER_OPEN", "Circuit breaker open for an upstream", {
      retryAfter: Math.max(1, Math.ceil((Math.min(...opens) - host.now()) / 1000)),
    });
  }
  const unsupported = made.find((error) => error.failure === "unsupported");
  // Nothing was sent to anybody: only a request that says less, or another model, can be served.
  if (unsupported && made.every((error) => error.failure === "unsupported")) return clientFault(unsupported);
  const causes = [...new Set(made.map((error) => error.message))].join("; ");
  const cause = made.at(-1);
  return made.every((error) => error.failure === "timeout")
    ? new GatewayError("PROVIDER_TIMEOUT", `Every upstream timed out: ${causes}`, { cause })
    : new GatewayError("PROVIDER_ERROR", `Every upstream failed: ${causes}`, { cause });
}
