import type { Json } from "../../src/kit/index.ts";
import { errorLines } from "./error-lines.ts";
import type { Run } from "./run-errand.ts";
import { speakerOf } from "./stage.ts";

/**
 * What is wrong with a run through the gateway, in words; empty when all of it is as it must be.
 * @param direct the same run at the provider itself; null where the provider speaks another format than the agent.
 */
export function faultsOf(run: Run, direct: Run | null): readonly string[] {
  if (run.cell.through === "direct") return [];
  const compared = direct === null ? faultsOfAgent(run) : comparedWith(run, direct);
  return [...compared, ...faultsOfGateway(run), ...faultsOfUpstream(run), ...faultsOfBooks(run)];
}

/** Where the agent is known to give up there is nothing that it has to say. */
function* faultsOfAgent({ ended, errand, cell }: Run): Generator<string> {
  if (ended.late) yield "took longer than its limit";
  if (ended.late || !cell.situation.recovers) return;
  if (ended.code !== 0) yield `ended with ${ended.code ?? ended.signal}`;
  if (!said(ended, errand)) yield `did not say ${errand.word}`;
}

/** The gateway may do better than the provider alone, never worse. */
function* comparedWith(run: Run, direct: Run): Generator<string> {
  const { ended, errand } = run;
  // An agent that never gives up is cut off somewhere: there is nothing to compare.
  if (direct.ended.late) return;
  if (ended.late) yield "took longer than its limit";
  else if (ended.code !== direct.ended.code && ended.code !== 0)
    yield `ended with ${ended.code ?? ended.signal}, at the provider itself with ${direct.ended.code}`;
  const must = run.cell.situation.recovers && said(direct.ended, direct.errand);
  if (must && !said(ended, errand)) yield `did not say ${errand.word}, as it does at the provider itself`;
  const { name } = run.cell.situation;
  const [here, there] = [errorLines(ended, name), errorLines(direct.ended, name)];
  if (here.length > there.length)
    yield `shows ${here.length} lines of errors, at the provider itself ${there.length}: ${here.join(" | ")}`;
  if (run.cell.situation.fallback === undefined && run.visits.length > direct.visits.length)
    yield `${run.visits.length} calls of the provider, without the gateway ${direct.visits.length}`;
}

function said({ stdout }: Run["ended"], { word }: Run["errand"]): boolean {
  return stdout.includes(word);
}

/** What an answer says was dropped stands in the request, and nothing is refused that the situation does not refuse. */
function* faultsOfGateway({ cell: { agent, situation }, exchanged, visits }: Run): Generator<string> {
  const faulted = visits.filter((visit) => visit.faulted).length;
  let refused = 0;
  for (const { method, path, status, error, body, dropped } of exchanged) {
    const lost = dropped.find((pointer) => !pointer.endsWith("...") && !stands(pointer, JSON.parse(body)));
    if (lost !== undefined) yield `${method} ${path} had no ${lost} to be dropped`;
    if (path === agent.endpoint && method === "POST" && status >= 400) refused += 1;
    else if (status < 400 || agent.besides?.test(`${method} ${path}`)) continue;
    // The chain's second target serves what the first refuses.
    if (refused > faulted || situation.fallback || path !== agent.endpoint)
      yield `${method} ${path} was answered ${status}: ${error.slice(0, 300)}`;
  }
  if (!exchanged.some(({ path }) => path === agent.endpoint)) yield `never asked ${agent.endpoint}`;
}

/** Each request came through in the right dialect and was taken by a provider that reads strictly. */
function* faultsOfUpstream({ cell: { agent, dialect, situation }, exchanged, visits }: Run): Generator<string> {
  const asked = exchanged.filter(({ path, method }) => path === agent.endpoint && method === "POST").length;
  const extra = situation.fallback ? visits.filter((visit) => visit.faulted).length : 0;
  if (visits.length !== asked + extra) yield `${asked} requests of the agent were ${visits.length} of the gateway`;
  for (const visit of visits) {
    if (visit.dialect !== speakerOf(dialect) && !situation.fallback) yield `${visit.entry.path} is not ${dialect}`;
    if (visit.refusal !== null) yield `the upstream refused: ${visit.refusal}`;
  }
  if (situation.task === "plain") return;
  if (!visits.some(({ deed }) => deed && "call" in deed)) yield "no tool was called";
  if (!visits.some(({ results }) => results > 0)) yield "no result of a tool reached the upstream";
}

/** Every request that was served is charged by the upstream's own counts, no other costs anything, nothing is held. */
function* faultsOfBooks({ visits, books }: Run): Generator<string> {
  if (books === null) return;
  const { ledger, drift, running } = books;
  if (drift !== 0n) yield `the books are off by ${drift} nano-units`;
  if (running.requests + running.streams > 0 || running.held !== 0n)
    yield `still running: ${running.requests}, held ${running.held}`;
  for (const { entry, faulted } of visits) {
    const { requestId, claimed } = entry;
    const record = ledger.find((one) => one.requestId === requestId);
    if (faulted) {
      // One that broke off is charged by what came of it; one that was refused is free.
      if (entry.status !== 200 && record?.outcome !== "served" && (record?.charge ?? 0n) > 0n)
        yield `refused request ${requestId} is charged`;
      continue;
    }
    if (record?.outcome !== "served") {
      yield `request ${requestId} is recorded as ${record?.outcome}`;
      continue;
    }
    const { prompt, completion } = record.usage;
    if (record.estimated || prompt !== claimed?.prompt || completion !== claimed?.completion)
      yield `request ${requestId} is charged ${prompt}+${completion} tokens, the upstream says ${String(claimed?.prompt)}+${String(claimed?.completion)}`;
    if (record.charge <= 0n) yield `request ${requestId} is not charged`;
  }
}

/** Whether a JSON pointer finds something. */
function stands(pointer: string, body: unknown): boolean {
  const steps = pointer.split("/").slice(1);
  const found = steps.reduce<unknown>(
    (at, step) =>
      typeof at === "object" && at !== null
        ? (at as Json)[step.replaceAll("~1", "/").replaceAll("~0", "~")]
        : undefined,
    body,
  );
  return found !== undefined;
}
