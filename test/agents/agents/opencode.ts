import type { Json } from "../../../src/kit/index.ts";
import { type Agent, connected, type Setting } from "./agent.ts";

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
    files: (setting) => files(setting, npm),
    env: ({ key }) => ({
      GATEWAY_API_KEY: key,
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
    }),
    calls: ({ prompt }) => [["run", "--pure", "--auto", prompt]],
  };
}

function files(setting: Setting, npm: string): Readonly<Record<string, object>> {
  const { path, values } = connected("opencode", setting, null);
  const { gateway } = values["provider"] as { readonly gateway: Json };
  return { [path]: { ...values, autoupdate: false, share: "disabled", provider: { gateway: { ...gateway, npm } } } };
}
