import { changeKey, createKey, type KeyBody, keyBody, listKeys, rolledBody, rollKey } from "../accounts/api-keys.ts";
import { deleteUser } from "../accounts/deletion.ts";
import { parseKeyChange, parseKeyLimits } from "../accounts/key-limits.ts";
import { createUser, newId, userBody, userUse } from "../accounts/users.ts";
import {
  decimal,
  GatewayError,
  type Grant,
  invalidRequest,
  nanoToString,
  type Snapshot,
  type Store,
  tierOf,
  toNano,
  type User,
} from "../kit/index.ts";
import type { UserServices } from "../server/admin/services.ts";

type AdminUser = Awaited<ReturnType<UserServices["addUser"]>>;
type AdminKey = Awaited<ReturnType<UserServices["listKeys"]>>[number];
type CreditGrant = Awaited<ReturnType<UserServices["grantCredits"]>>;

export interface AdminUsersParts {
  readonly store: Store;
  /** Of the configuration in force. */
  readonly snapshot: () => Snapshot;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** What rows of users, their credits and their keys need of the store. */
export function userServices({ store, snapshot, now }: AdminUsersParts): UserServices {
  /** By id alone: an address is not one. @throws GatewayError NOT_FOUND */
  async function userOf(id: string): Promise<User> {
    return found(id, await store.findUser(id));
  }

  function checkTier(tier: string): string {
    const { tiers } = snapshot();
    if (Object.hasOwn(tiers, tier)) return tier;
    throw invalidRequest("/plan_tier", `must be one of ${Object.keys(tiers).join(", ")}`);
  }

  return {
    async findUsers(query) {
      const { users, next } = await store.findUsers(query);
      return { users: users.map(shownUser), next };
    },

    async addUser({ email, plan_tier, credits }) {
      const { signup } = snapshot().auth;
      const tier = checkTier(plan_tier ?? signup.tier);
      const amount = credits === undefined ? toNano(signup.credits) : parseCredits("/credits", credits);
      if (amount < 0n) throw invalidRequest("/credits", "must not be negative");
      return shownUser(await createUser(store, { email, tier, credits: amount }));
    },

    async getUser(id) {
      const user = await userOf(id);
      const { limits } = tierOf(snapshot(), user.tier);
      const [windows, running] = await Promise.all([store.windows(id, limits), store.running(id)]);
      const use = userUse(windows, running.streams, limits.streams);
      return { ...shownUser(user), ...use, requests_running: running.requests };
    },

    async changeUser(id, { plan_tier, disabled }) {
      let user = await userOf(id);
      if (plan_tier !== undefined) user = found(id, await store.setTier(id, checkTier(plan_tier)));
      if (disabled !== undefined) user = found(id, await store.setDisabled(id, disabled));
      return shownUser(user);
    },

    async deleteUser(id) {
      await deleteUser(store, await userOf(id));
      return null;
    },

    async grantCredits({ userId, by, reason, idempotencyKey, ...asked }) {
      const amount = parseCredits("/amount", asked.amount);
      if (amount === 0n) throw invalidRequest("/amount", "must not be 0");
      await userOf(userId);
      const grant = await store.addGrant({ id: newId("grant"), userId, amount, reason, by, idempotencyKey });
      if (grant === null) throw noUser();
      if (grant.amount !== amount || grant.reason !== reason) {
        throw new GatewayError(
          "INVALID_REQUEST",
          "Invalid request: the header Idempotency-Key was sent with another amount or reason before",
        );
      }
      return shownGrant(grant);
    },

    async listGrants(userId, page) {
      await userOf(userId);
      const { grants, next } = await store.listGrants(userId, page);
      return { grants: grants.map(shownGrant), next };
    },

    async listKeys(userId) {
      const { tier } = await userOf(userId);
      return (await listKeys(store, { userId, tier })).map((key) => shownKey(userId, key));
    },

    async addKey(userId, { name, ...fields }) {
      const limits = parseKeyLimits(fields, now());
      const { tier } = await userOf(userId);
      const { body, key } = await createKey(store, { userId, name, limits });
      return { key: body.key, ...shownKey(userId, keyBody(key, tier)) };
    },

    async changeKey(keyId, fields) {
      const key = await changeKey(store, { keyId }, parseKeyChange({ ...fields }, now()));
      const { tier } = await userOf(key.userId);
      return shownKey(key.userId, keyBody(key, tier));
    },

    async rollKey(keyId, { grace }) {
      const rolled = await rollKey(store, { keyId, grace }, now());
      const { userId } = rolled.key;
      const { tier } = await userOf(userId);
      const { key, previous, ...body } = rolledBody(keyId, rolled, tier);
      return { key, ...shownKey(userId, body), previous };
    },

    async endUserSessions(id) {
      found(id, await store.endSessions(id));
      return null;
    },

    async revokeKey(id) {
      if (await store.revokeKey(id)) return null;
      throw new GatewayError("NOT_FOUND", "API key not found");
    },
  };
}

function found(id: string, user: User | null): User {
  if (user?.id !== id) throw noUser();
  return user;
}

function noUser(): GatewayError {
  return new GatewayError("NOT_FOUND", "User not found");
}

/** No exponents, and no more digits than the ledger's integers have. */
const AMOUNT = /^-?\d{1,9}(?:\.\d{1,9})?$/;

/** A number, or a decimal string: of that no place is lost on the way. */
function parseCredits(pointer: string, value: number | string): bigint {
  const text = typeof value === "number" ? plain(value) : value;
  if (AMOUNT.test(text)) return toNano(decimal(text));
  throw invalidRequest(pointer, "must be a decimal number below 1,000,000,000 with at most 9 places");
}

/** Small numbers are written with an exponent. */
function plain(value: number): string {
  return Math.abs(value) < 1e-6 ? value.toFixed(9) : String(value);
}

function shownUser(user: User): AdminUser {
  const { granted, charged, createdAt, disabledAt } = user;
  return {
    ...userBody(user),
    granted: nanoToString(granted),
    charged: nanoToString(charged),
    created_at: new Date(createdAt).toISOString(),
    disabled_at: disabledAt === undefined ? null : new Date(disabledAt).toISOString(),
  };
}

function shownKey(userId: string, { models, scopes, addresses, ...key }: KeyBody): AdminKey {
  return { ...key, models: copy(models), scopes: copy(scopes), addresses: copy(addresses), user_id: userId };
}

function copy<T>(list: readonly T[] | null): T[] | null {
  return list === null ? null : [...list];
}

function shownGrant({ id, userId, amount, balance, reason, by, createdAt }: Grant): CreditGrant {
  const [given, credits] = [nanoToString(amount), nanoToString(balance)];
  return { id, user_id: userId, amount: given, credits, reason, by, created_at: new Date(createdAt).toISOString() };
}
