import { isJson, type Json } from "../../kit/index.ts";
import type { Report } from "../report.ts";

/** Fields of `extra_body.google`, as Google's own OpenAI endpoint names them, and where they belong. */
const OF_CONFIG: Readonly<Record<string, string>> = {
  thinking_config: "thinkingConfig",
  media_resolution: "mediaResolution",
  image_config: "imageConfig",
};
const OF_REQUEST: Readonly<Record<string, string>> = {
  safety_settings: "safetySettings",
  cached_content: "cachedContent",
};

export interface Extra {
  readonly generationConfig: Json;
  readonly request: Json;
}

/** What a client that knows Gemini says in its terms; inner names may be written either way, the API takes both. */
export function extraOf({ extra_body: extra }: Json, report: Report): Extra {
  if (!isJson(extra)) {
    if (extra !== undefined && extra !== null) report.drop("/extra_body");
    return { generationConfig: {}, request: {} };
  }
  report.dropBeside(extra, new Set(["google"]), "/extra_body");
  const google = isJson(extra["google"]) ? extra["google"] : {};
  const known = new Set([...Object.keys(OF_CONFIG), ...Object.keys(OF_REQUEST)]);
  report.dropBeside(google, known, "/extra_body/google");
  return { generationConfig: renamed(google, OF_CONFIG), request: renamed(google, OF_REQUEST) };
}

function renamed(google: Json, names: Readonly<Record<string, string>>): Json {
  const fields = Object.entries(names).map(([from, to]) => [to, google[from]] as const);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined && value !== null));
}
