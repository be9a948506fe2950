import type { GatewayConfig, ModelConfig } from "#schema";
import { configuration } from "../e2e/support/configuration.ts";
import { type GatewayProcess, Workspace } from "../e2e/support/process.ts";
import type { Agent } from "./agents/agent.ts";
import { DIRECT, ErrandUpstream, runPath } from "./upstream/server.ts";
import type { Situation } from "./upstream/situations.ts";
import type { SpeakerName } from "./upstream/speakers.ts";

/** An upstream that agents reach: who answers there, and how the gateway is told of it. */
interface ErrandRoute {
  readonly speaker: SpeakerName;
  readonly dialect: GatewayConfig["upstreams"][string]["dialect"];
  /** Some think, and Gemini's third demands its signatures back. */
  readonly model: string;
  /** What agents call it when they ask it themselves; absent: `model`. */
  readonly direct?: string;
  /** Before the path that the dialect has. */
  readonly prefix?: string;
  readonly more?: object;
}

const OPENAI = "/sim/vendor=openai";

const ROUTES = {
  openai: { speaker: "openai", dialect: "openai", model: "errand-reason", prefix: "/v1" },
  "openai-strict": {
    speaker: "openai",
    dialect: "openai",
    model: "gpt-5",
    prefix: `${OPENAI}/v1`,
    more: { vendor: "openai", api: "chat" },
  },
  "openai-responses": {
    speaker: "responses",
    dialect: "openai",
    model: "gpt-5.6-terra",
    // For models that it knows, Codex offers tools that take programs.
    direct: "errand-1",
    prefix: `${OPENAI}/v1`,
    more: { vendor: "openai", api: "responses" },
  },
  anthropic: { speaker: "anthropic", dialect: "anthropic", model: "errand-reason" },
  "anthropic-strict": {
    speaker: "anthropic",
    dialect: "anthropic",
    model: "claude-sonnet-4-5",
    prefix: "/sim/vendor=anthropic",
  },
  gemini: { speaker: "gemini", dialect: "gemini", model: "gemini-3-errand" },
  bedrock: { speaker: "bedrock", dialect: "bedrock", model: "anthropic.claude-errand-reason-v1:0" },
} as const satisfies Readonly<Record<string, ErrandRoute>>;

export type RouteName = keyof typeof ROUTES;

export const DIALECTS = Object.keys(ROUTES) as readonly RouteName[];

/** The upstream that speaks an agent's own format: there it can be run without the gateway, too. */
export const NATIVE: Readonly<Record<Agent["endpoint"], RouteName>> = {
  "/v1/chat/completions": "openai-strict",
  "/v1/messages": "anthropic-strict",
  "/v1/responses": "openai-responses",
};

/** Serves where a first target of these has failed. */
const SECOND: Readonly<Record<SpeakerName, RouteName>> = {
  anthropic: "openai-responses",
  openai: "anthropic-strict",
  responses: "anthropic-strict",
  gemini: "openai-strict",
  bedrock: "openai-strict",
};

export function speakerOf(route: RouteName): SpeakerName {
  return ROUTES[route].speaker;
}

/** One cell of the matrix. */
export interface Cell {
  readonly agent: Agent;
  readonly dialect: RouteName;
  readonly situation: Situation;
  readonly through: "gateway" | "direct";
}

/** A name for paths, files and models. */
export function slugOf({ agent, dialect, situation, through }: Cell): string {
  const name = [agent.name.replace("/", "-"), dialect, situation.name].join(".");
  return through === "direct" ? name + DIRECT : name;
}

/** Where an agent finds its provider in a cell, and as what. */
export interface Provider {
  /** Origin, and what stands before each path. */
  readonly base: string;
  readonly model: string;
}

/** A gateway process with a store on disk, in front of upstreams that run errands. Each cell has upstreams of its own. */
export class Stage {
  readonly workspace = new Workspace();
  readonly upstream = new ErrandUpstream();
  gateway!: GatewayProcess;

  async start(cells: readonly Cell[]): Promise<void> {
    const origin = await this.upstream.start();
    this.workspace.write("gateway.yaml", configured(origin, cells));
    this.gateway = await this.workspace.serve("--strict");
  }

  providerOf(cell: Cell): Provider {
    if (cell.through === "gateway") return { base: this.gateway.origin, model: modelOf(cell) };
    const { direct, model, prefix = "" }: ErrandRoute = ROUTES[cell.dialect];
    // Agents write the version of the path themselves.
    const base = this.upstream.origin + runPath(slugOf(cell), cell.situation.name) + prefix.replace(/\/v1$/, "");
    return { base, model: direct ?? model };
  }

  /** Ends everything and removes what was written. @returns whether the gateway ended as it should. */
  async close(): Promise<boolean> {
    const exit = await this.gateway?.stop();
    this.upstream.close();
    await this.workspace.close();
    return exit?.code === 0;
  }
}

function modelOf(cell: Cell): string {
  return `route/${slugOf(cell)}`;
}

function configured(origin: string, cells: readonly Cell[]): GatewayConfig {
  const base = configuration(origin);
  const upstreams: GatewayConfig["upstreams"] = {};
  const models: GatewayConfig["models"] = {};
  for (const cell of cells.filter(({ through }) => through === "gateway")) {
    const { situation, dialect } = cell;
    const slug = slugOf(cell);
    const chain: ModelConfig["chain"] = [];
    const add = (name: string, route: RouteName, meets: string): void => {
      const { dialect: spoken, model, prefix = "", more }: ErrandRoute = ROUTES[route];
      upstreams[name] = {
        dialect: spoken,
        base_url: origin + runPath(slug, meets) + prefix,
        api_keys: ["upstream-key"],
        retries: { attempts: 1 },
        ...(more as Partial<GatewayConfig["upstreams"][string]>),
      };
      chain.push({ upstream: name, model });
    };
    const name = slug.replaceAll(".", "-");
    add(name, dialect, situation.name);
    if (situation.fallback) add(`${name}-second`, SECOND[speakerOf(dialect)], "-");
    models[modelOf(cell)] = { ...base.models["route/one"]!, chain };
  }
  return { ...base, upstreams, models };
}
