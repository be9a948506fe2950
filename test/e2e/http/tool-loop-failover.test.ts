import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import { scriptedOrigin, scriptedUrl } from "../../../src/simulator/server.ts";
import { dialogue } from "../support/dialogue.ts";
import { askFormat, FORMATS, type FormatName } from "../support/formats.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";

/*
 * A tool loop whose steps different providers serve, as after a failover: each takes what the others left in the history,
 * while the client asks for thinking as it does of one model.
 */

interface Target {
  readonly vendor: string;
  readonly dialect: string;
  readonly model: string;
  readonly at?: string;
}

const CLAUDES: Readonly<Record<string, Target>> = {
  "claude-sonnet-4-5": { vendor: "anthropic", dialect: "anthropic", model: "claude-sonnet-4-5-20250929" },
  "claude-opus-4-6": { vendor: "anthropic", dialect: "anthropic", model: "claude-opus-4-6" },
  "claude-opus-5-5": { vendor: "anthropic", dialect: "anthropic", model: "claude-opus-5-5" },
  "claude at vertex": {
    vendor: "vertex",
    dialect: "anthropic",
    model: "claude-haiku-4-5@20251001",
    at: "/v1/projects/p/locations/global/publishers/anthropic",
  },
  "claude at bedrock": {
    vendor: "bedrock",
    dialect: "bedrock",
    model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
  },
};
const OTHERS: Readonly<Record<string, Target>> = {
  openai: { vendor: "openai", dialect: "openai", model: "gpt-4o" },
  deepseek: { vendor: "deepseek", dialect: "openai", model: "deepseek-reasoner" },
  gemini: { vendor: "gemini", dialect: "gemini", model: "gemini-2.5-flash" },
  openrouter: { vendor: "openrouter", dialect: "openai", model: "anthropic/claude-sonnet-4.5" },
};
const TARGETS = { ...CLAUDES, ...OTHERS };

const CLEARING = { context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] } };

/** How clients of a format ask for thinking. */
const WISHES: readonly (readonly [FormatName, body: Json])[] = [
  ["messages", { max_tokens: 32_000, thinking: { type: "adaptive" }, ...CLEARING }],
  ["messages", { max_tokens: 32_000, thinking: { type: "enabled", budget_tokens: 31_999 }, ...CLEARING }],
  ["chat", { reasoning_effort: "high", max_completion_tokens: 16_000 }],
  ["responses", { reasoning: { effort: "high" } }],
];

let gateway: TestGateway;
let user: TestUser;

beforeAll(async () => {
  gateway = await TestGateway.start({
    config: (origin) => ({
      upstreams: Object.fromEntries(Object.entries(TARGETS).map(([name, one]) => [slug(name), upstream(origin, one)])),
      models: Object.fromEntries(
        Object.entries(TARGETS).map(([name, { model }]) => [
          `route/${slug(name)}`,
          {
            kind: "chat",
            tier: "Free",
            owned_by: "simulator",
            price: { input_per_million: 1, output_per_million: 2 },
            chain: [{ upstream: slug(name), model }],
          },
        ]),
      ),
    }),
  });
  user = await gateway.user({ credits: "1000" });
});
afterAll(() => gateway.close());

function slug(name: string): string {
  return name.replaceAll(" ", "-");
}

function upstream(origin: string, { vendor, dialect, at = "" }: Target): Json {
  const script = `vendor=${vendor}`;
  const base_url = dialect === "openai" ? scriptedUrl(origin, script) : scriptedOrigin(origin, script) + at;
  const api_keys = [dialect === "bedrock" ? "AKID:secret" : "upstream-key"];
  return { dialect, base_url, api_keys, retries: { attempts: 1 }, ...(dialect === "openai" && { vendor }) };
}

const SCHEMA = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

/** Two loops, each begun by one provider and gone on with by the next. @returns what was not answered. */
async function faultsOf(format: FormatName, wish: Json, names: readonly [string, string]): Promise<readonly string[]> {
  const talk = dialogue(format);
  const faults: string[] = [];
  const step = async (name: string) => {
    const body = { ...wish, tools: [FORMATS[format].tool("get_weather", SCHEMA)], ...talk.history };
    const headers = { "anthropic-version": "2023-06-01", "anthropic-beta": "context-management-2025-06-27" };
    const answer = await askFormat(gateway, user, format, { model: `route/${slug(name)}`, ...body }, { headers });
    if (answer.status !== 200) faults.push(`${name}: ${answer.status} ${answer.text.slice(0, 300)}`);
    return answer.status === 200 ? talk.take(JSON.parse(answer.text) as Json) : [];
  };
  const [first, second] = names;
  for (const [begins, ends] of [
    [first, second],
    [second, first],
  ] as const) {
    talk.ask("get_weather please");
    const calls = await step(begins);
    if (calls.length === 0) faults.push(`${begins}: called nothing`);
    for (const call of calls) talk.give(call, "rain");
    await step(ends);
  }
  return faults;
}

describe.each(Object.keys(CLAUDES))("%s", (claude) => {
  test.each(Object.keys(TARGETS).filter((other) => other !== claude))(
    "and %s go on with each other's",
    async (other) => {
      const faults = await Promise.all(WISHES.map(([format, wish]) => faultsOf(format, wish, [claude, other])));
      expect(faults.flat()).toEqual([]);
    },
  );
});
