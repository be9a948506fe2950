import type { User, UserPage, UserQuery } from "../kit/index.ts";

/** Behind every character that an address may have. */
export const LAST_CHARACTER = "\u007f";

/** Whether a user that was searched for is one that is asked for. */
export function isWanted({ tier, disabledAt }: User, query: UserQuery): boolean {
  if (query.tier !== undefined && query.tier !== tier) return false;
  return query.disabled === undefined || query.disabled === (disabledAt !== undefined);
}

/**
 * @param looked the users that were looked at, in the order of addresses, no more than a page may
 * @param rest the address behind which others follow that nobody has looked at; null: none do
 */
export function pageOfUsers(looked: readonly User[], rest: string | null, query: UserQuery): UserPage {
  const users: User[] = [];
  for (const [index, user] of looked.entries()) {
    if (isWanted(user, query)) users.push(user);
    if (users.length < query.limit) continue;
    return { users, next: index + 1 < looked.length || rest !== null ? user.email : null };
  }
  return { users, next: rest };
}
