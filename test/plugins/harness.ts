import { pluginHost as hostOf } from "../../src/kit/builtin.ts";
import type { Hooks, Plugin, PluginHost, Store } from "../../src/kit/index.ts";
import { publicSnapshot } from "../../src/kit/public-snapshot.ts";
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

/** A plugin's hooks, set up as the pipeline does it: on the host that this plugin gets. */
export async function setUp<Options>(plugin: Plugin<Options>, options: Options, host: TestHost): Promise<Hooks> {
  return plugin.setup(options, ownHost(plugin, host));
}

export function ownHost<Options>(plugin: Plugin<Options>, host: TestHost): PluginHost {
  return hostOf(plugin, host, () => publicSnapshot(host.snapshot));
}
