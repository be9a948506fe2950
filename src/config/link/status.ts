import { join } from "../diagnostics.ts";
import type { LinkContext } from "./context.ts";

/** Incidents: one id each, times that fit their state. */
export function linkStatus(context: LinkContext): void {
  const ids = new Set<string>();
  for (const [index, incident] of (context.config.status?.incidents ?? []).entries()) {
    const pointer = join("/status/incidents", index);
    const { id, status, created_at: created, resolved_at: resolved } = incident ?? {};
    if (id !== undefined && ids.has(id)) {
      const message = `the id ${context.show(`${pointer}/id`)} is taken by an incident above`;
      context.report(`${pointer}/id`, { rule: "duplicate-incident", message, hint: "give each incident its own id" });
    }
    if (id !== undefined) ids.add(id);
    if (context.misspelt(pointer)) continue;
    const wrong = wrongTimes(status, created, resolved ?? null);
    if (wrong !== null)
      context.report(`${pointer}/resolved_at`, { rule: "incident-times", message: wrong, hint: null });
  }
}

function wrongTimes(status: string | undefined, created: string | undefined, resolved: string | null): string | null {
  if (status === "resolved" && resolved === null) return "a resolved incident needs the time it was over";
  if (status === "ongoing" && resolved !== null) return "an ongoing incident has no time at which it was over";
  return created !== undefined && resolved !== null && Date.parse(resolved) < Date.parse(created)
    ? "lies before created_at"
    : null;
}
