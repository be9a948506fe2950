import type { Admission, Refusal, Settlement } from "../../src/kit/index.ts";

/**
 * What the store knows of a request that was admitted: `running` with a lease that may have ended, `given_up` because
 * it had, `forgotten` because the server lost it, or `settled`.
 */
type Standing = "running" | "given_up" | "forgotten" | "settled";

export interface LeasedRequest {
  readonly admission: Admission;
  readonly owner: string;
  readonly settlement: Settlement;
  readonly stopToken: number;
  /** Whether its owner knows that it runs: it renews it, and has not settled it. */
  isHeld: boolean;
  /** Whether its owner has had no answer to its admission. */
  readonly isLost: boolean;
  standing: Standing;
  /** Milliseconds: end of its lease. */
  ends: number;
}

type Asked = Pick<LeasedRequest, "admission" | "settlement">;

/** One user's leases as one would explain them; time is said by whoever asks. */
export class LeaseModel {
  readonly requests: LeasedRequest[] = [];
  readonly charges = new Map<string, bigint>();
  readonly granted: bigint;
  /** Instances that have died. */
  readonly dead = new Set<string>();
  /** Those that the store says are dead, and to whom it has said so. */
  readonly buried = new Set<string>();
  readonly #heard = new Map<string, Set<string>>();
  readonly #lease: number;
  /** Whether the store may show holds of requests that it has forgotten: until the next admission. */
  isStale = false;
  #stopToken = 0;

  constructor(granted: bigint, lease: number) {
    this.granted = granted;
    this.#lease = lease;
  }

  get balance(): bigint {
    return [...this.charges.values()].reduce((rest, charge) => rest - charge, this.granted);
  }

  /** What the store keeps a reservation of, whether or not its lease has ended. */
  get reserved(): readonly LeasedRequest[] {
    return this.requests.filter(({ standing }) => standing === "running");
  }

  /** What runs, as far as this instance can know. */
  running(by: string, now: number): readonly LeasedRequest[] {
    return this.reserved.filter(({ owner, ends }) => ends > now && !this.#heard.get(by)?.has(owner));
  }

  /**
   * Nobody is refused for what an admission without an answer has taken: its process gives that back first.
   * @param isHeard whether the answer arrives. @returns null: admitted.
   */
  admit(by: string, request: Asked, now: number, isHeard: boolean): Refusal | null {
    const refusal = this.#admit(by, request, now, isHeard);
    const lost = this.requests.filter(({ owner, isLost }) => owner === by && isLost);
    if (refusal === null || !isHeard || lost.length === 0) return refusal;
    for (const one of lost) if (one.standing !== "forgotten") one.standing = "settled";
    return this.#admit(by, request, now, isHeard);
  }

  #admit(by: string, request: Asked, now: number, isHeard: boolean): Refusal | null {
    const running = this.running(by, now);
    for (const request of this.reserved) if (!running.includes(request)) request.standing = "given_up";
    this.isStale = false;
    const { hold, enforceCredits, stream, limits } = request.admission;
    if (enforceCredits && hold > 0n && this.balance - sum(running) < hold) return "credits";
    const streams = running.filter(({ admission }) => admission.stream).length;
    if (stream && streams >= (limits.streams ?? Infinity)) return "streams";
    const [stopToken, ends] = [this.#stopToken, now + this.#lease];
    this.requests.push({
      ...request,
      owner: by,
      stopToken,
      ends,
      isHeld: isHeard,
      isLost: !isHeard,
      standing: "running",
    });
    return null;
  }

  renew(by: string, now: number): void {
    for (const request of this.requests) {
      if (request.owner !== by || !request.isHeld || request.standing === "settled") continue;
      request.standing = "running";
      request.ends = now + this.#lease;
    }
    this.hear(by);
  }

  /** Whoever holds it is believed, also when the server has forgotten it. */
  settle(by: string, request: LeasedRequest): void {
    const { id, giveBack, charge } = request.settlement;
    const isBelieved = request.isHeld && request.owner === by;
    if (request.owner === by) request.isHeld = false;
    if (request.standing === "settled" || (request.standing === "forgotten" && !isBelieved)) return;
    request.standing = "settled";
    if (!giveBack) this.charges.set(id, charge);
  }

  die(instance: string): void {
    this.dead.add(instance);
    for (const request of this.requests) if (request.owner === instance) request.isHeld = false;
  }

  bury(by: string, instance: string): void {
    this.buried.add(instance);
    this.#heardBy(by).add(instance);
  }

  hear(by: string): void {
    for (const instance of this.buried) this.#heardBy(by).add(instance);
  }

  /** The server loses what is not durable. */
  forget(): void {
    for (const request of this.requests) if (request.standing !== "settled") request.standing = "forgotten";
    this.buried.clear();
    this.isStale = true;
  }

  /** @returns the streams that hear of it first. */
  stop(now: number): number {
    const told = this.reserved.filter(
      ({ admission, stopToken, ends }) => admission.stream && stopToken === this.#stopToken && ends > now,
    );
    this.#stopToken++;
    return told.length;
  }

  #heardBy(by: string): Set<string> {
    const heard = this.#heard.get(by) ?? new Set();
    this.#heard.set(by, heard);
    return heard;
  }
}

export function sum(requests: readonly LeasedRequest[]): bigint {
  return requests.reduce((all, { admission }) => all + admission.hold, 0n);
}
