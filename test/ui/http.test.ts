import { describe, expect, test } from "vitest";
import { createClient, type Problem, problemOf, withQuery } from "../../src/ui/shared/http.ts";
import { asProblem, retryDelayMs } from "../../src/ui/shared/resource.ts";

type Call = { readonly url: string; readonly init: RequestInit };

/** A gateway that gives these answers, one a call; an error is a connection that fails. */
function gateway(...answers: readonly (Response | Error)[]) {
  const calls: Call[] = [];
  const fetch = (url: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    calls.push({ url: url instanceof Request ? url.url : url.toString(), init });
    const answer = answers[calls.length - 1]!;
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  return { calls, fetch };
}

const problem = (body: string, status: number, headers: Record<string, string> = {}): Promise<Problem> =>
  problemOf(new Response(body, { status, headers }));

describe("a refusal", () => {
  test("of plain text is read with its code, its request and when to come again", async () => {
    const headers = { "x-error-code": "RATE_LIMIT_ERROR", "x-request-id": "r-1", "retry-after": "7" };
    const read = await problem("Hourly request limit exceeded", 429, headers);
    expect(read.message).toBe("Hourly request limit exceeded");
    expect(read.about).toEqual({ status: 429, code: "RATE_LIMIT_ERROR", requestId: "r-1", retryAfterSeconds: 7 });
    expect(read.isTemporary).toBe(true);
  });

  test.each([
    ['{"message":"Invalid or expired code"}', "Invalid or expired code"],
    ['{"error":"Model not found"}', "Model not found"],
    ['{"error":{"message":"No such model","type":"api_error"}}', "No such model"],
    ["{broken", "{broken"],
    ["<html><b>Bad gateway</b></html>", "The gateway responded with status 400"],
    ["", "The gateway responded with status 400"],
  ])("of the body %s says %s", async (body, message) => {
    expect((await problem(body, 400)).message).toBe(message);
  });

  test("names the field that it is about", async () => {
    expect((await problem("Invalid request: /budget/amount must be positive", 400)).field).toEqual({
      pointer: "/budget/amount",
      message: "must be positive",
    });
    expect((await problem("Insufficient credits", 402)).field).toBeNull();
  });

  test("an endpoint that is not there is told from a thing that is not there", async () => {
    expect((await problem('{"message":"Not found"}', 404)).isMissingEndpoint).toBe(true);
    expect((await problem("Unknown key", 404, { "x-error-code": "NOT_FOUND" })).isMissingEndpoint).toBe(false);
  });
});

describe("a call", () => {
  test("sends JSON, the headers of its client, and its query", async () => {
    const { calls, fetch } = gateway(Response.json({ id: "k" }));
    const client = createClient({ fetch, headers: () => ({ authorization: "Bearer t" }) });
    const body = { name: "a" };
    expect(await client.send("POST", "/v1/user/key", { body, query: { tag: ["a:b", "c:d"], empty: "" } })).toEqual({
      id: "k",
    });
    expect(calls[0]).toMatchObject({
      url: "/v1/user/key?tag=a%3Ab&tag=c%3Ad",
      init: { method: "POST", body: '{"name":"a"}', credentials: "same-origin" },
    });
    expect(calls[0]!.init.headers).toEqual({ "content-type": "application/json", authorization: "Bearer t" });
  });

  test("an answer without a body is nothing", async () => {
    const { fetch } = gateway(new Response(null, { status: 204 }));
    expect(await createClient({ fetch }).send("DELETE", "/x")).toBeUndefined();
  });

  test("is made once more, and only once, after its session was renewed", async () => {
    const refusals = ["first", "second"].map(() => Response.json({ message: "Invalid token" }, { status: 401 }));
    const { calls, fetch } = gateway(...refusals);
    let renewed = 0;
    const onUnauthorized = () => Promise.resolve((renewed += 1) > 0);
    await expect(createClient({ fetch, onUnauthorized }).get("/v1/user")).rejects.toThrow("Invalid token");
    expect([calls.length, renewed]).toEqual([2, 1]);
  });

  test("tells whether the gateway and its store are there", async () => {
    const away = new Response("Store unavailable", { status: 503, headers: { "x-error-code": "STORE_UNAVAILABLE" } });
    const { fetch } = gateway(new TypeError("fetch failed"), away, Response.json({}));
    const client = createClient({ fetch });
    const states: string[] = [];
    for (let call = 0; call < 3; call += 1) {
      await client.get("/v1/user").catch(asProblem);
      states.push(client.connection.value);
    }
    expect(states).toEqual(["offline", "store", "ok"]);
  });

  test("that is given up says nothing of the gateway", async () => {
    const abort = new AbortController();
    const { fetch } = gateway(new DOMException("aborted", "AbortError"));
    const client = createClient({ fetch });
    abort.abort();
    await expect(client.get("/x", { signal: abort.signal })).rejects.toMatchObject({ name: "AbortError" });
    expect(client.connection.value).toBe("ok");
  });
});

test("parameters without a value are left out", () => {
  expect(withQuery("/a", { b: 1, c: null, d: undefined, e: "x y" })).toBe("/a?b=1&e=x+y");
  expect(withQuery("/a", {})).toBe("/a");
});

test("tries that fail come further and further apart, or when the gateway says so", async () => {
  const away = await problem("", 503);
  expect([1, 2, 3, 10].map((failures) => retryDelayMs(away, failures))).toEqual([1000, 2000, 4000, 15_000]);
  const told = await problem("", 503, { "retry-after": "3" });
  expect(retryDelayMs(told, 9)).toBe(3000);
  const never = await problem("", 503, { "retry-after": "0" });
  expect(retryDelayMs(never, 1)).toBe(1000);
});
