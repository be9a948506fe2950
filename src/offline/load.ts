import { ConfigurationError } from "../config/diagnostics.ts";
import { compileOffline, type CompileOptions } from "../gateway/compile.ts";
import { type CheckSettings, isLoaded, type Loaded } from "../gateway/configuration.ts";
import { Secret, type Snapshot } from "../kit/index.ts";

/**
 * A configuration as it would be served, also where its secrets and addresses are not: what cannot be empty is made up.
 * @throws ConfigurationError for one that has errors.
 */
export async function loadOffline({
  file,
  env = process.env,
  tell,
}: Pick<CheckSettings, "file" | "env"> & Pick<CompileOptions, "tell">): Promise<Loaded> {
  const result = await compileOffline({ file, env, setsUp: true, ...(tell && { tell }) });
  if (isLoaded(result)) return result;
  throw new ConfigurationError(result.diagnostics);
}

/** In place of keys, which are never used offline: none is sent anywhere, and none of a cloud's is exchanged for a token. */
const KEY = "offline";

/** The same configuration, with nothing in it that reaches out of the process. */
export function withoutWorld(snapshot: Snapshot): Snapshot {
  const upstreams = Object.entries(snapshot.upstreams).map(([name, upstream]) => {
    const apiKeys = upstream.apiKeys.map((_key, index) => new Secret(`${KEY}-${index + 1}`));
    return [name, { ...upstream, apiKeys: apiKeys.length > 0 ? apiKeys : [new Secret(KEY)], probe: null }] as const;
  });
  return {
    ...snapshot,
    // Many users of a test have one address.
    server: { ...snapshot.server, ipLimit: null },
    store: { ...snapshot.store, url: new Secret("memory:"), nodes: [] },
    upstreams: Object.assign(Object.create(null) as object, Object.fromEntries(upstreams)),
  };
}
