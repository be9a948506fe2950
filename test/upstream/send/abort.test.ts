import { describe, expect, it } from "vitest";
import { call, exchange, failure, streamOf, target, until } from "../support/build.ts";
import { answer, chunk, event, type RawRequest, response, STREAM_HEAD } from "../support/raw-upstream.ts";
import { closedAfterEach, serveRaw } from "../support/serve.ts";

const open = closedAfterEach();

const serve = (script: (request: RawRequest) => void, changes?: Parameters<typeof serveRaw>[3]) =>
  serveRaw(open, script, undefined, changes);

describe("a client that goes away closes the upstream request", () => {
  const head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n";
  it.each<[string, boolean, (request: RawRequest) => void]>([
    ["before the first byte", false, () => undefined],
    ["before the first byte of a stream", true, () => undefined],
    ["in the middle of the status line", false, ({ socket }) => socket.write("HTTP/1.1 2")],
    ["after the head", false, ({ socket }) => socket.write(head)],
    ["in the middle of a JSON body", false, ({ socket }) => socket.write(`${head}{"a"`)],
    ["after the head of a stream", true, ({ socket }) => socket.write(STREAM_HEAD)],
    [
      "after a comment",
      true,
      ({ socket }) => socket.write(Buffer.concat([Buffer.from(STREAM_HEAD), chunk(": hi\n\n")])),
    ],
    [
      "in the middle of a refusal",
      false,
      ({ socket }) => socket.write("HTTP/1.1 400 X\r\ncontent-length: 99\r\n\r\n{"),
    ],
  ])("%s", async (_name, stream, act) => {
    const { server, leased } = await serve(act);
    const client = new AbortController();
    const sent = failure(leased.set.send(target(), call({ stream }), exchange({ signal: client.signal })));
    await until(() => server.requests.length === 1, "the request arrives");
    await new Promise((resolve) => setTimeout(resolve, 20));
    client.abort("client_gone");
    expect(await sent).toMatchObject({ failure: "aborted" });
    await expect.poll(() => server.sockets.size, { timeout: 1_000 }).toBe(0);
    expect(server.requests.length).toBe(1);
  });

  it.each(["opened", "paused", "never opened"])(
    "in the middle of a stream that is %s, when who took it ends it, without a word to its sink",
    async (state) => {
      const { server, leased } = await serve(({ socket }) => {
        socket.write(Buffer.concat([Buffer.from(STREAM_HEAD), chunk(event("a"))]));
      });
      const client = new AbortController();
      const reply = await leased.set.send(target(), call({ stream: true }), exchange({ signal: client.signal }));
      const source = streamOf(reply);
      const heard: string[] = [];
      if (state !== "never opened") {
        source.open({ next: () => void heard.push("events"), end: () => void heard.push("end") });
      }
      if (state === "paused") source.pause();
      // Its count may be waited for, which the upstream layer cannot know.
      client.abort("killed");
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(server.sockets.size).toBe(1);
      source.cancel();
      await expect.poll(() => server.sockets.size, { timeout: 1_000 }).toBe(0);
      source.resume();
      expect(heard).toEqual(state === "never opened" ? [] : ["events"]);
    },
  );

  it("before anything was sent: nothing is", async () => {
    const { server, leased } = await serve(() => undefined);
    const sent = leased.set.send(target(), call(), exchange({ signal: AbortSignal.abort("client_gone") }));
    expect(await failure(sent)).toMatchObject({ failure: "aborted" });
    expect(server.connections).toBe(0);
  });
});

it("a request given up in the queue is never sent, and its connection serves others", async () => {
  const { server, leased } = await serve(
    ({ socket, index }) => setTimeout(() => socket.write(answer(`${index}`)), index === 0 ? 150 : 0),
    { connections: 1, concurrency: { requests: 1, queue: 5, maxWait: 10_000 } },
  );
  const client = new AbortController();
  const first = leased.set.send(target(), call(), exchange());
  const waiting = failure(leased.set.send(target(), call(), exchange({ signal: client.signal })));
  const last = leased.set.send(target(), call(), exchange());
  client.abort("client_gone");
  expect(await waiting).toMatchObject({ failure: "aborted" });
  await Promise.all([first, last]);
  expect(server.requests.length).toBe(2);
  expect(server.connections).toBe(1);
});

it("leaves no abort listener behind", async () => {
  const { leased } = await serve(({ socket, index }) =>
    socket.write(index % 2 === 0 ? answer("well") : response(503, {}, "")),
  );
  const client = new AbortController();
  let listeners = 0;
  const { signal } = client;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => ((listeners += 1), add(...args));
  signal.removeEventListener = (...args: Parameters<typeof remove>) => ((listeners -= 1), remove(...args));
  for (let round = 0; round < 4; round += 1) {
    await leased.set.send(target(), call(), exchange({ signal })).catch(() => undefined);
  }
  await new Promise((resolve) => setTimeout(resolve, 20));
  // Removing twice does no harm, so fewer than none is fine.
  expect(listeners).toBeLessThanOrEqual(0);
});
