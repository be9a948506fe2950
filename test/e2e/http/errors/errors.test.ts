import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Endpoint, ERRORS, isJson, type Json } from "../../../../src/kit/index.ts";
import { ENDPOINTS } from "../../../../src/server/endpoints.ts";
import { ALL_ENDPOINTS, openAt, placeOf } from "../../support/formats.ts";
import { type Answer, shown } from "../../support/http.ts";
import type { Books, TestGateway, TestUser } from "../../support/in-process.ts";
import { MEDIA } from "../../support/kinds.ts";
import { OF_CALLERS } from "./callers.ts";
import { COUNT, type ErrorCase, JSON_TYPE, type Shown, VERSION, type Where } from "./case.ts";
import { OF_FAILURES } from "./failures.ts";
import { OF_REQUESTS } from "./requests.ts";
import { type Stage, startStage } from "./stage.ts";

const UNKNOWN = `rk_${"0".repeat(64)}`;
const ERROR_CASES = [...OF_REQUESTS, ...OF_CALLERS, ...OF_FAILURES];

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => Promise.all([stage.well.close(), stage.strict.close(), stage.full.stop(), stage.away.stop()]));

/** A case on one endpoint. */
interface Row extends ErrorCase {
  readonly where: Where;
  readonly name: string;
  /** The request says that it reads errors in the Messages format. */
  readonly versioned: boolean;
  /** It says that it reads them as JSON: by its `Accept`, or by being an SDK. */
  readonly asks?: "json" | "sdk";
}

const ASKING = { json: { accept: "application/json" }, sdk: { "x-stainless-lang": "js" } };

const ROWS: readonly Row[] = ERROR_CASES.flatMap((row) =>
  row.on.flatMap((where): Row[] => {
    const name = `${row.answer[0]} ${row.code}, ${row.when}: ${where}`;
    const plain = { ...row, where, name, versioned: false };
    const asking = (["json", "sdk"] as const).map((asks) => ({ ...plain, name: `${name}, to ${asks}`, asks }));
    // An answer is told by its endpoint where the stage was stopped: there it is asked for in one way.
    const all = row.at === "ending" ? [plain] : [plain, ...asking];
    if (where !== "messages" && where !== COUNT) return all;
    return [...all, { ...plain, name: `${name}, versioned`, versioned: true }];
  }),
);

/** What needs an identity provider that is well, a user that goes while his request is read, or counts that take long. */
const ELSEWHERE = [
  "POST /v1/messages/count_tokens RATE_LIMIT_ERROR",
  "POST /v1/messages/count_tokens OVERLOADED",
  "POST /v1/user/key NOT_FOUND",
  "GET /auth/oauth/{provider} STORE_UNAVAILABLE",
  "GET /auth/oauth/{provider}/callback SIGN_UP_CLOSED",
  "GET /auth/oauth/{provider}/callback STORE_UNAVAILABLE",
];

describe("no error is missing", () => {
  test("every row of ERRORS is met, but that of the admin listener, and one that needs an identity provider", () => {
    expect(new Set([...ERROR_CASES.map(({ code }) => code), "FORBIDDEN", "SIGN_UP_CLOSED"])).toEqual(
      new Set(Object.keys(ERRORS)),
    );
  });

  test("every error that an operation is said to have is met on it", () => {
    const missing = ENDPOINTS.flatMap(({ method, path, errors }) => {
      // The same operation at the address that Cohere's client asks.
      const own = path.replace("/v2/rerank", "/v1/rerank");
      const pattern = new RegExp(`^${method} ${own.replace("{model_id}", ".+").replaceAll(/\{\w+\}/g, "[^/]+")}$`);
      const met = new Set(ROWS.filter(({ where }) => pattern.test(operationOf(where))).map(({ code }) => code));
      return errors.filter((code) => !met.has(code)).map((code) => `${method} ${path} ${code}`);
    });
    expect(missing).toEqual(ELSEWHERE);
  });
});

describe("every error of the API", () => {
  test.each(ROWS.filter(({ at }) => at !== "ending").map((row) => [row.name, row] as const))("%s", async (_, row) => {
    const gateway = { ...stage, ending: stage.well }[row.at ?? "well"];
    const tier = row.tier ?? (row.at === "strict" || row.at === "full" ? "Max" : "Limited");
    const user = row.at === "away" ? stage.awayUser : await gateway.user({ tier, credits: row.credits });
    if (row.limits !== undefined) {
      const [key] = await gateway.store.listKeys(user.id);
      await gateway.store.changeKey(key!.id, { limits: row.limits });
    }
    const ask = await requestOf(gateway, user, row);
    for (let count = 0; count < (row.before ?? 0); count += 1) await ask();
    if (row.earlier !== undefined) await (await requestOf(gateway, user, { ...row, changes: row.earlier }))();
    const books = await booksOf(gateway, user);
    // Timeouts need a running clock; seconds are exact on one that stands still.
    if (row.answer[0] < 500) gateway.clock.stop();
    const answer = await ask();
    const wait = waitOf(gateway, row, answer);
    gateway.clock.start();
    expect(shown(answer)).toEqual(expectedAnswer(row, wait));
    expect(headersOf(answer)).toEqual(expectedHeaders(row, answer, wait));
    const limits = expectedLimits(row, wait);
    expect(limitsOf(answer, limits)).toEqual(limits);
    expect(await booksOf(gateway, user)).toEqual(books);
  });

  test.each(ROWS.filter(({ at }) => at === "ending").map((row) => [row.name, row] as const))("%s", (_, row) => {
    const { answer, books } = stage.ended.get(row.versioned ? "messages, versioned" : row.where)!;
    expect(shown(answer)).toEqual(expectedAnswer(row, "1", String(answer.headers["x-request-id"])));
    expect(answer.headers).toMatchObject({ "retry-after": "1", connection: "close" });
    const running = { requests: 0, streams: 0, held: 0n };
    expect(books).toEqual({ used: { day: 0, hour: 0, minute: 0 }, ledger: [], running });
  });
});

/** Null where the store is away. What the upstream refused as the client's fault counts, costs nothing, and is left out. */
async function booksOf(gateway: TestGateway, user: TestUser): Promise<Books | null> {
  if (gateway === stage.away) return null;
  const books = await gateway.books(user);
  const faults = books.ledger.filter(({ outcome, charge }) => outcome === "client_fault" && charge === 0n);
  return faults.length === 0 ? books : { ...books, used: { day: 0, hour: 0, minute: 0 }, ledger: [] };
}

/** The request of a case; headers of its own replace those of the user. */
async function requestOf(gateway: TestGateway, user: TestUser, row: Row): Promise<() => Promise<Answer>> {
  const { where, changes, suffix = "" } = row;
  const token = row.at === "away" ? stage.awayUser.token : await gateway.token(user);
  const filled = Object.entries(row.headers ?? { authorization: "Bearer <key>" }).map(([name, value]) => {
    return [name, value.replace("<key>", user.key).replace("<token>", token).replace("<unknown>", UNKNOWN)];
  });
  const headers = {
    "x-request-id": "req-1",
    ...(row.versioned && VERSION),
    ...(row.asks !== undefined && ASKING[row.asks]),
    ...(where === COUNT && row.sent?.body !== undefined && { "content-type": JSON_TYPE }),
    ...(Object.fromEntries(filled) as Record<string, string>),
  };
  if (isEndpoint(where)) {
    const nobody = { authorization: [] };
    const sent = row.at === "away" ? {} : row.sent;
    const model = placeOf(where).model + suffix;
    const all = { ...sent, headers: { ...nobody, ...headers, ...sent?.headers } };
    return () => openAt(gateway, user, where, { model, ...changes }, all).whole();
  }
  const [method, path] = where.split(" ") as [string, string];
  const { headers: own, ...rest } = row.sent ?? {};
  return () =>
    gateway.send(path, {
      method,
      headers: { ...headers, ...own },
      ...(method !== "GET" && method !== "DELETE" && rest),
    });
}

/** Method and path, without a query. */
function operationOf(where: Where): string {
  return isEndpoint(where) ? `POST ${placeOf(where).path}` : where.replace(/\?.*/, "");
}

function isEndpoint(where: Where): where is Endpoint {
  return (ALL_ENDPOINTS as readonly Where[]).includes(where);
}

/** What `Retry-After` must be; of a range, what it is when that lies within. */
function waitOf({ clock }: TestGateway, { retryAfter }: ErrorCase, { headers }: Answer): string | undefined {
  if (typeof retryAfter === "string") return String(clock.secondsLeft(retryAfter));
  if (typeof retryAfter !== "object") return retryAfter?.toString();
  const told = headers["retry-after"] ?? "nothing";
  const [least, most] = retryAfter;
  const within = /^\d+$/.test(told) && Number(told) >= least && Number(told) <= most;
  return within ? told : `${least} to ${most}, not ${told}`;
}

function expectedAnswer(row: Row, wait: string | undefined, requestId = "req-1"): Shown {
  const { where, versioned } = row;
  const [status, code, type, written] = row.answer;
  const model = isEndpoint(where) ? placeOf(where).model : "";
  const body = written.replace("<model>", model).replace('"retry_after":0', `"retry_after":${wait}`);
  if (row.asks !== undefined) return [status, code, JSON_TYPE, expectedJson(row, body)];
  if (!versioned) return [status, code, type, body];
  const message = type === JSON_TYPE ? (JSON.parse(body) as { message: string }).message : body;
  const error = { type: MESSAGES_TYPES[status], message };
  return [status, code, JSON_TYPE, JSON.stringify({ type: "error", error, request_id: requestId })];
}

/** A refusal that is JSON by the specification stays so, and says the same in `error` to SDKs alone. */
function expectedJson({ code, asks, answer: [status, , type] }: Row, body: string): string {
  const own = type === JSON_TYPE ? (JSON.parse(body) as Json) : {};
  const isOwn = typeof own["message"] === "string";
  const failure = isJson(own["error"]) ? own["error"] : null;
  if (type === JSON_TYPE && failure === null && !(isOwn && asks === "sdk")) return body;
  const message = failure?.["message"] ?? (isOwn ? own["message"] : body);
  const pointer = /^Invalid request: (\/\S+) /.exec(String(message))?.[1];
  const error = {
    message,
    type: failure?.["type"] ?? JSON_TYPES[status],
    code: code === "INTERNAL" ? null : code.toLowerCase(),
    param:
      pointer
        ?.slice(1)
        .replaceAll("/", ".")
        .replaceAll(/\.(\d+)(?=\.|$)/g, "[$1]") ?? null,
  };
  return JSON.stringify({ ...(failure === null && own), error });
}

const JSON_TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  405: "invalid_request_error",
  409: "invalid_request_error",
  413: "invalid_request_error",
  415: "invalid_request_error",
  422: "invalid_request_error",
  426: "invalid_request_error",
  429: "rate_limit_error",
  500: "api_error",
  502: "api_error",
  503: "overloaded_error",
  504: "timeout_error",
};

const MESSAGES_TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  409: "invalid_request_error",
  413: "request_too_large",
  415: "invalid_request_error",
  422: "invalid_request_error",
  429: "rate_limit_error",
  500: "api_error",
  502: "api_error",
  503: "overloaded_error",
  504: "timeout_error",
};

const MAY_PASS: ReadonlySet<number> = new Set([429, 502, 503, 504]);

const headersOf = ({ headers }: Answer) =>
  ["x-request-id", "content-length", "retry-after", "x-should-retry", "allow"].map((name) => [name, headers[name]]);

function expectedHeaders({ final, answer: [status] }: ErrorCase, { headers, text }: Answer, wait: string | undefined) {
  return [
    ["x-request-id", "req-1"],
    ["content-length", String(Buffer.byteLength(text))],
    ["retry-after", MAY_PASS.has(status) && !final ? (wait ?? "missing in the table") : undefined],
    ["x-should-retry", final && "false"],
    ["allow", status === 405 ? (headers["allow"] ?? "some") : undefined],
  ];
}

/** Those that are looked for; all of them where none must be. */
function limitsOf({ headers }: Answer, wanted: Json): Json {
  const names = Object.keys(headers).filter((name) => name.startsWith("x-ratelimit"));
  const looked = Object.keys(wanted).length === 0 ? names : Object.keys(wanted);
  return Object.fromEntries(looked.map((name) => [name, headers[name]]));
}

function expectedLimits(row: Row, wait: string | undefined): Json {
  if (row.address) return { "x-ratelimit-limit": "1", "x-ratelimit-remaining": "0", "x-ratelimit-reset": wait };
  const known = isEndpoint(row.where) && row.answer[0] !== 401 && row.code !== "KEY_RESTRICTED" && row.at === undefined;
  if (!known) return {};
  if (typeof row.retryAfter === "string") {
    const name = row.retryAfter;
    const full = { limit: "0", remaining: "0", reset: wait };
    return Object.fromEntries(Object.entries(full).map(([what, value]) => [`x-ratelimit-${what}-${name}`, value]));
  }
  // These plans have no limits but the one, or none at all.
  if (row.tier !== undefined) return {};
  // What the upstream refuses as the client's fault counts.
  const one = row.suffix === "-picky" ? 1 : 0;
  const units = (MEDIA as readonly Where[]).includes(row.where) ? 5 * one : one;
  return {
    "x-ratelimit-limit-day": "100",
    "x-ratelimit-remaining-day": String(100 - units),
    "x-ratelimit-limit-hour": "50",
    "x-ratelimit-remaining-hour": String(50 - one),
    "x-ratelimit-limit-minute": "20",
    "x-ratelimit-remaining-minute": String(20 - one),
  };
}
