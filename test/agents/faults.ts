import type { Json } from "../../src/kit/index.ts";
import type { Run } from "./run-errand.ts";
import { speakerOf } from "./stage.ts";

/** What is wrong with a run, in words; nothing when all of it is as it must be. */
export function faultsOf(run: Run): readonly string[] {
  return [...faultsOfAgent(run), ...faultsOfGateway(run), ...faultsOfUpstream(run), ...faultsOfBooks(run)];
}

function* faultsOfAgent({ ended, errand }: Run): Generator<string> {
  if (ended.late) yield "took longer than its limit";
  else if (ended.code !== 0) yield `ended with ${ended.code ?? ended.signal}`;
  if (!ended.stdout.includes(errand.word)) yield `did not say ${errand.word}`;
}

/**
 * Every answer to inference is a 200, and what it says was left out stands in the request; beside it only what the agent is
 * known to ask.
 */
function* faultsOfGateway({ cell: { agent }, exchanged }: Run): Generator<string> {
  for (const { method, path, status, error, body, dropped } of exchanged) {
    const lost = dropped.find((pointer) => !pointer.endsWith("...") && !stands(pointer, JSON.parse(body)));
    if (lost !== undefined) yield `${method} ${path} had no ${lost} to be left out`;
    if (path === agent.endpoint ? status === 200 : status < 400 || agent.besides?.test(`${method} ${path}`)) continue;
    yield `${method} ${path} was answered ${status}: ${error.slice(0, 300)}`;
  }
  if (!exchanged.some(({ path }) => path === agent.endpoint)) yield `never asked ${agent.endpoint}`;
}

/** Each request came through once, in the right dialect, and was taken by a provider that reads strictly. */
function* faultsOfUpstream({ cell: { agent, dialect, task }, exchanged, visits }: Run): Generator<string> {
  const asked = exchanged.filter(({ path }) => path === agent.endpoint).length;
  if (visits.length !== asked) yield `${asked} requests of the agent were ${visits.length} of the gateway`;
  for (const visit of visits) {
    if (visit.dialect !== speakerOf(dialect)) yield `${visit.entry.path} is not ${dialect}`;
    if (visit.refusal !== null) yield `the upstream refused: ${visit.refusal}`;
  }
  if (task === "plain") return;
  if (!visits.some(({ deed }) => deed && "call" in deed)) yield "no tool was called";
  if (!visits.some(({ results }) => results > 0)) yield "no result of a tool reached the upstream";
}

/** Every request is charged, by the upstream's own counts, and nothing is held. */
function* faultsOfBooks({ visits, ledger, drift, running }: Run): Generator<string> {
  if (drift !== 0n) yield `the books are off by ${drift} nano-units`;
  if (running.requests + running.streams > 0 || running.held !== 0n)
    yield `still running: ${running.requests}, held ${running.held}`;
  if (ledger.length !== visits.length) yield `${visits.length} requests, ${ledger.length} records`;
  for (const { entry } of visits) {
    const { requestId, claimed } = entry;
    const record = ledger.find((one) => one.requestId === requestId);
    if (!record || record.outcome !== "served") {
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
