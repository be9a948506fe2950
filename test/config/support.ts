import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { LoadOptions } from "../../src/config/load.ts";
import type { DialectCapability, Dialects } from "../../src/config/link/context.ts";
import { CAPABILITIES } from "../../src/dialects/capabilities.ts";
import type { DialectName, Kind, Plugin, Stage } from "../../src/kit/index.ts";

const KINDS: readonly Kind[] = ["chat", "embedding", "rerank", "speech", "transcription", "image"];

/** What each dialect can serve is the real table (parts.test.ts); what of it is served is this suite's own choice. */
const SERVED: Readonly<Record<DialectName, Pick<DialectCapability, "kinds" | "served">>> = {
  openai: { kinds: KINDS, served: KINDS },
  anthropic: { kinds: ["chat"], served: ["chat"] },
  gemini: { kinds: ["chat", "embedding"], served: [] },
  azure: { kinds: ["chat", "embedding", "speech", "transcription", "image"], served: [] },
  bedrock: { kinds: ["chat"], served: [] },
  cohere: { kinds: ["chat", "embedding", "rerank"], served: ["embedding", "rerank"] },
  jina: { kinds: ["embedding", "rerank"], served: [] },
  voyage: { kinds: ["embedding", "rerank"], served: [] },
  elevenlabs: { kinds: ["speech", "transcription"], served: [] },
  deepgram: { kinds: ["speech", "transcription"], served: [] },
};

export const DIALECTS = Object.fromEntries(
  Object.entries(SERVED).map(([name, capability]) => {
    return [name, { ...CAPABILITIES[name as DialectName], ...capability }];
  }),
) as Dialects;

function stub(name: string, stage: Stage, needs?: readonly string[]): Plugin {
  const schema = new URL(`../../schemas/plugins/${name}.schema.json`, import.meta.url);
  return { name, stage, schema, needs, setup: () => ({}) };
}

/** Stand-ins with the names and stages of the built-in plugins. */
export const BUILTINS: Readonly<Record<string, Plugin>> = {
  auth: stub("auth", "identify"),
  "plan-check": stub("plan-check", "admit"),
  quota: stub("quota", "admit", ["meter"]),
  breaker: stub("breaker", "guard"),
  transform: stub("transform", "transform"),
  "stream-relay": stub("stream-relay", "relay"),
  meter: stub("meter", "account"),
};

/** Plugins of a test run through Node's own loader: the resolve hook is Node's. */
const importModule = createRequire(import.meta.url)("./native-import.cjs") as (url: string) => Promise<unknown>;

/** Options for a file; a check without variables unless told. */
export function options(file: string, more: Partial<LoadOptions> = {}): LoadOptions {
  return { file, mode: "check", env: {}, builtins: BUILTINS, dialects: DIALECTS, importModule, ...more };
}

/** A folder of its own, removed with the test. */
export async function scratch(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "config-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A small configuration without findings. */
export const SMALL = `version: 1
tiers:
  Free: { access: [Free], limits: { day: 50, hour: 50, minute: 100, streams: 50 } }
upstreams:
  alpha: { dialect: openai, base_url: "sim:", api_keys: [sim] }
models:
  route/one:
    kind: chat
    tier: Free
    owned_by: alpha
    price: { input_per_million: 0.15, output_per_million: 0.6 }
    chain: [{ upstream: alpha, model: one }]
pipeline: [auth, plan-check, quota, breaker, stream-relay, meter]
`;
