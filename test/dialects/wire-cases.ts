import { DIALECTS } from "../../src/dialects/capabilities.ts";
import type { AnswerCodec } from "../../src/dialects/dialect.ts";
import {
  type AnswerExtras,
  type AnswerFormat,
  AttemptError,
  type Call,
  type DialectName,
  GatewayError,
  type Json,
  type Kind,
} from "../../src/kit/index.ts";
import { type Cases, casesOfFiles } from "./cases.ts";
import { testTarget } from "../support/snapshot.ts";

/** One exchange: what a client asks, what goes to the upstream, what comes back, what the client gets. */
export interface WireCase extends Played {
  readonly name: string;
  readonly about: string;
  readonly dialect: DialectName;
  readonly request: Json;
  /** Text is sent as it stands. */
  readonly upstream?: unknown;
}

export interface Played {
  /** Left out in a case: not looked at. */
  readonly sends?: { readonly path: string; readonly body: Json };
  /** Without `model` and `provider`, which are always the route and the upstream's name. */
  readonly answers?: Json;
  /** Tokens the upstream counted; null for none. */
  readonly prompt?: number | null;
  /** Instead of `answers` and `prompt`: how the attempt fails. */
  readonly fails?: string;
  /** Instead of all that: what the client is told. */
  readonly refuses?: string;
}

/** One case a file: adding one needs no code. */
export function wireCases(folder: string): readonly WireCase[] {
  const files = casesOfFiles(new URL(`${folder}/`, import.meta.url)) as Cases<Omit<WireCase, "name">>;
  return files.map(([name, one]) => ({ name, ...one }));
}

export const target = testTarget("alpha", { model: "up" });
export const bytes = (value: unknown): Uint8Array =>
  new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));

/** What the gateway adds; its bill counts 7 tokens. */
export const extras: AnswerExtras = {
  id: "e-1",
  created: 1_768_435_200,
  provider: "Alpha",
  latencyMs: 12,
  bill: { usage: { prompt: 7, completion: 0, cached: 0, reasoning: 0 }, estimated: true, charge: 1n },
};

export function codecOf(dialect: DialectName, kind: Kind): AnswerCodec {
  const codec = DIALECTS[dialect]?.codecs[kind];
  if (codec?.type !== "answer") throw new Error(`${dialect} has no ${kind}`);
  return codec;
}

/** A case run through both halves, to be compared with what it says. */
export function play(one: WireCase, read: (body: Json) => Call, write: (call: Call) => AnswerFormat): Played {
  const call = read(one.request);
  const codec = codecOf(one.dialect, call.kind);
  const { error, value: request } = attempt(() => codec.request(call, target, "k"));
  if (error instanceof GatewayError) return { refuses: error.message };
  const sends = one.sends && { path: request!.path, body: JSON.parse(request!.body as string) as Json };
  const { error: failure, value: decoded } = attempt(() => codec.answer(bytes(one.upstream), call));
  if (failure instanceof AttemptError) return { sends, fails: `${failure.failure}: ${failure.message}` };
  const { model, provider, ...answers } = JSON.parse(write(call).answer(decoded!.body, extras)) as Json;
  if (model !== one.request["model"] || provider !== extras.provider) throw new Error("not the route and its provider");
  return { sends, answers, prompt: decoded!.usage?.prompt ?? null };
}

/** What a case says must come out. */
export function expected({ sends, answers, prompt, fails, refuses }: WireCase): Played {
  return { sends, answers, prompt, fails, refuses };
}

/** The outcome of what may throw a refusal or a failure; other errors pass. */
export function attempt<T>(run: () => T): { readonly value?: T; readonly error?: AttemptError | GatewayError } {
  try {
    return { value: run() };
  } catch (error) {
    if (error instanceof AttemptError || error instanceof GatewayError) return { error };
    throw error;
  }
}
