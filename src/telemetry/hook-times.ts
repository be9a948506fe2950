import { Counter, type Registry } from "@prometheus-io/client";

const BUCKETS_SECONDS = [0.000_01, 0.000_1, 0.001, 0.01, 0.1, 1, 10] as const;
const BUCKETS_MS = BUCKETS_SECONDS.map((bound) => bound * 1000);

/** The calls of one hook of a plugin. */
interface Calls {
  readonly plugin: string;
  readonly hook: string;
  /** By bucket, the last one for whatever took longer than all of them. */
  readonly counts: Float64Array;
  ms: number;
}

/**
 * `gateway_plugin_hook_seconds`, as a histogram is written. Counted here and handed to the registry when it is read: its
 * own histogram looks its labels up for each value, which takes longer than most hooks do.
 */
export class HookTimes {
  readonly #byName = new Map<string, Calls>();

  constructor(registers: Registry[]) {
    const calls = this.#byName;
    const buckets: Counter<"plugin" | "hook" | "le"> = new Counter({
      name: "gateway_plugin_hook_seconds_bucket",
      help: "Calls of plugins' hooks, asynchronous ones to their end, that took no longer than le.",
      labelNames: ["plugin", "hook", "le"],
      registers,
      collect() {
        buckets.reset();
        for (const { plugin, hook, counts } of calls.values()) {
          let count = 0;
          for (const [index, own] of counts.entries()) {
            count += own;
            const le = index < BUCKETS_SECONDS.length ? String(BUCKETS_SECONDS[index]) : "+Inf";
            buckets.inc({ plugin, hook, le }, count);
          }
        }
      },
    });
    const sums: Counter<"plugin" | "hook"> = new Counter({
      name: "gateway_plugin_hook_seconds_sum",
      help: "What calls of plugins' hooks took together.",
      labelNames: ["plugin", "hook"],
      registers,
      collect() {
        sums.reset();
        for (const { plugin, hook, ms } of calls.values()) sums.inc({ plugin, hook }, ms / 1000);
      },
    });
    const counted: Counter<"plugin" | "hook"> = new Counter({
      name: "gateway_plugin_hook_seconds_count",
      help: "Calls of plugins' hooks.",
      labelNames: ["plugin", "hook"],
      registers,
      collect() {
        counted.reset();
        for (const { plugin, hook, counts } of calls.values()) {
          counted.inc(
            { plugin, hook },
            counts.reduce((sum, count) => sum + count, 0),
          );
        }
      },
    });
  }

  /** Called with the milliseconds of each call. */
  timer(plugin: string, hook: string): (milliseconds: number) => void {
    // Neither a name of a plugin nor one of a hook has a blank.
    const name = `${plugin} ${hook}`;
    const calls = this.#byName.get(name) ?? { plugin, hook, counts: new Float64Array(BUCKETS_MS.length + 1), ms: 0 };
    this.#byName.set(name, calls);
    const { counts } = calls;
    return (milliseconds) => {
      let bucket = 0;
      while (bucket < BUCKETS_MS.length && milliseconds > BUCKETS_MS[bucket]!) bucket += 1;
      counts[bucket]! += 1;
      calls.ms += milliseconds;
    };
  }
}
