import { type Agent, connected, type Setting } from "./agent.ts";

/** As `gateway connect` sets it up, with the key in a variable and in the file; and the built-in one at another address. */
export const CODEX: readonly Agent[] = [
  codex("codex/custom", (setting) => connected("codex", setting, null).text),
  codex("codex/token", (setting) => connected("codex", setting, setting.key).text),
  codex(
    "codex/builtin",
    ({ origin, model }) => `model = ${JSON.stringify(model)}\nopenai_base_url = ${JSON.stringify(`${origin}/v1`)}\n`,
  ),
];

/** @param provider lines of the configuration, tables last. */
function codex(name: string, provider: (setting: Setting) => string): Agent {
  return {
    name,
    package: "@openai/codex",
    version: "0.171.0",
    endpoint: "/v1/responses",
    bin: "codex",
    files: (setting) => ({
      ".codex/config.toml": [
        `check_for_update_on_startup = false`,
        provider(setting),
        `[analytics]`,
        `enabled = false`,
        "",
      ].join("\n"),
      ".codex/auth.json": { OPENAI_API_KEY: setting.key },
    }),
    env: ({ key, home }) => ({ OPENAI_API_KEY: key, GATEWAY_API_KEY: key, CODEX_HOME: `${home}/.codex` }),
    // Its sandbox needs namespaces that a container may not have; what it is told to run is known here.
    calls: ({ prompt }) => [["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt]],
    besides: /^GET \/v1\/(?:responses|models)$/,
  };
}
