/**
 * Cases that no target can serve, with the reason: legal in their format, but answered 400 before an upstream is asked. By
 * `format/case`.
 */
const REFUSED: Readonly<Record<string, string>> = {};

/** Why a case is refused whatever the target is; undefined where it must be served. */
export function refusedEverywhere(name: string): string | undefined {
  return REFUSED[name];
}
