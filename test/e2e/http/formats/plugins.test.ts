import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { text as readText } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Json } from "../../../../src/kit/index.ts";
import { askFormat, FORMATS } from "../../support/formats.ts";
import { shown } from "../../support/http.ts";
import { TestGateway, type TestUser } from "../../support/in-process.ts";

const OTHERS = ["messages", "responses"] as const;
const REDACT = fileURLToPath(new URL("../../../../plugins/redact-names.ts", import.meta.url));

/** An upstream that keeps what it was sent. */
const sent: Json[] = [];
const recorder = createServer(async (request, response) => {
  sent.push(JSON.parse(await readText(request)) as Json);
  const message = { role: "assistant", content: "Ada says hello" };
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: "stop" }], usage }));
});

const REDACTING = (names: readonly string[]) => [
  "auth",
  "plan-check",
  "quota",
  "breaker",
  { use: REDACT, options: { names } },
  "stream-relay",
  "meter",
];

let gateway: TestGateway;
let user: TestUser;
beforeAll(async () => {
  recorder.listen(0, "127.0.0.1");
  await once(recorder, "listening");
  const { port } = recorder.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/v1`;
  gateway = await TestGateway.start({
    chains: {
      "route/own": [url],
      "route/strict": { scripts: [url], strict: true },
    },
    config: { pipeline: REDACTING(["Ada"]) },
  });
  user = await gateway.user();
});
afterAll(async () => {
  await gateway.close();
  recorder.close();
});
beforeEach(() => sent.splice(0));

/** Names wherever a format has room for what people write. */
const NAMED: Readonly<Record<(typeof OTHERS)[number], Json>> = {
  messages: {
    system: [{ type: "text", text: "You help Ada." }],
    messages: [
      { role: "user", content: "I am Ada." },
      {
        role: "assistant",
        content: [
          { type: "text", text: "Hello Ada" },
          { type: "tool_use", id: "t1", name: "find", input: { q: 1 } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "t1", content: "Ada lives here" },
          { type: "text", text: "Who is Ada?" },
        ],
      },
    ],
  },
  responses: {
    instructions: "You help Ada.",
    input: [
      { role: "user", content: "I am Ada." },
      { role: "assistant", content: [{ type: "output_text", text: "Hello Ada", annotations: [] }] },
      { type: "function_call", call_id: "t1", name: "find", arguments: '{"q":1}' },
      { type: "function_call_output", call_id: "t1", output: "Ada lives here" },
      { role: "user", content: [{ type: "input_text", text: "Who is Ada?" }] },
    ],
  },
};

describe.each(OTHERS)("%s: redact-names", (name) => {
  test("keeps names from the upstream, wherever the format has them; answers stay", async () => {
    const { status, text } = await askFormat(gateway, user, name, { model: "route/own", ...NAMED[name] });
    expect(status).toBe(200);
    expect(JSON.stringify(sent)).not.toContain("Ada");
    expect(JSON.stringify(sent).match(/\[name\]/g)).toHaveLength(5);
    expect(FORMATS[name].text(JSON.parse(text) as Json)).toBe("Ada says hello");
  });

  test("takes other names after a reload", async () => {
    await gateway.reload({ pipeline: REDACTING(["Grace"]) });
    await askFormat(gateway, user, name, { model: "route/own", ...NAMED[name] });
    expect(JSON.stringify(sent)).toContain("Ada");
    await gateway.reload({ pipeline: REDACTING(["Ada"]) });
    await askFormat(gateway, user, name, { model: "route/own", ...NAMED[name] });
    expect(JSON.stringify(sent.at(-1))).not.toContain("Ada");
  });
});

/** Fields that an OpenAI-style upstream has no place for, and where the client finds them. */
const BEYOND: Readonly<Record<(typeof OTHERS)[number], readonly (readonly [Json, string])[]>> = {
  messages: [
    [{ context_management: { edits: [], more: 1 } }, "/context_management"],
    [{ mcp_servers: [{ type: "url", url: "https://x.example" }] }, "/mcp_servers"],
    [{ future: 1 }, "/future"],
  ],
  responses: [
    [{ truncation: "auto" }, "/truncation"],
    [{ store: true }, "/store"],
    [{ future: 1 }, "/future"],
  ],
};

describe.each(OTHERS)("%s: a strict model", (name) => {
  test("serves what its upstream can say whole", async () => {
    const { status, headers } = await askFormat(gateway, user, name, { model: "route/strict" });
    expect([status, headers["x-gateway-dropped"]]).toEqual([200, undefined]);
  });

  test.each(BEYOND[name])(
    "%j is refused with its pointer, asks no upstream and costs nothing",
    async (more, pointer) => {
      const before = await gateway.books(user);
      for (const stream of [false, true]) {
        const answer = await askFormat(gateway, user, name, { model: "route/strict", stream, ...more });
        const [status, code, , text] = shown(answer);
        expect([status, code]).toEqual([400, "INVALID_REQUEST"]);
        expect(text).toMatch(new RegExp(`^Invalid request: ${RegExp.escape(pointer)} `));
      }
      expect(sent).toEqual([]);
      const { balance, ledger } = await gateway.books(user);
      expect(balance).toBe(before.balance);
      expect(ledger.every(({ charge, outcome }) => outcome !== "client_fault" || charge === 0n)).toBe(true);
    },
  );

  test.each(BEYOND[name])("%j is dropped, and said to be, by one that is not", async (more, pointer) => {
    const { status, headers } = await askFormat(gateway, user, name, { model: "route/own", ...more });
    expect([status, headers["x-gateway-dropped"]]).toEqual([200, pointer]);
    expect(sent[0]).not.toHaveProperty(pointer.slice(1));
  });
});
