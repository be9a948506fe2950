import type { Log } from "../../kit/index.ts";
import type { AdminServices } from "./services.ts";

type Failure = Parameters<AdminServices["noteFailedSignIns"]>[0][number];

/** Addresses of which failures wait to be told. */
const MAX_WAITING_COUNT = 1_000;

/** Tells of failed sign-ins, one report at a time: what comes meanwhile is added up by address. */
export class FailureReports {
  readonly #services: Pick<AdminServices, "noteFailedSignIns">;
  readonly #log: Pick<Log, "warn">;
  #waiting = new Map<string, Failure>();
  #isBusy = false;

  constructor(services: Pick<AdminServices, "noteFailedSignIns">, log: Pick<Log, "warn">) {
    this.#services = services;
    this.#log = log;
  }

  add(from: string, isLimited: boolean): void {
    const keyOf = (address: string | null) => `${isLimited} ${address}`;
    const isFull = this.#waiting.size >= MAX_WAITING_COUNT && !this.#waiting.has(keyOf(from));
    const address = isFull ? null : from;
    const count = (this.#waiting.get(keyOf(address))?.count ?? 0) + 1;
    this.#waiting.set(keyOf(address), { address, isLimited, count });
    if (!this.#isBusy) void this.#report();
  }

  async #report(): Promise<void> {
    this.#isBusy = true;
    while (this.#waiting.size > 0) {
      const failures = [...this.#waiting.values()];
      this.#waiting = new Map();
      try {
        await this.#services.noteFailedSignIns(failures);
      } catch (err) {
        const count = failures.reduce((sum, one) => sum + one.count, 0);
        this.#log.warn({ err, count }, "failed sign-ins at the admin listener are not in the audit log");
      }
    }
    this.#isBusy = false;
  }
}
