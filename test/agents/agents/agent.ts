import { CLIENTS } from "../../../src/cli/connect/clients.ts";
import { writeSettings } from "../../../src/cli/connect/formats.ts";
import type { Json } from "../../../src/kit/index.ts";

/** What an agent works with in one run. */
export interface Setting {
  /** Where the agent finds its provider: an origin, such as `http://127.0.0.1:8080`. */
  readonly origin: string;
  readonly key: string;
  readonly model: string;
  /** Empty at first. */
  readonly home: string;
  readonly prompt: string;
}

/** A coding agent that can be told to do something without anybody at the keyboard. */
export interface Agent {
  readonly name: string;
  readonly package: string;
  readonly version: string;
  /** Of the gateway's paths, the one it asks. */
  readonly endpoint: "/v1/chat/completions" | "/v1/messages" | "/v1/responses";
  /** In `node_modules/.bin`. */
  readonly bin: string;
  /** Files of its home, by path. */
  readonly files?: (setting: Setting) => Readonly<Record<string, string | object>>;
  readonly env?: (setting: Setting) => Readonly<Record<string, string>>;
  /** Arguments of its calls, one after the other; the last one is the errand. */
  readonly calls: (setting: Setting) => readonly (readonly string[])[];
  /** `METHOD /path` of what it asks beside inference, which the gateway may refuse. */
  readonly besides?: RegExp;
}

const CONTEXT_WINDOW = 128_000;

/** The settings that `gateway connect` gives a client. @param key null: they name the variable that holds it. */
export function connected(name: string, { origin, model }: Setting, key: string | null): Connected {
  const { shown, format, settings } = CLIENTS.find((client) => client.name === name)!;
  const values = settings({ url: origin, key, model, contextWindow: CONTEXT_WINDOW }) as Json;
  return { path: shown.replace("~/", ""), values, text: writeSettings(format, values) };
}

export interface Connected {
  /** Within the agent's home. */
  readonly path: string;
  readonly values: Json;
  readonly text: string;
}
