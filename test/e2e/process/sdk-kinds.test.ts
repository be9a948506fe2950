import OpenAI, {
  APIError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  toFile,
} from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { poll } from "../support/child.ts";
import { wav } from "../support/form.ts";
import { kindsConfiguration } from "../support/kind-models.ts";
import { type Account, type GatewayProcess, type SimProcess, Workspace } from "../support/process.ts";

/** The official client, unmodified, on everything but chat: a gateway process in front of a simulator process. */
let workspace: Workspace;
let sim: SimProcess;
let gateway: GatewayProcess;
let user: Account;

const RATE = 8_000;
/** A second and a half. */
const SAID = wav(1_500);
const TRANSCRIPT = `This is a simulated transcript of said.wav, ${SAID.length} bytes.`;

beforeAll(async () => {
  workspace = new Workspace();
  sim = await workspace.sim();
  const config = kindsConfiguration(sim.origin);
  const limits = { day: 9, hour: "none", minute: "none", streams: "none" } as const;
  workspace.write("gateway.yaml", { ...config, tiers: { ...config.tiers, Tiny: { access: ["Free"], limits } } });
  gateway = await workspace.serve();
  user = await workspace.account();
});
afterAll(() => workspace.close());

function client(apiKey = user.key): OpenAI {
  return new OpenAI({ baseURL: `${gateway.origin}/v1`, apiKey, maxRetries: 0 });
}

/** Travels through the gateway to the simulator, as any unknown field does. */
const script = (sim: object): object => ({ sim });
const audioFile = () => toFile(SAID, "said.wav", { type: "audio/wav" });
const transcribe = async (more: object = {}) =>
  client().audio.transcriptions.create({ model: "route/listen", file: await audioFile(), ...more });

describe("models", () => {
  test("are listed, by iteration too", async () => {
    const ids: string[] = [];
    for await (const model of client().models.list()) ids.push(model.id);
    expect(ids).toEqual(["route/one", "route/max", "route/embed", "route/voice", "route/listen", "route/paint"]);
    expect((await client().models.list()).data.map(({ id }) => id)).toEqual(ids);
  });

  test.each([
    ["route/one", true],
    ["route/max", false],
  ])("%s is retrieved by its name, slash and all; allowed: %j", async (id, allowed) => {
    const model = await client().models.retrieve(id);
    expect(model).toMatchObject({
      id,
      object: "model",
      created: expect.any(Number),
      owned_by: "alpha",
      tier: expect.any(String),
      allowed,
      kind: "chat",
      features: expect.any(Array),
      plans: expect.any(Array),
    });
  });
});

/** What the simulator itself says, in numbers. */
async function vectors(input: string | readonly string[]): Promise<readonly number[][]> {
  const response = await fetch(`${sim.origin}/v1/embeddings`, {
    method: "POST",
    headers: { authorization: "Bearer upstream-key", "content-type": "application/json" },
    body: JSON.stringify({ model: "sim-embed", input, encoding_format: "float" }),
  });
  return ((await response.json()) as { data: { embedding: number[] }[] }).data.map(({ embedding }) => embedding);
}

/** As clients do that decode without looking. */
function decoded(embedding: unknown): number[] {
  const bytes = Buffer.from(embedding as string, "base64");
  return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(4 * index));
}

describe("embeddings", () => {
  const single = "Hello there";
  const many = ["Hello there", "General", "ünïcödé 🔑", " "];

  test.each<[string, string | string[]]>([
    ["one text", single],
    ["many texts", many],
  ])("of %s are numbers, whatever the client asks for on the wire", async (_, input) => {
    const truth = (await vectors(input)).map((vector) => vector.map(Math.fround));
    for (const encoding of [undefined, "float", "base64"] as const) {
      const more = encoding === undefined ? {} : { encoding_format: encoding };
      for (const embedding of [undefined, "float", "base64"]) {
        const asked = { model: "route/embed", input, ...more, ...script(embedding === undefined ? {} : { embedding }) };
        const { data, model, usage, object } = await client().embeddings.create(asked);
        expect([object, model, usage.prompt_tokens > 0]).toEqual(["list", "route/embed", true]);
        const got = data.map((one) => (encoding === "base64" ? decoded(one.embedding) : one.embedding));
        expect(got.map((vector) => vector.map(Math.fround))).toEqual(truth);
        expect(data.map(({ index }) => index)).toEqual(truth.map((_vector, index) => index));
      }
    }
  });

  test("dimensions are passed on", async () => {
    const { data } = await client().embeddings.create({ model: "route/embed", input: single, dimensions: 7 });
    expect(data[0]?.embedding).toHaveLength(7);
  });
});

describe("speech", () => {
  const asked = { model: "route/voice", voice: "sage", input: "Say it, please." } as const;

  test.each([
    [undefined, "audio/mpeg", "ID3|\\xff"],
    ["mp3", "audio/mpeg", "ID3|\\xff"],
    ["wav", "audio/wav", "RIFF"],
    ["flac", "audio/flac", "fLaC"],
    ["opus", "audio/opus", "OggS"],
  ] as const)("as %s", async (format, type, head) => {
    const more = format === undefined ? {} : { response_format: format };
    const response = await client().audio.speech.create({ ...asked, ...more });
    expect(response.headers.get("content-type")).toBe(type);
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes.toString("latin1")).toMatch(new RegExp(`^(?:${head})`));
  });

  test("is byte for byte what the upstream sent", async () => {
    const requestId = crypto.randomUUID();
    const response = await client().audio.speech.create(
      { ...asked, ...script({ chunks: 20, chunk_delay: "5ms" }) },
      { headers: { "x-request-id": requestId } },
    );
    let bytes = 0;
    for await (const chunk of response.body!) bytes += chunk.length;
    expect(bytes).toBe((await sim.entry(requestId))?.bytes);
    const entry = await workspace.charged(user.id, requestId);
    expect(entry).toMatchObject({ outcome: "served", estimated: false, usage: { characters: asked.input.length } });
    expect(entry.charge).toBe(1_000_000n * BigInt(asked.input.length));
  });

  test("arrives while it is made; aborted half-way it is closed upstream within a second, and charged", async () => {
    const requestId = crypto.randomUUID();
    const controller = new AbortController();
    const response = await client().audio.speech.create(
      { ...asked, ...script({ chunks: 10_000, chunk_delay: "20ms" }) },
      { signal: controller.signal, headers: { "x-request-id": requestId } },
    );
    const reader = response.body!.getReader();
    await reader.read();
    const abortedAt = Date.now();
    controller.abort();
    const rest = async (): Promise<void> => {
      while (!(await reader.read()).done);
    };
    await expect(rest()).rejects.toThrow("aborted");
    const seen = await poll(async () => {
      const entry = await sim.entry(requestId);
      return entry?.closedAt ? entry : null;
    });
    expect(seen.aborted).toBe(true);
    expect(seen.closedAt! - abortedAt).toBeLessThan(1_000);
    expect(await workspace.charged(user.id, requestId)).toMatchObject({
      outcome: "client_gone",
      charge: 1_000_000n * BigInt(asked.input.length),
    });
  });

  test("broken off upstream: the client's body fails, it does not just end", async () => {
    const response = await client().audio.speech.create({ ...asked, ...script({ chunks: 20, reset_after: 5 }) });
    await expect(response.arrayBuffer()).rejects.toThrow("terminated");
  });
});

describe("transcriptions", () => {
  test("as the specification's object", async () => {
    expect(await transcribe()).toEqual({ text: TRANSCRIPT, segments: [], language: "" });
    expect(await transcribe({ language: "en" })).toMatchObject({ language: "en" });
  });

  test("as text, srt and vtt", async () => {
    expect(await transcribe({ response_format: "text" })).toBe(`${TRANSCRIPT}\n`);
    expect(await transcribe({ response_format: "srt" })).toMatch(/^1\n00:00:00,000 --> 00:00:0\d,\d{3}\nThis is/);
    expect(await transcribe({ response_format: "vtt" })).toMatch(
      /^WEBVTT\n\n00:00:00\.000 --> 00:00:0\d\.\d{3}\nThis is/,
    );
  });

  test.each([[["word"]], [["segment"]], [["word", "segment"]], [undefined]] as const)(
    "verbose, with times for %j",
    async (timestamp_granularities) => {
      const answer = await client().audio.transcriptions.create({
        model: "route/listen",
        file: await audioFile(),
        response_format: "verbose_json",
        ...(timestamp_granularities && { timestamp_granularities: [...timestamp_granularities] }),
      });
      const wants = (one: "word" | "segment") =>
        (timestamp_granularities ?? ["segment"]).some((other) => other === one);
      expect(answer).toMatchObject({ text: TRANSCRIPT, duration: 1.5, language: "english" });
      expect(answer.words?.map(({ word }) => word).join(" ")).toBe(wants("word") ? TRANSCRIPT : undefined);
      expect((answer.segments ?? []).map(({ text }) => text.trim()).join(" ")).toBe(wants("segment") ? TRANSCRIPT : "");
      for (const { start, end } of answer.words ?? []) expect(start).toBeLessThan(end);
    },
  );

  test("the upstream gets the very file, and its seconds are charged", async () => {
    const { data, request_id } = await client()
      .audio.transcriptions.create({ file: await audioFile(), model: "route/listen", prompt: "Names: Ada." })
      .withResponse();
    expect(data.text).toBe(TRANSCRIPT);
    const seen = await sim.entry(request_id!);
    expect(seen?.upload).toMatchObject({ name: "said.wav", type: "audio/wav", size: SAID.length });
    expect(seen?.upload?.fields["prompt"]).toEqual(["Names: Ada."]);
    const entry = await workspace.charged(user.id, request_id!);
    expect(entry.usage.milliseconds).toBe((SAID.length - 44) / 2 / (RATE / 1000));
    expect(entry.charge).toBe(1_500_000n);
  });
});

/** Width and height of a PNG. */
function png(base64: string | undefined): readonly [number, number] {
  const bytes = Buffer.from(base64 ?? "", "base64");
  expect(bytes.toString("latin1", 1, 4)).toBe("PNG");
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
}

describe("images", () => {
  test("as base64, of the size that was asked for", async () => {
    const asked = { model: "route/paint", prompt: "a red boat", n: 2, response_format: "b64_json" } as const;
    const { data, created } = await client().images.generate({ ...asked, size: "256x256" });
    expect(created).toBeGreaterThan(0);
    expect(data?.map(({ b64_json, url }) => [png(b64_json), url])).toEqual([
      [[256, 256], null],
      [[256, 256], null],
    ]);
  });

  test("by address", async () => {
    const { data, _request_id } = await client().images.generate({
      model: "route/paint",
      prompt: "a red boat",
      response_format: "url",
      size: "512x512",
    });
    const served = await fetch(data![0]!.url!);
    expect(png(Buffer.from(await served.arrayBuffer()).toString("base64"))).toEqual([512, 512]);
    expect((await workspace.charged(user.id, _request_id!)).charge).toBe(40_000_000n);
  });
});

interface Failure {
  readonly kind: abstract new (...args: never[]) => APIError;
  readonly text: string;
  readonly code: string | null;
}

const failing: Readonly<Record<string, [(key: string) => Promise<unknown>, Failure]>> = {
  "embeddings with a key nobody has": [
    () => client(`rk_${"0".repeat(64)}`).embeddings.create({ model: "route/embed", input: "x" }),
    { kind: AuthenticationError, text: "Invalid API key", code: "AUTHENTICATION_ERROR" },
  ],
  "models of a key nobody has": [
    () => client("nonsense").models.retrieve("route/one"),
    { kind: AuthenticationError, text: "Invalid or expired token", code: null },
  ],
  "a model that is not there": [
    () => client().models.retrieve("route/none"),
    { kind: NotFoundError, text: "Model not found", code: null },
  ],
  "images of a chat model": [
    () => client().images.generate({ model: "route/one", prompt: "x" }),
    { kind: NotFoundError, text: "Model not found", code: null },
  ],
  "embeddings of a chat model": [
    () => client().embeddings.create({ model: "route/one", input: "x" }),
    { kind: BadRequestError, text: "Invalid model: 'route/one'", code: "INVALID_MODEL" },
  ],
  "embeddings of nothing": [
    () => client().embeddings.create({ model: "route/embed", input: [] }),
    { kind: BadRequestError, text: "Invalid request: /input", code: "INVALID_REQUEST" },
  ],
  "a voice that the model has not": [
    () => client().audio.speech.create({ model: "route/voice", voice: "nobody", input: "x" }),
    { kind: BadRequestError, text: "Invalid request: /voice", code: "INVALID_REQUEST" },
  ],
  "a transcription of an empty file": [
    async () =>
      client().audio.transcriptions.create({ model: "route/listen", file: await toFile(Buffer.alloc(0), "a.wav") }),
    { kind: BadRequestError, text: "Invalid request: /file must not be empty", code: "INVALID_REQUEST" },
  ],
  "what the upstream refuses": [
    () =>
      client().images.generate({ model: "route/paint", prompt: "x", ...script({ status: 400, message: "no boats" }) }),
    { kind: BadRequestError, text: "no boats", code: "INVALID_REQUEST" },
  ],
  "a plan without the model": [
    () => client().chat.completions.create({ model: "route/max", messages: [{ role: "user", content: "x" }] }),
    { kind: PermissionDeniedError, text: "not available on your plan", code: "MODEL_NOT_ALLOWED" },
  ],
};

/** What the client throws. */
async function caught(attempt: Promise<unknown>): Promise<APIError> {
  const error: unknown = await attempt.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(APIError);
  return error as APIError;
}

describe("errors", () => {
  test.each(Object.entries(failing))("%s", async (_, [attempt, { kind, text, code }]) => {
    const error = await caught(attempt(user.key));
    expect(error).toBeInstanceOf(kind);
    expect(error.message).toContain(text);
    expect(error.headers?.get("x-error-code")).toBe(code);
  });

  test("no credits: 402", async () => {
    const poor = await workspace.account("Free", 0n);
    const error = await caught(client(poor.key).images.generate({ model: "route/paint", prompt: "x" }));
    expect(error).toMatchObject({ status: 402, message: "402 Insufficient credits for this request" });
  });

  test("a day of nine requests has room for one speech", async () => {
    const small = await workspace.account("Tiny");
    const speak = () => client(small.key).audio.speech.create({ model: "route/voice", voice: "sage", input: "x" });
    expect((await speak()).status).toBe(200);
    const error = await caught(speak());
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error.message).toBe("429 Daily request limit exceeded");
    expect(error.headers?.get("x-error-code")).toBe("DAILY_REQUEST_LIMIT_EXCEEDED");
    await client(small.key).embeddings.create({ model: "route/embed", input: "x" });
  });

  test("an upstream that fails: 502 in the words of image clients", async () => {
    const error = await caught(
      client().images.generate({ model: "route/paint", prompt: "x", ...script({ status: 500 }) }),
    );
    expect(error).toMatchObject({ status: 502, type: "api_error" });
    expect(error.headers?.get("x-should-retry")).toBeNull();
    expect(error.headers?.get("retry-after")).toBe("1");
  });
});

test("afterwards the books balance and nothing is held", async () => {
  const { drift, running } = await workspace.books(user.id);
  expect(running).toEqual({ requests: 0, streams: 0, held: 0n });
  expect(drift).toBe(0n);
});
