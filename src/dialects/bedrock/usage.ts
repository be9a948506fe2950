import { isJson, type Usage } from "../../kit/index.ts";
import { cacheWrites, tokenCount } from "../usage.ts";

/** `inputTokens` leaves out what was read from and written to a cache. @returns null for counts that cannot be believed. */
export function usageOf(usage: unknown): Usage | null {
  if (!isJson(usage)) return null;
  const [input, completion] = [tokenCount(usage["inputTokens"]), tokenCount(usage["outputTokens"])];
  const cached = tokenCount(usage["cacheReadInputTokens"] ?? 0);
  const cacheWrite = tokenCount(usage["cacheWriteInputTokens"] ?? 0);
  if (input === null || completion === null || cached === null || cacheWrite === null) return null;
  const writes = cacheWrites(cacheWrite, writtenForAnHour(usage["cacheDetails"]));
  return { prompt: input + cached + cacheWrite, completion, cached, reasoning: 0, cacheWrite, ...writes };
}

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_CacheDetail.html */
function writtenForAnHour(details: unknown): unknown {
  return Array.isArray(details) ? details.filter(isJson).find(({ ttl }) => ttl === "1h")?.["inputTokens"] : 0;
}
