import type { Agent, Setting } from "./agent.ts";

export const CODEX: Agent = {
  name: "codex",
  package: "@openai/codex",
  version: "0.169.0",
  endpoint: "/v1/responses",
  bin: "codex",
  files: (setting) => ({ ".codex/config.toml": configuration(setting) }),
  env: ({ key, home }) => ({ GATEWAY_KEY: key, CODEX_HOME: `${home}/.codex` }),
  // Its sandbox needs namespaces that a container may not have; what it is told to run is known here.
  calls: ({ prompt }) => [["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt]],
};

function configuration({ origin, model }: Setting): string {
  return `model = ${JSON.stringify(model)}
model_provider = "gateway"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.gateway]
name = "Gateway"
base_url = ${JSON.stringify(`${origin}/v1`)}
env_key = "GATEWAY_KEY"
wire_api = "responses"
`;
}
