import { overloaded } from "../kit/index.ts";

/** Of all the room: what the requests of one user may hold. */
const MAX_USER_SHARE = 1 / 4;

/** Bytes that requests hold of something there is only so much of, counted per user. */
export class ByteBudget {
  readonly #bytes: () => number;
  readonly #held = new Map<string, number>();
  #taken = 0;

  /** @param bytes of the configuration in force. */
  constructor(bytes: () => number) {
    this.#bytes = bytes;
  }

  /** Bytes held by everybody. */
  get taken(): number {
    return this.#taken;
  }

  /** What one request of the user holds; nothing yet. */
  claim(userId: string): ByteClaim {
    return new ByteClaim(this, userId);
  }

  /** For a claim of the user. @throws GatewayError OVERLOADED; then nothing was taken. */
  take(userId: string, bytes: number): void {
    const held = (this.#held.get(userId) ?? 0) + bytes;
    const all = this.#bytes();
    if (bytes > 0 && (this.#taken + bytes > all || held > all * MAX_USER_SHARE)) throw overloaded();
    this.#taken += bytes;
    if (held > 0) this.#held.set(userId, held);
    else this.#held.delete(userId);
  }
}

/** What one request holds of a room. */
export class ByteClaim {
  readonly #budget: ByteBudget;
  readonly #userId: string;
  #bytes = 0;

  constructor(budget: ByteBudget, userId: string) {
    this.#budget = budget;
    this.#userId = userId;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Holds `bytes` in all, more or less than before. @throws GatewayError OVERLOADED; then it holds what it held. */
  hold(bytes: number): void {
    this.#budget.take(this.#userId, bytes - this.#bytes);
    this.#bytes = bytes;
  }

  /** Holds `bytes` at most. */
  shrink(bytes: number): void {
    if (bytes < this.#bytes) this.hold(bytes);
  }

  /** Gives everything back; may be called again. */
  release(): void {
    this.hold(0);
  }
}
