import type { Json } from "../../../kit/index.ts";

export type ItemStatus = "completed" | "incomplete";

/** Where an item stands, and how its events are sent: fields of events without `type`, number and `output_index`. */
export interface ItemParts {
  readonly id: string;
  /** What an upstream of the same format said of it, beside what every item of its type has. */
  readonly native: Json;
  readonly emit: (type: string, fields: Json) => void;
}

/** An item of an answer while it grows. It has said that it was added. */
export interface Item {
  readonly type: string;
  /** Says that it is done. @returns the whole item. */
  close(status: ItemStatus): Json;
}
