import { describe, expect, test } from "vitest";
import { type DialectName, type Medium, mediaTokens, mostMediaTokens } from "../../src/kit/index.ts";
import { testModel, testSnapshot, testTarget } from "../support/snapshot.ts";

const image = (width: number, height: number, detail?: string): Medium => ({
  kind: "image",
  size: { width, height },
  ...(detail !== undefined && { detail }),
});

/* Each figure is one that the provider's page works out, or was measured there. */
test.each<[dialect: DialectName, model: string, medium: Medium, tokens: number]>([
  // https://platform.claude.com/docs/en/build-with-claude/vision
  ["anthropic", "claude-haiku-4-5", image(1_000, 1_000), 1_296],
  ["anthropic", "claude-opus-4-7", image(1_920, 1_080), 2_691],
  ["anthropic", "claude-opus-5-5", image(3_840, 2_160), 4_784],
  ["anthropic", "claude-sonnet-4-20250514", image(8_000, 8_000), 1_568],
  ["anthropic", "claude-sonnet-4-5-20250929", image(200, 200), 64],
  ["anthropic", "any", image(1, 1), 1],
  ["bedrock", "us.anthropic.claude-opus-4-6-v1", image(1_000, 1_000), 1_296],
  ["openai", "anthropic/claude-opus-4.7", image(2_576, 1_449), 4_784],
  // https://developers.openai.com/api/docs/guides/images-vision#calculating-costs
  ["openai", "gpt-4o", image(1_024, 1_024), 765],
  ["openai", "gpt-4o", image(2_048, 4_096), 1_105],
  ["openai", "gpt-4o", image(4_096, 8_192, "low"), 85],
  ["openai", "gpt-4o-mini", image(1_024, 1_024), 25_501],
  ["openai", "gpt-4.1-mini", image(1_024, 1_024), 1_659],
  ["openai", "gpt-4.1-mini", image(1_800, 2_400), 2_489],
  ["openai", "o4-mini", image(1_024, 1_024), 1_762],
  ["openai", "o3", image(1_024, 1_024), 675],
  ["azure", "gpt-5", image(1_024, 1_024), 630],
  // https://huggingface.co/datasets/JOHNISKING/image-token-cost
  ["openai", "gpt-6-astra", image(256, 256), 77],
  ["openai", "gpt-6-astra", image(1_920, 1_080), 2_448],
  ["openai", "gpt-6-astra", image(4_032, 3_024), 14_364],
  ["openai", "gpt-5.5", image(3_840, 2_160), 9_792],
  // https://ai.google.dev/gemini-api/docs/tokens
  ["gemini", "gemini-2.5-flash", image(384, 384), 258],
  ["gemini", "gemini-2.5-flash", image(960, 540), 516],
  ["gemini", "gemini-2.5-flash", { kind: "audio", seconds: 60 }, 1_920],
  ["gemini", "gemini-2.5-flash", { kind: "document", pages: 3 }, 774],
  ["gemini", "any", image(1_000, 1_000), 1_032],
  // https://ai.google.dev/gemini-api/docs/media-resolution
  ["gemini", "gemini-3-pro", image(4_000, 3_000), 1_120],
  ["gemini", "gemini-3-pro", { kind: "document", pages: 3 }, 1_680],
  // https://platform.claude.com/docs/en/build-with-claude/pdf-support
  ["anthropic", "claude-opus-5", { kind: "document", pages: 3 }, 9_000],
  // What is not known.
  ["anthropic", "claude-opus-5", { kind: "image" }, 1_600],
  ["openai", "gpt-4o", { kind: "document" }, 3_000],
  ["gemini", "gemini-3-pro", { kind: "audio" }, 10_000],
  ["gemini", "gemini-3-pro", { kind: "video" }, 10_000],
])("%s %s: %j is %i", (dialect, model, medium, tokens) => {
  expect(mediaTokens([medium], { dialect, model })).toBe(tokens);
  expect(mediaTokens([medium, medium], { dialect, model })).toBe(2 * tokens);
});

describe("before it is known which target serves", () => {
  test("the one counts that counts the most", () => {
    const { upstreams } = testSnapshot();
    const [upstream = ""] = Object.keys(upstreams);
    const targets = ["gpt-4o", "gpt-4o-mini"].map((model) => testTarget(upstream, { model }));
    const model = testModel("route/a", { chain: targets.map((target) => ({ balance: "single", targets: [target] })) });
    expect(mostMediaTokens([image(1_024, 1_024)], model, upstreams)).toBe(25_501);
    expect(mostMediaTokens([], model, upstreams)).toBe(0);
    expect(mostMediaTokens([{ kind: "image" }], { ...model, chain: [] }, upstreams)).toBe(0);
  });
});
