import { type Call, isJson, type Json } from "../../kit/index.ts";

/*
 * How what only the Messages format knows travels through the canonical middle between a Messages client and this
 * dialect; every other pair of formats goes without.
 *
 * - A block without a canonical part is `{type: "native", dialect: "messages", block}` among the parts, in its place.
 * - Fields beside the canonical ones of a block, tool or message are a field `native` of its canonical counterpart.
 * - `block_order` of an assistant message says in which of its lists the next block stands, where that is not reasoning,
 *   then content, then tool calls.
 * - In streams `delta.native` is `{dialect: "messages", event}`: an event of the Messages stream in its place, for what has
 *   no canonical delta. A complete answer has `native: {dialect: "messages", message}` beside its choices.
 */
const DIALECT = "messages";

/** The block of a native part. */
export function nativeBlock(part: Json): Json | null {
  const { type, dialect, block } = part;
  return type === "native" && dialect === DIALECT && isJson(block) ? block : null;
}

export function nativePart(block: Json): Json {
  return { type: "native", dialect: DIALECT, block };
}

/** The fields beside the canonical ones. */
export function nativeFields({ native }: Json, verbatim: boolean): Json {
  return verbatim && isJson(native) ? native : {};
}

/** `{native}` for fields without a canonical place, or nothing. */
export function withNative(fields: Json): Json {
  return Object.keys(fields).length === 0 ? {} : { native: fields };
}

export function nativeEvent(event: Json): Json {
  return { native: { dialect: DIALECT, event } };
}

export function nativeMessage(message: Json): Json {
  return { native: { dialect: DIALECT, message } };
}

/** Whether the client speaks this dialect itself. */
export function ofMessages(call: Call): boolean {
  return call.dialect === DIALECT;
}
