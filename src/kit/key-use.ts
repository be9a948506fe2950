import { GatewayError } from "./errors.ts";
import type { KeyScope } from "./key-limits.ts";
import { isInNetworks } from "./networks.ts";
import type { Principal } from "./request.ts";

/**
 * Refuses a call that the caller's key may not make. Access tokens have no such limits.
 * @param scope what the call needs; null: any key will do.
 * @param ip of the client, behind trusted proxies.
 * @throws GatewayError KEY_RESTRICTED
 */
export function checkKeyUse({ keyLimits }: Pick<Principal, "keyLimits">, scope: KeyScope | null, ip: string): void {
  if (keyLimits === undefined) return;
  const { scopes, addresses } = keyLimits;
  // The address first: whoever is elsewhere learns nothing of what the key is for.
  if (addresses !== undefined && !isInNetworks(ip, addresses))
    throw new GatewayError("KEY_RESTRICTED", "This API key may not be used from this address");
  if (scope !== null && scopes !== undefined && !scopes.includes(scope))
    throw new GatewayError("KEY_RESTRICTED", `This API key does not have the scope '${scope}'`);
}
