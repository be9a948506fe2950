import type { RequestListener } from "node:http";
import type { Endpoint, ErrorCode, Intake, Log, ServerSettings } from "../kit/index.ts";
import { createApp, type Route } from "./app.ts";
import { clientAddress, TRUST_NOBODY, trustProxies, type TrustedProxies } from "./client-address.ts";
import { corsHeaders, isPreflight, preflightHeaders } from "./cors.ts";
import { createInference, INFERENCE, type ValidateBody } from "./inference.ts";
import { createIpLimit } from "./ip-limit.ts";
import { refusalOf } from "./refusal.ts";
import { requestIdOf } from "./request-id.ts";
import { headOf, limitRest, type Reception, respond } from "./respond.ts";

/** A request that was refused without reaching the pipeline. */
export interface Refused {
  readonly endpoint: Endpoint | "other";
  readonly status: number;
  readonly code: ErrorCode | null;
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
  /** Milliseconds after which a client that reads nothing of what waits for it is cut. */
  readonly stallAfter?: number;
}

export interface PublicServer {
  /** For every listen address. */
  readonly handler: RequestListener;
  /** While draining every answer closes its connection. */
  setDraining(draining: boolean): void;
  /** Requests that have not been answered and settled. */
  inFlight(): number;
  activeStreams(): number;
  /** Ends every running inference request; the pipeline answers and settles it. */
  abortAll(reason: "shutdown"): void;
}

/** The public listener: inference past the router, everything else through h3 (decisions 1, 4). */
export function createPublicServer(options: PublicServerOptions): PublicServer {
  const { settings, now, log, onRefused } = options;
  const inference = createInference({ ...options, stallAfter: options.stallAfter ?? 30_000 });
  const api = createApp(options.routes ?? [], log, { elsewhere: INFERENCE.keys() });
  const ipLimit = createIpLimit();
  const trusted = rememberProxies(log);
  let draining = false;
  let apiRequests = 0;
  const closing = (): boolean => draining;

  const serveApi = (reception: Reception): void => {
    const { req, res } = reception;
    apiRequests += 1;
    res.once("close", () => {
      apiRequests -= 1;
    });
    const head = headOf(reception, "", {});
    for (let index = 0; index < head.length; index += 2) res.setHeader(head[index]!, head[index + 1]!);
    if (req.headers.expect !== undefined) res.writeContinue();
    limitRest(req, res);
    api(req, res);
  };

  return {
    handler(req, res) {
      const receivedAt = now();
      const { trustedProxies, ipLimit: limit, cors, bodyLimit } = settings();
      const path = pathOf(req.url ?? "/");
      const inV1 = path.startsWith("/v1/");
      const reception: Reception = {
        req,
        res,
        requestId: requestIdOf(req.headers["x-request-id"]),
        cors: inV1 ? corsHeaders(req, cors.origins) : [],
        closing,
      };
      if (inV1 && isPreflight(req)) return respond(reception, 204, "", preflightHeaders(req), "");

      const format = req.method === "POST" ? INFERENCE.get(path) : undefined;
      const forwarded = req.headers["x-forwarded-for"];
      const ip = clientAddress(req.socket.remoteAddress ?? "", forwarded?.toString(), trusted(trustedProxies));
      const tooMany = ipLimit.take(ip, limit, receivedAt);
      if (tooMany !== null) {
        const { status, code, contentType, headers, body } = refusalOf(tooMany);
        respond(reception, status, contentType, headers, body);
        const endpoint = format?.endpoint ?? "other";
        onRefused?.({ endpoint, status, code, requestId: reception.requestId, durationMs: now() - receivedAt });
        return;
      }
      if (format === undefined) serveApi(reception);
      else inference.serve({ reception, format, ip, receivedAt, bodyLimit });
    },
    setDraining(value) {
      draining = value;
    },
    inFlight: () => inference.clients.size + apiRequests,
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
