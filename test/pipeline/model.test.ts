import { describe, expect, test } from "vitest";
import type { Json, Kind } from "../../src/kit/index.ts";
import { Bench } from "../support/bench.ts";
import { reads, testCall } from "../support/kinds.ts";
import { testModel } from "../support/snapshot.ts";
import { refusalOf } from "./checks.ts";

const MODELS = [
  testModel("route/free"),
  testModel("route/paint", { kind: "image", price: {} }),
  testModel("route/listen", { kind: "transcription", price: {} }),
  testModel("route/live", { kind: "transcription", price: {}, realtime: true }),
  testModel("route/voice", { kind: "speech", price: {}, voices: ["nova", "sage"] }),
  testModel("route/any-voice", { kind: "speech", price: {}, voices: [] }),
];

async function refused(kind: Kind, body: Json) {
  const bench = await Bench.create({ models: MODELS });
  const refusal = refusalOf(await bench.serve({ read: reads(testCall(kind, body)) }));
  expect(bench.upstream.attempts).toEqual([]);
  expect(await bench.used()).toEqual({ day: 0, hour: 0, minute: 0 });
  await bench.audit();
  return refusal;
}

describe("a model that cannot serve what is asked", () => {
  test.each(["embedding", "rerank", "speech", "transcription"] as const)(
    "of another kind, asked for %s",
    async (kind) => {
      expect(await refused(kind, { model: "route/free" })).toMatchObject({
        code: "INVALID_MODEL",
        message: "Invalid model: 'route/free'",
      });
    },
  );

  test("of another kind, asked for images", async () => {
    expect(await refused("image", { model: "route/free" })).toMatchObject({
      code: "MODEL_NOT_FOUND",
      message: "Model not found",
    });
  });

  test("unknown, asked for images", async () => {
    expect(await refused("image", { model: "route/none" })).toMatchObject({ code: "INVALID_MODEL" });
  });

  test("real-time only", async () => {
    expect(await refused("transcription", { model: "route/live" })).toMatchObject({
      code: "INVALID_REQUEST",
      message: "Model 'route/live' is for real-time streaming only",
    });
  });

  test.each(["alto", "", "constructor", undefined, 7])("a voice that is not the model's: %s", async (voice) => {
    expect(await refused("speech", { model: "route/voice", voice })).toMatchObject({
      code: "INVALID_REQUEST",
      message: 'Invalid request: /voice must be one of "nova", "sage"',
    });
  });
});

test("a model without a list of voices leaves them to the upstream", async () => {
  const bench = await Bench.create({ models: MODELS });
  bench.upstream.play((target) => ({ type: "answer", target, body: {}, usage: null }));
  const call = testCall("speech", { model: "route/any-voice", voice: "alto" });
  // The scripted upstream answers what speech never gets: the attempt alone is of interest.
  await bench.serve({ read: reads(call) });
  expect(bench.upstream.attempts).toHaveLength(1);
});
