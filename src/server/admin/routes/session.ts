import { HTTPResponse } from "h3";
import type { AdminSession } from "../../../../schemas/types.gen.ts";
import { json } from "../../endpoint.ts";
import { textResponse } from "../../router.ts";
import { type AdminCaller, type AdminEndpoint, row } from "../endpoint.ts";

/** Sign-in of the pages: a token for a cookie that no script can read. */
export const SESSION: readonly AdminEndpoint[] = [
  row({
    method: "POST",
    path: "/admin/session",
    role: "none",
    id: "beginSession",
    tag: "Session",
    summary: "Sign in",
    description:
      "The cookie is good for 12 hours, until it is signed out, or until its token is changed. Calls by it that change something have to come from a page of this listener.",
    body: "AdminSessionRequest",
    answers: { 200: { description: "Who has signed in.", content: json("AdminSession"), headers: ["Set-Cookie"] } },
    errors: ["INVALID_TOKEN", "TOO_MANY_REQUESTS", "FORBIDDEN", "UNKNOWN_PATH"],
    route:
      ({ sessions }) =>
      async ({ body, req }) => {
        const { caller, cookie } = await sessions.begin(req, body.token);
        return textResponse(200, "application/json", JSON.stringify(shown(caller)), { "Set-Cookie": cookie });
      },
  }),
  row({
    method: "GET",
    path: "/admin/session",
    role: "viewer",
    id: "getSession",
    tag: "Session",
    summary: "Who calls",
    answers: { 200: { description: "The token's name and role.", content: json("AdminSession") } },
    errors: [],
    route:
      () =>
      ({ caller }) =>
        caller && shown(caller),
  }),
  row({
    method: "DELETE",
    path: "/admin/session",
    role: "none",
    id: "endSession",
    tag: "Session",
    summary: "Sign out",
    description: "Ends the session on every instance: its cookie is good for nothing from then on.",
    answers: { 204: { description: "The cookie is gone, if there was one.", headers: ["Set-Cookie"] } },
    errors: ["FORBIDDEN", "UNKNOWN_PATH"],
    route:
      ({ sessions }) =>
      async ({ req }) =>
        new HTTPResponse(null, { status: 204, headers: { "Set-Cookie": await sessions.end(req) } }),
  }),
];

function shown({ name, role, expiresAt }: AdminCaller): AdminSession {
  return { name, role, expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString() };
}
