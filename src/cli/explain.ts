import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Loaded } from "../gateway/configuration.ts";
import { type Endpoint, isJson, type Json, onlyTier, type Snapshot } from "../kit/index.ts";
import { callerOf } from "../offline/caller.ts";
import { type Caller, explain, type Question } from "../offline/explain.ts";
import { explainPast, pastText } from "../offline/explain-past.ts";
import { explanationText } from "../offline/explain-text.ts";
import { loadOffline } from "../offline/load.ts";
import { findDecision, logFiles } from "../offline/replay/log.ts";
import { InvalidQuestion } from "../offline/room.ts";
import { openExisting } from "./existing-store.ts";
import { configFile, EXIT, ExitError, note } from "./options.ts";

/** What to do where no decision log is named and none is written. */
export const NO_LOG = "name a decision log with --log FILE: the configuration has no telemetry.decision_log";

export interface ExplainOptions {
  readonly config?: string;
  /** A past one, by its id in the decision log. */
  readonly request?: string;
  readonly log: readonly string[];
  readonly tier?: string;
  readonly user?: string;
  readonly key?: string;
  readonly store?: boolean;
  readonly endpoint?: Endpoint;
  readonly stream?: boolean;
  readonly body?: string;
  readonly down: readonly string[];
  readonly open: readonly string[];
  /** `UPSTREAM=SCRIPT`. */
  readonly fault: readonly string[];
  readonly promptTokens?: number;
  readonly outputTokens?: number;
  readonly format: "text" | "json";
}

/** Says what would become of a request, and why; a refusal is an answer as well. @throws ExitError */
export async function explainRequest(model: string | undefined, options: ExplainOptions): Promise<void> {
  const { tier, user, key, store = false, format, request } = options;
  if (request !== undefined) return explainLogged(request, model, options);
  if (options.log.length > 0) throw usage("--log is where --request is looked for");
  if (model === undefined) throw usage("name a model, or a past request with --request");
  if ((user !== undefined) !== store) throw usage("--user and --store go together: a user's counters are in the store");
  if (key !== undefined && user === undefined) throw usage("--key is a key of --user");
  const loaded = await load(options);
  if (tier === undefined && user === undefined && onlyTier(loaded.snapshot) === null)
    throw usage("name a plan with --tier, or a user with --user and --store");
  const caller = user === undefined ? undefined : await callerInStore(loaded.snapshot, user, key);
  const { endpoint, stream, open, promptTokens, outputTokens } = options;
  const question: Question = {
    model,
    now: Date.now(),
    open,
    faults: faultsOf(options),
    ...(tier !== undefined && { tier }),
    ...(caller !== undefined && { caller }),
    ...(endpoint !== undefined && { endpoint }),
    ...(stream !== undefined && { stream }),
    ...(options.body !== undefined && { body: await bodyOf(options.body) }),
    ...(promptTokens !== undefined && { promptTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
  };
  try {
    const explanation = await explain(loaded, question);
    process.stdout.write(
      format === "json" ? `${JSON.stringify(explanation, null, 2)}\n` : explanationText(explanation),
    );
  } catch (error) {
    throw error instanceof InvalidQuestion ? usage(error.message) : error;
  }
}

/** Says what became of a request of the decision log, and what would now. @throws ExitError */
async function explainLogged(id: string, model: string | undefined, options: ExplainOptions): Promise<void> {
  const { tier, user, endpoint, stream, body, promptTokens, outputTokens, open, format, log } = options;
  const others = [model, user, endpoint, stream, body, promptTokens, outputTokens];
  if (others.some((other) => other !== undefined)) {
    throw usage(
      "--request says what is asked: beside it only --log, --tier, --down, --open and --fault have a meaning",
    );
  }
  const loaded = await load(options);
  const files = log.length > 0 ? log : await logFiles(loaded.snapshot);
  if (files === null) throw usage(NO_LOG);
  for (const file of files) if (!existsSync(file)) throw new ExitError(EXIT.failed, `there is no ${file}`);
  const { decision, bad } = await findDecision(files, id);
  for (const line of bad) process.stderr.write(`gateway: ${line}\n`);
  if (decision === null) throw new ExitError(EXIT.findings, `there is no request ${id} in ${files.join(", ")}`);
  const asked = { open, faults: faultsOf(options), ...(tier !== undefined && { tier }) };
  const past = await explainPast(loaded, decision, asked);
  process.stdout.write(format === "json" ? `${JSON.stringify(past, null, 2)}\n` : pastText(past));
}

/** @throws ConfigurationError */
export function load({ config }: { readonly config?: string }): Promise<Loaded> {
  return loadOffline({ file: configFile(config), tell: note });
}

function usage(message: string): ExitError {
  return new ExitError(EXIT.usage, message);
}

/** @throws ExitError for a user that is not there. */
async function callerInStore(snapshot: Snapshot, user: string, key?: string): Promise<Caller> {
  const { tiers } = snapshot;
  const store = await openExisting(snapshot);
  try {
    const caller = await callerOf(store, { tiers }, user, key);
    if (caller === null) throw new ExitError(EXIT.findings, `there is no user ${user}`);
    return caller;
  } finally {
    await store.close();
  }
}

function faultsOf({ down, fault }: ExplainOptions): Record<string, string> {
  const scripted = fault.map((text) => {
    const [name = "", ...script] = text.split("=");
    return [name, script.join("=")] as const;
  });
  return Object.fromEntries([...scripted, ...down.map((name) => [name, "down"] as const)]);
}

/** JSON, or `@FILE` with it. @throws ExitError */
async function bodyOf(written: string): Promise<Json> {
  let body: unknown;
  try {
    body = JSON.parse(written.startsWith("@") ? await readFile(written.slice(1), "utf8") : written);
  } catch (error) {
    throw usage(`--body: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isJson(body)) throw usage("--body: not a JSON object");
  return body;
}
