import { type CheckSettings, checkConfig, isLoaded, type Loaded } from "../gateway/configuration.ts";
import { ConfigurationError, type Diagnostic } from "../config/diagnostics.ts";
import { Secret, type Snapshot } from "../kit/index.ts";

/** What stands in for a variable that is not set, tried in this order where empty text cannot stand. */
const STAND_INS = ["https://unset.invalid", "1", "unset@unset.invalid", "true", "1s"] as const;
const UNSET = /^the variable (\w+) is not set$/;

/**
 * A configuration as it would be served, also where its secrets and addresses are not: what cannot be empty is made up.
 * @throws ConfigurationError for one that has errors.
 */
export async function loadOffline(options: CheckSettings): Promise<Loaded> {
  const env: Record<string, string | undefined> = { ...(options.env ?? process.env) };
  let pending: ReadonlyMap<string, string> | null = null;
  for (const standIn of [null, ...STAND_INS]) {
    for (const name of pending?.values() ?? []) env[name] = standIn ?? "";
    const result = await checkConfig({ ...options, env });
    if (isLoaded(result)) return result;
    pending ??= unsetIn(result.diagnostics);
    const bad = new Set(result.diagnostics.filter(isProblem).map(({ pointer }) => pointer));
    if (pending.size === 0 || [...bad].some((pointer) => !pending!.has(pointer))) {
      throw new ConfigurationError(result.diagnostics);
    }
    pending = new Map([...pending].filter(([pointer]) => bad.has(pointer)));
  }
  throw new Error("a variable that is not set stands where nothing can be made up: set it");
}

/** Names by pointer. */
function unsetIn(diagnostics: readonly Diagnostic[]): ReadonlyMap<string, string> {
  const found = diagnostics.flatMap(({ rule, pointer, message }) => {
    const name = rule === "unresolved-reference" ? UNSET.exec(message)?.[1] : undefined;
    return name === undefined ? [] : [[pointer, name] as const];
  });
  return new Map(found);
}

function isProblem({ rule, severity }: Diagnostic): boolean {
  return severity === "error" || rule === "unresolved-reference";
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
