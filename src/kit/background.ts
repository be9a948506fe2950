import type { Log } from "./host.ts";

/**
 * Lets work run that nobody waits for. Its failure is logged: a rejection that nobody handles would end the process.
 * @param what names the work in the log.
 */
export function inBackground(log: Pick<Log, "error">, what: string, work: Promise<unknown>): void {
  work.catch((err: unknown) => log.error({ err }, `${what} failed`));
}
