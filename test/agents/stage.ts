import type { GatewayConfig } from "#schema";
import { configuration } from "../e2e/support/configuration.ts";
import { type GatewayProcess, Workspace } from "../e2e/support/process.ts";
import { ErrandUpstream } from "./upstream/server.ts";
import type { SpeakerName } from "./upstream/speakers.ts";

/** An upstream that agents reach: who answers there, and how the gateway is told of it. */
interface ErrandRoute {
  readonly speaker: SpeakerName;
  readonly dialect: GatewayConfig["upstreams"][string]["dialect"];
  /** Some think, and Gemini's third demands its signatures back. */
  readonly model: string;
  /** Of the upstream's address, before the path. */
  readonly prefix?: string;
  readonly more?: object;
}

const STRICT = "/sim/vendor=openai";

const ROUTES = {
  openai: { speaker: "openai", dialect: "openai", model: "errand-reason", prefix: "/v1" },
  "openai-strict": {
    speaker: "openai",
    dialect: "openai",
    model: "gpt-5",
    prefix: `${STRICT}/v1`,
    more: { vendor: "openai", api: "chat" },
  },
  "openai-responses": {
    speaker: "responses",
    dialect: "openai",
    model: "gpt-5.6-terra",
    prefix: `${STRICT}/v1`,
    more: { vendor: "openai", api: "responses" },
  },
  anthropic: { speaker: "anthropic", dialect: "anthropic", model: "errand-reason" },
  gemini: { speaker: "gemini", dialect: "gemini", model: "gemini-3-errand" },
  bedrock: { speaker: "bedrock", dialect: "bedrock", model: "anthropic.claude-errand-reason-v1:0" },
} as const satisfies Readonly<Record<string, ErrandRoute>>;

export type RouteName = keyof typeof ROUTES;

export const DIALECTS = Object.keys(ROUTES) as readonly RouteName[];

export function speakerOf(route: RouteName): SpeakerName {
  return ROUTES[route].speaker;
}

/** A gateway process with a store on disk, in front of upstreams that run errands. */
export class Stage {
  readonly workspace = new Workspace();
  readonly upstream = new ErrandUpstream();
  gateway!: GatewayProcess;

  async start(): Promise<void> {
    const origin = await this.upstream.start();
    this.workspace.write("gateway.yaml", configured(origin));
    this.gateway = await this.workspace.serve("--strict");
  }

  /** Ends everything and removes what was written. @returns whether the gateway ended as it should. */
  async close(): Promise<boolean> {
    const exit = await this.gateway?.stop();
    this.upstream.close();
    await this.workspace.close();
    return exit?.code === 0;
  }
}

export function modelOn(dialect: RouteName): string {
  return `route/${dialect}`;
}

function configured(origin: string): GatewayConfig {
  const base = configuration(origin);
  const upstreams: GatewayConfig["upstreams"] = {};
  const models: GatewayConfig["models"] = {};
  for (const name of DIALECTS) {
    const { dialect, model, prefix = "", more }: ErrandRoute = ROUTES[name];
    upstreams[name] = {
      dialect,
      base_url: origin + prefix,
      api_keys: ["upstream-key"],
      retries: { attempts: 1 },
      ...(more as Partial<GatewayConfig["upstreams"][string]>),
    };
    models[modelOn(name)] = { ...base.models["route/one"]!, chain: [{ upstream: name, model }] };
  }
  return { ...base, upstreams, models };
}
