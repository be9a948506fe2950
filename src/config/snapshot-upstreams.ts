import type { TimeoutsConfig, UpstreamConfig, UpstreamDefaultsConfig } from "#schema";
import type { Timeouts, Upstream } from "../kit/index.ts";
import { Secret } from "../kit/index.ts";
import { inCamelCase } from "./names.ts";
import { BREAKER, CONNECTIONS, overlay, PROBE_TIMEOUT, RETRIES, TIMEOUTS } from "./settings.ts";
import { milliseconds } from "./units.ts";

export function buildUpstream(name: string, upstream: UpstreamConfig, defaults: UpstreamDefaultsConfig): Upstream {
  const retries = overlay(RETRIES, defaults.retries, upstream.retries);
  const breaker = overlay(BREAKER, defaults.breaker, upstream.breaker);
  const probe = upstream.probe ?? defaults.probe ?? "none";
  return {
    name,
    displayName: upstream.display_name ?? name,
    dialect: upstream.dialect,
    baseUrl: upstream.base_url.startsWith("sim:") ? upstream.base_url : upstream.base_url.replace(/\/+$/, ""),
    apiKeys: (upstream.api_keys ?? []).map((key) => new Secret(key)),
    headers: Object.assign(Object.create(null) as Record<string, string>, upstream.headers),
    timeouts: buildTimeouts(defaults.timeouts, upstream.timeouts),
    retries: {
      attempts: retries.attempts,
      minDelay: milliseconds(retries.min_delay),
      maxDelay: milliseconds(retries.max_delay),
    },
    breaker: {
      consecutive: breaker.consecutive,
      window: milliseconds(breaker.window),
      ratio: breaker.ratio,
      minimum: breaker.minimum,
      openFor: milliseconds(breaker.open_for),
      maxOpenFor: milliseconds(breaker.max_open_for),
      probes: breaker.probes,
    },
    connections: upstream.connections ?? defaults.connections ?? CONNECTIONS,
    http2: upstream.http2 ?? defaults.http2 ?? false,
    probe:
      probe === "none"
        ? null
        : { every: milliseconds(probe.every), timeout: milliseconds(probe.timeout ?? PROBE_TIMEOUT) },
    ...(upstream.vendor && { vendor: upstream.vendor }),
    ...(upstream.accepts && { accepts: inCamelCase(upstream.accepts) }),
    ...(upstream.api && { api: upstream.api }),
  };
}

/** Of an upstream, or of one step: the later layers win. */
export function buildTimeouts(...layers: readonly (TimeoutsConfig | undefined)[]): Timeouts {
  const timeouts = overlay(TIMEOUTS, ...layers);
  return {
    connect: milliseconds(timeouts.connect),
    firstByte: milliseconds(timeouts.first_byte),
    idle: milliseconds(timeouts.idle),
    total: milliseconds(timeouts.total),
  };
}
