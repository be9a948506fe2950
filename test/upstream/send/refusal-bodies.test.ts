import { expect, it } from "vitest";
import { gemini } from "../../../src/dialects/gemini/index.ts";
import { call, exchange, failure, leaseWith, target, upstream } from "../support/build.ts";
import { RawUpstream } from "../support/raw-upstream.ts";
import { closedAfterEach } from "../support/serve.ts";

const open = closedAfterEach();

async function refused(status: string, error: object) {
  const body = JSON.stringify({ error });
  const head = `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  const server = await RawUpstream.start(({ socket }) => socket.write(head + body));
  const leased = await leaseWith(gemini, upstream(server.origin));
  open.push({ close: () => leased.end() }, server);
  return failure(leased.set.send(target(), call(), exchange()));
}

const info = (type: string, more: object) => ({ "@type": `type.googleapis.com/google.rpc.${type}`, ...more });

it("a 429 that says in its body how long to wait is believed", async () => {
  const details = [info("RetryInfo", { retryDelay: "34.4s" })];
  expect(await refused("429 Too Many Requests", { code: 429, message: "quota", details })).toMatchObject({
    failure: "rate_limited",
    status: 429,
    retryAfter: 34_400,
    message: "upstream limits the gateway's rate (429)",
  });
});

it("a 429 that says nothing is one all the same", async () => {
  expect(await refused("429 Too Many Requests", { message: "quota" })).toMatchObject({
    failure: "rate_limited",
    retryAfter: null,
  });
});

it("a 400 about the key is not the client's fault, and says nothing of the key", async () => {
  const details = [info("ErrorInfo", { reason: "API_KEY_INVALID" })];
  expect(await refused("400 Bad Request", { code: 400, message: "API key AIza not valid", details })).toMatchObject({
    failure: "credentials",
    message: "upstream refused the gateway's credentials (400)",
  });
});

it("any other 400 is", async () => {
  expect(await refused("400 Bad Request", { code: 400, message: "temperature is too high" })).toMatchObject({
    failure: "client_fault",
    message: "temperature is too high",
  });
});
