import { InvalidArgumentError } from "commander";
import type { Command } from "commander";
import { EXIT, ExitError } from "./options.ts";
import { SCRIPT } from "../simulator/script.ts";
import { startSimulator } from "../simulator/server.ts";

/** `gateway sim`: the simulator alone, until it is interrupted; prints its origin. @throws ExitError 3 when it cannot listen. */
export function addSimCommand(program: Command): void {
  program
    .command("sim")
    .description("serve simulated providers, with faults on demand")
    .option("--port <number>", "port to listen on; 0 picks a free one", parsePort, 0)
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .addHelpText(
      "after",
      `\nScript keys, as /sim/<query>/v1, header x-sim, or field "sim" of the body or form:\n${scriptKeys()}`,
    )
    .action(runSimulator);
}

async function runSimulator(options: { port: number; host: string }): Promise<void> {
  const simulator = await startSimulator(options).catch((error: unknown) => {
    throw new ExitError(EXIT.failed, `cannot listen on ${options.host}:${options.port}: ${String(error)}`);
  });
  process.stdout.write(`${simulator.origin}\n`);
  const stop = (): void => {
    simulator.close().catch((error: unknown) => process.stderr.write(`${String(error)}\n`));
  };
  process.once("SIGINT", stop).once("SIGTERM", stop);
}

function parsePort(value: string): number {
  const port = Number(value);
  if (!/^\d+$/.test(value) || port > 65_535) throw new InvalidArgumentError("A port is a number from 0 to 65535.");
  return port;
}

function scriptKeys(): string {
  return Object.entries(SCRIPT)
    .map(([key, { does }]) => `  ${key.padEnd(17)} ${does}`)
    .join("\n");
}
