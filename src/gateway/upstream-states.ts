import type { Generation } from "./generation.ts";

export function* breakerStates({ snapshot, host }: Generation) {
  for (const name of Object.keys(snapshot.upstreams)) yield [name, host.breaker(name).state] as const;
}

export function* healthStates({ snapshot, health }: Generation) {
  for (const name of Object.keys(snapshot.upstreams)) yield [name, health(name).state] as const;
}

/** For `GET /admin/upstreams`. */
export function* upstreamStates({ snapshot, host, health }: Generation) {
  for (const name of Object.keys(snapshot.upstreams)) {
    const { state, latencyMs, canServe } = health(name);
    const breaker = host.breaker(name).state;
    yield [name, { breaker, health: state, latency_ms: latencyMs, can_serve: canServe }] as const;
  }
}
