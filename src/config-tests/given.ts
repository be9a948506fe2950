import type { ConfigTestGiven, ConfigTestScript, ConfigTestStepGiven, ConfigTestFault as GivenFault } from "#schema";
import { milliseconds } from "../config/settings.ts";
import { decimal, type Endpoint, type Json, type Kind, toNano, type WindowName } from "../kit/index.ts";
import type { Used } from "../offline/carried.ts";
import { endpointOf } from "../offline/requests.ts";
import type { OfflineRequest, OfflineUser } from "../offline/room.ts";

/** Beyond every timeout, and as long as the simulator waits at most. */
const NEVER_MS = 2_000_000_000;
const WINDOW_MS: Readonly<Record<WindowName, number>> = { day: 86_400_000, hour: 3_600_000, minute: 60_000 };

/** What a step gives, over what its test gives. */
export function givenOf(test: ConfigTestGiven = {}, step: ConfigTestStepGiven = {}): ConfigTestGiven {
  return { ...test, ...step, headers: { ...test.headers, ...step.headers } };
}

/** @param now Unix milliseconds, in the windows of which `used` was used. */
export function userOf({ tier, credits, used = {} }: ConfigTestGiven, now: number): OfflineUser {
  const window = (name: WindowName) => {
    const resetsAt = (Math.floor(now / WINDOW_MS[name]) + 1) * WINDOW_MS[name];
    return { used: used[name] ?? 0, limit: null, resetsAt };
  };
  const carried: Used = { windows: { day: window("day"), hour: window("hour"), minute: window("minute") }, streams: 0 };
  return {
    ...(tier !== undefined && { tier }),
    ...(credits !== undefined && { credits: toNano(decimal(credits)) }),
    used: carried,
  };
}

/** @param user name of who asks, in its room. @param kind of the model. */
export function requestOf(given: ConfigTestGiven, user: string, kind: Kind): OfflineRequest {
  const { model, stream, headers, credentials, leave_after: leaveAfter } = given;
  const endpoint = given.endpoint ?? endpointOf(kind);
  return {
    user,
    endpoint,
    body: typeof given.body === "string" ? given.body : { ...fieldsOf(given, endpoint), ...(given.body as Json) },
    ...(model !== undefined && { model }),
    ...(stream !== undefined && { stream }),
    ...(headers !== undefined && { headers }),
    ...(credentials !== undefined && { authenticated: credentials }),
    ...(leaveAfter !== undefined && { leaveAfter: milliseconds(leaveAfter) }),
  };
}

function fieldsOf({ prompt, max_tokens: maxTokens, tools }: ConfigTestGiven, endpoint: Endpoint): Json {
  const limit = endpoint === "responses" ? "max_output_tokens" : "max_tokens";
  return {
    ...(prompt !== undefined && promptOf(prompt, endpoint)),
    ...(maxTokens !== undefined && { [limit]: maxTokens }),
    ...(tools !== undefined && { tools: tools.map((name) => toolOf(name, endpoint)) }),
  };
}

function promptOf(prompt: string, endpoint: Endpoint): Json {
  switch (endpoint) {
    case "chat":
    case "messages":
      return { messages: [{ role: "user", content: prompt }] };
    case "rerank":
      return { query: prompt };
    case "image":
    case "transcription":
      return { prompt };
    default:
      return { input: prompt };
  }
}

function toolOf(name: string, endpoint: Endpoint): Json {
  const schema = { type: "object", properties: {} };
  if (endpoint === "messages") return { name, input_schema: schema };
  const described = { name, parameters: schema };
  return endpoint === "responses" ? { type: "function", ...described } : { type: "function", function: described };
}

/** What each upstream does, as rooms take it; null for a healthy one. */
export function faultsOf(
  given: Readonly<Record<string, GivenFault>>,
  upstreams: readonly string[],
): ReadonlyMap<string, string | null> {
  const { "*": others, ...named } = given;
  const all = others === undefined ? [] : upstreams.map((name) => [name, others] as const);
  return new Map([...all, ...Object.entries(named)].map(([name, fault]) => [name, faultOf(fault, name)]));
}

function faultOf(fault: GivenFault, upstream: string): string | null {
  if (fault === "healthy") return null;
  if (fault === "timeout") return JSON.stringify({ first_byte: NEVER_MS });
  if (typeof fault === "number") return JSON.stringify({ status: fault });
  return typeof fault === "string" ? fault : JSON.stringify(scriptOf(fault, upstream));
}

function scriptOf(script: ConfigTestScript, upstream: string): Json {
  const { first_byte: firstByte, first_event: firstEvent, chunk_delay: chunkDelay } = script;
  return {
    ...script,
    ...(firstByte !== undefined && { first_byte: milliseconds(firstByte) }),
    ...(firstEvent !== undefined && { first_event: milliseconds(firstEvent) }),
    ...(chunkDelay !== undefined && { chunk_delay: milliseconds(chunkDelay) }),
    // Requests are counted by script: two upstreams with the same one would share its count.
    ...(script.fail_times !== undefined && { name: upstream }),
  };
}
