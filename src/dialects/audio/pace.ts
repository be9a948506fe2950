export interface Pace {
  /** null: the voice's own. */
  readonly speed: number | null;
  /** Whether it is what the client asked for. */
  readonly exact: boolean;
}

/** A client's `speed` as near as a provider with these bounds comes to it. */
export function paceWithin(asked: unknown, least: number, most: number): Pace {
  if (typeof asked !== "number" || asked === 1) return { speed: null, exact: true };
  const speed = Math.min(Math.max(asked, least), most);
  return { speed: speed === 1 ? null : speed, exact: speed === asked };
}
