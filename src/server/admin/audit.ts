import { HTTPResponse } from "h3";
import type { AuditEntry as ShownEntry } from "../../../schemas/types.gen.ts";
import {
  type AuditEntry,
  type AuditStamp,
  GatewayError,
  isJson,
  type Json,
  type NewAuditEntry,
} from "../../kit/index.ts";
import type { AdminCall, AdminEndpoint, AdminParts } from "./endpoint.ts";

/** Of the details of an entry, as JSON; and of each field, where all of them are more. */
const MAX_DETAILS_CHARACTERS = 4_096;
const MAX_FIELD_CHARACTERS = 256;
const MAX_FIELDS_COUNT = 16;
/** Of an id or a name that a path holds. */
const MAX_TARGET_CHARACTERS = 256;

type Handle = (call: AdminCall) => unknown;
type Note = Parameters<AdminCall["note"]>[0];

/**
 * The handler of a change, with its entry in the audit log: written before the change is made, so that no change is
 * without one, and again when it is over, with what came of it. What the handler itself refuses is in the log too; what
 * does not get this far (no token, another role, a body that is none) has changed nothing, and is not.
 */
export function audited(endpoint: AdminEndpoint, parts: AdminParts, stamp: AuditStamp): Handle {
  const handle = endpoint.route(parts);
  const { services, log } = parts;
  return async (call) => {
    const { caller, params, body, address, isCli = false } = call;
    const { at, id } = stamp();
    let noted: Note = {};
    const entryWith = (outcome: AuditEntry["outcome"], status: number | null): NewAuditEntry => ({
      id,
      at,
      name: isCli ? "cli" : (caller?.name ?? ""),
      role: caller?.role ?? "operator",
      action: endpoint.auditedAs ?? endpoint.id,
      target: (noted.target ?? Object.values(params)[0] ?? null)?.slice(0, MAX_TARGET_CHARACTERS) ?? null,
      details: { ...bounded(noted.details ?? body), ...(isCli && { token: caller?.name }) },
      outcome,
      status,
      address: address ?? null,
    });
    try {
      await services.writeAudit(entryWith("begun", null));
    } catch (error) {
      if (!endpoint.changesNoStore) throw error;
    }
    const end = async (status: number): Promise<void> => {
      const entry = entryWith(status < 400 ? "done" : status < 500 ? "refused" : "failed", status);
      await services.writeAudit(entry).catch((err: unknown) => {
        // Without target and details: they may name a user.
        const { target: _target, details: _details, address: _address, ...told } = entry;
        log.warn({ err, audit: told }, "result of an admin change not written to the audit log");
      });
    };
    const note = (more: Note): void => {
      noted = { ...noted, ...more };
    };
    let answer: unknown;
    try {
      answer = await handle({ ...call, note });
    } catch (error) {
      await end(error instanceof GatewayError ? error.status : 500);
      throw error;
    }
    await end((answer instanceof HTTPResponse ? answer.status : null) ?? 200);
    return answer;
  };
}

/** What is too long is left out, field by field: an entry is small whatever was sent. */
function bounded(details: Json): Json {
  if (JSON.stringify(details).length <= MAX_DETAILS_CHARACTERS) return details;
  const fields = Object.entries(details).slice(0, MAX_FIELDS_COUNT);
  return Object.fromEntries(
    fields.map(([name, value]) => {
      const isShort = (isJson(value) ? JSON.stringify(value) : String(value)).length <= MAX_FIELD_CHARACTERS;
      return [name.slice(0, MAX_FIELD_CHARACTERS), isShort ? value : "…"];
    }),
  );
}

/** As `GET /admin/audit` has it. */
export function shownEntry({ at, erased, ...entry }: AuditEntry): ShownEntry {
  return { ...entry, erased: erased === true, at: new Date(at).toISOString() };
}
