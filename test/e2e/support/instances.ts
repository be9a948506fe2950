import { Secret, type Store } from "../../../src/kit/index.ts";
import { openConfigured } from "../../../src/store/open.ts";
import type { InstanceInfo } from "../../../src/gateway/instances.ts";
import { configuration } from "./configuration.ts";
import { type GatewayProcess, Workspace } from "./process.ts";
import { type RedisServer, startRedis } from "../../support/redis.ts";

const PREFIX = "test:";

export interface Instance {
  readonly instance: string;
  readonly hash: string;
  readonly generation: number;
  readonly loaded_at: string;
  readonly draining: boolean;
}

/** A workspace whose gateways share a Redis of their own. */
export class SharedWorkspace extends Workspace {
  readonly redis: RedisServer;

  private constructor(redis: RedisServer) {
    super();
    this.redis = redis;
  }

  /** @param settings of the server; without, it keeps nothing on disk. */
  static async open(settings: readonly string[] = []): Promise<SharedWorkspace> {
    return new SharedWorkspace(await startRedis(settings));
  }

  /** The small configuration on the shared store. */
  configuration(upstream: string, server: object = {}) {
    const config = configuration(upstream);
    return { ...config, server: { ...config.server, ...server }, store: { url: this.redis.url, prefix: PREFIX } };
  }

  override async onStore<T>(work: (store: Store) => T | Promise<T>): Promise<T> {
    const settings = { url: new Secret(this.redis.url), nodes: [], prefix: PREFIX, timeout: 1_000 };
    const store = await openConfigured(settings, { serving: false, now: Date.now });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }

  /** What every instance publishes about itself. */
  instances(): Promise<readonly InstanceInfo[]> {
    return this.onStore(async (store) =>
      [...(await store.listInstances()).values()].map((state) => JSON.parse(state) as InstanceInfo),
    );
  }

  override async close(): Promise<void> {
    await super.close();
    await this.redis.stop();
  }
}

export async function instancesOf(
  gateway: GatewayProcess,
): Promise<{ instances: readonly Instance[]; agree: boolean | null }> {
  return (await (await gateway.ask("/admin/config")).json()) as {
    instances: readonly Instance[];
    agree: boolean | null;
  };
}

/** Of an instance, from its name. */
export function pidOf({ instance }: Pick<Instance, "instance">): number {
  return Number(/-(\d+)-[0-9a-f]+$/.exec(instance)?.[1]);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The lines of a log whose message matches. */
export function linesOf(stderr: string, message: RegExp): readonly Record<string, unknown>[] {
  return stderr
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => message.test(String(msg)));
}

/** Writes a plugin that runs `code` for a prompt with `now!` in it. @returns the pipeline with it. */
export function plantPlugin(workspace: Workspace, code: string) {
  workspace.write("plugins/odd.schema.json", { type: "object" });
  workspace.write(
    "plugins/odd.ts",
    `import { definePlugin } from "#kit";
     export default definePlugin({
       name: "odd", stage: "transform", schema: new URL("odd.schema.json", import.meta.url),
       setup: () => ({
         transform(call) {
           if (JSON.stringify(call.body).includes("now!")) { ${code} }
           return call;
         },
       }),
     });`,
  );
  return ["auth", "plan-check", "quota", "breaker", { use: "./plugins/odd.ts" }, "stream-relay", "meter"];
}
