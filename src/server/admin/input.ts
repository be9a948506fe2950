import type { H3Event } from "h3";
import { parameters, validators } from "../../../schemas/admin.gen.js";
import { escapeSegment, invalidRequest, type Json } from "../../kit/index.ts";
import { problemOf } from "../body-schemas.ts";
import { readAnyObject, readObject, readOptionalObject } from "../request-body.ts";
import type { RouteContext } from "../router.ts";
import type { AdminEndpoint, BodyTitle, QueryTitle } from "./endpoint.ts";

/** Of a name that is not known, in the answer that says so. */
const MAX_SHOWN_CHARACTERS = 64;

interface Input {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Json;
  readonly body: Json;
}

/** What a call brings, checked against the schemas of its row. @throws GatewayError 400, 413, 415 */
export async function readInput(endpoint: AdminEndpoint, event: H3Event, context: RouteContext): Promise<Input> {
  const params = readParams(event);
  const query = endpoint.anyHost ? {} : readQuery(endpoint.query, event.url.searchParams);
  return { params, query, body: await readBody(endpoint, context) };
}

function readParams(event: H3Event): Record<string, string> {
  try {
    return Object.fromEntries(
      Object.entries(event.context.params ?? {}).map(([name, text]) => [name, decodeURIComponent(text)]),
    );
  } catch {
    throw invalidRequest("/", "must have a well-formed path");
  }
}

/** The parameters as their schema has them: numbers as numbers, and one that may stand several times as a list. */
function readQuery(title: QueryTitle | undefined, search: URLSearchParams): Json {
  const types = title === undefined ? {} : parameters[title];
  const values: Record<string, unknown> = {};
  for (const [name, text] of search) {
    const type = Object.hasOwn(types, name) ? types[name] : undefined;
    const pointer = `/${escapeSegment(name.slice(0, MAX_SHOWN_CHARACTERS))}`;
    if (type === undefined) throw invalidRequest(pointer, "is no parameter of this path");
    const before = values[name];
    if (type === "array") values[name] = Array.isArray(before) ? [...(before as unknown[]), text] : [text];
    else if (before !== undefined) throw invalidRequest(pointer, "stands twice");
    else values[name] = typed(text, type);
  }
  if (title !== undefined) check(title, values);
  return values;
}

/** A text that is none of its type stays a text: the schema refuses it. */
function typed(text: string, type: string): unknown {
  if (type === "integer" && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  return text;
}

async function readBody({ body, bodyIs }: AdminEndpoint, { req }: RouteContext): Promise<Json> {
  if (body === undefined) return {};
  const read = bodyIs === undefined ? readObject : bodyIs === "optional" ? readOptionalObject : readAnyObject;
  const value = await read(req);
  check(body, value);
  return value;
}

/** @throws GatewayError 400 */
function check(title: QueryTitle | BodyTitle, value: Json): void {
  const validate = validators[title];
  if (validate(value)) return;
  const { pointer, what } = problemOf(validate.errors ?? []);
  throw invalidRequest(pointer, what);
}

/** Entries of a page that nobody has said the size of. */
export const ENTRIES_PER_PAGE = 50;

/** A page of what was asked for with one entry more than it holds: that one tells whether there is another page. */
export function pageOf<Entry>(
  found: readonly Entry[],
  limit: number,
  cursorAfter: (last: Entry) => string,
): { data: Entry[]; next_cursor: string | null } {
  const data = found.slice(0, limit);
  const last = data.at(-1);
  return { data, next_cursor: found.length > limit && last !== undefined ? encodeCursor(cursorAfter(last)) : null };
}

/** Clients are to give a cursor back, not to make one: it does not look like what it is. */
export function encodeCursor(text: string): string {
  return Buffer.from(text).toString("base64url");
}

/** @param form of what `encodeCursor` was given. @returns null without one. @throws GatewayError 400 */
export function decodeCursor(cursor: string | undefined, form: RegExp): string | null {
  if (cursor === undefined) return null;
  const text = Buffer.from(cursor, "base64url").toString();
  if (form.test(text) && encodeCursor(text) === cursor) return text;
  throw invalidRequest("/cursor", "is none that a page has given");
}

/** Of a list whose ids are in its order. @throws GatewayError 400 */
export function idCursor(cursor: string | undefined): string | null {
  return decodeCursor(cursor, /^[\w-]{1,64}$/);
}
