import { describe, expect, it } from "vitest";
import type { UpstreamDialect } from "../../../src/dialects/dialect.ts";
import { openai } from "../../../src/dialects/chat/index.ts";
import { call, exchange, failure, leaseWith, target, upstream } from "../support/build.ts";
import { bytewise, SPEECH } from "../support/codecs.ts";
import { answer, RawUpstream } from "../support/raw-upstream.ts";
import { closedAfterEach } from "../support/serve.ts";

const open = closedAfterEach();

async function serve(dialect: UpstreamDialect) {
  const server = await RawUpstream.start(({ socket }) => socket.write(answer("well")));
  const leased = await leaseWith(dialect, upstream(`${server.origin}/v1`));
  open.push({ close: () => leased.end() }, server);
  return { server, leased };
}

const chatOnly: UpstreamDialect = { ...openai, codecs: { chat: openai.codecs.chat! } };

describe("a call that the dialect has no words for", () => {
  it.each([
    ["a kind it does not serve", chatOnly, SPEECH, "for speech models"],
    ["a stream of bytes", bytewise, { ...SPEECH, stream: true }, "for streams of speech models"],
    [
      "a stream of a kind without events",
      bytewise,
      call({ kind: "transcription", stream: true }),
      "for streams of transcription models",
    ],
  ])("%s fails over, and nothing is sent", async (_name, dialect, asked, words) => {
    const { server, leased } = await serve(dialect);
    const error = await failure(leased.set.send(target(), asked, exchange()));
    expect(error).toMatchObject({ failure: "protocol", message: expect.stringContaining(words) });
    expect(error.message).toContain('this gateway does not speak the dialect "openai"');
    expect(server.connections).toBe(0);
    expect(leased.set.health("alpha")).toEqual({ state: "unknown", latencyMs: 0, canServe: true });
  });
});

it("each kind goes its own way", async () => {
  const { server, leased } = await serve(bytewise);
  await leased.set.send(target(), call(), exchange());
  expect(await failure(leased.set.send(target(), SPEECH, exchange()))).toMatchObject({ failure: "protocol" });
  expect(server.requests.map(({ head }) => head.split(" ", 2).join(" "))).toEqual([
    "POST /v1/chat/completions",
    "POST /v1/audio/speech",
  ]);
});
