import type {
  AdminKey,
  AdminKeyList,
  AdminUser,
  AdminUserDetail,
  AdminUserPage,
  CreatedAdminKey,
  CreditGrant,
  CreditGrantPage,
  DeletedUser,
  EndedSessions,
  RevokedKey,
  RolledAdminKey,
} from "../../../../schemas/types.gen.ts";
import { invalidRequest } from "../../../kit/index.ts";
import { json } from "../../endpoint.ts";
import { type AdminEndpoint, row } from "../endpoint.ts";
import { decodeCursor, encodeCursor, ENTRIES_PER_PAGE } from "../input.ts";

/** Visible characters: it is a header. */
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

/** Users, their credits and their keys. */
export const USERS: readonly AdminEndpoint[] = [
  row({
    method: "GET",
    path: "/admin/users",
    role: "viewer",
    id: "listUsers",
    tag: "Users",
    summary: "Users, by address",
    description: "A page may hold fewer than its limit though others follow: it looks at up to 1,000 users.",
    query: "AdminUserQuery",
    answers: { 200: { description: "A page of them.", content: json("AdminUserPage") } },
    errors: [],
    route:
      ({ services }) =>
      async ({ query: { cursor, limit = ENTRIES_PER_PAGE, ...query } }): Promise<AdminUserPage> => {
        const after = decodeCursor(cursor, /^\S{1,254}$/) ?? undefined;
        const { users, next } = await services.findUsers({ ...query, limit, after });
        return { data: [...users], next_cursor: next === null ? null : encodeCursor(next) };
      },
  }),
  row({
    method: "POST",
    path: "/admin/users",
    role: "operator",
    id: "addUser",
    tag: "Users",
    summary: "Makes a user",
    description: "Plan and credits are those of auth.signup where they are left out.",
    body: "NewUserRequest",
    answers: { 200: { description: "The user.", content: json("AdminUser") } },
    errors: [],
    route:
      ({ services }) =>
      async ({ body, note }): Promise<AdminUser> => {
        const user = await services.addUser(body);
        note({ target: user.id });
        return user;
      },
  }),
  row({
    method: "GET",
    path: "/admin/users/{user_id}",
    role: "viewer",
    id: "getUser",
    tag: "Users",
    summary: "A user, with what is used of the plan",
    params: { user_id: "`id` of the user." },
    answers: { 200: { description: "The user.", content: json("AdminUserDetail") } },
    errors: ["NOT_FOUND"],
    route:
      ({ services }) =>
      async ({ params }): Promise<AdminUserDetail> =>
        services.getUser(params["user_id"] ?? ""),
  }),
  row({
    method: "PATCH",
    path: "/admin/users/{user_id}",
    role: "operator",
    id: "changeUser",
    tag: "Users",
    summary: "Changes a plan, disables or enables a user",
    description:
      "Within a second keys and tokens of a disabled user work no more, and running streams end, on every instance. Sign-in is refused.",
    params: { user_id: "`id` of the user." },
    body: "UserChangeRequest",
    answers: { 200: { description: "The user as it is now.", content: json("AdminUser") } },
    errors: ["NOT_FOUND"],
    route:
      ({ services }) =>
      async ({ params, body }): Promise<AdminUser> =>
        services.changeUser(params["user_id"] ?? "", body),
  }),
  row({
    method: "DELETE",
    path: "/admin/users/{user_id}",
    role: "operator",
    id: "deleteUser",
    tag: "Users",
    summary: "Deletes a user",
    description:
      "Address, identities, sign-in codes, sessions, keys and what the audit log says of them go for good; keys are refused at once. Running requests are settled, and the ledger stays under the id.",
    params: { user_id: "`id` of the user." },
    answers: { 200: { description: "The user is deleted.", content: json("DeletedUser") } },
    errors: ["NOT_FOUND"],
    route:
      ({ services }) =>
      async ({ params }): Promise<DeletedUser> => {
        await services.deleteUser(params["user_id"] ?? "");
        return { message: "User deleted" };
      },
  }),
  row({
    method: "POST",
    path: "/admin/users/{user_id}/credits",
    role: "operator",
    id: "grantCredits",
    tag: "Users",
    summary: "Gives credits, or takes some",
    description: "Repeated with the same Idempotency-Key it changes nothing, and answers as it did the first time.",
    params: { user_id: "`id` of the user." },
    headers: {
      "Idempotency-Key": { description: "Of this grant alone: 1 to 255 visible characters.", required: true },
    },
    body: "CreditsRequest",
    answers: { 200: { description: "The grant.", content: json("CreditGrant") } },
    errors: ["NOT_FOUND"],
    route:
      ({ services }) =>
      async ({ params, body, caller, req }): Promise<CreditGrant> => {
        const idempotencyKey = String(req.headers["idempotency-key"] ?? "");
        if (!IDEMPOTENCY_KEY.test(idempotencyKey))
          throw invalidRequest("/", "needs the header Idempotency-Key, of 1 to 255 visible characters");
        const by = caller?.name ?? "";
        return services.grantCredits({ ...body, userId: params["user_id"] ?? "", by, idempotencyKey });
      },
  }),
  row({
    method: "GET",
    path: "/admin/users/{user_id}/credits",
    role: "viewer",
    id: "listGrants",
    tag: "Users",
    summary: "Credits given to a user, the newest first",
    params: { user_id: "`id` of the user." },
    query: "CreditGrantQuery",
    answers: { 200: { description: "A page of them.", content: json("CreditGrantPage") } },
    errors: ["NOT_FOUND"],
    route:
      ({ services }) =>
      async ({ params, query: { cursor, limit = ENTRIES_PER_PAGE } }): Promise<CreditGrantPage> => {
        const after = decodeCursor(cursor, /^\d{1,15}$/);
        const page = { limit, after: after === null ? null : Number(after) };
        const { grants, next } = await services.listGrants(params["user_id"] ?? "", page);
        return { data: [...grants], next_cursor: next === null ? null : encodeCursor(String(next)) };
      },
  }),
  row({
    method: "GET",
    path: "/admin/users/{user_id}/keys",
    role: "viewer",
    id: "listKeys",
    tag: "Users",
    summary: "A user's live keys, the oldest first",
    params: { user_id: "`id` of the user." },
    answers: { 200: { description: "Without their secrets.", content: json("AdminKeyList") } },
    errors: ["NOT_FOUND"],
    route:
      ({ services }) =>
      async ({ params }): Promise<AdminKeyList> => ({
        // A user has 50 at most.
        data: [...(await services.listKeys(params["user_id"] ?? ""))],
        next_cursor: null,
      }),
  }),
  row({
    method: "POST",
    path: "/admin/users/{user_id}/keys",
    role: "operator",
    id: "addKey",
    tag: "Users",
    summary: "Makes a key of a user",
    params: { user_id: "`id` of the user." },
    body: "AdminKeyRequest",
    answers: { 200: { description: "The key; its secret is shown this once.", content: json("CreatedAdminKey") } },
    errors: ["NOT_FOUND"],
    route:
      ({ services }) =>
      async ({ params, body, note }): Promise<CreatedAdminKey> => {
        const key = await services.addKey(params["user_id"] ?? "", body);
        note({ details: { ...body, key_id: key.id } });
        return key;
      },
  }),
  row({
    method: "PATCH",
    path: "/admin/keys/{key_id}",
    role: "operator",
    id: "changeKey",
    tag: "Users",
    summary: "Changes a key",
    description: "What is absent stays, null takes a limit away; within a second on every instance.",
    params: { key_id: "`id` of the key." },
    body: "AdminKeyChangeRequest",
    answers: { 200: { description: "The key as it is now.", content: json("AdminKey") } },
    errors: ["NOT_FOUND"],
    route:
      ({ services }) =>
      async ({ params, body, note }): Promise<AdminKey> => {
        const key = await services.changeKey(params["key_id"] ?? "", body);
        // Named, so that the entry is found when the user is deleted.
        note({ details: { ...body, user_id: key.user_id } });
        return key;
      },
  }),
  row({
    method: "POST",
    path: "/admin/keys/{key_id}/roll",
    role: "operator",
    id: "rollKey",
    tag: "Users",
    summary: "Rolls a key",
    description:
      "Makes a key with a new id and the settings of this one, which serves until the grace is over. Both spend of one budget.",
    params: { key_id: "`id` of the key." },
    body: "AdminKeyRollRequest",
    bodyIs: "optional",
    answers: {
      200: { description: "The new key; its secret is shown this once.", content: json("RolledAdminKey") },
    },
    errors: ["NOT_FOUND"],
    route:
      ({ services }) =>
      async ({ params, body, note }): Promise<RolledAdminKey> => {
        const rolled = await services.rollKey(params["key_id"] ?? "", body);
        note({ details: { ...body, key_id: rolled.id, user_id: rolled.user_id } });
        return rolled;
      },
  }),
  row({
    method: "DELETE",
    path: "/admin/users/{user_id}/sessions",
    role: "operator",
    id: "endUserSessions",
    tag: "Users",
    summary: "Signs a user out everywhere",
    description:
      "Refresh tokens and access tokens issued before are void within a second, on every instance. API keys stay.",
    params: { user_id: "`id` of the user." },
    answers: { 200: { description: "All sessions have ended.", content: json("EndedSessions") } },
    errors: ["NOT_FOUND"],
    route:
      ({ services }) =>
      async ({ params }): Promise<EndedSessions> => {
        await services.endUserSessions(params["user_id"] ?? "");
        return { message: "All sessions ended" };
      },
  }),
  row({
    method: "DELETE",
    path: "/admin/keys/{key_id}",
    role: "operator",
    id: "revokeKey",
    tag: "Users",
    summary: "Revokes a key",
    params: { key_id: "`id` of the key." },
    answers: { 200: { description: "It works no more.", content: json("RevokedKey") } },
    errors: ["NOT_FOUND"],
    route:
      ({ services }) =>
      async ({ params }): Promise<RevokedKey> => {
        await services.revokeKey(params["key_id"] ?? "");
        return { message: "API key revoked" };
      },
  }),
];
