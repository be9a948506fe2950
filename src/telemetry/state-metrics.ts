import type { BreakerState } from "../kit/index.ts";
import { Counter, Gauge, type Registry } from "./prometheus.ts";

const BREAKER_VALUES: Readonly<Record<BreakerState, number>> = { closed: 0, half_open: 1, open: 2 };

/** With a target where each of the upstream's models has a breaker of its own. */
export type BreakerSample = readonly [upstream: string, state: BreakerState, target?: string];

/** State that is read when metrics are scraped. */
export interface MetricSources {
  readonly breakers: () => Iterable<BreakerSample>;
  /** What operators have set. */
  readonly manual: () => Iterable<readonly [upstream: string, setting: { readonly mode: string }]>;
  readonly health: () => Iterable<readonly [upstream: string, state: "healthy" | "degraded" | "unknown"]>;
  readonly activeStreams: () => number;
  /** By plan, while shedding is configured: the share of its requests that is refused, and how many were. */
  readonly shedding: () => Iterable<readonly [tier: string, share: number, refused: number]>;
  readonly store: () => StoreState;
  /** What telemetry itself could not tell. */
  readonly dropped: () => { readonly spans: number; readonly decisions: number };
  /** Requests of the latest generations, by short hash and outcome: never fewer than before, unless a hash is gone. */
  readonly generations: () => Iterable<readonly [config: string, outcome: string, count: number]>;
}

/** State of the store as this process sees it. */
export interface StoreState {
  readonly away: boolean;
  /** Settlements that wait for the store. */
  readonly pending: number;
  /** Settlements that the store refuses. */
  readonly rejected: number;
}

/** Metrics of what a process finds when it is scraped: nobody counts them before. */
export function registerState(registry: Registry, sources: MetricSources): void {
  const registers = [registry];
  const generations: Counter<"config" | "outcome"> = new Counter({
    name: "gateway_generation_requests_total",
    help: "Requests by the configuration that served them, of the latest ones, and by how they ended.",
    labelNames: ["config", "outcome"],
    registers,
    collect() {
      generations.reset();
      for (const [config, outcome, count] of sources.generations()) generations.inc({ config, outcome }, count);
    },
  });
  const breakers: Gauge<"upstream" | "target"> = new Gauge({
    name: "gateway_breaker_state",
    help: "Circuit breaker: 0 closed, 1 half-open, 2 open.",
    labelNames: ["upstream", "target"],
    aggregator: "max",
    registers,
    collect() {
      breakers.reset();
      for (const [upstream, state, target] of sources.breakers()) {
        breakers.set({ upstream, ...(target !== undefined && { target }) }, BREAKER_VALUES[state]);
      }
    },
  });
  const manual: Gauge<"upstream" | "mode"> = new Gauge({
    name: "gateway_upstream_manual",
    help: "Upstreams of which an operator has set something (1), by what: drain, open, close.",
    labelNames: ["upstream", "mode"],
    aggregator: "max",
    registers,
    collect() {
      manual.reset();
      for (const [upstream, { mode }] of sources.manual()) manual.set({ upstream, mode }, 1);
    },
  });
  const healthy: Gauge<"upstream"> = new Gauge({
    name: "gateway_upstream_healthy",
    help: "Whether an upstream is healthy (1) or degraded (0); absent without recent data.",
    labelNames: ["upstream"],
    aggregator: "min",
    registers,
    collect() {
      healthy.reset();
      for (const [upstream, state] of sources.health()) {
        if (state !== "unknown") healthy.set({ upstream }, state === "healthy" ? 1 : 0);
      }
    },
  });
  const shed: Counter<"tier"> = new Counter({
    name: "gateway_shed_total",
    help: "Requests that an overloaded process refused, by the plan of their user.",
    labelNames: ["tier"],
    registers,
    collect() {
      shed.reset();
      for (const [tier, , refused] of sources.shedding()) shed.inc({ tier }, refused);
    },
  });
  const shedding: Gauge<"tier"> = new Gauge({
    name: "gateway_shedding",
    help: "Share of a plan's new requests that is refused for overload, 0 to 1.",
    labelNames: ["tier"],
    aggregator: "max",
    registers,
    collect() {
      shedding.reset();
      for (const [tier, share] of sources.shedding()) shedding.set({ tier }, share);
    },
  });
  const away: Gauge = new Gauge({
    name: "gateway_store_away",
    help: "Whether the store does not answer (1).",
    aggregator: "max",
    registers,
    collect: () => away.set(Number(sources.store().away)),
  });
  const settlements: Gauge<"state"> = new Gauge({
    name: "gateway_settlements",
    help: "Settlements outside the store: pending, or rejected by it.",
    labelNames: ["state"],
    // The processes of a machine share one journal.
    aggregator: "max",
    registers,
    collect() {
      const { pending, rejected } = sources.store();
      settlements.set({ state: "pending" }, pending);
      settlements.set({ state: "rejected" }, rejected);
    },
  });
  const untold: Counter<"signal"> = new Counter({
    name: "gateway_telemetry_dropped_total",
    help: "Spans that the receiver did not get, and lines that the decision log did not.",
    labelNames: ["signal"],
    registers,
    collect() {
      untold.reset();
      for (const [signal, count] of Object.entries(sources.dropped())) if (count > 0) untold.inc({ signal }, count);
    },
  });
  const streams: Gauge = new Gauge({
    name: "gateway_active_streams",
    help: "Streamed answers under way.",
    aggregator: "sum",
    registers,
    collect() {
      streams.set(sources.activeStreams());
    },
  });
}
