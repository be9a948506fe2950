import { expect, test } from "vitest";
import { Secret } from "../../src/kit/index.ts";
import { createLog, logged, type LogOptions, prettyLines, withConfig } from "../../src/telemetry/log.ts";

const KEY = `rk_${"0123456789abcdef".repeat(4)}`;

function logTo(options: Partial<LogOptions> = {}) {
  const lines: string[] = [];
  const log = createLog({
    level: "info",
    pretty: false,
    destination: { write: (line) => lines.push(line) },
    ...options,
  });
  return { log, lines };
}

test("one JSON object a line, with time, level, message and fields", () => {
  const { log, lines } = logTo();
  log.info({ request_id: "r1", cost: "0.1", none: undefined }, "request");
  expect(lines).toHaveLength(1);
  expect(lines[0]!.endsWith("\n")).toBe(true);
  expect(JSON.parse(lines[0]!)).toEqual({
    level: 30,
    time: expect.any(Number),
    request_id: "r1",
    cost: "0.1",
    msg: "request",
  });
});

test("levels below the chosen one are not written, and say so", () => {
  const { log, lines } = logTo({ level: "warn" });
  log.debug({}, "a");
  log.info({}, "b");
  log.warn({}, "c");
  log.error({}, "d");
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual(["c", "d"]);
  expect([log.enabled("debug"), log.enabled("info"), log.enabled("warn"), log.enabled("error")]).toEqual([
    false,
    false,
    true,
    true,
  ]);
  expect(logTo({ level: "silent" }).log.enabled("error")).toBe(false);
});

test("errors are written with message, stack and cause", () => {
  const { log, lines } = logTo();
  log.error({ err: new Error("outer", { cause: new TypeError("inner") }) }, "failed");
  const { err } = JSON.parse(lines[0]!);
  expect(err.message).toContain("outer");
  expect(err.stack).toContain("log.test.ts");
  expect(JSON.stringify(err)).toContain("inner");
});

const JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl";
const LEAKS: readonly (readonly [string, object, string])[] = [
  ["a key in a message", {}, `refused ${KEY}`],
  ["a key in a field", { value: KEY }, "x"],
  ["a key in upper case", { value: KEY.toUpperCase() }, "x"],
  ["a key in mixed case", { value: `Rk_${KEY.slice(3)}` }, "x"],
  ["a key inside a longer text", { value: `Bearer ${KEY},` }, "x"],
  ["a key in an error", { err: new Error(`bad ${KEY}`, { cause: new Error(KEY) }) }, "x"],
  ["a key deep down", { a: { b: { c: { d: [KEY] } } } }, "x"],
  ["a key as a field's name", { [KEY]: 1 }, "x"],
  ["an access token", { value: JWT }, "x"],
  ["a refresh token", { value: `rt_${"opaque-secret".padEnd(43, "x")}` }, "x"],
  ["a provider's key", { value: "sk-proj-abcdefghijklmnopqrstuvwxyz" }, "x"],
  ["a password in a URL", { value: "redis://user:hunter2hunter2@host:6379/0" }, "x"],
  ["a password in a URL without a user", { value: "redis://:hunter2hunter2@host:6379/0" }, "x"],
  ["an authorization header", { authorization: "Bearer opaque-secret" }, "x"],
  [
    "headers",
    { headers: { authorization: "opaque-secret", cookie: "opaque-secret", "x-api-key": "opaque-secret" } },
    "x",
  ],
  ["nested fields", { request: { headers: { authorization: "opaque-secret" } } }, "x"],
  [
    "named fields",
    { token: "opaque-secret", password: "opaque-secret", api_key: "opaque-secret", secret: "opaque-secret" },
    "x",
  ],
  ["a Secret", { value: new Secret("opaque-secret") }, "x"],
];

test.each(LEAKS)("%s is never printed, neither as JSON nor for people", async (_what, fields, message) => {
  for (const pretty of [false, await prettyLines()] as const) {
    const { log, lines } = logTo({ pretty });
    log.error(fields, message);
    const text = lines.join("");
    expect(text).toContain("[redacted]");
    for (const secret of [KEY.slice(3), KEY.toUpperCase(), JWT, "sk-proj-abc", "hunter2", "opaque-secret"]) {
      expect(text).not.toContain(secret);
    }
  }
});

test("the line of a request is one of level info, of the configuration that is named first, also for people", async () => {
  const { log, lines } = logTo();
  log.requestLine!(`"request_id":${logged("r1")}`);
  withConfig(log, () => "c1").requestLine!('"status":200');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    { level: 30, time: expect.any(Number), request_id: "r1", msg: "request" },
    { level: 30, time: expect.any(Number), config: "c1", status: 200, msg: "request" },
  ]);
  const quiet = logTo({ level: "warn" });
  quiet.log.requestLine!('"status":200');
  expect(quiet.lines).toEqual([]);
  const people = logTo({ pretty: await prettyLines() });
  people.log.requestLine!('"status":200');
  expect(people.lines.join("")).toMatch(/INFO.*request.*status.*200/);
});

test("what is no secret stays readable", () => {
  const { log, lines } = logTo();
  log.info(
    { url: "http://127.0.0.1:9090/metrics", prefix: "rk_01234567", id: "key_abc", time_of: "12:30@noon" },
    "sk-1",
  );
  expect(lines[0]).not.toContain("[redacted]");
});

test("for people: a readable line with its fields, without colours when it goes elsewhere", async () => {
  const { log, lines } = logTo({ pretty: await prettyLines() });
  log.warn({ upstream: "alpha" }, "breaker opened");
  expect(lines.join("")).toMatch(/WARN.*breaker opened.*upstream.*alpha/);
  expect(lines.join("")).not.toContain("\u001b[");
});

test.each(["-eyJ", "eyJ-", "eyJa.eyJ", "://a:", "rt_", "sk-", '"://x:y"', "://::"])(
  "a megabyte of %s is scrubbed in time in proportion to it",
  (piece) => {
    // Quadratic work would take longer than a test may.
    const { log, lines } = logTo();
    log.info({ path: piece.repeat(1_000_000 / piece.length) }, "request");
    expect(lines).toHaveLength(1);
  },
);

test("a line is bounded, stays JSON, and what is cut is not left as half a secret", () => {
  const { log, lines } = logTo();
  const around = "x".repeat(2_000);
  log.error({ text: `${around} ${KEY} ${"y".repeat(200_000)}`, err: new Error("z".repeat(100_000)) }, "failed");
  const [line = ""] = lines;
  expect(line.length).toBeLessThan(65_536);
  expect(line).not.toContain(KEY.slice(0, 20));
  const { level, msg, text, err } = JSON.parse(line) as { level: number; msg: string; text: string; err: Error };
  expect([level, msg, text.length < 3_000, err.message.length < 3_000]).toEqual([50, "failed", true, true]);
});

test("a line of a thousand long fields is bounded as well", () => {
  const { log, lines } = logTo();
  log.info(Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`f${at}`, "v".repeat(5_000)])), "many");
  expect(lines[0]!.length).toBeLessThan(65_536);
  expect(() => JSON.parse(lines[0]!) as unknown).not.toThrow();
});
