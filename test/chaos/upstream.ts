import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Served } from "./evidence.ts";
import type { RequestPlan } from "./plan.ts";
import { PlayedAttempt } from "./played-attempt.ts";
import type { RunningStreams } from "./running.ts";

/** Paths of the upstreams of a chain, in its order. */
export const PLACES = ["first", "second"] as const;

/** What upstreams are sent as credentials, and show when they refuse them. */
export const UPSTREAM_KEYS = { first: "sk-planted-first-8f3a61", second: "sk-planted-second-27cd90" } as const;

/**
 * A provider that does what the plan says of each request, which it knows by its `X-Request-Id`, and keeps the truth of
 * it: by request, each attempt.
 */
export class ScriptedUpstream {
  readonly served = new Map<string, Served[]>();
  readonly #server: Server;
  readonly #plans: ReadonlyMap<string, RequestPlan>;
  readonly #running: RunningStreams;

  private constructor(plans: ReadonlyMap<string, RequestPlan>, running: RunningStreams) {
    this.#plans = plans;
    this.#running = running;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => request.socket.destroy());
    });
    this.#server.keepAliveTimeout = 75_000;
  }

  static async start(plans: ReadonlyMap<string, RequestPlan>, running: RunningStreams): Promise<ScriptedUpstream> {
    const upstream = new ScriptedUpstream(plans, running);
    upstream.#server.listen(0, "127.0.0.1");
    await once(upstream.#server, "listening");
    return upstream;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = String(request.headers["x-request-id"]);
    const plan = this.#plans.get(id);
    const place = PLACES.findIndex((name) => request.url?.startsWith(`/${name}/`));
    if (plan === undefined || place < 0) {
      // Of a probe, or of the requests that look at what is left.
      request.resume();
      return void response.writeHead(404).end();
    }
    const attempt = plan.attempts[Math.min(place, plan.attempts.length - 1)]!;
    const exchange = new PlayedAttempt(response, plan, attempt, String(request.headers.authorization));
    const all = this.served.get(id) ?? [];
    this.served.set(id, all);
    all.push(exchange.truth);
    const over = plan.stream ? this.#running.begin(plan.user, id) : () => undefined;
    exchange.onEnd(over);
    for (const event of ["end", "close", "error"]) request.socket.once(event, over);
    response.once("close", over);
    request.resume();
    await once(request, "end");
    await exchange.play();
    request.socket.off("end", over).off("close", over).off("error", over);
  }
}
