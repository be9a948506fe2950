import type { Agent, Setting } from "./agent.ts";

/** opencode takes any provider package of the AI SDK: one agent for each endpoint. */
export const OPENCODE: readonly Agent[] = [
  opencode("opencode/chat", "/v1/chat/completions", "@ai-sdk/openai-compatible"),
  opencode("opencode/messages", "/v1/messages", "@ai-sdk/anthropic"),
  opencode("opencode/responses", "/v1/responses", "@ai-sdk/openai"),
];

function opencode(name: string, endpoint: Agent["endpoint"], npm: string): Agent {
  return {
    name,
    package: "opencode-ai",
    version: "1.18.33",
    endpoint,
    bin: "opencode",
    files: (setting) => ({ ".config/opencode/opencode.json": configuration(setting, npm) }),
    env: () => ({
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
    }),
    calls: ({ model, prompt }) => [["run", "--pure", "--auto", "-m", `gateway/${model}`, prompt]],
  };
}

function configuration({ origin, key, model }: Setting, npm: string): object {
  return {
    $schema: "https://opencode.ai/config.json",
    autoupdate: false,
    share: "disabled",
    provider: {
      gateway: { npm, name: "Gateway", options: { baseURL: `${origin}/v1`, apiKey: key }, models: { [model]: {} } },
    },
  };
}
