import { stripSignature } from "../tool-ids.ts";
import type { Family } from "./family.ts";

const VALID = /^[\w-]{1,64}$/;
/** Mistral's models take nothing else. */
const MISTRAL = /^[A-Za-z0-9]{9}$/;

/**
 * Tool-call ids as Converse takes them, `[A-Za-z0-9_-]{1,64}`, without the signatures that the gateway put into them; others
 * are rewritten, different ones differently.
 */
export function toolIds(family: Family): (id: string) => string {
  const valid = family === "mistral" ? MISTRAL : VALID;
  const written = new Map<string, string>();
  const taken = new Set<string>();
  return (given) => {
    const id = stripSignature(given);
    let made = written.get(id) ?? (valid.test(id) ? id : "");
    for (let n = written.size; made === "" || (taken.has(made) && !written.has(id)); n++) {
      made = `call${String(n).padStart(5, "0")}`;
    }
    written.set(id, made);
    taken.add(made);
    return made;
  };
}
