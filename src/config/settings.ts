import { resolve } from "node:path";
import type {
  BreakerConfig,
  ConcurrencyConfig,
  GuardConfig,
  ModelConfig,
  RetriesConfig,
  TimeoutsConfig,
  TelemetryConfig,
} from "#schema";
import {
  type BreakerSettings,
  type Kind,
  type Lifecycle,
  Secret,
  type Steps,
  type TelemetrySettings,
} from "../kit/index.ts";
import { isStep } from "./node.ts";
import type { Incomplete } from "./validate.ts";

/** The one plan of a configuration that defines none. */
export const OPEN_TIER = "Open";
/** Given to what neither the entry nor `defaults` says. */
export const TIMEOUTS: Required<TimeoutsConfig> = { connect: "2s", first_byte: "30s", idle: "60s", total: "10m" };
export const RETRIES: Required<RetriesConfig> = { attempts: 1, min_delay: "100ms", max_delay: "2s" };
export const BREAKER: Required<BreakerConfig> = {
  consecutive: 3,
  window: "30s",
  ratio: 0.5,
  minimum: 20,
  open_for: "10s",
  max_open_for: "5m",
  probes: 1,
  scope: "upstream",
};
/** `requests` has no default. */
export const QUEUE: Required<Omit<ConcurrencyConfig, "requests">> = { queue: 100, max_wait: "30s" };
/** Breaker settings of one upstream. Later layers win. */
export function breakerSettings(...layers: readonly (BreakerConfig | undefined)[]): BreakerSettings {
  const { consecutive, window, ratio, minimum, open_for, max_open_for, probes, scope } = overlay(BREAKER, ...layers);
  const [openFor, maxOpenFor] = [milliseconds(open_for), milliseconds(max_open_for)];
  return { consecutive, window: milliseconds(window), ratio, minimum, openFor, maxOpenFor, probes, scope };
}

export const GUARD: Required<GuardConfig> = {
  share: "10%",
  for: "2m",
  min_requests: 50,
  max_error_ratio: 2,
  max_ttft_ratio: 1.5,
};
/** Of clients, of one process; an address has no bound of its own, for behind a load balancer all have the same. */
export const SERVER_CONNECTIONS = 10_000;
export const BODY_LIMIT = "32MiB";
export const BODY_MEMORY = "512MiB";
export const UPLOAD_SPACE = "4GiB";
export const COUNT_BUDGET = "64MiB";
export const STORE_TIMEOUT = "1s";
export const RETENTION = "90d";
export const DEADLINE = "5m";
export const PROBE_TIMEOUT = "5s";
/** Node's timers fire at once beyond 2^31 ms. */
export const MAX_TIMER = "24d";
const OTLP_INTERVAL = "30s";
const DECISION_LOG = { size: "64MiB", keep: 8 } as const;

/** Units of the daily quota, from the API's rules for audio and images. */
const REQUEST_UNITS: Readonly<Record<Kind, number>> = {
  chat: 1,
  embedding: 1,
  rerank: 1,
  speech: 5,
  transcription: 5,
  image: 5,
};

/** Fields of the later ones win; a field that is absent in all keeps the built-in value. */
export function overlay<T extends object>(
  base: T,
  ...layers: readonly (Partial<T> | Incomplete<Partial<T>> | undefined)[]
): T {
  const result: T = { ...base };
  for (const layer of layers) {
    for (const [key, value] of Object.entries(layer ?? {}))
      if (value !== undefined) Object.assign(result, { [key]: value });
  }
  return result;
}

export function requestUnits(
  kind: Kind,
  model: Incomplete<ModelConfig>,
  kindDefaults: { readonly multipliers?: { readonly requests?: number } } | undefined,
): number {
  return model.multipliers?.requests ?? kindDefaults?.multipliers?.requests ?? REQUEST_UNITS[kind];
}

/** What a model says of its end. */
export function lifecycleOf({ deprecated_at, sunset_at, successor }: ModelConfig): { readonly lifecycle?: Lifecycle } {
  if (deprecated_at === undefined && sunset_at === undefined && successor === undefined) return {};
  const [deprecatedAt, sunsetAt] = [timeOf(deprecated_at), timeOf(sunset_at)];
  const headers = {
    ...(deprecatedAt !== null && { Deprecation: `@${Math.floor(deprecatedAt / 1000)}` }),
    ...(sunsetAt !== null && { Sunset: new Date(sunsetAt).toUTCString() }),
  };
  return { lifecycle: { deprecatedAt, sunsetAt, successor: successor ?? null, headers } };
}

/** Unix milliseconds of a date, which begins in UTC, or of a date and time. */
export function timeOf(written: string): number;
export function timeOf(written: string | undefined): number | null;
export function timeOf(written: string | undefined): number | null {
  return written === undefined ? null : Date.parse(written);
}

type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;

/** The keys of an object of gateway.yaml, `per_image`, as the snapshot writes them: `perImage`. Values stay as they are. */
export function inCamelCase<T extends object>(written: T): { [Key in keyof T as Camel<Key & string>]: T[Key] } {
  const entries = Object.entries(written).map(([key, value]) => [camel(key), value as unknown] as const);
  return Object.fromEntries(entries) as { [Key in keyof T as Camel<Key & string>]: T[Key] };
}

function camel(key: string): string {
  return key.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** Keeps names such as `constructor` harmless: the record has no prototype. */
export function mapRecord<From, To>(
  record: Readonly<Record<string, From>>,
  map: (name: string, value: From) => To,
): Record<string, To> {
  const mapped = Object.create(null) as Record<string, To>;
  for (const [name, value] of Object.entries(record)) mapped[name] = map(name, value);
  return mapped;
}

/** As `mapRecord`, with steps between the entries. */
export function* mapInSteps<From, To>(
  record: Readonly<Record<string, From>>,
  map: (name: string, value: From) => To,
): Steps<Record<string, To>> {
  const mapped = Object.create(null) as Record<string, To>;
  let done = 0;
  for (const [name, value] of Object.entries(record)) {
    mapped[name] = map(name, value);
    if (isStep(++done)) yield;
  }
  return mapped;
}

const MILLISECONDS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const BYTES: Readonly<Record<string, number>> = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

/** Milliseconds of `250ms`, `5s`, `2m`, `1h`, `30d`. @throws RangeError for anything else. */
export function milliseconds(duration: string): number {
  return measure(duration, MILLISECONDS);
}

/** Bytes of `64KiB`, `32MiB`. @throws RangeError for anything else. */
export function bytes(size: string): number {
  return measure(size, BYTES);
}

function measure(text: string, units: Readonly<Record<string, number>>): number {
  const [, digits, unit] = /^(\d+)([A-Za-z]+)$/.exec(text) ?? [];
  const factor = unit !== undefined && Object.hasOwn(units, unit) ? units[unit] : undefined;
  if (digits === undefined || factor === undefined) throw new RangeError(`not one of the units ${Object.keys(units)}`);
  return Number(digits) * factor;
}

/** With the defaults of what it does not say. @param folder that of the configuration file */
export function telemetrySettings(
  { access_log: log, server_timing, otlp, decision_log }: TelemetryConfig,
  folder: string,
) {
  return {
    accessLog: { lines: log?.lines ?? "all", users: log?.users ?? false, addresses: log?.addresses ?? false },
    serverTiming: server_timing ?? "on_request",
    otlp: otlp
      ? {
          endpoint: otlp.endpoint.replace(/\/+$/, ""),
          headers: mapRecord(otlp.headers ?? {}, (_, value) => new Secret(value)),
          sample: otlp.sample ?? 1,
          interval: milliseconds(otlp.interval ?? OTLP_INTERVAL),
        }
      : null,
    decisionLog: decision_log
      ? {
          file: resolve(folder, decision_log.file),
          maxSize: bytes(decision_log.max_size ?? DECISION_LOG.size),
          keep: decision_log.keep ?? DECISION_LOG.keep,
        }
      : null,
  } satisfies TelemetrySettings;
}
