import type { Agent, Setting } from "./agent.ts";

/** As a provider of its own in the configuration, and as the built-in one of which only the address is set. */
export const CODEX: readonly Agent[] = [
  codex("codex/custom", ({ origin }) => [
    `model_provider = "gateway"`,
    `[model_providers.gateway]`,
    `name = "Gateway"`,
    `base_url = ${JSON.stringify(`${origin}/v1`)}`,
    `env_key = "OPENAI_API_KEY"`,
    `wire_api = "responses"`,
  ]),
  codex("codex/builtin", ({ origin }) => [`openai_base_url = ${JSON.stringify(`${origin}/v1`)}`]),
];

/** @param provider lines of the configuration, tables last. */
function codex(name: string, provider: (setting: Setting) => readonly string[]): Agent {
  return {
    name,
    package: "@openai/codex",
    version: "0.171.0",
    endpoint: "/v1/responses",
    bin: "codex",
    files: (setting) => ({
      ".codex/config.toml": [
        `model = ${JSON.stringify(setting.model)}`,
        `check_for_update_on_startup = false`,
        ...provider(setting),
        `[analytics]`,
        `enabled = false`,
        "",
      ].join("\n"),
      ".codex/auth.json": { OPENAI_API_KEY: setting.key },
    }),
    env: ({ key, home }) => ({ OPENAI_API_KEY: key, CODEX_HOME: `${home}/.codex` }),
    // Its sandbox needs namespaces that a container may not have; what it is told to run is known here.
    calls: ({ prompt }) => [["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt]],
    besides: /^GET \/v1\/(?:responses|models)$/,
  };
}
