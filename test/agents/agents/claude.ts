import type { Agent } from "./agent.ts";

/** Proprietary: fetched to be run, never copied. */
export const CLAUDE: Agent = {
  name: "claude",
  package: "@anthropic-ai/claude-code",
  version: "2.1.332",
  endpoint: "/v1/messages",
  bin: "claude",
  env: ({ origin, key }) => ({
    ANTHROPIC_BASE_URL: origin,
    ANTHROPIC_API_KEY: key,
    DISABLE_TELEMETRY: "1",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_ERROR_REPORTING: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  }),
  calls: ({ model, prompt }) => [
    ["-p", prompt, "--model", model, "--output-format", "json", "--allowedTools", "Read Bash"],
  ],
  besides: /^HEAD \/$/,
};
