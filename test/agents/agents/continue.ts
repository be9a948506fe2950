import type { Json } from "../../../src/kit/index.ts";
import { type Agent, connected } from "./agent.ts";

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
    files: (setting) => {
      const { path, values } = connected("continue", setting, null);
      const models = (values["models"] as readonly Json[]).map((model) => ({ ...model, provider, roles: ["chat"] }));
      return { [path]: { ...values, models } };
    },
    env: ({ key }) => ({
      GATEWAY_API_KEY: key,
      CONTINUE_TELEMETRY_ENABLED: "0",
      CONTINUE_CLI_ENABLE_TELEMETRY: "0",
      FORCE_NO_TTY: "true",
    }),
    calls: ({ home, prompt }) => [["--config", `${home}/.continue/config.yaml`, "--auto", "-p", prompt]],
  };
}
