import { describeUser, found, type OpenAccounts, type OutputOptions, runOnAccounts, userOf } from "./accounts.ts";

/** @param amount nano-units; a negative one takes credits. */
export function addCredits(open: OpenAccounts, name: string, amount: bigint, options: OutputOptions): Promise<void> {
  return runOnAccounts(open, options, async ({ store }) => {
    const user = await userOf(store, name);
    return describeUser("Changed", found(await store.grant(user.id, amount), name));
  });
}
