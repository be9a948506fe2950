import { expect, test } from "vitest";
import { ENDPOINTS } from "../../src/server/endpoints.ts";
import type { RouteServed } from "../../src/server/public.ts";
import { open, waitFor } from "./support.ts";
import { bearer, START, startRoutes, TOKEN } from "./routes/support.ts";

test("every endpoint of the table is served, and asked with another method it is a 405", async () => {
  const { ask } = await startRoutes();
  for (const { method, path } of ENDPOINTS) {
    const real = path.replaceAll(/\{\w+\}/g, "x");
    const wrong = await ask("PUT", real);
    expect([path, wrong.status]).toEqual([path, 405]);
    expect(String(wrong.headers.allow).split(", ")).toContain(method);
  }
});

test("what is served beside inference is told by route, never by what the client wrote", async () => {
  let now = START;
  const answered: RouteServed[] = [];
  const { ask, key } = await startRoutes({
    onRouteServed: (entry) => answered.push(entry),
    now: () => (now += 5),
  });
  await ask("GET", "/v1/models", { "x-request-id": "mine" });
  await ask("GET", "/v1/models/route/free", bearer(key));
  await ask("HEAD", "/v1/pricing", bearer(key));
  await ask("GET", "/v1/models/secret%2Fname");
  await ask("DELETE", "/v1/user/key/some", bearer(TOKEN));
  await ask("PUT", "/v1/status");
  await ask("GET", "/v1/chat/completions");
  await ask("GET", "/wp-admin.php?x");
  await ask("GET", "/v1/models/");
  await ask("POST", "/v1/chat/completions", bearer("bad"));
  await waitFor(() => answered.length === 9);
  expect(answered.map(({ method, route, status }) => `${method} ${route} ${status}`)).toEqual([
    "GET /v1/models 200",
    "GET /v1/models/** 200",
    "HEAD /v1/pricing 200",
    "GET /v1/models/** 401",
    "DELETE /v1/user/key/:key_id 404",
    "PUT /v1/status 405",
    "GET /v1/chat/completions 405",
    "GET other 404",
    "GET other 404",
  ]);
  expect(answered[0]!.requestId).toBe("mine");
  expect(answered[0]!.durationMs).toBeGreaterThan(0);
});

test("a client that leaves before its answer is told of as such", async () => {
  const answered: RouteServed[] = [];
  const asked = Promise.withResolvers<void>();
  const { port, key, server } = await startRoutes({
    onRouteServed: (entry) => answered.push(entry),
    parts: {
      kill() {
        asked.resolve();
        return new Promise(() => {});
      },
    },
  });
  const connection = await open(port);
  connection.socket.write(
    `POST /v1/user/streams/kill HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Length: 0\r\n\r\n`,
  );
  await asked.promise;
  connection.socket.destroy();
  await waitFor(() => answered.length === 1);
  expect(answered).toMatchObject([{ route: "/v1/user/streams/kill", status: 499 }]);
  expect(server.inFlight()).toBe(0);
});

test("an IP limit covers these routes too", async () => {
  const { ask, refused } = await startRoutes({ settings: { ipLimit: { requests: 2, window: 60_000 } } });
  await ask("GET", "/v1/models");
  await ask("POST", "/auth/logout");
  const answer = await ask("GET", "/v1/status");
  expect(answer.status).toBe(429);
  expect(JSON.parse(answer.text)).toEqual({ message: "Rate limit exceeded. Please try again later.", retry_after: 45 });
  expect(answer.headers).toMatchObject({
    "retry-after": "45",
    "x-ratelimit-limit": "2",
    "x-ratelimit-remaining": "0",
    "x-ratelimit-reset": "45",
  });
  expect(refused).toHaveLength(1);
});
