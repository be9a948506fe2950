import { createTokens } from "../accounts/tokens.ts";
import { type OpenAccounts, type OutputOptions, userOf } from "./accounts.ts";
import { changeOnAccounts } from "./changes.ts";

export function issueToken(open: OpenAccounts, name: string, options: OutputOptions): Promise<void> {
  return changeOnAccounts(open, options, { action: "issueToken", target: name }, async ({ store, snapshot }, note) => {
    const user = await userOf(store, name);
    note({ target: user.id });
    const remember = (key: string, value: string) => store.remember(key, value);
    const tokens = await createTokens({ settings: () => snapshot.auth.tokens, now: Date.now, remember });
    const json = await tokens.issue(user);
    return { json, text: json.access_token };
  });
}
