import type { Model } from "../../kit/index.ts";
import { jsonResponse, type Route } from "../app.ts";
import type { RouteParts } from "./parts.ts";

/** The public status: how the upstreams do, and which models they leave (decisions 5.5). */
export function statusRoutes({ snapshot, health, now }: RouteParts): readonly Route[] {
  return [{ method: "GET", path: "/v1/status", handle: () => jsonResponse(200, status()) }];

  function status() {
    const { upstreams, models, incidents } = snapshot();
    const published = Object.values(models).filter((model) => model.published);
    return {
      providers: Object.values(upstreams).map(({ name, displayName }) => {
        const { state, latencyMs } = health(name);
        return { name: displayName, status: state, latency_ms: Math.round(latencyMs) };
      }),
      models: published.map((model) => {
        const { id, displayName, tier } = model;
        return { id, name: displayName, tier, status: modelStatus(model) };
      }),
      incidents,
      last_updated: new Date(now()).toISOString().replace("Z", "+00:00"),
    };
  }

  function modelStatus({ chain }: Model): "online" | "degraded" | "offline" {
    const serving = chain.findIndex(({ targets }) => targets.some(({ upstream }) => health(upstream).canServe));
    if (serving < 0) return "offline";
    return serving === 0 ? "online" : "degraded";
  }
}
