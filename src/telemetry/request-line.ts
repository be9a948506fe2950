import { type AttemptSpan, type Exchange, nanoToString, type Outcome, type RequestTrace } from "../kit/index.ts";
import { durationsOf } from "./decisions.ts";
import { logged } from "./log.ts";

/** Pointers in one line of the log: a client decides how many there are. */
const MAX_DROPPED_POINTERS = 1_000;

/** A request that was answered without the pipeline. */
export interface AnsweredRequest {
  /** One of the gateway's own names; of a route its pattern, never the path as sent. */
  readonly endpoint: string;
  readonly status: number;
  readonly requestId: string;
  readonly durationMs: number;
  /** Left out: not known. */
  readonly method?: string;
  readonly trace?: RequestTrace | null;
  /** The client's; left out: not known. */
  readonly address?: string;
}

/**
 * The fields of requests' lines, as JSON without its braces: never content. Written by hand, for one is written for each
 * request. A text is in them by `plain`, which takes none but literals of the code, or by `logged`, which knows secrets.
 */
export class RequestLines {
  /** As they are logged; the configuration's and the gateway's own, of which there are not many. */
  readonly #names = new Map<string, string>();

  /** @param address the client's; left out: it is not to be in the line. */
  answered(
    request: AnsweredRequest,
    outcome: "served" | "refused" | "replayed",
    code: string | null,
    address?: string,
  ): string {
    const { requestId, trace, endpoint, status, durationMs } = request;
    return (
      `"request_id":${logged(requestId)}${traceField(trace)}${addressField(address)},"endpoint":${this.#name(endpoint)}` +
      `,"outcome":${plain(outcome)},"status":${number(status)}${code === null ? "" : `,"code":${this.#name(code)}`}` +
      `,"latency_ms":${number(durationMs)}`
    );
  }

  /** @param first `X-Request-Id` of the request whose answer it was given @param address the client's */
  replayed(request: AnsweredRequest, first: string, address?: string): string {
    return `${this.answered(request, "replayed", null, address)},"replay_of":${logged(first)}`;
  }

  /** @param user digest of the user's id @param address the client's */
  finished(exchange: Exchange, outcome: Outcome, user: string | undefined, address?: string): string {
    const { receivedAt, tags, call } = exchange;
    const { bill, code, target, answeredBy, dropped, firstEventAt, timeline } = outcome;
    const { characters, milliseconds, images, prompt, completion } = bill.usage;
    const { upstream_ms = null, gateway_ms = null } = timeline ? durationsOf(timeline, 0) : {};
    return (
      `"request_id":${logged(exchange.requestId)},"id":${logged(exchange.id)}${traceField(exchange.trace)}` +
      addressField(address) +
      `,"endpoint":${plain(exchange.endpoint)},"model":${this.#name(exchange.model.id)}` +
      `,"tier":${this.#name(exchange.tier.name)}${user === undefined ? "" : `,"user":${logged(user)}`}` +
      `,"stream":${call.stream}${tags === undefined ? "" : `,"tags":${logged(tagsByName(tags))}`}` +
      `,"outcome":${plain(outcome.kind)},"status":${number(outcome.status)}` +
      (code === null ? "" : `,"code":${plain(code)}`) +
      (target === null ? "" : `,"upstream":${this.#name(target.upstream)}`) +
      (answeredBy === undefined ? "" : `,"answered_by":${this.#name(answeredBy)}`) +
      `,"attempts":${number(outcome.attempts)}${failuresField(timeline?.attempts)}` +
      (dropped.length === 0 ? "" : `,"dropped":${logged(dropped.slice(0, MAX_DROPPED_POINTERS))}`) +
      `,"prompt_tokens":${number(prompt)},"completion_tokens":${number(completion)}` +
      (characters === undefined ? "" : `,"characters":${number(characters)}`) +
      (milliseconds === undefined ? "" : `,"audio_ms":${number(milliseconds)}`) +
      (images === undefined ? "" : `,"images":${number(images)}`) +
      `${bill.estimated ? `,"estimated":true` : ""},"cost":"${nanoToString(bill.charge)}"` +
      (firstEventAt === null ? "" : `,"first_event_ms":${number(Math.max(0, firstEventAt - receivedAt))}`) +
      (upstream_ms === null ? "" : `,"upstream_ms":${number(upstream_ms)}`) +
      (gateway_ms === null ? "" : `,"gateway_ms":${number(gateway_ms)}`) +
      `,"latency_ms":${number(Math.max(0, outcome.endedAt - receivedAt))}`
    );
  }

  #name(name: string): string {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    const made = logged(name);
    this.#names.set(name, made);
    return made;
  }
}

/** A text of the code's own. Does not compile for a `string`, which may be anybody's. */
function plain<Text extends string>(text: string extends Text ? never : Text): string {
  return `"${text}"`;
}

/** What JSON has no form for is null in it. */
function number(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

function addressField(address: string | undefined): string {
  return address === undefined ? "" : `,"address":${logged(address)}`;
}

function traceField(trace: RequestTrace | null | undefined): string {
  return trace ? `,"trace_id":${logged(trace.traceId)}` : "";
}

/** What says nothing of the upstream that was asked, or that none was. */
const UNTOLD: ReadonlySet<AttemptSpan["result"]> = new Set([null, "ok", "skipped", "aborted"]);

/** The attempts that failed, also of a request that another one served. */
function failuresField(attempts: readonly AttemptSpan[] = []): string {
  if (attempts.every(({ result }) => UNTOLD.has(result))) return "";
  const failures = attempts.filter(({ result }) => !UNTOLD.has(result));
  return `,"failures":${logged(
    failures.map(({ target: { upstream, model }, result, status, detail }) => {
      return { upstream, model, result, ...(status > 0 && { status }), ...(detail !== "" && { cause: detail }) };
    }),
  )}`;
}

function tagsByName(tags: NonNullable<Exchange["tags"]>): object {
  return Object.fromEntries(tags.map(({ name, value }) => [name, value]));
}
