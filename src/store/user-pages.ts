import type { User, UserPage, UserQuery } from "../kit/index.ts";
import { USERS_PER_PAGE } from "./windows.ts";

/** Behind every character that an address may have. */
export const LAST_CHARACTER = "\u007f";

/** Whether a user that was searched for is one that is asked for. */
export function isWanted({ tier, disabledAt }: User, query: UserQuery): boolean {
  if (query.tier !== undefined && query.tier !== tier) return false;
  return query.disabled === undefined || query.disabled === (disabledAt !== undefined);
}

/** @param found in the order of addresses; with one more than a page looks at, others follow. */
export function pageOfUsers(found: readonly User[], query: UserQuery): UserPage {
  const users: User[] = [];
  for (const [index, user] of found.slice(0, USERS_PER_PAGE).entries()) {
    if (isWanted(user, query)) users.push(user);
    if (users.length === query.limit) return { users, next: index + 1 < found.length ? user.email : null };
  }
  return { users, next: found.length > USERS_PER_PAGE ? found[USERS_PER_PAGE - 1]!.email : null };
}
