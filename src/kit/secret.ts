const INSPECT = Symbol.for("nodejs.util.inspect.custom");

/** A value that prints as `[redacted]` in logs, JSON and inspection; only `reveal` gives it away. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
    Object.freeze(this);
  }

  reveal(): string {
    return this.#value;
  }

  get empty(): boolean {
    return this.#value === "";
  }

  toString(): string {
    return "[redacted]";
  }

  toJSON(): string {
    return "[redacted]";
  }

  [INSPECT](): string {
    return "[redacted]";
  }
}
