import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Json } from "../../../../src/kit/index.ts";
import { TestGateway, type TestUser } from "../../support/in-process.ts";
import type { Provider, Refusal } from "./providers.ts";

/** How one upstream answers, whatever it is asked. */
export type Plays = (res: ServerResponse, req: IncomingMessage, body: string) => void;

/** A step of a chain. */
export interface Step {
  readonly provider: Provider;
  readonly plays: Plays;
  /** Tokens. */
  readonly window?: number;
  /** Further settings of the target. */
  readonly more?: Json;
}

/** A gateway with a model for each chain, each of whose targets is an upstream of its own. */
export class ErrorStage {
  readonly gateway: TestGateway;
  readonly user: TestUser;
  readonly #server: Server;

  private constructor(gateway: TestGateway, user: TestUser, server: Server) {
    this.gateway = gateway;
    this.user = user;
    this.#server = server;
  }

  /** @param chains by name: a model is `route/<name>`. */
  static async start(
    chains: Readonly<Record<string, readonly Step[]>>,
    config: Json = {},
    upstream: Json = {},
  ): Promise<ErrorStage> {
    const steps = new Map<string, Step>();
    const server = createServer((req, res) => {
      const parts: Buffer[] = [];
      req.on("data", (part: Buffer) => parts.push(part));
      req.on("end", () => {
        const [, id = ""] = (req.url ?? "").split("/");
        steps.get(id)!.plays(res, req, Buffer.concat(parts).toString());
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const upstreams: Record<string, Json> = {};
    const models: Record<string, Json> = {};
    for (const [name, chain] of Object.entries(chains)) {
      const targets = chain.map(({ window, more, ...step }, index): Json => {
        const id = `${name}-${index + 1}`;
        steps.set(id, step);
        upstreams[id] = { ...upstreamOf(step.provider, `${origin}/${id}`), retries: { attempts: 1 }, ...upstream };
        return { upstream: id, model: "up", ...(window && { context_window: window }), ...more };
      });
      const price = { input_per_million: 1, output_per_million: 2 };
      models[`route/${name}`] = { kind: "chat", tier: "Free", owned_by: "elsewhere", price, chain: targets };
    }
    const others = (config["models"] ?? {}) as Json;
    const gateway = await TestGateway.start({ config: { ...config, upstreams, models: { ...models, ...others } } });
    return new ErrorStage(gateway, await gateway.user(), server);
  }

  async close(): Promise<void> {
    await this.gateway.close();
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

function upstreamOf(provider: Provider, base: string): Json {
  switch (provider) {
    case "openai":
      return { dialect: "openai", base_url: `${base}/v1`, api: "chat", api_keys: ["upstream-key"] };
    case "responses":
      return { dialect: "openai", base_url: `${base}/v1`, api: "responses", api_keys: ["upstream-key"] };
    case "bedrock":
      return { dialect: "bedrock", base_url: base, api_keys: ["AKIDEXAMPLE:secret-of-the-account"] };
    default:
      return { dialect: provider, base_url: base, api_keys: ["upstream-key"] };
  }
}

export function refuses({ status, headers, body }: Refusal): Plays {
  return (res) =>
    void res.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

/** Sends the parts of a stream, each in a read of its own, then does the rest. */
export function streams(type: string, parts: readonly Uint8Array[], then: (res: ServerResponse) => void): Plays {
  return (res) => {
    res.writeHead(200, { "content-type": type });
    const next = (index: number): void => {
      const part = parts[index];
      if (part === undefined) return then(res);
      res.write(part, () => setImmediate(() => next(index + 1)));
    };
    next(0);
  };
}
