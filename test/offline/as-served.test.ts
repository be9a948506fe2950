import { afterAll, beforeAll, expect, test } from "vitest";
import { loadOffline } from "../../src/offline/load.ts";
import { openOffline } from "../../src/offline/offline.ts";
import { bodyOf, pathOf } from "../../src/offline/requests.ts";
import type { Offline, OfflineRequest } from "../../src/offline/room.ts";
import type { Json } from "../../src/kit/index.ts";
import { TestGateway } from "../e2e/support/in-process.ts";

let gateway: TestGateway;
let offline: Offline;

beforeAll(async () => {
  gateway = await TestGateway.start({
    chains: {
      "route/well": ["-"],
      "route/second": ["?status=503", "-"],
      "route/none": ["?status=500", "?status=503"],
      "route/limited": ["?status=429&retry_after=7"],
      "route/refused": ["?status=400&message=no"],
      "route/cut": ["?close_after=3"],
    },
  });
  const now = gateway.clock.now();
  offline = await openOffline(await loadOffline({ file: gateway.file, env: {} }), { now, tier: "Max" });
});
afterAll(async () => {
  await offline.close();
  await gateway.close();
});

const REQUESTS: Readonly<Record<string, OfflineRequest>> = {
  "an answer": { model: "route/well" },
  "a stream": { model: "route/well", stream: true },
  messages: { model: "route/well", endpoint: "messages" },
  "a stream of messages": { model: "route/well", endpoint: "messages", stream: true },
  "a stream of responses": { model: "route/well", endpoint: "responses", stream: true },
  "the second upstream": { model: "route/second" },
  "no upstream": { model: "route/none" },
  "a rate limit": { model: "route/limited" },
  "a refusal": { model: "route/refused" },
  "a cut stream": { model: "route/cut", stream: true },
  "an unknown model": { model: "route/nothing" },
  "a model of another endpoint": { model: "route/well", endpoint: "embeddings" },
  "a bad field": { model: "route/well", body: { temperature: "hot" } },
  "no JSON": { body: "{" },
  nobody: { model: "route/well", authenticated: false },
  "a wrong key": { model: "route/well", headers: { authorization: "Bearer rk_0" } },
};

/** What differs between two equal requests to one gateway. */
function comparable(status: number, headers: Iterable<readonly [string, string]>, body: string): Json {
  const kept = [...headers].filter(
    ([name]) =>
      !/^(?:connection|date|keep-alive|transfer-encoding|x-request-id|request-id|content-length|x-ratelimit-.*)$/.test(
        name,
      ),
  );
  const text = body
    .replaceAll(/"(id|item_id|request_id)":"[^"]*"/g, '"$1":""')
    .replaceAll(/"(created|created_at|completed_at|latency_ms|latencyMs)":\d+/g, '"$1":0');
  return { status, headers: Object.fromEntries(kept.toSorted(([a], [b]) => a.localeCompare(b))), text };
}

test.each(Object.entries(REQUESTS))("%s is answered as over a socket", async (_name, request) => {
  const { endpoint = "chat", headers, authenticated = true } = request;
  const answered = await offline.request(request);
  const user = await gateway.user();
  const { model, stream } = request;
  const fields = { model, ...(stream && { stream }), ...(typeof request.body === "object" && request.body) };
  const body = typeof request.body === "string" ? request.body : String((await bodyOf(endpoint, fields)).body);
  const response = await fetch(gateway.url + pathOf(endpoint), {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(authenticated && { authorization: `Bearer ${user.key}` }),
      ...headers,
    },
    body,
  });
  const text = await response.text().catch(() => answered.body);
  expect(comparable(answered.status, Object.entries(answered.headers), answered.body)).toEqual(
    comparable(response.status, response.headers, text),
  );
});
