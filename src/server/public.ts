import type { IncomingMessage, RequestListener } from "node:http";
import type { Endpoint, ErrorCode, GatewayError, Intake, Log, ServerSettings, Store } from "../kit/index.ts";
import { inBackground } from "../kit/index.ts";
import { createApp, requestIdIn, type Route, type Visit } from "./app.ts";
import { clientAddress, isFrom, TRUST_NOBODY, trustProxies, type TrustedProxies } from "./client-address.ts";
import { Connections } from "./connections.ts";
import { corsHeaders, isPreflight, preflightHeaders } from "./cors.ts";
import { INFERENCE, mannerOf } from "./formats.ts";
import { createInference, type ValidateBody } from "./inference.ts";
import { createIpLimit } from "./ip-limit.ts";
import { refusalOf } from "./refusal.ts";
import { requestIdOf } from "./request-id.ts";
import { Room } from "./room.ts";
import { headOf, limitRest, type Reception, respond } from "./respond.ts";

/** A request that was refused without reaching the pipeline. */
export interface Refused {
  readonly endpoint: Endpoint | "other";
  readonly status: number;
  readonly code: ErrorCode | null;
  readonly requestId: string;
  readonly durationMs: number;
}

/** A request that was answered by one of the routes beside inference. */
export interface Answered {
  /** The pattern of its path, never what the client wrote; "other" for a path that is none of ours. */
  readonly route: string;
  readonly method: string;
  /** 499 for a client that left before. */
  readonly status: number;
  readonly requestId: string;
  readonly durationMs: number;
}

export interface PublicServerOptions {
  readonly run: (intake: Intake) => Promise<void>;
  /** Of the configuration in force; read once per request. */
  readonly settings: () => ServerSettings;
  readonly validateBody: ValidateBody;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly log: Log;
  /** Further routes beside inference. */
  readonly routes?: readonly Route[];
  readonly onRefused?: (refused: Refused) => void;
  readonly onAnswered?: (answered: Answered) => void;
  /** Milliseconds after which a client that reads nothing of what waits for it is cut. */
  readonly stallAfter?: number;
  /** Of a store that several processes share: what each address sends counts in all of them. */
  readonly addCounts?: Store["addCounts"];
}

export interface PublicServer {
  /** For every listen address. */
  readonly handler: RequestListener;
  /** Of all listen addresses together. */
  readonly connections: Connections;
  /** While draining every answer closes its connection. */
  setDraining(draining: boolean): void;
  /** Requests that have not been answered and settled. */
  inFlight(): number;
  activeStreams(): number;
  /** Ends every running inference request; the pipeline answers and settles it. */
  abortAll(reason: "shutdown"): void;
}

/** Recorded where there is nobody to answer: what proxies have made of it, no status of HTTP's own. */
const CLIENT_GONE = 499;

/** The public listener: inference past the router, everything else through h3 (decisions 1, 4). */
export function createPublicServer(options: PublicServerOptions): PublicServer {
  const { settings, now, log, onRefused, onAnswered } = options;
  const rooms = {
    memory: new Room(() => settings().bodyMemory),
    space: new Room(() => settings().uploadSpace),
  };
  const inference = createInference({ ...options, stallAfter: options.stallAfter ?? 30_000, rooms });
  const visits = new WeakMap<IncomingMessage, Visit>();
  const api = createApp(options.routes ?? [], log, {
    elsewhere: INFERENCE.keys(),
    visitOf: (req) => visits.get(req)!,
    refusal(error, event) {
      const { url = "/", headers } = event.runtime!.node!.req as IncomingMessage;
      return mannerOf(pathOf(url))?.refusal?.(error, { requestId: requestIdIn(event), headers }) ?? null;
    },
  });
  const ipLimit = createIpLimit(options.addCounts ?? null, log);
  const trusted = rememberProxies(log);
  let draining = false;
  let apiRequests = 0;
  /** Requests that are not known yet to be within the limit of their address. */
  let held = 0;
  const closing = (): boolean => draining;

  const serveApi = (reception: Reception, visit: Visit, receivedAt: number): void => {
    const { req, res, requestId } = reception;
    visits.set(req, visit);
    apiRequests += 1;
    res.once("close", () => {
      apiRequests -= 1;
      const status = res.headersSent ? res.statusCode : CLIENT_GONE;
      const durationMs = now() - receivedAt;
      onAnswered?.({ route: visit.route ?? "other", method: req.method ?? "", status, requestId, durationMs });
    });
    const head = headOf(reception, "", {});
    for (let index = 0; index < head.length; index += 2) res.setHeader(head[index]!, head[index + 1]!);
    if (req.headers.expect !== undefined) res.writeContinue();
    limitRest(req, res);
    api(req, res);
  };

  const connections = new Connections(() => {
    const { connections: bounds, trustedProxies } = settings();
    return { bounds, isProxy: trusted(trustedProxies) };
  });

  return {
    connections,
    handler(req, res) {
      const receivedAt = now();
      const { trustedProxies, ipLimit: limit, cors, bodyLimit } = settings();
      const path = pathOf(req.url ?? "/");
      const inApi = path.startsWith("/v1/") || INFERENCE.has(path);
      const requestId = requestIdOf(req.headers["x-request-id"]);
      const format = req.method === "POST" ? INFERENCE.get(path) : undefined;
      const manner = format ?? mannerOf(path);
      const permitted = inApi ? corsHeaders(req, cors.origins) : [];
      const named = manner?.requestIdHeader;
      const always = named === undefined ? permitted : [...permitted, named, requestId];
      const reception: Reception = { req, res, requestId, always, closing };
      if (inApi && isPreflight(req)) return respond(reception, 204, "", preflightHeaders(req), "");

      const forwarded = req.headers["x-forwarded-for"];
      const peer = req.socket.remoteAddress ?? "";
      const isProxy = trusted(trustedProxies);
      const ip = clientAddress(peer, forwarded?.toString(), isProxy);
      const refused = (status: number, code: ErrorCode | null): void => {
        const endpoint = format?.endpoint ?? "other";
        onRefused?.({ endpoint, status, code, requestId, durationMs: now() - receivedAt });
      };
      const go = (tooMany: GatewayError | null): void => {
        // Its close has passed: nobody would hear of it any more.
        if (res.destroyed) return refused(CLIENT_GONE, null);
        if (tooMany !== null) {
          const request = { requestId, headers: req.headers };
          const refusal = refusalOf(tooMany, (error) => manner?.refusal?.(error, request) ?? null);
          const { status, code, contentType, headers, body } = refusal;
          respond(reception, status, contentType, headers, body);
          return refused(status, code);
        }
        if (format === undefined)
          serveApi(
            reception,
            { req, ip, proxied: isFrom(peer, isProxy), memory: rooms.memory, route: null },
            receivedAt,
          );
        else inference.serve({ reception, format, ip, receivedAt, bodyLimit });
      };
      const verdict = ipLimit.take(ip, limit, receivedAt);
      if (!(verdict instanceof Promise)) return go(verdict);
      held += 1;
      const hold = async (): Promise<void> => {
        const tooMany = await verdict;
        held -= 1;
        go(tooMany);
      };
      inBackground(log, "a request", hold());
    },
    setDraining(value) {
      draining = value;
    },
    inFlight: () => inference.clients.size + apiRequests + held,
    activeStreams() {
      let streams = 0;
      inference.clients.each((client) => {
        if (client.streaming) streams += 1;
      });
      return streams;
    },
    abortAll(reason) {
      inference.clients.each((client) => client.abort(reason));
    },
  };
}

function pathOf(url: string): string {
  const query = url.indexOf("?");
  return query < 0 ? url : url.slice(0, query);
}

/** Compiles a configuration's list once; a list that should not have passed the linker trusts nobody, loudly. */
function rememberProxies(log: Log): (entries: readonly string[]) => TrustedProxies {
  let compiledFrom: readonly string[] | null = null;
  let compiled = TRUST_NOBODY;
  return (entries) => {
    if (entries === compiledFrom) return compiled;
    compiledFrom = entries;
    try {
      compiled = trustProxies(entries);
    } catch (error) {
      log.error({ err: error }, "no proxy is trusted");
      compiled = TRUST_NOBODY;
    }
    return compiled;
  };
}
