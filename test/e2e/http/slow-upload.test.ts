import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { file, formOf, FORM_TYPE, text } from "../support/form.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";
import { AUDIO, chains } from "../support/kinds.ts";

const DEADLINE = 400;

let gateway: TestGateway;
let user: TestUser;
beforeAll(async () => {
  gateway = await TestGateway.start({ chains: chains("", ["-"], { deadline: `${DEADLINE}ms` }) });
  user = await gateway.user();
});
afterAll(() => gateway.close());

/** Sends a body in two halves, the second one when the model's deadline would be over. @returns status and body */
async function sendSlowly(path: string, type: string, body: Buffer): Promise<readonly [number, string]> {
  const headers = { authorization: `Bearer ${user.key}`, "content-type": type, "content-length": body.length };
  const sending = request(gateway.url + path, { method: "POST", headers, agent: false });
  const answered = once(sending, "response");
  sending.write(body.subarray(0, body.length / 2));
  await sleep(2 * DEADLINE);
  sending.end(body.subarray(body.length / 2));
  const [response] = (await answered) as [IncomingMessage];
  return [response.statusCode ?? 0, await textOf(response)];
}

test("the time a client takes to send its request is not the upstreams'", async () => {
  const form = formOf([text("model", "route/listen"), file(AUDIO)]);
  expect(await sendSlowly("/v1/audio/transcriptions", FORM_TYPE, form)).toEqual([200, expect.any(String)]);
  const chat = { model: "route/one", messages: [{ role: "user", content: "Hello there" }] };
  const [status] = await sendSlowly("/v1/chat/completions", "application/json", Buffer.from(JSON.stringify(chat)));
  expect(status).toBe(200);
});
