import { isLoopback, pathOf, type Steps } from "../../kit/index.ts";
import { type Diagnostic, join, type Severity } from "../diagnostics.ts";
import type { SecretScalar } from "../secrets.ts";
import type { LoadedSteps } from "../steps.ts";
import type { TlsFinding } from "../tls-files.ts";
import { MAX_TIMER, milliseconds } from "../settings.ts";
import type { Validated } from "../validate.ts";
import { type ContextOptions, LinkContext } from "./context.ts";
import { linkHeartbeat } from "./deadlines.ts";
import { linkExposure } from "./exposure.ts";
import { linkTiers } from "./limits.ts";
import { linkModels } from "./models.ts";
import { linkPipeline } from "./pipeline.ts";
import { linkPublishing } from "./publishing.ts";
import { linkAuth, linkServer, linkStore } from "./server.ts";
import { linkUpstreams, parseUrl } from "./upstreams.ts";

interface LinkOptions extends ContextOptions {
  /** What of secrets stands in the files. */
  readonly secrets: readonly SecretScalar[];
  /** How bad an unset variable is where empty text cannot stand. */
  readonly missingValue: Severity;
  /** About the TLS files that were read. */
  readonly tls: readonly TlsFinding[];
}

/** Everything that one value cannot show: names, capabilities, prices, order. */
export function* link(validated: Validated, loaded: LoadedSteps, options: LinkOptions): Steps<readonly Diagnostic[]> {
  const context = new LinkContext(validated, options);
  const unsetPointers = new Set([...validated.unsetPointers, ...loaded.unsetPointers]);
  yield* linkScalars(context, (pointer) => (unsetPointers.has(pointer) ? options.missingValue : options.missingSecret));
  linkPlainSecrets(context, options.secrets);
  linkServer(context);
  linkStore(context);
  linkAuth(context);
  linkTiers(context);
  linkUpstreams(context);
  for (const { pointer, finding, ofFile } of options.tls) {
    const message = ofFile ? `${context.show(pointer)} ${finding.message}` : finding.message;
    context.report(pointer, { ...finding, message });
  }
  linkExposure(context);
  linkHeartbeat(context);
  yield* linkModels(context);
  linkPublishing(context);
  linkPipeline(context, loaded.steps);
  yield* linkRefresh(context);
  linkStatus(context);
  return context.diagnostics;
}

/** Secrets that stand in the files, but those that open only what is simulated or on this machine. */
function linkPlainSecrets(context: LinkContext, secrets: readonly SecretScalar[]): void {
  for (const { pointer } of secrets) {
    const [section, name = "", key] = pathOf(pointer);
    const upstream = section === "upstreams" ? context.config.upstreams?.[name] : undefined;
    // That an address holds a key is said where addresses are checked.
    if (upstream !== undefined && (key === "base_url" || isOwn(upstream.base_url))) continue;
    if (pointer.startsWith("/server/admin/token") && isLoopback(context.config.server?.admin?.host ?? "")) continue;
    context.report(pointer, {
      rule: "plain-secret",
      severity: "warning",
      message: "is a plain-text secret",
      hint: "move it to an environment variable, ${env:NAME}, or a file, ${file:path}; change it if others could read this file",
    });
  }
}

function isOwn(url: string | undefined): boolean {
  if (url === undefined || url.startsWith("sim:")) return true;
  const host = parseUrl(url)?.hostname;
  return host !== undefined && isLoopback(host);
}

const MAX_TIMER_MS = milliseconds(MAX_TIMER);
/** Keys of durations that are waited for. */
const TIMER_KEYS: ReadonlySet<string | undefined> = new Set([
  "connect",
  "first_byte",
  "idle",
  "total",
  "min_delay",
  "max_delay",
  "open_for",
  "max_open_for",
  "every",
  "timeout",
  "deadline",
  "heartbeat",
  "delay",
]);
const DURATION = /^\d+(ms|s|m|h|d)$/;

/** Unset variables, and durations that no timer can wait for. */
function linkScalars(context: LinkContext, unsetSeverity: (pointer: string) => Severity): Steps<void> {
  return context.eachScalar(({ reference, value }, path) => {
    // An empty name is a command's: that it is not run here is no fault.
    if (typeof reference?.unset === "string" && reference.unset !== "") {
      const pointer = join("", ...path);
      const message = `the variable ${reference.unset} is not set`;
      const hint = `set it, for example in .env beside the configuration, or give a default: \${env:${reference.unset}:-…}`;
      context.add(pointer, { rule: "unresolved-reference", message, hint, severity: unsetSeverity(pointer) });
    } else if (TIMER_KEYS.has(path.at(-1)) && isTooLong(value)) {
      const message = "is longer than a timer can run";
      context.report(join("", ...path), { rule: "timer-range", message, hint: `at most ${MAX_TIMER}` });
    }
  });
}

const MIN_REFRESH = "10s";

/** Commands that would run all the time, and a refresh without any. */
function* linkRefresh(context: LinkContext): Steps<void> {
  const refresh = context.config.secrets?.refresh;
  if (refresh === undefined) return;
  const rule = "secrets-refresh";
  const pointer = "/secrets/refresh";
  if (milliseconds(refresh) < milliseconds(MIN_REFRESH)) {
    const message = "is shorter than a command may take";
    return context.report(pointer, { rule, message, hint: `${MIN_REFRESH} or longer` });
  }
  let hasCommand = false;
  yield* context.eachScalar(({ reference }) => {
    hasCommand ||= reference?.written.includes("${exec:") === true;
  });
  if (hasCommand) return;
  const message = "has nothing to refresh: no value is ${exec:…}";
  context.report(pointer, { rule, severity: "warning", message, hint: "remove it" });
}

function isTooLong(value: unknown): boolean {
  return typeof value === "string" && DURATION.test(value) && milliseconds(value) > MAX_TIMER_MS;
}

/** Incidents: one id each, times that fit their state. */
function linkStatus(context: LinkContext): void {
  const ids = new Set<string>();
  for (const [index, incident] of (context.config.status?.incidents ?? []).entries()) {
    const pointer = join("/status/incidents", index);
    const { id, status, created_at: created, resolved_at: resolved } = incident ?? {};
    if (id !== undefined && ids.has(id)) {
      const message = `the id ${context.show(`${pointer}/id`)} is already used by an incident above`;
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
