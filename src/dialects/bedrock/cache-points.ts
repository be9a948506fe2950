import { isJson, type Json } from "../../kit/index.ts";
import { objects } from "../canonical/json.ts";
import { markOf } from "../canonical/marks.ts";
import { dropOrigin, fitMarks } from "../messages/cache.ts";
import { caches, type Family, type Translation } from "./models.ts";

/*
 * Converse ends a cached prefix by a block of its own, with the rules that Claude's marks have
 * (https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html).
 */

/** The block that ends a cached prefix behind an item with a mark in any form, or none. */
export function cachePoint(item: Json, at: string, { family, report, origins }: Translation): readonly Json[] {
  const marked = markOf(item);
  if (marked === null) return [];
  const place = `${at}/${marked.field}`;
  if (!caches(family)) {
    report.drop(place);
    return [];
  }
  const { type: _type, ...fields } = marked.mark;
  const point = { ...fields, type: "ephemeral" };
  origins.set(point, { at: place });
  return [{ cachePoint: point }];
}

/** Models that take cache points among the tools (the same page); others take them in system prompt and messages. */
function cachesTools(family: Family): boolean {
  return caches(family) && family !== "nova";
}

/** The first models that were told how long a cache lives (the same page). */
const CACHES_AN_HOUR = /claude-(?!3|opus-4-1|(?:opus|sonnet)-4(?!-[5-9])|instant|v?2)/;

/** A request with its cache points as the model takes them: at most four, those that live longer first. */
export function withFitPoints(request: Json, model: string, translation: Translation): Json {
  const { family, report, origins } = translation;
  const drop = (point: Json, field?: string): void => dropOrigin(origins.get(point), report, field);
  const { toolConfig, system, messages } = request;
  const tools = isJson(toolConfig) ? objects(toolConfig["tools"]) : [];
  const ofTools = cachesTools(family) ? [] : pointsIn(tools);
  for (const point of ofTools) drop(point);
  const others = [
    ...pointsIn(objects(system)),
    ...objects(messages).flatMap((turn) => pointsIn(objects(turn["content"]))),
  ];
  const points = cachesTools(family) ? [...pointsIn(tools), ...others] : others;
  if (ofTools.length + points.length === 0) return request;
  const fitted = fitMarks(points, { scope: false, ttl: CACHES_AN_HOUR.test(model.toLowerCase()) }, drop);
  const written = (blocks: unknown): readonly Json[] =>
    objects(blocks).flatMap((block) => {
      const { cachePoint: point } = block;
      if (!isJson(point)) return [block];
      const sent = fitted.get(point) ?? null;
      return sent === null ? [] : [{ cachePoint: { ...sent, type: "default" } }];
    });
  return {
    ...request,
    ...(isJson(toolConfig) ? { toolConfig: { ...toolConfig, tools: written(tools) } } : {}),
    ...(system === undefined ? {} : { system: written(system) }),
    messages: objects(messages).map((turn) => ({ ...turn, content: written(turn["content"]) })),
  };
}

function pointsIn(blocks: readonly Json[]): readonly Json[] {
  return blocks.flatMap(({ cachePoint: point }) => (isJson(point) ? [point] : []));
}
