import { createTokens } from "../accounts/tokens.ts";
import { type OpenAccounts, type OutputOptions, runOnAccounts, userOf } from "./accounts.ts";

export function issueToken(open: OpenAccounts, name: string, options: OutputOptions): Promise<void> {
  return runOnAccounts(open, options, async ({ store, snapshot }) => {
    const user = await userOf(store, name);
    const remember = (key: string, value: string) => store.remember(key, value);
    const tokens = await createTokens({ settings: () => snapshot.auth.tokens, now: Date.now, remember });
    const json = await tokens.issue(user);
    return { json, text: json.access_token };
  });
}
