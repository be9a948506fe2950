import { type Agent, connected } from "./agent.ts";

export const CLINE: Agent = {
  name: "cline",
  package: "cline",
  version: "3.0.65",
  endpoint: "/v1/chat/completions",
  bin: "cline",
  files: (setting) => {
    const { path, text } = connected("cline", setting, setting.key);
    return { [path]: text };
  },
  env: () => ({ CLINE_TELEMETRY_DISABLED: "1", CLINE_NO_AUTO_UPDATE: "1" }),
  calls: ({ prompt }) => [["--json", "-t", "100", prompt]],
};
