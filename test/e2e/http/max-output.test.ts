import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import { scriptedOrigin, scriptedUrl } from "../../../src/simulator/server.ts";
import { askFormat, FORMAT_NAMES, FORMATS, type FormatName } from "../support/formats.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";

/* `max_output` of a model bounds what is sent, whatever the client and the upstream call the limit (decisions 11.2). */

const BOUND = 2_222;

interface Target {
  readonly model: string;
  readonly dialect: string;
  readonly path?: string;
  readonly more?: Json;
}

const TARGETS: Readonly<Record<string, Target>> = {
  "gpt-4o": { dialect: "openai", model: "gpt-4o", more: { vendor: "openai" } },
  "o4-mini": { dialect: "openai", model: "o4-mini", more: { vendor: "openai" } },
  mistral: { dialect: "openai", model: "mistral-large-latest", more: { vendor: "mistral" } },
  generic: { dialect: "openai", model: "any", more: { vendor: "generic" } },
  responses: {
    dialect: "openai",
    model: "gpt-5",
    more: { vendor: "openai", api: "responses" },
  },
  azure: { dialect: "azure", model: "gpt-4o", path: "/openai/v1" },
  claude: { dialect: "anthropic", model: "claude-sonnet-4-5" },
  bedrock: { dialect: "bedrock", model: "amazon.nova-pro-v1:0" },
  "claude-bedrock": {
    dialect: "bedrock",
    model: "anthropic.claude-sonnet-4-5-20250929-v1:0",
  },
  gemini: { dialect: "gemini", model: "gemini-2.5-flash" },
  cohere: { dialect: "cohere", model: "command-a-reasoning-08-2025" },
};

/** What upstreams call it. */
const LIMIT = /"(?:max_tokens|max_completion_tokens|max_output_tokens|maxTokens|maxOutputTokens)":(\d+)/;

/** Every name that a client's format has for the limit, and the pointer that is told. */
const WISHES: readonly (readonly [FormatName, field: string])[] = [
  ["chat", "max_tokens"],
  ["chat", "max_completion_tokens"],
  ["messages", "max_tokens"],
  ["responses", "max_output_tokens"],
];

let gateway: TestGateway;
let user: TestUser;

beforeAll(async () => {
  gateway = await TestGateway.start({
    config: (origin) => ({
      upstreams: Object.fromEntries(Object.entries(TARGETS).map(([name, target]) => [name, upstream(origin, target)])),
      models: Object.fromEntries(
        Object.entries(TARGETS).map(([name, { model }]) => [
          `route/${name}`,
          {
            kind: "chat",
            tier: "Free",
            owned_by: "simulator",
            max_output: BOUND,
            price: { input_per_million: 1, output_per_million: 2 },
            chain: [{ upstream: name, model }],
          },
        ]),
      ),
    }),
  });
  user = await gateway.user({ credits: "1000" });
});
afterAll(() => gateway.close());

function upstream(origin: string, { dialect, path = "", more = {} }: Target): Json {
  const base_url = dialect === "openai" ? scriptedUrl(origin, "record") : scriptedOrigin(origin, "record") + path;
  const api_keys = [dialect === "bedrock" ? "AKID:secret" : "upstream-key"];
  return { dialect, base_url, api_keys, retries: { attempts: 1 }, ...more };
}

interface Seen {
  /** The limit that reached the upstream. */
  readonly limit: number | null;
  readonly sent: string;
  readonly dropped: readonly string[];
}

let asked = 0;

async function ask(format: FormatName, name: string, body: Json): Promise<Seen> {
  const id = `limit-${asked++}`;
  const answer = await askFormat(
    gateway,
    user,
    format,
    { ...FORMATS[format].prompt("Hello"), model: `route/${name}`, ...body },
    { headers: { "x-request-id": id, "anthropic-version": "2023-06-01" } },
  );
  expect(answer.status === 200 ? "served" : answer.text).toBe("served");
  const entry = gateway.simulator.ledger().find(({ requestId }) => requestId === id);
  const sent = entry?.body ?? "";
  const [, limit] = LIMIT.exec(sent) ?? [];
  const told = String(answer.headers["x-gateway-dropped"] ?? "");
  return { limit: limit === undefined ? null : Number(limit), sent, dropped: told.split(/,\s*/).filter(Boolean) };
}

describe.each(Object.keys(TARGETS))("to %s", (name) => {
  describe.each([false, true])("stream: %s", (stream) => {
    test.each(WISHES)("a wish of %s's %s beyond it is lowered and told", async (format, field) => {
      const { limit, sent, dropped } = await ask(format, name, { [field]: 32_000, stream });
      expect([limit, dropped]).toEqual([BOUND, [`/${field}`]]);
      expect(sent).not.toContain("32000");
    });

    test.each(WISHES)("a wish of %s's %s within it travels untold", async (format, field) => {
      expect(await ask(format, name, { [field]: BOUND, stream })).toMatchObject({ limit: BOUND, dropped: [] });
      expect(await ask(format, name, { [field]: 1_111, stream })).toMatchObject({ limit: 1_111, dropped: [] });
    });
  });

  test("two names of one limit are both lowered", async () => {
    const body = { max_tokens: 30_000, max_completion_tokens: 32_000 };
    const { sent, dropped } = await ask("chat", name, body);
    expect(sent).not.toMatch(/3[02]000/);
    expect(dropped.toSorted()).toEqual(["/max_completion_tokens", "/max_tokens"]);
  });

  test.each(FORMAT_NAMES.filter((format) => format !== "messages"))(
    "without a wish nothing is told to %s",
    async (format) => {
      expect((await ask(format, name, {})).dropped).toEqual([]);
    },
  );

  test("a budget for thinking stays below it", async () => {
    const body = { max_tokens: 32_000, thinking: { type: "enabled", budget_tokens: 31_999 } };
    const { sent, dropped } = await ask("messages", name, body);
    expect(sent).not.toMatch(/31999|32000/);
    expect(dropped).toContain("/max_tokens");
    expect(dropped).toContain("/thinking/budget_tokens");
  });
});
