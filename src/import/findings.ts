import { type Field, leavesOf } from "./source.ts";

export type Status = "mapped" | "changed" | "lost";

/** What became of one value of the source. */
export interface Finding {
  readonly path: string;
  readonly file: string;
  readonly line: number;
  readonly status: Status;
  readonly reason: string;
  /** JSON pointer of what it became in the new configuration; null where it has no place there. */
  readonly target: string | null;
}

type Claim = Pick<Finding, "status" | "reason" | "target">;

/** What is worse stands, where two parts of an import use the same value. */
const RANK: Readonly<Record<Status, number>> = { mapped: 0, changed: 1, lost: 2 };

/**
 * Records what becomes of every leaf of the source. Each part of an import tells it of the fields that it used; at the end
 * every leaf that nobody told of is lost. So each is named exactly once, whatever the source holds.
 */
export class Findings {
  readonly #roots: Field[] = [];
  readonly #claims = new Map<Field, Claim>();
  /** Leaves that are used by an alias. */
  readonly #origins = new Set<object>();

  /** Another file of the source. */
  add(root: Field): void {
    this.#roots.push(root);
  }

  mapped(field: Field | undefined, target: string | null, reason?: string): void {
    this.#claim(field, { status: "mapped", reason: reason ?? `is ${nameOf(target)}`, target });
  }

  changed(field: Field | undefined, target: string | null, reason: string): void {
    this.#claim(field, { status: "changed", reason, target });
  }

  lost(field: Field | undefined, reason: string): void {
    this.#claim(field, { status: "lost", reason, target: null });
  }

  /** Everything below is lost, whatever was told of parts of it before. */
  dropped(field: Field, reason: string): void {
    for (const leaf of leavesOf(field)) this.#claims.set(leaf, { status: "lost", reason, target: null });
  }

  /** True if something below the field, or the field itself, has not been told of. */
  isOpen(field: Field): boolean {
    return leavesOf(field).some((leaf) => !this.#claims.has(leaf));
  }

  /** A leaf keeps its worst finding. A finding for a map or list applies to its leaves that have no finding yet. */
  #claim(field: Field | undefined, claim: Claim): void {
    if (field === undefined) return;
    for (const leaf of leavesOf(field)) {
      const before = this.#claims.get(leaf);
      if (before !== undefined && (leaf !== field || RANK[before.status] >= RANK[claim.status])) continue;
      this.#claims.set(leaf, claim);
      if (leaf.origin !== null) this.#origins.add(leaf.origin);
    }
  }

  /** One for each leaf of the source, in its order. @param unread what is said of leaves that nobody told of. */
  all(unread: string): readonly Finding[] {
    return this.#roots.flatMap((root) =>
      [...leavesOf(root)].map((leaf): Finding => {
        const { path, file, line } = leaf;
        const claim = this.#claims.get(leaf) ?? this.#unclaimed(leaf, unread);
        return { path: path === "" ? "." : path, file, line, ...claim };
      }),
    );
  }

  #unclaimed({ origin }: Field, unread: string): Claim {
    const isUsed = origin !== null && this.#origins.has(origin);
    if (isUsed) return { status: "mapped", reason: "is an anchor: see where an alias names it", target: null };
    return { status: "lost", reason: unread, target: null };
  }
}

/** A pointer as the path of the key in `gateway.yaml`. */
function nameOf(pointer: string | null): string {
  if (pointer === null) return "how it works here, too";
  return pointer
    .slice(1)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .join(".");
}

export function isLossless(findings: readonly Finding[]): boolean {
  return findings.every(({ status }) => status !== "lost");
}

/** A line each: `PATH: mapped | changed | lost: REASON`. */
export function formatFindings(findings: readonly Finding[]): string {
  return findings.map(({ path, status, reason }) => `${path}: ${status}: ${reason}\n`).join("");
}

export function formatFindingsJson(findings: readonly Finding[]): string {
  const rows = findings.map(({ target, ...rest }) => (target === null ? rest : { ...rest, target }));
  return `${JSON.stringify(rows, null, 2)}\n`;
}
