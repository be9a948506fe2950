import { found, type OpenAccounts, type OutputOptions, userOf } from "./accounts.ts";
import { changeOnAccounts } from "./changes.ts";

/** Voids a user's refresh tokens and access tokens. */
export function endSessions(open: OpenAccounts, name: string, options: OutputOptions): Promise<void> {
  return changeOnAccounts(open, options, { action: "endUserSessions", target: name }, async ({ store }, note) => {
    const { id, email } = await userOf(store, name);
    note({ target: id });
    found(await store.endSessions(id), name);
    return { json: { message: "All sessions ended" }, text: `Signed ${email} (${id}) out everywhere. API keys stay.` };
  });
}
