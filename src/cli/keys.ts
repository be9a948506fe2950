import { changeKey, createKey, type KeyBody, keyBody, rolledBody, rollKey as roll } from "../accounts/api-keys.ts";
import { type KeyLimitFields, parseKeyChange, parseKeyLimits } from "../accounts/key-limits.ts";
import type { ApiKey, Store } from "../kit/index.ts";
import { type OpenAccounts, type OutputOptions, printable, runOnAccounts, table, userOf } from "./accounts.ts";
import { changeOnAccounts } from "./changes.ts";
import { EXIT, ExitError } from "./options.ts";

export interface KeysOfUser extends OutputOptions {
  /** Id or address. */
  readonly user: string;
}

/** Limits of a key. `"none"` takes one away. */
interface LimitOptions {
  readonly expiresIn?: string;
  readonly models?: readonly string[];
  readonly budget?: { readonly amount: string; readonly per: string } | "none";
  readonly tag?: Readonly<Record<string, string>> | "none";
  readonly scope?: readonly string[];
  readonly address?: readonly string[];
}

export interface AddKeyOptions extends KeysOfUser, LimitOptions {
  readonly name: string;
}

export interface SetKeyOptions extends OutputOptions, LimitOptions {
  readonly name?: string;
}

export interface RollKeyOptions extends OutputOptions {
  readonly grace: string;
}

/** The options as fields of the API; those that are not given are absent. */
function fieldsOf({ expiresIn, models, budget, tag, scope, address }: LimitOptions): Partial<KeyLimitFields> {
  const fields = { expires_in: expiresIn, models, budget, tags: tag, scopes: scope, addresses: address };
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, isNone(value) ? null : value]));
}

function isNone(value: unknown): boolean {
  return value === "none" || (Array.isArray(value) && value.length === 1 && value[0] === "none");
}

export function addKey(open: OpenAccounts, options: AddKeyOptions): Promise<void> {
  const { name } = options;
  const fields = fieldsOf(options);
  const details = { name, ...fields };
  const change = { action: "addKey", target: options.user, details };
  return changeOnAccounts(open, options, change, async ({ store, now }, note) => {
    const user = await userOf(store, options.user);
    note({ target: user.id });
    const limits = parseKeyLimits(fields, now());
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
function limitsText({ models, budget, tags, scopes, addresses, replaced_by }: KeyBody): string {
  const spending = budget && `${budget.spent} of ${budget.amount} (${budget.per})`;
  const marks = Object.entries(tags).map(([name, value]) => `${name}=${value}`);
  const bounds = [...(scopes ?? []).map((scope) => `scope:${scope}`), ...(addresses ?? [])];
  const successor = replaced_by === null ? [] : [`replaced by ${replaced_by}`];
  const all = [...(models ?? []), ...(spending === null ? [] : [spending]), ...marks, ...bounds, ...successor];
  return printable(all.join(" "));
}

export function setKey(open: OpenAccounts, id: string, options: SetKeyOptions): Promise<void> {
  const { name } = options;
  const fields = { ...(name !== undefined && { name }), ...fieldsOf(options) };
  const change = { action: "changeKey", target: id, details: fields };
  return changeOnAccounts(open, options, change, async ({ store, now }, note) => {
    const key = await changeKey(store, { keyId: id }, parseKeyChange(fields, now()));
    // Named, so that the entry is found when the user is deleted.
    note({ details: { ...fields, user_id: key.userId } });
    const json = keyBody(key, await tierOfKey(store, key));
    const ends = json.expires_at === null ? "never expires" : `expires at ${json.expires_at}`;
    return { json, text: `Changed ${id} (${printable(json.name)}): ${[ends, limitsText(json)].join(" ").trimEnd()}` };
  });
}

export function rollKey(open: OpenAccounts, id: string, options: RollKeyOptions): Promise<void> {
  const change = { action: "rollKey", target: id, details: { grace: options.grace } };
  return changeOnAccounts(open, options, change, async ({ store, now }, note) => {
    // A bare 0 is seconds, as in the API.
    const grace = /^\d{1,9}$/.test(options.grace) ? Number(options.grace) : options.grace;
    const rolled = await roll(store, { keyId: id, grace }, now());
    note({ details: { grace: options.grace, key_id: rolled.key.id, user_id: rolled.key.userId } });
    const json = rolledBody(id, rolled, await tierOfKey(store, rolled.key));
    const old = grace === 0 ? `${id} is revoked.` : `${id} serves until ${json.previous.expires_at}.`;
    return { json, text: `${json.key}\nMade ${json.id} in place of ${id}. The secret is not shown again. ${old}` };
  });
}

async function tierOfKey(store: Store, { userId }: ApiKey): Promise<string> {
  return (await userOf(store, userId)).tier;
}

export function revokeKey(open: OpenAccounts, id: string, options: OutputOptions): Promise<void> {
  return changeOnAccounts(open, options, { action: "revokeKey", target: id }, async ({ store }) => {
    if (!(await store.revokeKey(id))) throw new ExitError(EXIT.findings, `there is no live key ${id}`);
    return { json: { message: "API key revoked" }, text: `Revoked ${id}.` };
  });
}
