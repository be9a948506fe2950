import type { Address, GatewayError } from "../kit/index.ts";
import { createAdminHandler } from "../server/admin/handler.ts";
import type { AdminServices } from "../server/admin/services.ts";
import { cut, type Listening } from "../server/listen.ts";
import { openApiDocument } from "../server/openapi/document.ts";
import { createConsolePages, createDashboardPages, type PageFiles } from "../server/pages.ts";
import { createPublicServer, type PublicServer } from "../server/public.ts";
import { validateBody as validateCompiled, type ValidateBody } from "../server/body-schemas.ts";
import type { SignInRecord, UserStreams } from "../server/endpoint.ts";
import { createRoutes } from "../server/endpoints.ts";
import { type AdminView, adminRoutes } from "./admin-view.ts";
import { listenSecurely } from "./certificates.ts";
import type { Accounts, StartContext, Storage, Telemetry } from "./services.ts";
import type { RouteObserver } from "../telemetry/observer.ts";
import type { Tokenizer } from "./tokenizer.ts";

export interface PublicListener {
  readonly server: PublicServer;
  readonly listening: Listening;
}

type PublicParts = [
  context: StartContext,
  storage: Pick<Storage, "store" | "isShared">,
  accounts: Accounts,
  telemetry: Partial<Pick<Telemetry, "traceOf" | "digestOf">> & { readonly observer: RouteObserver },
  tokenizer: Pick<Tokenizer, "countForClient">,
  more?: {
    readonly validateBody?: ValidateBody;
    /** Left out: none are served. */
    readonly pages?: PageFiles;
    /** Left out: nobody has any. */
    readonly streams?: UserStreams;
    /** Left out: sign-ins are written nowhere. */
    readonly signIns?: SignInRecord;
  },
];

/** Opens the public addresses: from here on requests are served. @throws Error for an address that cannot be had. */
export async function listenPublic(...parts: PublicParts): Promise<PublicListener> {
  const [{ start, closing, log, now }, , , { observer }] = parts;
  const server = publicServer(...parts);
  const options = {
    setting: "server.listen",
    connections: server.connections,
    errorFormat: () => parts[0].state.snapshot.server.errorFormat,
    onMalformed: (status: number, requestId: string) =>
      observer.rejectedEarly({ endpoint: "other", status, code: null, requestId, durationMs: 0 }),
  };
  const { listen } = start.loaded.snapshot.server;
  const listening = await listenSecurely(listen, server.handler, options, { log, now });
  closing.add(() => cut(listening));
  return { server, listening };
}

const NO_STREAMS: UserStreams = {
  listOf: async () => ({ streams: [], complete: true }),
  endOf: async () => ({ ended: false, complete: true }),
};

/** The public API of this process, without an address of its own. */
export function publicServer(...parts: PublicParts): PublicServer {
  const [context, { store, isShared }, { identities, signIn, killSwitch }, { observer, traceOf, digestOf }, tokenizer] =
    parts;
  const { now, elapsed, log, state } = context;
  const { validateBody = validateCompiled, pages, streams = NO_STREAMS, signIns } = parts[5] ?? {};
  const shed = (tier: string): GatewayError | null => state.shedder?.refusal(tier) ?? null;
  // Made at the first request for it.
  let openApi: string | null = null;
  const routes = createRoutes({
    snapshot: () => state.snapshot,
    store,
    identities,
    signIn,
    health: (upstream) => state.generation.health(upstream),
    canServe: (target) => state.generation.upstreams.canServe(target),
    transitions: (upstream) => state.generation.transitions(upstream),
    kill: (userId) => killSwitch.kill(userId),
    streams,
    ...(signIns && { signIns }),
    ...(digestOf && { digestOf }),
    validateTokenCount: (body) => validateBody("count_tokens", body),
    shed,
    tokensIn: (text, userId) => tokenizer.countForClient(text, userId),
    openApi: () => (openApi ??= JSON.stringify(openApiDocument())),
    now,
    log,
  });
  const server = createPublicServer({
    pipeline: () => state.generation,
    candidateFor: (userId) => state.candidateFor(userId),
    shed,
    settings: () => state.snapshot.server,
    validateBody,
    now,
    elapsed,
    ...(traceOf && { traceOf }),
    serverTiming: () => state.snapshot.telemetry.serverTiming,
    log,
    routes,
    ...(pages !== undefined && { pages: createDashboardPages(pages) }),
    ...(isShared && { addCounts: (window, uses) => store.addCounts(window, uses) }),
    onRejectedEarly: (refused) => observer.rejectedEarly(refused),
    onRouteServed: ({ route, ...answered }) => observer.routeServed({ endpoint: route, ...answered }),
  });
  state.activeStreams = () => server.activeStreams();
  state.inFlight = () => server.inFlight();
  state.streams = server;
  return server;
}

/** @returns the address as bound; null where none is configured. @throws Error for an address that cannot be had. */
export async function listenAdmin(
  { start, links, now, log, state, closing }: StartContext,
  view: AdminView,
  services: AdminServices,
  files: PageFiles,
): Promise<Address | null> {
  const { admin } = start.loaded.snapshot.server;
  if (admin === null) return null;
  const pages = createConsolePages(files, () => state.adminTokens.length > 0);
  const handler = createAdminHandler({
    ...adminRoutes(view, { now, log }),
    services,
    settings: () => ({
      host: admin.host,
      tokens: state.adminTokens,
      trustedProxies: state.snapshot.server.trustedProxies,
    }),
    pages,
    ...(links && { redeemLink: (code: string, address: string) => links.redeem("operator", code, address) }),
    now,
    log,
  });
  const listening = await listenSecurely([admin], handler, { setting: "server.admin" }, { log, now });
  closing.add(() => cut(listening));
  return listening.addresses[0] ?? null;
}

/** `http://HOST:PORT` or `https://HOST:PORT`, an IPv6 host in brackets. */
export function urlOf({ host, port, secure }: Address): string {
  return `${secure ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
