import { cpuTime } from "../load/cpu.ts";
import { numberOf, scriptsOf } from "../load/redis.ts";
import type { RedisServer } from "../load/redis.ts";

/** What a server has done for some work. */
export interface Reading {
  /** Microseconds of its CPU, all threads. */
  readonly cpu: number;
  /** Of these, within scripts: by its own clock, which runs on when it is not given the CPU. */
  readonly script: number;
  readonly scripts: number;
  /** Bytes received and sent. */
  readonly wire: number;
}

/** Reads a server that does nothing else: its CPU time is exact while it waits for work. */
export class Meter {
  readonly #server: RedisServer;
  /** Bytes of the questions themselves. */
  #own = 0;

  private constructor(server: RedisServer) {
    this.#server = server;
  }

  static async create(server: RedisServer): Promise<Meter> {
    const meter = new Meter(server);
    await meter.over(async () => undefined);
    meter.#own = (await meter.over(async () => undefined)).wire;
    return meter;
  }

  async over(work: () => Promise<unknown>): Promise<Reading> {
    const before = await this.#state();
    const cpuBefore = cpuTime(this.#server.pid);
    await work();
    const cpu = (cpuTime(this.#server.pid) - cpuBefore) / 1_000;
    const after = await this.#state();
    return {
      cpu,
      script: after.microseconds - before.microseconds,
      scripts: after.calls - before.calls,
      wire: after.wire - before.wire - this.#own,
    };
  }

  /** Bytes of the server's memory in use. */
  async memory(): Promise<number> {
    return numberOf(await this.#server.info("memory"), "used_memory");
  }

  async #state() {
    const info = await this.#server.info("stats", "commandstats");
    const wire = numberOf(info, "total_net_input_bytes") + numberOf(info, "total_net_output_bytes");
    return { ...scriptsOf(info), wire };
  }
}
