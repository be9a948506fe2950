import type { LedgerQuery as Parameters, UsageQuery as UsageParameters } from "../../../schemas/types.gen.ts";
import { escapeSegment, invalidRequest, type Json } from "../../kit/index.ts";
import { callerOf } from "../credentials.ts";
import { CALLER_ERRORS, json, type Parameter, type RouteEndpoint } from "../endpoint.ts";
import { ledgerQueryOf, shownLedger, shownUsage, usageQueryOf } from "../ledger-view.ts";
import { jsonResponse } from "../router.ts";

const TIME = "^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2}))?$";
const OUTCOMES = [
  "served",
  "refused",
  "failed",
  "client_fault",
  "upstream_cut",
  "gateway_error",
  "client_gone",
  "killed",
  "shutdown",
] as const;
/** Of what says nothing else: a tag's name and value have no more, and a cursor has fewer. */
const MAX_CHARACTERS = 600;
const NAME: Json = { type: "string", minLength: 1, maxLength: 256 };
const MAX_ENTRY_COUNT = 1_000;

function parameter(name: string, description: string, schema: Json): Parameter {
  return { name, in: "query", description, schema };
}

const PAGE = [
  parameter("limit", "Entries of a page; 50 when absent.", { type: "integer", minimum: 1, maximum: MAX_ENTRY_COUNT }),
  parameter("cursor", "From next_cursor of the page before, with the same filter.", { type: "string" }),
];
const FILTER = [
  parameter("key", "Id of an API key.", NAME),
  parameter("model", "Route id of a model.", NAME),
  parameter("upstream", "Name of a provider.", NAME),
];
const LEDGER_PARAMETERS = [
  ...FILTER,
  parameter("outcome", "How requests ended.", { type: "string", enum: OUTCOMES }),
  parameter("tag", "`name:value` of a tag.", { type: "string", pattern: "^[^:]+:" }),
  parameter("request_id", "Of one request.", NAME),
  parameter("from", "Recorded at this time or later; of a date, at its beginning in UTC.", {
    type: "string",
    pattern: TIME,
  }),
  parameter("to", "Recorded before.", { type: "string", pattern: TIME }),
  ...PAGE,
];
const USAGE_PARAMETERS = [
  parameter("per", "`day` when absent.", { type: "string", enum: ["hour", "day"] }),
  parameter("by", "What has a row of its own, with commas: model, upstream, tier, key.", {
    type: "string",
    pattern: "^(model|upstream|tier|key)(,(model|upstream|tier|key))*$",
  }),
  parameter("from", "Of hours or days that begin then or later; 30 days ago when absent.", {
    type: "string",
    pattern: TIME,
  }),
  parameter("to", "Of those that begin before; now when absent.", { type: "string", pattern: TIME }),
  ...FILTER,
  ...PAGE,
];

/** A user's own part of the ledger. */
export const OWN_LEDGER: readonly RouteEndpoint[] = [
  {
    method: "GET",
    path: "/v1/user/ledger",
    credentials: "API key or access token",
    id: "listLedger",
    tag: "Usage",
    summary: "What the user's requests used and cost",
    description:
      "The last recorded first. A call looks at 5,000 entries at most: a page may be short or empty, though `next_cursor` leads to another.",
    parameters: LEDGER_PARAMETERS,
    answers: { 200: { description: "A page of the user's ledger.", content: json("UserLedger") } },
    errors: [...CALLER_ERRORS, "INVALID_REQUEST"],
    secret: true,
    route:
      ({ identities, store }) =>
      async (event, context) => {
        const { userId } = await callerOf(context, identities, "usage");
        const parameters = readParameters(LEDGER_PARAMETERS, event.url.searchParams) as Parameters;
        const page = shownLedger(await store.ledgerPage({ ...ledgerQueryOf(parameters), userId }));
        return jsonResponse(200, { ...page, data: page.data.map(withoutUser) });
      },
  },
  {
    method: "GET",
    path: "/v1/user/usage",
    credentials: "API key or access token",
    id: "listUsage",
    tag: "Usage",
    summary: "What the user's requests add up to",
    description: "By hour or day of recording, and by what is asked for, the latest day first.",
    parameters: USAGE_PARAMETERS,
    answers: { 200: { description: "A page of the user's usage.", content: json("UserUsage") } },
    errors: [...CALLER_ERRORS, "INVALID_REQUEST"],
    secret: true,
    route:
      ({ identities, store, now }) =>
      async (event, context) => {
        const { userId } = await callerOf(context, identities, "usage");
        const parameters = readParameters(USAGE_PARAMETERS, event.url.searchParams) as UsageParameters;
        const page = shownUsage(await store.usage({ ...usageQueryOf(parameters, now()), userId }));
        return jsonResponse(200, { ...page, data: page.data.map(withoutUser) });
      },
  },
];

/** Every entry is the caller's own. */
function withoutUser(entry: object): object {
  return { ...entry, user_id: undefined };
}

/** What a call asks for, by the schemas that describe it. @throws GatewayError 400 */
function readParameters(known: readonly Parameter[], search: URLSearchParams): unknown {
  const values: Record<string, string | number> = {};
  for (const [name, text] of search) {
    const pointer = `/${escapeSegment(name.slice(0, 64))}`;
    const schema = known.find((one) => one.name === name)?.schema;
    if (schema === undefined) throw invalidRequest(pointer, "is no parameter of this path");
    if (Object.hasOwn(values, name)) throw invalidRequest(pointer, "stands twice");
    values[name] = schema["type"] === "integer" ? limitIn(pointer, text) : textIn(pointer, text, schema);
  }
  return values;
}

function limitIn(pointer: string, text: string): number {
  const limit = Number(text);
  if (/^\d+$/.test(text) && limit >= 1 && limit <= MAX_ENTRY_COUNT) return limit;
  throw invalidRequest(pointer, `must be a whole number from 1 to ${MAX_ENTRY_COUNT}`);
}

function textIn(pointer: string, text: string, schema: Json): string {
  const {
    enum: choices,
    pattern,
    maxLength = MAX_CHARACTERS,
  } = schema as { readonly enum?: readonly string[]; readonly pattern?: string; readonly maxLength?: number };
  if (text === "" || text.length > maxLength) {
    throw invalidRequest(pointer, `must have 1 to ${maxLength} characters`);
  }
  if (choices && !choices.includes(text)) throw invalidRequest(pointer, `must be one of ${choices.join(", ")}`);
  if (pattern !== undefined && !new RegExp(pattern).test(text)) throw invalidRequest(pointer, `must match ${pattern}`);
  return text;
}
