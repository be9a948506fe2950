/** What a request is marked with in the log and the ledger, by name. */
export type Tags = Readonly<Record<string, string>>;

/** A mark that an admit hook puts on a request; of one name the last one stands. */
export interface Tag {
  /** Up to 32 of a–z, 0–9, `_` and `-`, a letter first: the configuration's, never a client's. */
  readonly name: string;
  /** May be a client's: cut to 128 characters. */
  readonly value: string;
  /** Metrics have it, too, as far as its values are few. */
  readonly measured?: boolean;
}

/** Of a tag's name: the first is a letter. */
export const TAG_NAME = /^[a-z][a-z0-9_-]{0,31}$/;

export const MAX_TAG_CHARACTERS = 128;

/** As it is kept: control characters would break lines of a log that a person reads. */
export function tagValue(text: string): string {
  return text
    .slice(0, MAX_TAG_CHARACTERS)
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, " ");
}
