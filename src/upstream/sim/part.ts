/** One piece of a body that is written, delayed or cut as a whole: an event of a stream, or a JSON body. */
export interface Part {
  readonly text: string;
  /** Answer tokens in it. */
  readonly tokens: number;
  /** A stream's ending is no event. */
  readonly uncounted?: true;
  /** Token counts that it states. */
  readonly claims?: { readonly prompt: unknown; readonly completion: unknown; readonly cached: unknown };
}
