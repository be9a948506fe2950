import { createUser } from "../accounts/users.ts";
import { nanoToString, toNano } from "../kit/index.ts";
import {
  describeUser,
  found,
  type OpenAccounts,
  type OutputOptions,
  runOnAccounts,
  table,
  tierOf,
  userBody,
  userOf,
} from "./accounts.ts";

export interface AddUserOptions extends OutputOptions {
  readonly email: string;
  readonly tier?: string;
  /** Nano-units. */
  readonly credits?: bigint;
}

export interface SetUserOptions extends OutputOptions {
  readonly tier: string;
}

export function addUser(open: OpenAccounts, options: AddUserOptions): Promise<void> {
  return runOnAccounts(open, options, async ({ store, snapshot }) => {
    const { signup } = snapshot.auth;
    const tier = tierOf(snapshot, options.tier ?? signup.tier);
    const credits = options.credits ?? toNano(signup.credits);
    return describeUser("Added", await createUser(store, { email: options.email, tier, credits }));
  });
}

export function listUsers(open: OpenAccounts, options: OutputOptions): Promise<void> {
  return runOnAccounts(open, options, async ({ store }) => {
    const all = await store.listUsers();
    const rows = all.map(({ id, email, tier, balance }) => [id, email, tier, nanoToString(balance)]);
    return { json: all.map(userBody), text: table(["ID", "EMAIL", "TIER", "CREDITS"], rows) };
  });
}

export function setUser(open: OpenAccounts, name: string, options: SetUserOptions): Promise<void> {
  return runOnAccounts(open, options, async ({ store, snapshot }) => {
    const tier = tierOf(snapshot, options.tier);
    const user = await userOf(store, name);
    return describeUser("Changed", found(await store.setTier(user.id, tier), name));
  });
}

/** @param amount nano-units; a negative one takes credits. */
export function addCredits(open: OpenAccounts, name: string, amount: bigint, options: OutputOptions): Promise<void> {
  return runOnAccounts(open, options, async ({ store }) => {
    const user = await userOf(store, name);
    return describeUser("Changed", found(await store.grant(user.id, amount), name));
  });
}
