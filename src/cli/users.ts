import { deleteUser as removeUser } from "../accounts/deletion.ts";
import { createUser, newId } from "../accounts/users.ts";
import { nanoToString, type Store, toNano, type User } from "../kit/index.ts";
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
import { changeOnAccounts } from "./changes.ts";
import { EXIT, ExitError } from "./options.ts";

export interface AddUserOptions extends OutputOptions {
  readonly email: string;
  readonly tier?: string;
  /** Nano-units. */
  readonly credits?: bigint;
}

export interface ListUsersOptions extends OutputOptions {
  readonly search?: string;
}

export interface CreditOptions extends OutputOptions {
  readonly reason?: string;
}

/** Who a grant is by. */
const BY = "command line";
/** Asked for at once. */
const USERS_PER_PAGE = 200;

export interface SetUserOptions extends OutputOptions {
  readonly tier: string;
}

export function addUser(open: OpenAccounts, options: AddUserOptions): Promise<void> {
  const { email } = options;
  return changeOnAccounts(open, options, { action: "addUser", details: { email } }, async (accounts, note) => {
    const { store, snapshot } = accounts;
    const { signup } = snapshot.auth;
    const tier = tierOf(snapshot, options.tier ?? signup.tier);
    const credits = options.credits ?? toNano(signup.credits);
    const user = await createUser(store, { email, tier, credits });
    note({ target: user.id, details: { email, plan_tier: tier, credits: nanoToString(credits) } });
    return describeUser("Added", user);
  });
}

export function listUsers(open: OpenAccounts, options: ListUsersOptions): Promise<void> {
  return runOnAccounts(open, options, async ({ store }) => {
    const { search } = options;
    const all = search === undefined ? await store.listUsers() : await usersLike(store, search);
    const rows = all.map(({ id, email, tier, balance }) => [id, email, tier, nanoToString(balance)]);
    return { json: all.map(userBody), text: table(["ID", "EMAIL", "TIER", "CREDITS"], rows) };
  });
}

async function usersLike(store: Store, search: string): Promise<readonly User[]> {
  const found: User[] = [];
  for (let after: string | undefined; ;) {
    const { users, next } = await store.findUsers({ search, limit: USERS_PER_PAGE, after });
    found.push(...users);
    if (next === null) return found;
    after = next;
  }
}

export function disableUser(
  open: OpenAccounts,
  name: string,
  disabled: boolean,
  options: OutputOptions,
): Promise<void> {
  const change = { action: disabled ? "disableUser" : "enableUser", target: name };
  return changeOnAccounts(open, options, change, async ({ store }, note) => {
    const user = await userOf(store, name);
    note({ target: user.id });
    return describeUser(disabled ? "Disabled" : "Enabled", found(await store.setDisabled(user.id, disabled), name));
  });
}

export interface DeleteUserOptions extends OutputOptions {
  readonly yes?: boolean;
}

export async function deleteUser(open: OpenAccounts, name: string, options: DeleteUserOptions): Promise<void> {
  if (options.yes !== true) {
    const what = `address, sign-in and keys of ${name} go for good; the ledger stays under the id`;
    throw new ExitError(EXIT.usage, `nothing was deleted: ${what}. Repeat with --yes to delete the user`);
  }
  const change = { action: "deleteUser", target: name };
  return changeOnAccounts(open, options, change, async ({ store }, note) => {
    const user = await userOf(store, name);
    note({ target: user.id });
    if (!(await removeUser(store, user))) throw new ExitError(EXIT.findings, `there is no user ${name}`);
    return { json: { id: user.id, deleted: true }, text: `Deleted ${user.id}. Its ledger stays under the id.` };
  });
}

export function setUser(open: OpenAccounts, name: string, options: SetUserOptions): Promise<void> {
  const change = { action: "changeUser", target: name, details: { plan_tier: options.tier } };
  return changeOnAccounts(open, options, change, async ({ store, snapshot }, note) => {
    const tier = tierOf(snapshot, options.tier);
    const user = await userOf(store, name);
    note({ target: user.id });
    return describeUser("Changed", found(await store.setTier(user.id, tier), name));
  });
}

/** @param amount nano-units; a negative one takes credits. */
export function addCredits(open: OpenAccounts, name: string, amount: bigint, options: CreditOptions): Promise<void> {
  const { reason = "" } = options;
  const change = { action: "grantCredits", target: name, details: { amount: nanoToString(amount), reason } };
  return changeOnAccounts(open, options, change, async ({ store }, note) => {
    const user = await userOf(store, name);
    note({ target: user.id });
    const grant = { id: newId("grant"), userId: user.id, amount, reason, by: BY, idempotencyKey: null };
    await store.addGrant(grant);
    return describeUser("Changed", found(await store.findUser(user.id), name));
  });
}
