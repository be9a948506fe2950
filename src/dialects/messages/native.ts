import { type Call, isJson, type Json } from "../../kit/index.ts";
import { extraFields, stringOf } from "../canonical/json.ts";

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

/** Fields of an answer that have a canonical place; its counts have one of their own. */
export const MESSAGE_FIELDS: ReadonlySet<string> = new Set(
  "id type role model content stop_reason stop_sequence".split(" "),
);

/** The block of a native part. */
export function nativeBlock(part: Json): Json | null {
  const { type, dialect, block } = part;
  return type === "native" && dialect === DIALECT && isJson(block) ? block : null;
}

export function nativePart(block: Json): Json {
  return { type: "native", dialect: DIALECT, block };
}

/** The fields beside the canonical ones. */
export function nativeFields({ native }: Json, sameFormat: boolean): Json {
  return sameFormat && isJson(native) ? native : {};
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

/*
 * Encrypted reasoning of the Responses API goes back with the id of its item and to those alone that can read it, and a
 * block has no place for either: they stand before the data, as `responses1.<format>.<id>.<data>`.
 */
const OF_ITEM = /^responses1\.([\w-]*)\.([\w-]*)\./;

const WORD = /^[\w-]*$/;

/** The `data` of a block for a detail of encrypted reasoning. */
export function sealedData({ data, id, format = "" }: Json): string {
  const known = typeof id === "string" && WORD.test(id) && typeof format === "string" && WORD.test(format);
  return known ? `responses1.${format}.${id}.${stringOf(data)}` : stringOf(data);
}

/** The fields of the detail that a block's `data` stands for. */
export function unsealedData(sealed: string): Json {
  const [head, format, id] = OF_ITEM.exec(sealed) ?? [];
  if (head === undefined) return { data: sealed };
  return { data: sealed.slice(head.length), id, ...(format !== "" && { format }) };
}

/** The further fields of a Messages object, as its canonical counterpart carries them; null stands for "not given". */
export function leftover(fields: Json): Json {
  return withNative(extraFields(fields, NONE));
}

const NONE: ReadonlySet<string> = new Set();
