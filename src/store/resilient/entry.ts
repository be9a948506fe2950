import type { Admission, Settlement } from "../../kit/index.ts";

/** A settlement that the store has not acknowledged. */
export interface Entry {
  readonly settlement: Settlement;
  /** Of a request that was admitted without the store, which has to hear of it first; else null. */
  readonly admission: Admission | null;
  /** Whether the store may have heard of that admission: asked without an answer, or a replay that was broken off. */
  readonly tried: boolean;
}

/** A settlement that the store will not take. */
export interface Rejection {
  readonly id: string;
  /** null when what was kept cannot be read. */
  readonly settlement: Settlement | null;
  readonly reason: string;
  /** Unix milliseconds of the first refusal. */
  readonly at: number;
}

/** Frees slot and hold of a request that cannot be settled; what it has counted stays. */
export function releaseOf({ id, userId }: Settlement): Settlement {
  return { id, userId, giveBack: false, charge: 0n, record: null };
}

type Text<T, Amount extends keyof T> = Omit<T, Amount> & Readonly<Record<Amount, string>>;

/** As JSON, in which amounts are decimal strings. */
interface Written {
  readonly settlement: Text<Settlement, "charge">;
  readonly admission: Text<Admission, "hold"> | null;
}

/** All but `tried`, which changes. */
export function encode({ settlement, admission }: Entry): string {
  const written: Written = {
    settlement: { ...settlement, charge: String(settlement.charge) },
    admission: admission && { ...admission, hold: String(admission.hold) },
  };
  return JSON.stringify(written);
}

/** @throws SyntaxError or TypeError for anything but what `encode` wrote. */
export function decode(body: string, tried: boolean): Entry {
  const { settlement, admission } = JSON.parse(body) as Written;
  return {
    settlement: { ...settlement, charge: BigInt(settlement.charge) },
    admission: admission && { ...admission, hold: BigInt(admission.hold) },
    tried,
  };
}
