import { createKey, type KeyBody, keyBody } from "../accounts/api-keys.ts";
import { parseKeyLimits } from "../accounts/key-limits.ts";
import { type OpenAccounts, type OutputOptions, printable, runOnAccounts, table, userOf } from "./accounts.ts";
import { changeOnAccounts } from "./changes.ts";
import { EXIT, ExitError } from "./options.ts";

export interface KeysOfUser extends OutputOptions {
  /** Id or address. */
  readonly user: string;
}

export interface AddKeyOptions extends KeysOfUser {
  readonly name: string;
  readonly expiresIn?: string;
  readonly models?: readonly string[];
  readonly budget?: { readonly amount: string; readonly per: string };
  readonly tag?: Readonly<Record<string, string>>;
}

export function addKey(open: OpenAccounts, options: AddKeyOptions): Promise<void> {
  const { name, expiresIn: expires_in, models, budget, tag: tags } = options;
  const details = { name, expires_in, models, budget, tags };
  const change = { action: "addKey", target: options.user, details };
  return changeOnAccounts(open, options, change, async ({ store, now }, note) => {
    const user = await userOf(store, options.user);
    note({ target: user.id });
    const limits = parseKeyLimits({ expires_in, models, budget, tags }, now());
    const { body } = await createKey(store, { userId: user.id, name, limits });
    note({ details: { ...details, key_id: body.id } });
    return { json: body, text: `${body.key}\nMade ${body.id} for ${user.email}. The secret is not shown again.` };
  });
}

export function listKeys(open: OpenAccounts, options: KeysOfUser): Promise<void> {
  return runOnAccounts(open, options, async ({ store }) => {
    const user = await userOf(store, options.user);
    const json = (await store.listKeys(user.id)).map((key) => keyBody(key, user.tier));
    const rows = json.map((key) => [
      key.id,
      key.key_prefix,
      printable(key.name),
      key.created_at,
      key.last_used_at ?? "never",
      key.expires_at ?? "never",
      limitsText(key),
    ]);
    return { json, text: table(["ID", "PREFIX", "NAME", "CREATED", "LAST USED", "EXPIRES", "LIMITS"], rows) };
  });
}

/** "" without any. */
function limitsText({ models, budget, tags }: KeyBody): string {
  const spending = budget && `${budget.spent} of ${budget.amount} (${budget.per})`;
  const marks = Object.entries(tags).map(([name, value]) => `${name}=${value}`);
  return printable([...(models ?? []), ...(spending === null ? [] : [spending]), ...marks].join(" "));
}

export function revokeKey(open: OpenAccounts, id: string, options: OutputOptions): Promise<void> {
  return changeOnAccounts(open, options, { action: "revokeKey", target: id }, async ({ store }) => {
    if (!(await store.revokeKey(id))) throw new ExitError(EXIT.findings, `there is no live key ${id}`);
    return { json: { message: "API key revoked" }, text: `Revoked ${id}.` };
  });
}
