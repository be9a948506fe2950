import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { KIND_CHAINS } from "../e2e/support/kinds.ts";
import { TestGateway } from "../e2e/support/in-process.ts";

/** What the target sends its runner, by IPC: first where it listens and who calls, then answers to questions. */
export interface Started {
  readonly url: string;
  readonly caller: { readonly key: string; readonly token: string };
  readonly bystander: { readonly key: string };
}

export interface Measured {
  /** Bytes after a collection. */
  readonly heap: number;
  readonly sockets: number;
}

export type Question = "measure" | "finish";

/** A gateway in front of the simulator as a process of its own: a fault nobody catches ends it, and the run. */
async function main(): Promise<void> {
  const gateway = await TestGateway.start({
    chains: KIND_CHAINS,
    config: { server: { body_limit: "2MiB", body_memory: "16MiB" } },
  });
  const fuzzing = await gateway.user({ credits: "100000000" });
  const bystander = await gateway.user({ credits: "100000000" });
  const token = await gateway.token(fuzzing);
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  process.on("message", (question: Question) => {
    if (question === "measure") {
      collect();
      const sockets = process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;
      process.send!({ heap: process.memoryUsage().heapUsed, sockets } satisfies Measured);
    } else {
      gateway.close().then(
        () => process.send!(null, () => process.exit(0)),
        (error: unknown) => process.send!(String(error), () => process.exit(1)),
      );
    }
  });
  process.send!({ url: gateway.url, caller: { key: fuzzing.key, token }, bystander } satisfies Started);
}

await main();
