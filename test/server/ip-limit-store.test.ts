import { once } from "node:events";
import { expect, test } from "vitest";
import type { Store } from "../../src/kit/index.ts";
import { BODY, CHAT, GOOD, keepAliveAgent, open, send, start, waitFor } from "./support.ts";

/** A limit of which every second request asks a store that answers when it is told to. */
async function startHeld() {
  const waiting: (() => void)[] = [];
  let total = 0;
  const addCounts: Store["addCounts"] = (_window, uses) =>
    new Promise((resolve) => {
      waiting.push(() => resolve(uses.map((use) => (total += use.uses))));
    });
  const started = await start({ addCounts, settings: { ipLimit: { requests: 3, window: 3_600_000 } } });
  expect((await send(started.port)).status).toBe(200);
  const answer = async (): Promise<void> => {
    await waitFor(() => waiting.length > 0);
    waiting.shift()!();
  };
  return { ...started, answer };
}

test("a request that the store has to be asked about counts as in flight, and loses nothing of its body", async () => {
  const { port, server, answer } = await startHeld();
  const agent = keepAliveAgent();
  const sent = send(port, { agent });
  await waitFor(() => server.inFlight() === 1);
  await answer();
  expect(await sent).toMatchObject({ status: 200, text: BODY });
  expect(server.inFlight()).toBe(0);
  expect((await send(port, { agent })).status).toBe(200);
  const refused = send(port, { agent, path: "/v1/nothing" });
  expect((await refused).status).toBe(429);
});

test("a request whose client leaves meanwhile is not begun, and is recorded", async () => {
  const { port, server, requests, refused, answer } = await startHeld();
  const { socket } = await open(port);
  socket.write(`POST ${CHAT} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${GOOD}\r\ncontent-length: 2\r\n\r\n{}`);
  await waitFor(() => server.inFlight() === 1);
  socket.destroy();
  await once(socket, "close");
  // Not counted; the server has seen the end of the first connection by the time it answers another one.
  const headers = { origin: "https://a.example", "access-control-request-method": "POST" };
  expect((await send(port, { method: "OPTIONS", headers, body: "" })).status).toBe(204);
  await answer();
  expect((await send(port)).status).toBe(200);
  await waitFor(() => server.inFlight() === 0);
  expect(requests).toHaveLength(2);
  expect(refused).toMatchObject([{ endpoint: "chat", status: 499, code: null }]);
});
