import type { IncomingHttpHeaders } from "node:http";
import { SimError } from "./error.ts";
import type { Shape } from "./shape.ts";

/** Whose request a path belongs to: whose credentials it brings, and whose errors it gets. */
export type Dialect = Shape | "anthropic" | "gemini" | "azure" | "bedrock" | "elevenlabs" | "deepgram";

/** What names of credentials say that a list of models is asked of another provider than OpenAI. */
export function dialectOfList(headers: IncomingHttpHeaders, path: string): Dialect {
  if (path.includes("/openai/")) return "azure";
  if (/\/(?:foundation-models|async-invoke)$/.test(path)) return "bedrock";
  if (path.includes("/v1beta/") || headers["x-goog-api-key"] !== undefined) return "gemini";
  if (headers["anthropic-version"] !== undefined) return "anthropic";
  if (headers["xi-api-key"] !== undefined) return "elevenlabs";
  if (/^Token /i.test(headers.authorization ?? "")) return "deepgram";
  return "openai";
}

/** Any key will do, where the dialect's clients bring it. @throws SimError 401 or 403 without one. */
export function checkKey(dialect: Dialect, headers: IncomingHttpHeaders, query?: URLSearchParams): void {
  const { authorization = "" } = headers;
  const has = (name: string) => typeof headers[name] === "string" && headers[name] !== "";
  const bearer = /^Bearer \S/i.test(authorization);
  switch (dialect) {
    case "anthropic":
      if (!has("x-api-key") && !bearer) throw new SimError(401, "x-api-key header is required");
      return;
    case "gemini":
      if (has("x-goog-api-key") || query?.get("key") || bearer) return;
      throw new SimError(
        403,
        "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
      );
    case "azure":
      if (has("api-key") || bearer) return;
      throw new SimError(
        401,
        "Access denied due to missing subscription key. Make sure to include subscription key when making requests to an API.",
      );
    case "elevenlabs":
      if (!has("xi-api-key")) throw new SimError(401, "Invalid API key", { code: "invalid_api_key" });
      return;
    case "deepgram":
      if (!/^Token \S/i.test(authorization)) throw new SimError(401, "Invalid credentials.", { code: "INVALID_AUTH" });
      return;
    case "bedrock":
      // Signed: checked with the request.
      return;
    default:
      if (bearer) return;
      throw new SimError(
        401,
        "You didn't provide an API key. You need to provide your API key in an Authorization header.",
      );
  }
}
