import type { Load, Result } from "./drive.ts";
import type { Sizes } from "./sizes.ts";
import { ANTHROPIC_MODEL, type Format, MODEL, REQUEST_BYTES } from "./wire.ts";

/** What a client asks for, and of an upstream in which format. */
export interface LoadSpec {
  readonly client: Format;
  /** Another one than the client's: the gateway translates; a proxy that only relays has the upstream's on both sides. */
  readonly upstream: Format;
  readonly load: Pick<Load, "mode"> & Partial<Load>;
}

const LARGE_BYTES = 200 * 1024;

const plain = { client: "openai", upstream: "openai" } as const;

/** All loads of the rows that compare proxies, by name. */
export function loadsOf(sizes: Sizes) {
  const { requestsPerSecond: rate, fewStreams, manyStreams, warmup, warmupAnswers, streamWarmup } = sizes;
  const json = { mode: "json", warmup, warmupAnswers } as const;
  const streams = (connections: number, eventRate: number) =>
    ({ mode: "sse", connections, eventRate, warmup: streamWarmup }) as const;
  const translated = streams(fewStreams, 40);
  return {
    "2 KB": { ...plain, load: { ...json, requestBytes: REQUEST_BYTES } },
    "2 KB at a rate": { ...plain, load: { ...json, rate, warmup: warmup / 4 } },
    "200 KB": { ...plain, load: { ...json, requestBytes: LARGE_BYTES, warmupAnswers: warmupAnswers / 10 } },
    "few streams": { ...plain, load: streams(fewStreams, 40) },
    "many streams": { ...plain, load: streams(manyStreams, 10) },
    "OpenAI to Anthropic": { client: "openai", upstream: "anthropic", load: translated },
    "Anthropic to OpenAI": { client: "anthropic", upstream: "openai", load: translated },
    "all the events": { ...plain, load: { ...streams(manyStreams, 40), breakOff: true } },
  } as const satisfies Readonly<Record<string, LoadSpec>>;
}

export type LoadName = keyof ReturnType<typeof loadsOf>;

/** The driver's side of a load. @param translates whether the proxy has the client's format, and models by name. */
export function loadOn({ client, upstream, load }: LoadSpec, translates: boolean): Pick<Load, "mode"> & Partial<Load> {
  if (!translates) return { ...load, format: upstream };
  return { ...load, format: client, model: upstream === "anthropic" ? ANTHROPIC_MODEL : MODEL };
}

/** What rows show of a load. */
export const FIGURES = {
  cpu: { unit: "us CPU each", of: ({ cpu }: Result) => cpu },
  storeCpu: { unit: "us CPU of the store", of: ({ storeCpu }: Result) => storeCpu ?? NaN },
  perSecond: { unit: "a second", of: ({ count, seconds }: Result) => count / seconds },
  p50: { unit: "ms, p50", of: ({ delay }: Result) => delay?.p50 ?? NaN },
  p99: { unit: "ms, p99", of: ({ delay }: Result) => delay?.p99 ?? NaN },
} as const;

export type Figure = keyof typeof FIGURES;
