import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../../../src/kit/index.ts";
import { askFormat, type FormatName, FORMAT_NAMES, FORMATS, streamedText } from "../../support/formats.ts";
import { TestGateway, type TestUser } from "../../support/in-process.ts";

const PIPELINE = ["auth", "plan-check", "quota", "breaker", { use: "answer-cache", options: { answers: "all" } }];
const UPSTREAMS: Readonly<Record<string, Json>> = {
  chat: {},
  messages: { dialect: "anthropic" },
  responses: { vendor: "openai", api: "responses" },
  gemini: { dialect: "gemini" },
};
const ROUTES = Object.keys(UPSTREAMS);

let gateway: TestGateway;
let user: TestUser;
beforeAll(async () => {
  const chains = Object.fromEntries(ROUTES.map((name) => [`route/${name}`, ["-"]]));
  const upstreams = Object.fromEntries(Object.entries(UPSTREAMS).map(([name, more]) => [`${name}-1`, more]));
  gateway = await TestGateway.start({
    chains,
    config: { upstreams, pipeline: [...PIPELINE, "stream-relay", "meter"] },
  });
  user = await gateway.user();
});
afterAll(() => gateway.close());

/** What no second answer has in common with the first: who gave it, when, and ids that are made anew. */
function lasting(text: string): string {
  const made = /"(?:provider|latency_ms|created_at|created|id|item_id|response_id)":(?:"[^"]*"|\d+),?/g;
  return text.replaceAll(made, "");
}

const text = (name: FormatName, stream: boolean, body: string): string =>
  stream ? streamedText(name, body) : FORMATS[name].text(JSON.parse(body) as Json);

describe.each(FORMAT_NAMES)("a client of %s", (name) => {
  describe.each(ROUTES)("and an upstream of %s", (route) => {
    test.each([true, false])(
      "gets the same answer again (stream: %s), and of the other form where there is one",
      async (stream) => {
        const ask = (streamed: boolean) =>
          askFormat(gateway, user, name, {
            model: `route/${route}`,
            ...FORMATS[name].prompt(`Tell me of ${name}, ${route} and ${stream}`),
            stream: streamed,
          });
        const first = await ask(stream);
        expect([first.status, first.headers["x-gateway-cache"]]).toEqual([200, "miss"]);
        let second = first;
        // It is kept once the client has it.
        await expect.poll(async () => (second = await ask(stream)).headers["x-gateway-cache"]).toBe("hit");
        expect(lasting(second.text)).toBe(lasting(first.text));
        const other = await ask(!stream);
        expect(text(name, !stream, other.text)).toBe(text(name, stream, first.text));
        const own = route === name && name !== "chat";
        expect(other.headers["x-gateway-cache"]).toBe(own ? "miss" : "hit");
      },
    );
  });
});
