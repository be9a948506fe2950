import { dirname, join } from "node:path";
import { openFile } from "../../../src/store/sqlite/database.ts";
import { transaction } from "../../../src/store/sqlite/commits.ts";
import { ledgerTable } from "../../../src/store/sqlite/ledger.ts";
import { RECORD } from "../../store/support.ts";
import type { Guest, Stage } from "./stage.ts";

/** One of so many entries failed by the client's fault. */
export const FAULTY_OF = 100;

/** Writes entries of these users in turn into the file of a gateway that is stopped; of two models in turn for each. */
export function fillLedger(stage: Stage, guests: readonly Guest[], count: number): void {
  const file = openFile(join(dirname(stage.file), "gateway.db"), true);
  const { db } = file;
  const ledger = ledgerTable(db, Date.now);
  const last = guests.map(() => 0);
  const receivedAt = Date.now() - 60_000;
  transaction(db, () => {
    for (let index = 0; index < count; index += 1) {
      const at = index % guests.length;
      const round = Math.floor(index / guests.length);
      last[at] = ledger.append(last[at]!, guests[at]!.id, `ex_${index}`, 1_000n, {
        ...RECORD,
        requestId: `request-${index}`,
        model: round % 2 === 0 ? "route/swift" : "route/deep",
        outcome: round % FAULTY_OF === 0 ? "client_fault" : "served",
        receivedAt,
        endedAt: receivedAt + 1_000,
      });
    }
    const setLast = db.prepare("UPDATE users SET last_entry = ? WHERE id = ?");
    for (const [at, { id }] of guests.entries()) setLast.run(last[at]!, id);
  });
  file.close();
}
