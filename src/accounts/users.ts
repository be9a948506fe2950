import { GatewayError, invalidRequest } from "../kit/index.ts";
import type { Store, User } from "../kit/index.ts";
import { newId } from "./ids.ts";

/** What HTML takes for an address: ASCII only, so that no two addresses look alike and no header can be injected. */
const EMAIL =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i;

/** The address in lower case. @throws GatewayError INVALID_REQUEST when it is none. */
export function parseEmail(value: unknown): string {
  if (typeof value !== "string" || value.length > 254 || !EMAIL.test(value)) {
    throw invalidRequest("/email", "must be an e-mail address");
  }
  return value.toLowerCase();
}

/**
 * Makes a user who owns `credits` nano-units.
 * @throws GatewayError INVALID_REQUEST for an address that is none or taken.
 */
export async function createUser(
  store: Store,
  { email, tier, credits }: { readonly email: string; readonly tier: string; readonly credits: bigint },
): Promise<User> {
  const address = parseEmail(email);
  const user = await store.addUser({ id: newId("user"), email: address, tier, credits });
  if (!user) throw new GatewayError("INVALID_REQUEST", `Invalid request: /email ${address} belongs to a user already`);
  return user;
}
