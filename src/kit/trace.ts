/** Where a request stands in a distributed trace, by the W3C's recommendation. */
export interface RequestTrace {
  /** 32 lower-case hexadecimal digits. */
  readonly traceId: string;
  /** The caller's span, 16 digits; null where the trace begins here. */
  readonly parentId: string | null;
  readonly sampled: boolean;
  /** Whether who began it has said that its id is random; samplers behind go by that. */
  readonly random?: boolean;
  /** `tracestate` as it is passed on; empty for none. */
  readonly state: string;
  /** The request's own span; null where nobody records any: then what came is passed on as it is. */
  readonly spanId: string | null;
}

/** A caller's context. */
export type TraceParent = RequestTrace & { readonly parentId: string; readonly spanId: null };

// A later version may append fields behind a dash: what it has in common with version 00 is read.
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NO_TRACE = "0".repeat(32);
const NO_SPAN = "0".repeat(16);
const SAMPLED = 1;
const RANDOM = 2;

/**
 * The context that a request came with. What is not as the recommendation says is none: passed on it would break the
 * trace of everybody behind.
 */
export function traceParentOf(
  traceparent: string | readonly string[] | undefined,
  tracestate: string | readonly string[] | undefined,
): TraceParent | null {
  if (typeof traceparent !== "string") return null;
  const [, version, traceId, parentId, flags, more] = TRACEPARENT.exec(traceparent.trim()) ?? [];
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return null;
  if (traceId === undefined || parentId === undefined || traceId === NO_TRACE || parentId === NO_SPAN) return null;
  const set = Number.parseInt(flags!, 16);
  const sampled = (set & SAMPLED) !== 0;
  // Of a later version's flags only the first is known.
  const random = version === "00" && (set & RANDOM) !== 0;
  return { traceId, parentId, sampled, ...(random && { random }), state: stateOf(tracestate), spanId: null };
}

const MAX_STATE_COUNT = 32;
const MAX_STATE_CHARACTERS = 512;
/** `name=value` or `tenant@system=value`; a value ends with no blank. */
const STATE_MEMBER =
  /^(?:[a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** As it is passed on; empty when any member is malformed, doubled or too many. */
function stateOf(header: string | readonly string[] | undefined): string {
  const text = typeof header === "string" ? header : (header?.join(",") ?? "");
  // Before anything is split: a client decides how long it is.
  if (text.length > 2 * MAX_STATE_CHARACTERS) return "";
  const members = text
    .split(",")
    .map((member) => member.trim())
    .filter((member) => member !== "");
  const names = new Set(members.map((member) => member.slice(0, member.indexOf("="))));
  const sound = members.every((member) => STATE_MEMBER.test(member));
  if (!sound || names.size !== members.length || members.length > MAX_STATE_COUNT) return "";
  const state = members.join(",");
  return state.length > MAX_STATE_CHARACTERS ? "" : state;
}

/** The headers by which a trace goes on. @param spanId of the sender; null: as it came. */
export function traceHeaders(trace: RequestTrace, spanId: string | null): Readonly<Record<string, string>> {
  const sender = spanId ?? trace.spanId ?? trace.parentId;
  if (sender === null) return {};
  // Other flags are reserved: they are not passed on.
  const flags = (trace.sampled ? SAMPLED : 0) | (trace.random === true ? RANDOM : 0);
  const traceparent = `00-${trace.traceId}-${sender}-0${flags}`;
  return trace.state === "" ? { traceparent } : { traceparent, tracestate: trace.state };
}
