import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { anthropic } from "../../../src/dialects/messages/index.ts";
import type { UpstreamDialect } from "../../../src/dialects/dialect.ts";
import { openai } from "../../../src/dialects/chat/index.ts";
import type { Json } from "../../../src/kit/index.ts";
import { call, exchange, failure, read, streamOf, target, TIMEOUTS } from "../support/build.ts";
import { answer, chunk, DONE, LAST_CHUNK, STREAM_HEAD } from "../support/raw-upstream.ts";
import { closedAfterEach, serveRaw } from "../support/serve.ts";

const open = closedAfterEach();

const serve = async (script: (socket: Socket) => void, dialect?: UpstreamDialect) =>
  (await serveRaw(open, ({ socket }) => script(socket), dialect)).leased.set;

const STREAM = call({ stream: true });
const MESSAGES = call({ stream: true, dialect: "messages" });
const data = (value: Json): string => `data: ${JSON.stringify(value)}\n\n`;
const delta = (part: Json, finish: string | null = null): string =>
  data({ id: "c", object: "chat.completion.chunk", choices: [{ index: 0, delta: part, finish_reason: finish }] });
const ROLE = delta({ role: "assistant", content: "" });
const ERROR = data({ error: { message: "overloaded" } });
const MESSAGE_START = `event: message_start\n${data({
  type: "message_start",
  message: { id: "m", type: "message", role: "assistant", model: "m1", content: [], usage: { input_tokens: 1 } },
})}`;
const OVERLOADED = `event: error\n${data({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } })}`;

/** Writes each part in a read of its own; each timer is set by the one before, so that none overtakes another. */
function inTurn(socket: Socket, parts: readonly string[]): void {
  socket.write(STREAM_HEAD);
  const next = (index: number): void => {
    const part = parts[index];
    if (part === undefined) return;
    socket.write(chunk(part));
    setTimeout(next, 25, index + 1);
  };
  setTimeout(next, 25, 0);
}

describe("what commits nothing: an error behind it still fails over", () => {
  it.each<[string, UpstreamDialect, typeof STREAM, readonly string[], string]>([
    ["a role chunk, in one read", openai, STREAM, [ROLE + ERROR], "overloaded"],
    ["a role chunk, in another read", openai, STREAM, [ROLE, ERROR], "overloaded"],
    ["several of them", openai, STREAM, [ROLE, ROLE, delta({ content: "" }), ERROR], "overloaded"],
    ["a count alone", openai, STREAM, [data({ choices: [], usage: { prompt_tokens: 1 } }), ERROR], "overloaded"],
    ["a message_start, in one read", anthropic, STREAM, [MESSAGE_START + OVERLOADED], "Overloaded"],
    ["a message_start, in another read", anthropic, STREAM, [MESSAGE_START, OVERLOADED], "Overloaded"],
    ["a message_start for a Messages client", anthropic, MESSAGES, [MESSAGE_START, OVERLOADED], "Overloaded"],
  ])("%s", async (_name, dialect, asked, parts, words) => {
    const set = await serve((socket) => inTurn(socket, parts), dialect);
    const error = await failure(set.send(target(), asked, exchange()));
    expect(error).toMatchObject({ failure: "status", message: `upstream reported an error: ${words}` });
  });

  it("nor does a role chunk before a cut, a reset or silence", async () => {
    const cut = await serve((socket) => {
      inTurn(socket, [ROLE]);
      setTimeout(() => socket.write(LAST_CHUNK), 80);
    });
    expect(await failure(cut.send(target(), STREAM, exchange()))).toMatchObject({
      failure: "protocol",
      message: "upstream connection lost: premature end of its answer",
    });
    const reset = await serve((socket) => {
      inTurn(socket, [ROLE]);
      setTimeout(() => socket.resetAndDestroy(), 80);
    });
    expect(await failure(reset.send(target(), STREAM, exchange()))).toMatchObject({ failure: "reset" });
    const silent = await serve((socket) => inTurn(socket, [ROLE]));
    const timeouts = { ...TIMEOUTS, idle: 100 };
    expect(await failure(silent.send(target({ timeouts }), STREAM, exchange()))).toMatchObject({ failure: "timeout" });
  });

  it("and the request's deadline still applies", async () => {
    const set = await serve((socket) => {
      inTurn(socket, [ROLE]);
      const beat = setInterval(() => socket.write(chunk(ROLE)), 20);
      socket.on("close", () => clearInterval(beat));
    });
    expect(await failure(set.send(target(), STREAM, exchange({ deadline: 200 })))).toMatchObject({
      failure: "timeout",
      message: "the request's deadline passed before the answer",
    });
  });
});

describe("what commits", () => {
  const tool = { index: 0, id: "call_1", type: "function", function: { name: "f", arguments: "" } };
  it.each<[string, string]>([
    ["text", delta({ content: "a" })],
    ["reasoning", delta({ reasoning_content: "hm" })],
    ["sealed reasoning", delta({ reasoning_details: [{ type: "reasoning.encrypted", data: "x" }] })],
    ["a tool call", delta({ tool_calls: [tool] })],
    ["a refusal", delta({ refusal: "no" })],
    ["an image", delta({ images: [{ type: "image_url", image_url: { url: "data:image/png;base64,AA==" } }] })],
    ["a finish", delta({}, "stop")],
  ])("%s: what was held comes first, in order, and an error is a cut", async (_name, said) => {
    const set = await serve((socket) => inTurn(socket, [ROLE, said, ERROR]));
    const seen: unknown[] = [];
    const source = streamOf(await set.send(target(), STREAM, exchange()));
    const ending = await new Promise((resolve) => {
      source.open({ next: (batch) => void seen.push(...batch.map((event) => event.data["choices"])), end: resolve });
    });
    expect(seen[0]).toMatchObject([{ delta: { role: "assistant" } }]);
    expect(seen.length).toBeGreaterThanOrEqual(2);
    expect(ending).toMatchObject({ complete: false, message: "upstream reported an error: overloaded" });
  });

  it("64 KiB that say nothing: a stream is not held back for ever", async () => {
    const set = await serve((socket) => inTurn(socket, [...Array.from({ length: 80 }, () => ROLE.repeat(10)), ERROR]));
    const { ending } = await read(streamOf(await set.send(target(), STREAM, exchange())));
    expect(ending).toMatchObject({ complete: false });
  });

  it("an ending alone: an empty answer is one", async () => {
    const set = await serve((socket) => inTurn(socket, [ROLE, DONE]));
    expect(await read(streamOf(await set.send(target(), STREAM, exchange())))).toMatchObject({
      text: "",
      ending: { complete: true },
    });
  });
});

describe("first_byte", () => {
  const timeouts = { ...TIMEOUTS, firstByte: 80, idle: 5_000 };

  it("does not bound a whole answer, nor its head", async () => {
    const set = await serve((socket) => setTimeout(() => socket.write(answer("late")), 300));
    expect(await set.send(target({ timeouts }), call(), exchange())).toMatchObject({ type: "answer" });
  });

  it("bounds the head of a stream", async () => {
    const set = await serve(() => undefined);
    expect(await failure(set.send(target({ timeouts }), STREAM, exchange()))).toMatchObject({
      failure: "timeout",
      notUpstreamFault: false,
      message: "upstream timed out waiting for the first byte",
    });
  });

  it("ends with it: what comes behind is a matter of idle", async () => {
    const late = await serve((socket) => {
      socket.write(STREAM_HEAD);
      setTimeout(
        () => socket.write(Buffer.concat([chunk(delta({ role: "assistant", content: "a" }, "stop")), chunk(DONE)])),
        300,
      );
    });
    expect(await read(streamOf(await late.send(target({ timeouts }), STREAM, exchange())))).toMatchObject({
      text: "a",
    });
    const never = await serve((socket) => socket.write(STREAM_HEAD));
    expect(
      await failure(never.send(target({ timeouts: { ...timeouts, idle: 100 } }), STREAM, exchange())),
    ).toMatchObject({ failure: "timeout" });
  });

  it("is what a whole answer that hangs is held against: at the request's deadline it is the upstream's failure", async () => {
    const set = await serve(() => undefined);
    const slow = await failure(set.send(target({ timeouts }), call(), exchange({ deadline: 300 })));
    expect(slow).toMatchObject({ failure: "timeout", notUpstreamFault: false });
    const brief = await failure(set.send(target({ timeouts }), call(), exchange({ deadline: 40 })));
    expect(brief).toMatchObject({ failure: "timeout", notUpstreamFault: true });
  });

  it("a refusal whose body hangs is bounded by idle", async () => {
    const set = await serve((socket) => socket.write("HTTP/1.1 401 X\r\ncontent-length: 99\r\n\r\n{"));
    const idle = { ...timeouts, idle: 100 };
    expect(await failure(set.send(target({ timeouts: idle }), call(), exchange()))).toMatchObject({
      failure: "credentials",
    });
  });
});

it("a stream of more choices than can be read is refused before anything is sent", async () => {
  let asked = 0;
  const set = await serve(() => void (asked += 1));
  expect(await failure(set.send(target(), call({ stream: true, answers: 257 }), exchange()))).toMatchObject({
    failure: "unsupported",
    message: "/n is more than 256",
  });
  expect(asked).toBe(0);
});
