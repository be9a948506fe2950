import { expect, it } from "vitest";
import type { AnswerCodec, UpstreamDialect } from "../../../src/dialects/dialect.ts";
import { openai } from "../../../src/dialects/chat/index.ts";
import { call, exchange, failure, leaseWith, target, upstream } from "../support/build.ts";
import { answer, RawUpstream } from "../support/raw-upstream.ts";
import { closedAfterEach } from "../support/serve.ts";

const open = closedAfterEach();

const chat = openai.codecs.chat as AnswerCodec;

/** Leaves `/top_k` behind. */
const narrow: UpstreamDialect = {
  ...openai,
  codecs: { chat: { ...chat, request: (...given) => ({ ...chat.request(...given), dropped: ["/top_k"] }) } },
};

async function serve(dialect: UpstreamDialect) {
  const server = await RawUpstream.start(({ socket }) => socket.write(answer("well")));
  const leased = await leaseWith(dialect, upstream(`${server.origin}/v1`));
  open.push({ close: () => leased.end() }, server);
  return { server, leased };
}

it("what the dialect leaves behind comes with the reply", async () => {
  const { leased } = await serve(narrow);
  expect(await leased.set.send(target(), call(), exchange())).toMatchObject({ type: "answer", dropped: ["/top_k"] });
  const plain = await serve(openai);
  expect(await plain.leased.set.send(target(), call(), exchange())).not.toHaveProperty("dropped");
});

it("a strict model's call that would lose something is not sent, and is no mark against the upstream", async () => {
  const { server, leased } = await serve(narrow);
  const given = exchange();
  const strict = { ...given, model: { ...given.model, strict: true } };
  const error = await failure(leased.set.send(target(), call(), strict));
  expect(error).toMatchObject({ failure: "unsupported", message: "/top_k cannot be expressed for this model" });
  expect(server.connections).toBe(0);
  expect(leased.set.health("alpha")).toEqual({ state: "unknown", latencyMs: 0, canServe: true });
  const permit = leased.set.breaker("alpha").acquire();
  permit?.end({ ok: false, error });
  expect(leased.set.breaker("alpha").state).toBe("closed");
});
