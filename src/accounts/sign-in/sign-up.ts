import { toNano } from "../../kit/index.ts";
import type { AuthSettings, Store, User } from "../../kit/index.ts";
import { newId } from "../ids.ts";

type Signup = AuthSettings["signup"];

/** Who an identity provider says is there. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
  /** Proven by the provider, in lower case; null when it is not. */
  readonly email: string | null;
}

/** The user of a proven address in lower case; made, as `signup` says, at the first sign-in. */
export async function userOfEmail(store: Store, email: string, signup: Signup): Promise<User> {
  const make = () => store.addUser({ id: newId("user"), email, tier: signup.tier, credits: toNano(signup.credits) });
  // The second look-up: another sign-in of the same address was quicker.
  const user = (await store.findUser(email)) ?? (await make()) ?? (await store.findUser(email));
  if (!user) throw new Error("an address is taken by nobody");
  return user;
}

/** The user that an identity signs in as: the one it is linked to, else that of its address. @returns null without either. */
export async function userOfIdentity(store: Store, identity: Identity, signup: Signup): Promise<User | null> {
  const { issuer, subject, email } = identity;
  const linked = await store.findIdentity(issuer, subject);
  if (linked || email === null) return linked;
  const { id } = await userOfEmail(store, email, signup);
  return store.linkIdentity(issuer, subject, id);
}
