import { type Agent, connected } from "./agent.ts";

/** Proprietary: fetched to be run, never copied. */
export const CLAUDE: Agent = {
  name: "claude",
  package: "@anthropic-ai/claude-code",
  version: "2.1.332",
  endpoint: "/v1/messages",
  bin: "claude",
  files: (setting) => {
    const { path, text } = connected("claude", setting, setting.key);
    return { [path]: text };
  },
  env: () => ({
    DISABLE_TELEMETRY: "1",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_ERROR_REPORTING: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  }),
  calls: ({ prompt }) => [["-p", prompt, "--output-format", "json", "--allowedTools", "Read Bash"]],
  besides: /^HEAD \/$/,
};
