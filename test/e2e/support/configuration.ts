import type { GatewayConfig, ModelConfig } from "#schema";

export const ADMIN_TOKEN = "token-of-the-admin-listener";

const OPEN = { day: "none", hour: "none", minute: "none", streams: "none" } as const;

/** A small configuration in front of an upstream, on ports that are free. */
export function configuration(
  upstream: string,
): GatewayConfig & Required<Pick<GatewayConfig, "tiers" | "models" | "pipeline">> {
  const local = { host: "127.0.0.1", port: 0 };
  const model: ModelConfig = {
    kind: "chat",
    tier: "Free",
    owned_by: "alpha",
    features: ["tools"],
    price: { input_per_million: 1000, output_per_million: 2000 },
    chain: [{ upstream: "alpha", model: "sim-one" }],
  };
  return {
    version: 1,
    server: {
      listen: [local],
      admin: { ...local, token: ADMIN_TOKEN },
      ip_limit: "none",
      drain: { delay: "0s", timeout: "5s" },
    },
    store: { url: "sqlite:./data/gateway.db" },
    tiers: { Free: { access: ["Free"], limits: OPEN }, Max: { access: "all", limits: OPEN } },
    upstreams: { alpha: { dialect: "openai", base_url: `${upstream}/v1`, api_keys: ["upstream-key"] } },
    models: { "route/one": model, "route/max": { ...model, tier: "Max" } },
    pipeline: ["auth", "plan-check", "quota", "breaker", "stream-relay", "meter"],
  };
}

/** A chat request to `route/one`; `sim` is the simulator's script. */
export function ask(text: string, more: object = {}): { model: string; messages: { role: "user"; content: string }[] } {
  return { model: "route/one", messages: [{ role: "user", content: text }], ...more };
}

/** The data of every event of a stream that has ended. */
export function eventsOf(stream: string): string[] {
  return stream.split("\n\n").flatMap((event) => (event.startsWith("data: ") ? [event.slice(6)] : []));
}

/** The text that a stream's events make. */
export function textOf(events: readonly string[]): string {
  return events
    .filter((event) => event !== "[DONE]")
    .map(
      (event) =>
        (JSON.parse(event) as { choices?: { delta?: { content?: string } }[] }).choices?.[0]?.delta?.content ?? "",
    )
    .join("");
}
