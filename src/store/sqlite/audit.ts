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
  const naming = db.prepare("SELECT id, entry FROM audit WHERE instr(lower(entry), ?) > 0");
  const replace = db.prepare("UPDATE audit SET entry = ? WHERE id = ?");

  const chainRow = (): ChainRow => chain.get() as unknown as ChainRow;
  const countOf = (seq: number): number => Number(withSeq.get(seq)?.["entries"]);

  /** In a transaction. */
  function append(entry: NewAuditEntry): void {
    const { head_seq, head } = chainRow();
    const { seq, digest, text } = linkAfter({ seq: Number(head_seq), digest: head }, entry);
    save.run(entry.id, entry.at, text, seq);
    setHead.run(seq, digest);
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

      // In a transaction: nobody writes or removes meanwhile.
      verifyAudit: write((digest?: string): AuditVerdict => {
        const { head_seq, head, anchor_seq, anchor } = chainRow();
        const check = new ChainCheck({ seq: Number(anchor_seq), digest: anchor }, digest);
        for (const row of inChain.iterate()) check.add(Number(row["seq"]), String(row["entry"]));
        return check.end({ seq: Number(head_seq), digest: head }, { begun: countOf(BEGUN_SEQ), unchained: countOf(0) });
      }),

      eraseAudit: writeDurably((names: readonly string[]): number => {
        let changed = 0;
        for (const name of names) {
          for (const row of naming.all(name.toLowerCase())) {
            const text = erasedText(String(row["entry"]), [name]);
            if (text === null) continue;
            replace.run(text, String(row["id"]));
            changed += 1;
          }
        }
        return changed;
      }),
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
