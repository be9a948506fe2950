import type { GatewayConfig } from "#schema";
import { configuration } from "../e2e/support/configuration.ts";
import { type GatewayProcess, Workspace } from "../e2e/support/process.ts";
import { ErrandUpstream } from "./upstream/server.ts";
import type { SpeakerName } from "./upstream/speakers.ts";

/** The model that each upstream is asked for: some think, and Gemini's third demands its signatures back. */
const MODELS: Readonly<Record<SpeakerName, string>> = {
  openai: "errand-reason",
  anthropic: "errand-reason",
  gemini: "gemini-3-errand",
  bedrock: "anthropic.claude-errand-reason-v1:0",
};

export const DIALECTS = Object.keys(MODELS) as readonly SpeakerName[];

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

export function modelOn(dialect: SpeakerName): string {
  return `route/${dialect}`;
}

function configured(origin: string): GatewayConfig {
  const base = configuration(origin);
  const upstreams: GatewayConfig["upstreams"] = {};
  const models: GatewayConfig["models"] = {};
  for (const dialect of DIALECTS) {
    upstreams[dialect] = {
      dialect,
      base_url: dialect === "openai" ? `${origin}/v1` : origin,
      api_keys: ["upstream-key"],
      retries: { attempts: 1 },
    };
    models[modelOn(dialect)] = { ...base.models["route/one"]!, chain: [{ upstream: dialect, model: MODELS[dialect] }] };
  }
  return { ...base, upstreams, models };
}
