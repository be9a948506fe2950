import { resolve } from "node:path";

export type Environment = Readonly<Record<string, string | undefined>>;

/** The configuration file: `--config`, else `$GATEWAY_CONFIG`, else `./gateway.yaml`. */
export function configFile(option: string | undefined, env: Environment): string {
  return resolve(option ?? env["GATEWAY_CONFIG"] ?? "gateway.yaml");
}

/** Exit codes: 0 fine, 1 findings, 2 wrong use, 3 could not run. */
export const EXIT = Object.freeze({ fine: 0, findings: 1, usage: 2, failed: 3 });

/** Ends the command with a code and a message for stderr. */
export class ExitError extends Error {
  override readonly name = "ExitError";
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}
