import { request } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bedrock } from "../../../src/dialects/bedrock/index.ts";
import { signed } from "../../../src/upstream/signing/aws.ts";
import { type Simulator, startSimulator } from "../../../src/simulator/server.ts";
import { call, target } from "../support/build.ts";

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.close());

async function ask(apiKey: string, change: (body: string) => string = (body) => body): Promise<number> {
  const written = bedrock.codecs.chat!.request(call(), target({ model: "a.b-v1:0" }), apiKey);
  const { host } = new URL(simulator.origin);
  const { path, headers, body } = await signed({ dialect: bedrock, request: written, host, apiKey, now: Date.now() });
  const answer = await request(simulator.origin + path, { method: "POST", headers, body: change(body as string) });
  await answer.body.dump();
  return answer.statusCode;
}

test("a signed request is served, one that was changed is not", async () => {
  expect(await ask("AKIDEXAMPLE:secret:token")).toBe(200);
  expect(await ask("AKIDEXAMPLE:secret", (body) => `${body} `)).toBe(403);
  expect(await ask("bearer-key")).toBe(200);
  expect(await ask("")).toBe(403);
});
