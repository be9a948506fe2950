import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EventStreamCodec } from "@smithy/eventstream-codec";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isJson } from "../../../src/kit/index.ts";
import { scriptedOrigin, type Simulator, startSimulator } from "../../../src/simulator/server.ts";
import { sharedFixtures } from "../../support/shared.ts";
import { call, placesOf, type Seen } from "../support.ts";

let simulator: Simulator;
beforeAll(async () => (simulator = await startSimulator()));
afterAll(() => simulator.close());

const user = (text: string) => ({ role: "user", content: [{ text }] });
const said = (text: string, more: object = {}) => ({ messages: [user(text)], ...more });
const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const toolConfig = { tools: [{ toolSpec: { name: "get_weather", inputSchema: { json: schema } } }] };

const ask = (body: object, script = "-", model = "m", headers: Record<string, string> = {}, kind = "converse") =>
  call(`${scriptedOrigin(simulator.origin, script)}/model/${model}/${kind}`, { body, headers });
const stream = (body: object, script = "-", model = "m") => ask(body, script, model, {}, "converse-stream");

interface Frame {
  readonly type: string;
  readonly name: string;
  readonly payload: Record<string, unknown>;
}

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes as Uint8Array).toString(),
  (text) => Buffer.from(text),
);
/** @throws Error for a frame whose checksum is wrong */
function framesOf({ body }: Seen): readonly Frame[] {
  const frames: Frame[] = [];
  for (let at = 0; at < body.length; at += body.readUInt32BE(at)) {
    const { headers, body: payload } = codec.decode(body.subarray(at, at + body.readUInt32BE(at)));
    const header = (name: string) => String(headers[name]?.value ?? "");
    expect(header(":content-type")).toBe("application/json");
    frames.push({
      type: header(":message-type"),
      name: header(":event-type") || header(":exception-type"),
      payload: JSON.parse(Buffer.from(payload).toString()) as Record<string, unknown>,
    });
  }
  return frames;
}
const contentOf = (seen: Seen) =>
  (JSON.parse(seen.text) as { output: { message: { content: Record<string, unknown>[] } } }).output.message.content;
const at = (value: unknown, ...names: readonly string[]) =>
  names.reduce((inner, name) => (isJson(inner) ? inner[name] : undefined), value);
const messageOf = (seen: Seen) => (JSON.parse(seen.text) as { message: string }).message;

describe("answers", () => {
  test("a model's colon is encoded, and the model is what it stands for", async () => {
    await ask(said("hi"), "-", "anthropic.claude-sim-v1%3A0");
    expect(simulator.ledger().at(-1)).toMatchObject({
      model: "anthropic.claude-sim-v1:0",
      path: "/sim/-/model/anthropic.claude-sim-v1%3A0/converse",
    });
    expect((await ask(said("hi"), "-", "a%zz")).status).toBe(400);
  });
});

const recordings = sharedFixtures("vercel-ai");

describe("streams", () => {
  test.skipIf(recordings === null).each([
    ["reasoning", "hi", "reason", {}],
    ["tool-call.1", "get_weather", "m", { toolConfig }],
  ])("nothing is in their events that is not in the recording %s", async (name, text, model, more) => {
    const lines = readFileSync(join(recordings ?? "", `amazon-bedrock/amazon-bedrock-${name}.chunks.txt`), "utf8");
    const known = new Set(lines.split("\n").flatMap((line) => (line === "" ? [] : placesOf(JSON.parse(line)))));
    const made = framesOf(await stream(said(text, more), "-", model)).flatMap(({ name: event, payload }) =>
      placesOf({ [event]: payload }),
    );
    const beyond = /^messageStart|cache(?:Read|Write)InputTokens$/;
    expect(made.filter((place) => !known.has(place) && !beyond.test(place))).toEqual([]);
  });

  test.each([
    ["error_after=2&message=Busy", "internalServerException"],
    ["error_first", "internalServerException"],
  ])("%s is a frame of its own kind", async (script, name) => {
    const last = framesOf(await stream(said("hi"), script)).at(-1);
    expect(last).toMatchObject({
      type: "exception",
      name,
      payload: { message: expect.stringMatching(/Busy|failure/) as string },
    });
  });

  test("ends for the same reason as a whole answer, with the same redacted reasoning", async () => {
    const body = said("hi", { inferenceConfig: { stopSequences: ["simulated answer"] } });
    const frames = framesOf(await stream(body, "-", "reason-redact"));
    expect(frames.find(({ name }) => name === "messageStop")?.payload).toEqual({ stopReason: "stop_sequence" });
    const [redacted] = contentOf(await ask(body, "-", "reason-redact"));
    expect(frames[1]?.payload["delta"]).toEqual(redacted);
  });

  test("malformed_after is a frame with a wrong checksum", async () => {
    const seen = await stream(said("hi"), "malformed_after=2");
    expect(() => framesOf(seen)).toThrow("checksum");
  });

  test.each([
    ["metadata=before", ["metadata", "messageStop"]],
    ["end_after=3", ["contentBlockDelta", "contentBlockDelta"]],
    ["finish=guardrail_intervened", ["messageStop", "metadata"]],
  ])("%s", async (script, last) => {
    expect(
      framesOf(await stream(said("hi"), script))
        .slice(-2)
        .map(({ name }) => name),
    ).toEqual(last);
  });
});

const use = { toolUse: { toolUseId: "t1", name: "get_weather", input: {} } };
const loop = (content: readonly object[], id = "t1", more: object = { toolConfig }) => ({
  messages: [
    user("x"),
    { role: "assistant", content },
    { role: "user", content: [{ toolResult: { toolUseId: id, content: [{ text: "sunny" }], status: "success" } }] },
  ],
  ...more,
});

describe("refusals", () => {
  test.each<[string, object, string]>([
    ["no messages", {}, "Value at 'messages'"],
    [
      "the assistant first",
      { messages: [{ role: "assistant", content: [{ text: "x" }] }] },
      "must start with a user message",
    ],
    ["the user twice", { messages: [user("x"), user("y")] }, "must alternate"],
    ["a system message", { messages: [{ role: "system", content: [{ text: "x" }] }] }, "enum value set"],
    ["content as text", { messages: [{ role: "user", content: "x" }] }, "content field in the Message object"],
    ["a blank text", said(" "), "is blank"],
    [
      "an OpenAI part",
      { messages: [{ role: "user", content: [{ type: "text", text: "x" }] }] },
      "must set one of the following keys",
    ],
    [
      "a call without its answer",
      { messages: [user("x"), { role: "assistant", content: [use] }, user("y")], toolConfig },
      "Expected toolResult blocks",
    ],
    ["a stray answer", loop([{ text: "x" }]), "exceeds the number of toolUse blocks"],
    ["calls without tools", loop([use], "t1", {}), "toolConfig field must be defined"],
    [
      "an id of other letters",
      loop([{ toolUse: { ...use.toolUse, toolUseId: "a:b" } }], "a:b"),
      "regular expression pattern",
    ],
    [
      "a made-up signature",
      loop([{ reasoningContent: { reasoningText: { text: "x", signature: "c2ln" } } }, use]),
      "Invalid `signature`",
    ],
    ["a temperature of 2", said("x", { inferenceConfig: { temperature: 2 } }), "inferenceConfig.temperature"],
    ["no tools", said("x", { toolConfig: { tools: [] } }), "toolConfig.tools"],
    [
      "a schema of no object",
      said("x", { toolConfig: { tools: [{ toolSpec: { name: "x", inputSchema: { json: {} } } }] } }),
      "inputSchema.json.type",
    ],
    [
      "an empty description",
      said("x", {
        toolConfig: { tools: [{ toolSpec: { name: "x", description: "", inputSchema: { json: schema } } }] },
      }),
      "description",
    ],
    [
      "a data URL",
      {
        messages: [
          { role: "user", content: [{ image: { format: "png", source: { bytes: "data:image/png;base64,AA" } } }] },
        ],
      },
      "format or source",
    ],
    [
      "a document alone",
      { messages: [{ role: "user", content: [{ document: { format: "pdf", name: "a", source: { bytes: "AA" } } }] }] },
      "text block must be included",
    ],
    [
      "a document's name",
      {
        messages: [
          {
            role: "user",
            content: [{ text: "x" }, { document: { format: "pdf", name: "a.pdf", source: { bytes: "AA" } } }],
          },
        ],
      },
      "document file name",
    ],
  ])("%s", async (_, body, what) => {
    const seen = await ask(body);
    expect(seen.status).toBe(400);
    expect(seen.headers["x-amzn-errortype"]).toMatch(/^ValidationException:/);
    expect(messageOf(seen)).toContain(what);
  });

  test.each([
    ["status=429", 429, "ThrottlingException"],
    ["status=503", 503, "ServiceUnavailableException"],
    ["status=500", 500, "InternalServerException"],
    ["status=403", 403, "AccessDeniedException"],
  ])("%s", async (script, status, type) => {
    const seen = await ask(said("hi"), script);
    expect([seen.status, seen.headers["x-amzn-errortype"]?.toString().split(":")[0]]).toEqual([status, type]);
  });

  test("reasoning comes back as it was given", async () => {
    const content = contentOf(await ask(said("get_weather", { toolConfig }), "-", "reason"));
    const id = String(at(content[1], "toolUse", "toolUseId"));
    expect((await ask(loop(content, id))).status).toBe(200);
    const signature = at(content[0], "reasoningContent", "reasoningText", "signature");
    const told = { reasoningText: { text: "x", signature } };
    expect((await ask(loop([{ reasoningContent: told }, ...content.slice(1)], id))).status).toBe(400);
  });
});

const BODY = JSON.stringify(said("hi"));
const signature = (more: Record<string, string> = {}) => {
  const { day = "20260101", service = "bedrock", signed = "content-type;host;x-amz-date", ...rest } = more;
  return {
    authorization: `AWS4-HMAC-SHA256 Credential=AKID/${day}/us-east-1/${service}/aws4_request, SignedHeaders=${signed}, Signature=${"0a".repeat(32)}`,
    "x-amz-date": "20260101T000000Z",
    ...rest,
  };
};
const send = (headers: Record<string, string>) => call(`${simulator.origin}/model/m/converse`, { body: BODY, headers });

describe("credentials", () => {
  test.each([
    ["a signature", signature()],
    ["a signature of these bytes", signature({ "x-amz-content-sha256": hash("sha256", BODY) })],
    ["a Bearer key", { authorization: "Bearer key" }],
  ])("%s is good", async (_, headers) => {
    expect((await send(headers)).status).toBe(200);
  });

  test.each([
    ["an empty header", { authorization: "" }, "IncompleteSignatureException"],
    ["a basic one", { authorization: "Basic x" }, "IncompleteSignatureException"],
    ["another service", signature({ service: "s3" }), "InvalidSignatureException"],
    ["another day", signature({ day: "20260102" }), "InvalidSignatureException"],
    ["no date", signature({ "x-amz-date": "" }), "InvalidSignatureException"],
    ["an unsigned host", signature({ signed: "x-amz-date" }), "InvalidSignatureException"],
    ["other bytes", signature({ "x-amz-content-sha256": hash("sha256", "x") }), "InvalidSignatureException"],
  ])("%s is not", async (_, headers, type) => {
    const seen = await send(headers);
    expect(seen.status).toBe(403);
    expect(seen.headers["x-amzn-errortype"]).toMatch(new RegExp(`^${type}:`));
  });
});
