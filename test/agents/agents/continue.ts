import type { Agent } from "./agent.ts";

export const CONTINUE: readonly Agent[] = [
  continueWith("continue/chat", "/v1/chat/completions", "openai"),
  continueWith("continue/messages", "/v1/messages", "anthropic"),
];

function continueWith(name: string, endpoint: Agent["endpoint"], provider: string): Agent {
  return {
    name,
    package: "@continuedev/cli",
    version: "1.5.47",
    endpoint,
    bin: "cn",
    files: ({ origin, key, model }) => ({
      ".continue/config.yaml": {
        name: "gateway",
        version: "1.0.0",
        schema: "v1",
        models: [
          {
            name: "gateway",
            provider,
            model,
            apiBase: `${origin}/v1`,
            apiKey: key,
            roles: ["chat"],
            capabilities: ["tool_use"],
          },
        ],
      },
    }),
    env: () => ({ CONTINUE_TELEMETRY_ENABLED: "0", CONTINUE_CLI_ENABLE_TELEMETRY: "0", FORCE_NO_TTY: "true" }),
    calls: ({ home, prompt }) => [["--config", `${home}/.continue/config.yaml`, "--auto", "-p", prompt]],
  };
}
