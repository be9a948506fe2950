import { startSimulator } from "../simulator/server.ts";
import { EXIT, ExitError } from "./options.ts";

export interface SimOptions {
  readonly port: number;
  readonly host: string;
}

/** The simulator alone, until it is interrupted; prints its origin. @throws ExitError when it cannot listen. */
export async function runSimulator(options: SimOptions): Promise<void> {
  const simulator = await startSimulator(options).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    const remedy = "choose another with --port (0 picks a free one) or --host";
    throw new ExitError(EXIT.failed, `cannot listen on ${options.host}:${options.port}: ${reason}; ${remedy}`);
  });
  process.stdout.write(`${simulator.origin}\n`);
  const stop = (): void => {
    simulator.close().catch((error: unknown) => process.stderr.write(`${String(error)}\n`));
  };
  process.once("SIGINT", stop).once("SIGTERM", stop);
}
