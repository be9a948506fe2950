import type { Hooks, Plugin, Store } from "../../src/kit/index.ts";
import { openStore } from "../../src/store/open.ts";
import { ManualClock } from "../support/clock.ts";
import { type HostParts, type TestHost, testHost } from "../support/host.ts";
import { testSnapshot } from "../support/snapshot.ts";

/** A host with defaults for what a plugin's test does not care about. */
export async function pluginHost(parts: Partial<HostParts> = {}): Promise<TestHost> {
  const clock = parts.clock ?? new ManualClock();
  const store: Store = parts.store ?? (await openStore("memory:", { serving: true, now: clock.now }));
  return testHost({ snapshot: testSnapshot(), ...parts, clock, store });
}

/** A plugin's hooks, set up as the pipeline does it. */
export async function setUp<Options>(plugin: Plugin<Options>, options: Options, host: TestHost): Promise<Hooks> {
  return plugin.setup(options, host);
}
