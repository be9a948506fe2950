import type { GatewayConfig } from "#schema";
import { configuration } from "./configuration.ts";

/** `configuration` with a model of every kind beside `route/one`, all on the same upstream. */
export function kindsConfiguration(upstream: string): GatewayConfig {
  const config = configuration(upstream);
  const common = { tier: "Free", owned_by: "alpha" } as const;
  return {
    ...config,
    defaults: {
      kinds: {
        speech: { multipliers: { requests: 5 } },
        transcription: { multipliers: { requests: 5 } },
        image: { multipliers: { requests: 5 } },
      },
    },
    models: {
      ...config.models,
      "route/embed": {
        ...common,
        kind: "embedding",
        price: { input_per_million: 1000 },
        chain: [{ upstream: "alpha", model: "sim-embed" }],
      },
      "route/voice": {
        ...common,
        kind: "speech",
        voices: ["sage", "alloy"],
        price: { per_million_characters: 1000 },
        chain: [{ upstream: "alpha", model: "sim-voice" }],
      },
      "route/listen": {
        ...common,
        kind: "transcription",
        price: { per_second: 0.001 },
        chain: [{ upstream: "alpha", model: "sim-listen" }],
      },
      "route/paint": {
        ...common,
        kind: "image",
        price: { per_image: 0.04 },
        chain: [{ upstream: "alpha", model: "sim-paint" }],
      },
    },
  };
}
