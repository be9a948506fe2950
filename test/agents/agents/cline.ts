import type { Agent } from "./agent.ts";

export const CLINE: Agent = {
  name: "cline",
  package: "cline",
  version: "3.0.65",
  endpoint: "/v1/chat/completions",
  bin: "cline",
  env: () => ({ CLINE_TELEMETRY_DISABLED: "1", CLINE_NO_AUTO_UPDATE: "1" }),
  calls: ({ origin, key, model, prompt }) => [
    ["auth", "openai", "--apikey", key, "--baseurl", `${origin}/v1`, "--modelid", model],
    ["--json", "-t", "100", prompt],
  ],
};
