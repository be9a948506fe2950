import { randomFillSync } from "node:crypto";
import { deflateSync, crc32 } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { GatewayConfig, TierConfig } from "#schema";
import { CAPABILITIES } from "../../../src/dialects/capabilities.ts";
import type { DialectName } from "../../../src/kit/index.ts";
import { scriptedOrigin, scriptedUrl } from "../../../src/simulator/server.ts";
import { configuration } from "./configuration.ts";
import { type Account, type GatewayProcess, type SimProcess, Workspace } from "./process.ts";

/** Every dialect that speaks to chat models. */
export const CHAT_DIALECTS = (Object.keys(CAPABILITIES) as readonly DialectName[]).filter((name) =>
  CAPABILITIES[name].served.includes("chat"),
);

/** What upstreams of a model do, by the end of its name. */
const SUFFIXES = {
  "": "-",
  "-cut": "?error_after=4",
  "-down": "?status=500",
  "-long": "?chunks=10000&chunk_delay=20ms",
};

/** A gateway process in front of a simulator process, with models `route/<dialect><suffix>` of every chat dialect. */
export class SdkStage {
  readonly workspace = new Workspace();
  sim!: SimProcess;
  gateway!: GatewayProcess;
  user!: Account;

  async start(): Promise<void> {
    this.sim = await this.workspace.sim();
    this.workspace.write("gateway.yaml", matrixConfiguration(this.sim.origin));
    this.gateway = await this.workspace.serve();
    this.user = await this.workspace.account();
  }

  get url(): string {
    return this.gateway.origin;
  }
}

function matrixConfiguration(origin: string): GatewayConfig {
  const base = configuration(origin);
  const upstreams: GatewayConfig["upstreams"] = {};
  const models: GatewayConfig["models"] = {};
  for (const dialect of CHAT_DIALECTS) {
    for (const [suffix, script] of Object.entries(SUFFIXES)) {
      const name = `${dialect}${suffix}`;
      upstreams[name] = {
        dialect,
        base_url: (dialect === "openai" ? scriptedUrl : scriptedOrigin)(origin, script),
        api_keys: ["upstream-key"],
        breaker: { consecutive: 1000, minimum: 1000 },
      };
      models[`route/${name}`] = { ...base.models["route/one"]!, chain: [{ upstream: name, model: "sim-one" }] };
    }
  }
  const tiny: TierConfig = { access: ["Free"], limits: { day: 1, hour: "none", minute: "none", streams: "none" } };
  return {
    ...base,
    upstreams,
    models: { ...models, "route/max": { ...models["route/openai"]!, tier: "Max" } },
    tiers: { ...base.tiers, Tiny: tiny },
  };
}

/** What a client's library makes of a conversation. */
export interface SdkClient {
  /** A complete answer: its text. */
  chat(model: string, prompt: string): Promise<string>;
  /** A streamed one, piece by piece. */
  stream(model: string, prompt: string): Promise<readonly string[]>;
  /** Lets the model call `get_weather` and answers `sunny`: the arguments of the calls, and the last text. */
  tools(
    model: string,
    prompt: string,
    streamed: boolean,
  ): Promise<{ readonly calls: readonly unknown[]; readonly text: string }>;
  /** Asks about a PNG. */
  image(model: string, prompt: string, png: Buffer): Promise<string>;
}

export const WEATHER = {
  name: "get_weather",
  description: "Weather in a city",
  parameters: {
    type: "object",
    properties: { city: { type: "string", enum: ["Oslo"] } },
    required: ["city"],
    additionalProperties: false,
  },
} as const;

/** A chat, a stream, a loop of tools and an image, over every dialect of upstream. */
export function describeMatrix(make: (stage: SdkStage) => Readonly<Record<string, () => SdkClient>>): SdkStage {
  const stage = new SdkStage();
  beforeAll(() => stage.start());
  afterAll(() => stage.workspace.close());
  const rows = CHAT_DIALECTS.flatMap((dialect) =>
    Object.entries(make(stage)).map(([name, client]) => [name, dialect, client] as const),
  );

  describe.each(rows)("%s over %s", (_, dialect, client) => {
    const model = `route/${dialect}`;

    test("a chat", async () => {
      expect(await client().chat(model, "Hello there")).toBe("This is a simulated answer. You said: Hello there");
    });

    test("a stream", async () => {
      const pieces = await client().stream(model, "one two");
      expect(pieces.join("")).toBe("This is a simulated answer. You said: one two");
      expect(pieces.length).toBeGreaterThan(1);
    });

    test.each([false, true])("a loop of tools (streamed: %s)", async (streamed) => {
      const { calls, text } = await client().tools(model, "Use get_weather", streamed);
      expect(calls).toEqual([{ city: "Oslo" }]);
      expect(text).toBe("This is a simulated answer. You said: Use get_weather");
    });

    test("an image reaches the upstream whole", async () => {
      const png = noise();
      const text = await client().image(model, "What is this?", png);
      expect(text).toMatch(/^This is a simulated answer\. You said: +What is this\?$/);
      const last = (await stage.sim.ledger()).at(-1)!;
      expect(last.requestBytes).toBeGreaterThan((png.length * 4) / 3);
    });

    test("a stream that the upstream breaks off is an error", async () => {
      await expect(client().stream(`${model}-cut`, "x")).rejects.toThrow(/./);
    });

    test("an upstream that is down is an error", async () => {
      await expect(client().chat(`${model}-down`, "x")).rejects.toThrow(/Every upstream failed: upstream answered 500/);
    });
  });

  test("afterwards the books balance and nothing is held", async () => {
    const { drift, running } = await stage.workspace.books(stage.user.id);
    expect(running).toEqual({ requests: 0, streams: 0, held: 0n });
    expect(drift).toBe(0n);
  });
  return stage;
}

/** A PNG of random dots, which no compression makes small. */
function noise(): Buffer {
  const [width, height] = [64, 64];
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const rows = Buffer.concat(
    Array.from({ length: height }, () => Buffer.concat([Buffer.from([0]), randomFillSync(Buffer.alloc(3 * width))])),
  );
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([head, body, sum]);
}
