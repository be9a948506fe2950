import type { Json } from "../../../kit/index.ts";
import { text } from "../../canonical/json.ts";

/*
 * Encrypted reasoning of the Responses API goes back with the id of its item and to those alone that can read it, and a
 * block has no place for either: they stand before the data, as `responses1.<format>.<id>.<data>`.
 */
const OF_ITEM = /^responses1\.([\w-]*)\.([\w-]*)\./;
const WORD = /^[\w-]*$/;

/** The `data` of a block for a detail of encrypted reasoning. */
export function sealedData({ data, id, format = "" }: Json): string {
  const known = typeof id === "string" && WORD.test(id) && typeof format === "string" && WORD.test(format);
  return known ? `responses1.${format}.${id}.${text(data)}` : text(data);
}

/** The fields of the detail that a block's `data` stands for. */
export function unsealedData(sealed: string): Json {
  const [head, format, id] = OF_ITEM.exec(sealed) ?? [];
  if (head === undefined) return { data: sealed };
  return { data: sealed.slice(head.length), id, ...(format !== "" && { format }) };
}
