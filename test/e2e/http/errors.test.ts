import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Endpoint, ERRORS, type Json } from "../../../src/kit/index.ts";
import { OPERATIONS } from "../../../src/server/openapi/operations.ts";
import { openStore } from "../../../src/store/open.ts";
import { tier } from "../support/gateway-config.ts";
import { type Answer, eventually, shown } from "../support/http.ts";
import { type Books, TestGateway, type TestUser } from "../support/in-process.ts";
import { askKind, chains, ENDPOINTS, KIND_CHAINS, openKind, PLACES } from "../support/kinds.ts";
import { ERROR_CASES, type ErrorCase, type Shown, type Where } from "./error-cases.ts";

const IMPATIENT = { timeouts: { first_byte: "100ms" } };
const TOUCHY = { breaker: { consecutive: 1, minimum: 1, ratio: 1, window: "30s", open_for: "1h", max_open_for: "1h" } };
const UNKNOWN = `rk_${"0".repeat(64)}`;
const names = Object.values(PLACES).map(({ model }) => model.replace("route/", ""));
const upstreams = (suffix: string, settings: Json, count: number) =>
  names.flatMap((name) => Array.from({ length: count }, (_, index) => [`${name}${suffix}-${index + 1}`, settings]));

let well: TestGateway;
let away: TestGateway;
let strict: TestGateway;
let awayUser: TestUser & { readonly token: string };
/** Of the gateway that was stopped, by endpoint. */
const ended = new Map<Where, { readonly answer: Answer; readonly books: Pick<Books, "used" | "ledger" | "running"> }>();

beforeAll(async () => {
  well = await TestGateway.start({
    chains: {
      ...KIND_CHAINS,
      ...chains("-max", ["-"], { tier: "Max" }),
      ...chains("-throws", ["-"]),
      ...chains("-broken", ["?status=500", "?status=503"]),
      ...chains("-slow", ["?first_byte=1h", "?first_byte=1h"]),
      ...chains("-open", ["?status=500"]),
      ...chains("-picky", ["?status=400&message=it%20is%20too%20long", "-"]),
      "route/listen-live": { kind: "transcription", scripts: ["-"], realtime: true },
    },
    config: {
      server: { trusted_proxies: ["127.0.0.1"] },
      upstreams: Object.fromEntries([...upstreams("-slow", IMPATIENT, 2), ...upstreams("-open", TOUCHY, 1)]),
      auth: { oauth: { corp: { issuer: "http://127.0.0.1:1", client_id: "a", client_secret: "b" } } },
      tiers: {
        Limited: { access: ["Free"], limits: { day: 100, hour: 50, minute: 20, streams: 5 } },
        ...Object.fromEntries(
          ["Day", "Hour", "Minute", "Streams"].map((name) => [name, tier({ [name.toLowerCase()]: 0 })]),
        ),
      },
      pipeline: [
        "auth",
        "plan-check",
        "quota",
        "breaker",
        { use: "./throws.ts", when: { models: ["*-throws"] } },
        "stream-relay",
        "meter",
      ],
    },
    files: {
      "throws.ts": `export default {
        name: "throws", stage: "transform", schema: new URL("./throws.schema.json", import.meta.url),
        setup() { return { transform() { throw new Error("secret /etc/passwd of the plugin"); } }; },
      };`,
      "throws.schema.json": '{"type":"object","additionalProperties":false}',
    },
  });
  strict = await TestGateway.start({
    chains: KIND_CHAINS,
    config: { server: { ip_limit: { requests: 1, window: "1h" } } },
  });
  await strict.get("/v1/models");
  away = await TestGateway.start({ chains: KIND_CHAINS });
  const user = await away.user();
  awayUser = { ...user, token: await away.token(user) };
  await away.store.close();
  await endAll();
});
afterAll(() => Promise.all([well.close(), strict.close(), away.stop()]));

/** Stops a gateway while it waits for the upstreams of one request to each endpoint. */
async function endAll(): Promise<void> {
  const ending = await TestGateway.start({ chains: { ...KIND_CHAINS, ...chains("-mute", ["?first_byte=1h"]) } });
  const user = await ending.user();
  const calls = ENDPOINTS.map((endpoint) => {
    return [endpoint, openKind(ending, user, endpoint, { model: `${PLACES[endpoint].model}-mute` })] as const;
  });
  await eventually(() => ending.simulator.ledger().length === calls.length);
  await ending.gateway.close();
  const store = await openStore(`sqlite:${join(dirname(ending.file), "gateway.db")}`, {
    serving: false,
    now: ending.clock.now,
  });
  const { day, hour, minute } = await store.windows(user.id, { day: null, hour: null, minute: null, streams: null });
  const used = { day: day.used, hour: hour.used, minute: minute.used };
  const books = { used, ledger: await store.ledger(user.id), running: await store.running(user.id) };
  for (const [endpoint, call] of calls) ended.set(endpoint, { answer: await call.whole(), books });
  await store.close();
  await ending.stop();
}

const ROWS = ERROR_CASES.flatMap((row) =>
  row.on.map((where) => ({ ...row, where, name: `${row.answer[0]} ${row.code}, ${row.when}: ${where}` })),
);

/** What needs an identity provider that is well, or a user that goes while his request is read. */
const ELSEWHERE = [
  "POST /v1/user/key NOT_FOUND",
  "GET /auth/oauth/{provider} STORE_UNAVAILABLE",
  "GET /auth/oauth/{provider}/callback STORE_UNAVAILABLE",
];

describe("no error is missing", () => {
  test("every row of ERRORS is met", () => {
    expect(new Set(ERROR_CASES.map(({ code }) => code))).toEqual(new Set(Object.keys(ERRORS)));
  });

  test("every error that an operation is said to have is met on it", () => {
    const missing = OPERATIONS.flatMap(({ method, path, errors }) => {
      const pattern = new RegExp(`^${method} ${path.replace("{model_id}", ".+").replaceAll(/\{\w+\}/g, "[^/]+")}$`);
      const met = new Set(ROWS.filter(({ where }) => pattern.test(operationOf(where))).map(({ code }) => code));
      return errors.filter((code) => !met.has(code)).map((code) => `${method} ${path} ${code}`);
    });
    expect(missing).toEqual(ELSEWHERE);
  });
});

describe("every error of the API", () => {
  test.each(ROWS.map((row) => [row.name, row] as const))("%s", async (_, row) => {
    if (row.at === "ending") return expectEnded(row);
    const gateway = { away, strict }[row.at ?? ""] ?? well;
    const user =
      gateway === away
        ? awayUser
        : await gateway.user({ tier: row.tier ?? (gateway === strict ? "Max" : "Limited"), credits: row.credits });
    const ask = await requestOf(gateway, user, row);
    for (let count = 0; count < (row.before ?? 0); count += 1) await ask();
    const books = gateway === away ? null : await gateway.books(user);
    // Timeouts need a running clock; seconds are exact on one that stands still.
    if (row.answer[0] < 500) gateway.clock.stop();
    const answer = await ask();
    const wait = expectRetryAfter(gateway, row, answer);
    gateway.clock.start();
    expect(shown(answer)).toEqual(expectedAnswer(row, wait));
    expectHeaders(row, answer, wait);
    if (books) expect(withoutFault(await gateway.books(user))).toEqual(books);
  });
});

/** The request of a case; headers of its own replace those of the user. */
async function requestOf(
  gateway: TestGateway,
  user: TestUser,
  row: ErrorCase & { where: Where },
): Promise<() => Promise<Answer>> {
  const token = gateway === away ? awayUser.token : await gateway.token(user);
  const filled = Object.entries(row.headers ?? { authorization: "Bearer <key>" }).map(([name, value]) => {
    return [name, value.replace("<key>", user.key).replace("<token>", token).replace("<unknown>", UNKNOWN)];
  });
  const headers = { "x-request-id": "req-1", ...(Object.fromEntries(filled) as Record<string, string>) };
  const { where, changes, suffix = "" } = row;
  if (isEndpoint(where)) {
    const nobody = { authorization: [] };
    const sent = row.at === "away" ? {} : row.sent;
    const model = PLACES[where].model + suffix;
    return () =>
      askKind(
        gateway,
        user,
        where,
        { model, ...changes },
        { ...sent, headers: { ...nobody, ...headers, ...sent?.headers } },
      );
  }
  const [method, path] = where.split(" ") as [string, string];
  const { headers: own, ...rest } = row.sent ?? {};
  return () => gateway.send(path, { method, headers: { ...headers, ...own }, ...(method === "POST" && rest) });
}

/** Method and path, without a query. */
function operationOf(where: Where): string {
  return isEndpoint(where) ? `POST ${PLACES[where].path}` : where.replace(/\?.*/, "");
}

function isEndpoint(where: Where): where is Endpoint {
  return where in PLACES;
}

/** @returns the seconds to wait; null when the client is not told to. */
function expectRetryAfter(
  { clock }: TestGateway,
  { retryAfter, answer: [status] }: ErrorCase,
  { headers }: Answer,
): number | null {
  const told = headers["retry-after"];
  if (retryAfter === undefined) {
    expect([told, status === 429 || status === 503]).toEqual([undefined, false]);
    return null;
  }
  expect(told).toMatch(/^[1-9]\d*$/);
  const seconds = Number(told);
  if (typeof retryAfter === "object") {
    expect(seconds).toBeGreaterThanOrEqual(retryAfter[0]);
    expect(seconds).toBeLessThanOrEqual(retryAfter[1]);
  } else expect(seconds).toBe(typeof retryAfter === "number" ? retryAfter : clock.secondsLeft(retryAfter));
  return seconds;
}

function expectedAnswer(
  { answer: [status, code, type, body], where }: ErrorCase & { where: Where },
  wait: number | null,
): Shown {
  const model = isEndpoint(where) ? PLACES[where].model : "";
  return [status, code, type, body.replace("<model>", model).replace('"retry_after":0', `"retry_after":${wait}`)];
}

/** Of a user of the tier Limited whose request was refused or given back. */
const UNTOUCHED = { day: ["100", "100"], hour: ["50", "50"], minute: ["20", "20"] } as const;

function expectHeaders(row: ErrorCase & { where: Where }, { headers, text }: Answer, wait: number | null): void {
  expect([headers["x-request-id"], headers["content-length"]]).toEqual(["req-1", String(Buffer.byteLength(text))]);
  expect(headers["x-should-retry"]).toBe(row.final && "false");
  expect(headers["allow"] !== undefined).toBe(row.answer[0] === 405);
  const limits = Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("x-ratelimit")));
  const seconds = String(wait);
  if (row.address) {
    return expect(limits).toEqual({
      "x-ratelimit-limit": "1",
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": seconds,
    });
  }
  const known = isEndpoint(row.where) && row.answer[0] !== 401 && row.at === undefined;
  if (!known) return expect(limits).toEqual({});
  if (typeof row.retryAfter === "string") {
    const left = { [`x-ratelimit-remaining-${row.retryAfter}`]: "0", [`x-ratelimit-reset-${row.retryAfter}`]: seconds };
    return expect(limits).toMatchObject({ [`x-ratelimit-limit-${row.retryAfter}`]: "0", ...left });
  }
  if (row.tier !== undefined) return;
  // What the upstream refuses as the client's fault counts (decisions 4.4).
  const one = row.suffix === "-picky" ? 1 : 0;
  const units = ["speech", "transcription", "image"].includes(row.where) ? 5 * one : one;
  for (const [window, [limit, left]] of Object.entries(UNTOUCHED)) {
    expect([limits[`x-ratelimit-limit-${window}`], limits[`x-ratelimit-remaining-${window}`]]).toEqual([
      limit,
      String(Number(left) - (window === "day" ? units : one)),
    ]);
  }
}

/** The books without the request that the upstream refused: it counts, and costs nothing. */
function withoutFault(books: Books): Books {
  const [entry, ...more] = books.ledger;
  if (entry?.outcome !== "client_fault") return books;
  expect([entry.charge, more]).toEqual([0n, []]);
  return { ...books, used: { day: 0, hour: 0, minute: 0 }, ledger: [] };
}

function expectEnded(row: ErrorCase & { where: Where }): void {
  const { answer, books } = ended.get(row.where)!;
  expect(shown(answer)).toEqual(row.answer);
  expect(answer.headers).toMatchObject({ "retry-after": "1", connection: "close" });
  expect(books).toEqual({
    used: { day: 0, hour: 0, minute: 0 },
    ledger: [],
    running: { requests: 0, streams: 0, held: 0n },
  });
}
