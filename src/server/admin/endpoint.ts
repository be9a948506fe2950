import type { IncomingMessage } from "node:http";
import type { H3Event } from "h3";
import type { AdminSchemas, ExplainAnswer, ExplainRequest } from "../../../schemas/types.gen.ts";
import type { AdminToken, Awaitable, ErrorCode, Json, Log } from "../../kit/index.ts";
import type { Answer } from "../endpoint.ts";
import type { AdminServices } from "./services.ts";

/** The result of a reload as `POST /admin/reload` shows it. */
export type ReloadResult =
  | { readonly ok: true; readonly hash: string; readonly guarded?: true; readonly cooldowns_ended?: number }
  | { readonly ok: false; readonly diagnostics: readonly unknown[] };

/** Answers `POST /admin/explain` in a process that serves. @throws GatewayError */
export type Explain = (question: ExplainRequest) => Promise<ExplainAnswer>;

/** What came of it: a process without the public API has it of another one. */
export type ExplainResult =
  | { readonly ok: true; readonly explanation: ExplainAnswer }
  | { readonly ok: false; readonly code: ErrorCode; readonly message: string };

/** What the rows are made of: the state of all processes, and the store through `services`. */
export interface AdminParts {
  /** Why the process cannot serve; empty when it can. */
  readonly notReady: () => Awaitable<readonly string[]>;
  readonly metrics: () => Promise<{ readonly contentType: string; readonly body: string }>;
  /** Answers of the GET routes, as JSON. */
  readonly config: () => Awaitable<unknown>;
  readonly source: () => Awaitable<unknown>;
  readonly upstreams: () => Awaitable<unknown>;
  readonly streams: () => Awaitable<unknown>;
  /** Ends a stream by its id, as its user could. `complete`: whether every instance was asked. */
  readonly endStream: (id: string) => Awaitable<{ readonly ended: boolean; readonly complete: boolean }>;
  readonly settlements: () => Awaitable<unknown>;
  readonly models: () => Awaitable<unknown>;
  readonly plugins: () => Awaitable<unknown>;
  readonly instances: () => Awaitable<unknown>;
  /** The last 15 minutes. */
  readonly figures: () => Awaitable<unknown>;
  /** The same as they come, as server-sent events. @throws GatewayError OVERLOADED */
  readonly events: () => ReadableStream<Uint8Array>;
  readonly reload: () => Promise<ReloadResult>;
  /** @param to a hash or the beginning of one; a number: so many generations back. */
  readonly rollback: (to: string | number) => Promise<ReloadResult>;
  /** What would become of a request. */
  readonly explain: (question: ExplainRequest) => Promise<ExplainResult>;
  readonly services: AdminServices;
  readonly sessions: AdminSessions;
  /** The OpenAPI document as JSON. */
  readonly openApi: () => Promise<string>;
  readonly log: Log;
}

/** Sign-in of browsers: each result is the cookie, as `Set-Cookie` has it. */
export interface AdminSessions {
  /** @throws GatewayError INVALID_TOKEN, TOO_MANY_REQUESTS, FORBIDDEN */
  begin(req: IncomingMessage, token: string): Promise<{ readonly caller: AdminCaller; readonly cookie: string }>;
  /** Ends the session of the cookie, if it is one. @throws GatewayError FORBIDDEN */
  end(req: IncomingMessage): Promise<string>;
}

/** Who calls. */
export interface AdminCaller extends Pick<AdminToken, "name" | "role"> {
  /** Unix milliseconds: when the session of a browser ends; null for a call with the token itself. */
  readonly expiresAt: number | null;
  /** Of that session; left out without one. */
  readonly sessionId?: string;
}

type SchemaTitle = keyof AdminSchemas;
export type QueryTitle = Extract<SchemaTitle, `${string}Query`>;
export type BodyTitle = Exclude<SchemaTitle, QueryTitle>;

/** One call, checked against the schemas of its row. */
export interface AdminCall<Query extends QueryTitle = never, Body extends BodyTitle = never> {
  /** null where no token is asked for. */
  readonly caller: AdminCaller | null;
  /** Parts of the path by name, decoded. Of any content: an id that there is not is a 404. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: [Query] extends [never] ? Json : AdminSchemas[Query];
  /** An empty object where it may be left out, and is. */
  readonly body: [Body] extends [never] ? Json : AdminSchemas[Body];
  readonly req: IncomingMessage;
  /** The client's. */
  readonly address: string;
  /** Whether `gateway` sends it, as it says itself: the audit log names `cli` and has the token's name in the details. */
  readonly isCli?: boolean;
  readonly event: H3Event;
  /** Says more about a change than the audit log has of it by itself: the path's first parameter, and the body. */
  readonly note: (more: { readonly target?: string; readonly details?: Json }) => void;
}

/** A row of the table, as it is written. */
export interface AdminRow<Query extends QueryTitle = never, Body extends BodyTitle = never> {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** `{name}` stands for a part of the path. */
  readonly path: string;
  /** none: no token is asked for. What changes something is an operator's, and is written to the audit log. */
  readonly role: "none" | AdminToken["role"];
  /** For probes and scrapes of a listener on the network: under whatever name it is reached, and with any parameters. */
  readonly anyHost?: true;
  /** Unique; the audit log names actions by it. */
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** What the parts of the path are, by name. */
  readonly params?: Readonly<Record<string, string>>;
  /** Headers that it reads, by name. */
  readonly headers?: Readonly<Record<string, { readonly description: string; readonly required?: boolean }>>;
  /** Title of the schema of its parameters; without one it takes none. */
  readonly query?: Query;
  /** Title of the schema of its body; without one none is read. */
  readonly body?: Body;
  /** Of any type: JSON is read whatever type the body is said to be of. */
  readonly bodyIs?: "optional" | "optional, of any type";
  /** What is no error, by status. */
  readonly answers: Readonly<Record<number, Answer>>;
  /** Beside those that every call can meet. */
  readonly errors: readonly ErrorCode[];
  /**
   * Of a change that the store has no part in: made also while its entry of the audit log cannot be written, which is
   * logged then. Every other change is refused before it is made.
   */
  readonly changesNoStore?: true;
  /** Written to the audit log under this name, though a viewer may call it: what leaves the gateway as a whole. */
  readonly auditedAs?: string;
  /** A body of JSON, or an `HTTPResponse`. Called once per server, for the state that its requests share. */
  readonly route: (parts: AdminParts) => (call: AdminCall<Query, Body>) => unknown;
}

/** A row whose handler takes what its schemas describe. */
export interface AdminEndpoint extends Omit<AdminRow<QueryTitle, BodyTitle>, "route"> {
  readonly route: (parts: AdminParts) => (call: AdminCall) => unknown;
}

/** A row of the table: its handler is given what the schemas named in it have let in. */
export function row<Query extends QueryTitle = never, Body extends BodyTitle = never>(
  written: AdminRow<Query, Body>,
): AdminEndpoint {
  return written;
}
