import { type AuditEntry, type AuditVerdict, type NewAuditEntry, storeUnavailable } from "../../kit/index.ts";
import {
  BEGUN_TIMEOUT_MS,
  begunText,
  CHAIN_START,
  ChainCheck,
  type ChainPlace,
  erasedText,
  linkAfter,
  newEntryOf,
  shownAudit,
} from "../audit-chain.ts";
import { MAX_AUDIT_ENTRIES } from "../windows.ts";
import type { Connection } from "./connection.ts";
import { type Keys, loadScript } from "./scripts.ts";

const BEGIN = loadScript("audit-begin", "clock", "audit-chain");
const APPEND = loadScript("audit-append", "clock", "audit-chain");
const LIST = loadScript("audit-list");
const READ = loadScript("audit-read", "clock", "audit-chain");
const REPLACE = loadScript("audit-replace");

/** Each failed try means that another process has added an entry: so many at once are no ordinary load. */
const MAX_TRIES = 1_000;
/** Entries that one step of a check or a removal reads. */
const ENTRIES_PER_STEP = 500;

/**
 * The store's role of the audit log. Servers have no SHA-256: this process makes the digest of an entry after the one that
 * it takes to be the newest, and the server adds it unless there is a newer one.
 * @param now Unix milliseconds; 0 means the server's clock.
 */
export function auditMethods(connection: Connection, keys: Keys, now: () => number, retention: number) {
  let newest: ChainPlace = CHAIN_START;
  /** One entry after the other: those of one process need not try again because of each other. */
  let queue: Promise<unknown> = Promise.resolve();

  /** @returns entries that have begun and lost their process. */
  async function append(entry: NewAuditEntry): Promise<readonly string[]> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const { seq, digest, text } = linkAfter(newest, entry);
      const place = [seq, digest ?? "", newest.digest ?? ""];
      const args = [now(), retention, entry.id, text, ...place, MAX_AUDIT_ENTRIES, BEGUN_TIMEOUT_MS];
      const reply = (await connection.run(APPEND, keys.audit, args)) as readonly [number, number, string, ...string[]];
      const [added, headSeq, head, ...stale] = reply;
      newest = placeOf(headSeq, head);
      if (added === 1) return stale;
    }
    throw storeUnavailable(new Error("redis: too many processes write to the audit log"));
  }

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = queue.then(work);
    queue = next.catch(() => undefined);
    return next;
  }

  /** Once more when the entry has come to its end meanwhile. */
  async function erase(id: string, text: string, names: readonly string[]): Promise<boolean> {
    const [, entries] = keys.audit;
    for (
      let at: string | null = text;
      at !== null;
      at = (await connection.call("HGET", entries, id)) as string | null
    ) {
      const without = erasedText(at, names);
      if (without === null) return false;
      if ((await connection.run(REPLACE, [entries], [id, at, without])) === 1) return true;
    }
    return false;
  }

  return {
    async writeAudit(entry: NewAuditEntry): Promise<void> {
      if (entry.outcome === "begun") {
        await connection.run(BEGIN, keys.audit, [now(), retention, entry.id, begunText(entry)]);
        return;
      }
      await inTurn(async () => {
        for (const text of await append(entry)) await append(newEntryOf(text));
      });
    },

    async listAudit({ before, limit }: { readonly before: string | null; readonly limit: number }) {
      const texts = (await connection.run(LIST, keys.audit, [before ?? "", limit])) as readonly string[];
      return texts.map(shownAudit) satisfies AuditEntry[];
    },

    async verifyAudit(digest?: string): Promise<AuditVerdict> {
      let check: ChainCheck | null = null;
      for (;;) {
        const args = [now(), retention, check?.place.seq ?? 0, ENTRIES_PER_STEP];
        const reply = (await connection.run(READ, keys.audit, args)) as readonly (number | string)[];
        const [headSeq, headDigest, anchorSeq, anchorDigest, begun, unchained, ...found] = reply;
        const anchor = placeOf(anchorSeq, anchorDigest);
        check ??= new ChainCheck(anchor, digest);
        // Others go on writing, and remove what is old.
        check.skipTo(anchor);
        for (let at = 0; at < found.length; at += 2) check.add(Number(found[at]), String(found[at + 1]));
        if (check.isBroken || found.length < 2 * ENTRIES_PER_STEP) {
          const counts = { begun: Number(begun), unchained: Number(unchained) };
          return check.end(placeOf(headSeq, headDigest), counts);
        }
      }
    },

    async eraseAudit(names: readonly string[]): Promise<number> {
      const [, entries] = keys.audit;
      let changed = 0;
      let cursor = "0";
      do {
        const page = await connection.call("HSCAN", entries, cursor, "COUNT", ENTRIES_PER_STEP);
        const [next, flat] = page as [string, string[]];
        cursor = next;
        for (let at = 0; at < flat.length; at += 2) {
          const [id = "", text = ""] = [flat[at], flat[at + 1]];
          if (await erase(id, text, names)) changed += 1;
        }
      } while (cursor !== "0");
      return changed;
    },
  };
}

function placeOf(seq: number | string | undefined, digest: number | string | undefined): ChainPlace {
  return { seq: Number(seq ?? 0), digest: digest === undefined || digest === "" ? null : String(digest) };
}
