import type { DatabaseSync } from "node:sqlite";
import type { AuditEntry, AuditVerdict, NewAuditEntry } from "../../kit/index.ts";
import {
  BEGUN_SEQ,
  BEGUN_TIMEOUT_MS,
  begunText,
  ChainCheck,
  type ChainPlace,
  erasedText,
  linkAfter,
  newEntryOf,
  shownAudit,
} from "../audit-chain.ts";
import { MAX_AUDIT_ENTRIES } from "../windows.ts";
import type { Transactions } from "./commits.ts";

/** Old entries that go in one commit. */
const ENTRIES_PER_TRIM = 100;
/** Entries without an end that join the chain with each entry that does. */
const STALE_PER_WRITE = 10;
/** Entries that one step of a removal of personal data reads. */
const ENTRIES_PER_STEP = 1_000;

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface AuditRow {
  readonly id: string;
  readonly seq: bigint;
  readonly at: bigint;
  readonly entry: string;
}

interface ChainRow {
  readonly head_seq: bigint;
  readonly head: string | null;
  readonly anchor_seq: bigint;
  readonly anchor: string | null;
}

/** The audit log. Forced to the disk: an entry is written before what it tells of is done. */
export function auditTable(db: DatabaseSync, { read, write, writeDurably }: Transactions, now: () => number) {
  const begin = db.prepare(
    `INSERT INTO audit (id, at, entry, seq) VALUES (?, ?, ?, ${BEGUN_SEQ}) ON CONFLICT DO NOTHING`,
  );
  const place = db.prepare("SELECT seq FROM audit WHERE id = ?");
  const save = db.prepare(
    `INSERT INTO audit (id, at, entry, seq) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET entry = excluded.entry, seq = excluded.seq`,
  );
  const stale = db.prepare(
    `SELECT entry FROM audit WHERE seq = ${BEGUN_SEQ} AND at < ? ORDER BY id LIMIT ${STALE_PER_WRITE}`,
  );
  const chain = db.prepare("SELECT head_seq, head, anchor_seq, anchor FROM audit_chain");
  const setHead = db.prepare("UPDATE audit_chain SET head_seq = ?, head = ?");
  const setAnchor = db.prepare("UPDATE audit_chain SET anchor_seq = ?, anchor = ?");
  const list = db.prepare("SELECT entry FROM audit ORDER BY seq DESC, id DESC LIMIT ?");
  const listBefore = db.prepare(
    `SELECT entry FROM audit WHERE (seq, id) < (SELECT seq, id FROM audit WHERE id = ?)
     ORDER BY seq DESC, id DESC LIMIT ?`,
  );
  const count = db.prepare("SELECT count(*) AS entries FROM audit");
  const oldest = db.prepare(
    `SELECT id, seq, at, entry FROM audit WHERE seq < ${BEGUN_SEQ} ORDER BY seq, id LIMIT ${ENTRIES_PER_TRIM}`,
  );
  const remove = db.prepare("DELETE FROM audit WHERE id = ?");
  const inChain = db.prepare(`SELECT seq, entry FROM audit WHERE seq > 0 AND seq < ${BEGUN_SEQ} ORDER BY seq, id`);
  const withSeq = db.prepare("SELECT count(*) AS entries FROM audit WHERE seq = ?");
  const page = db.prepare(`SELECT id, entry FROM audit WHERE id > ? ORDER BY id LIMIT ${ENTRIES_PER_STEP}`);
  const replace = db.prepare("UPDATE audit SET entry = ? WHERE id = ? AND entry = ?");

  const chainRow = (): ChainRow => chain.get() as unknown as ChainRow;
  const countOf = (seq: number): number => Number(withSeq.get(seq)?.["entries"]);

  /** In a transaction. */
  function append(entry: NewAuditEntry): void {
    const { head_seq, head } = chainRow();
    const { seq, digest, text } = linkAfter({ seq: Number(head_seq), digest: head }, entry);
    save.run(entry.id, entry.at, text, seq);
    setHead.run(seq, digest);
  }

  const pageAfter = read((after: string) => page.all(after) as unknown as readonly Pick<AuditRow, "id" | "entry">[]);
  const replaceAll = writeDurably((changes: readonly (readonly [id: string, before: string, text: string])[]) =>
    changes.reduce((sum, [id, before, text]) => sum + Number(replace.run(text, id, before).changes), 0),
  );

  /** @returns how many were changed, and the id of the last one that was looked at; null at the end. */
  function eraseStep(
    names: readonly string[],
    after: string,
  ): { readonly changed: number; readonly last: string | null } {
    const words = names.map((name) => name.toLowerCase());
    const rows = pageAfter(after);
    const found = rows.filter(({ entry }) => words.some((word) => entry.toLowerCase().includes(word)));
    const changes = found.flatMap(({ id, entry }) => {
      const text = erasedText(entry, names);
      return text === null ? [] : [[id, entry, text] as const];
    });
    const changed = changes.length === 0 ? 0 : replaceAll(changes);
    // One that came to its end meanwhile is looked at again.
    const last = changed < changes.length ? after : (rows.at(-1)?.id ?? null);
    return { changed, last };
  }

  function appendStale(): void {
    for (const row of stale.all(now() - BEGUN_TIMEOUT_MS)) append(newEntryOf(String(row["entry"])));
  }

  return {
    methods: {
      writeAudit: writeDurably((entry: NewAuditEntry): void => {
        if (entry.outcome === "begun") {
          begin.run(entry.id, entry.at, begunText(entry));
          return;
        }
        const before = place.get(entry.id)?.["seq"];
        if (before !== undefined && Number(before) !== BEGUN_SEQ) return;
        append(entry);
        appendStale();
      }),

      listAudit: read(({ before, limit }: { readonly before: string | null; readonly limit: number }): AuditEntry[] => {
        const rows = before === null ? list.all(limit) : listBefore.all(before, limit);
        return rows.map((row) => shownAudit(String(row["entry"])));
      }),

      verifyAudit: read((digest?: string): AuditVerdict => {
        // One view of the file, which keeps nobody from writing: a process that serves would not wait for it.
        db.exec("BEGIN");
        try {
          const { head_seq, head, anchor_seq, anchor } = chainRow();
          const check = new ChainCheck({ seq: Number(anchor_seq), digest: anchor }, digest);
          for (const row of inChain.iterate()) check.add(Number(row["seq"]), String(row["entry"]));
          const counts = { begun: countOf(BEGUN_SEQ), unchained: countOf(0) };
          return check.end({ seq: Number(head_seq), digest: head }, counts);
        } finally {
          db.exec("COMMIT");
        }
      }),

      /** In steps, between which others work: the log may be long. */
      async eraseAudit(names: readonly string[]): Promise<number> {
        let changed = 0;
        for (let after: string | null = ""; after !== null; await nextTurn()) {
          const step = eraseStep(names, after);
          changed += step.changed;
          after = step.last;
        }
        return changed;
      },
    },

    /** Deletes some of what is older, and what is beyond the most that are kept. @returns whether there may be more. */
    trim: write((before: number): boolean => {
      appendStale();
      let beyond = Number(count.get()?.["entries"]) - MAX_AUDIT_ENTRIES;
      let anchor: ChainPlace | null = null;
      let removed = 0;
      for (const row of oldest.all() as unknown as AuditRow[]) {
        // In the order of the chain: a gap in the middle would look like a deletion.
        if (beyond <= 0 && Number(row.at) >= before) break;
        remove.run(row.id);
        beyond -= 1;
        removed += 1;
        if (row.seq > 0n) anchor = { seq: Number(row.seq), digest: shownAudit(row.entry).digest };
      }
      if (anchor !== null) setAnchor.run(anchor.seq, anchor.digest);
      return removed === ENTRIES_PER_TRIM;
    }),
  };
}
