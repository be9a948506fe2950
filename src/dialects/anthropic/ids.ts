import { stripSignature } from "../tool-ids.ts";

const VALID = /^[\w-]+$/;

/** Tool-call ids as the API takes them, `[A-Za-z0-9_-]+`; others are rewritten, different ones differently. */
export function toolIds(): (id: string) => string {
  const written = new Map<string, string>();
  const taken = new Set<string>();
  return (given) => {
    const id = stripSignature(given);
    const known = written.get(id);
    if (known !== undefined) return known;
    const base = VALID.test(id) ? id : id.replaceAll(/[^\w-]/g, "_") || "call";
    let made = base;
    for (let n = 2; taken.has(made); n++) made = `${base}_${n}`;
    written.set(id, made);
    taken.add(made);
    return made;
  };
}
