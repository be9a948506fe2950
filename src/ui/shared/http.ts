import { type ReadonlySignal, signal } from "@preact/signals";

export interface ProblemDetails {
  /** null: no answer came. */
  readonly status: number | null;
  /** `X-Error-Code`. */
  readonly code: string | null;
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;
}

/** A failed call: the error response, or a connection error. */
export class Problem extends Error {
  override readonly name = "Problem";

  readonly about: ProblemDetails;

  constructor(message: string, about: ProblemDetails) {
    super(message);
    this.about = about;
  }

  get status(): number | null {
    return this.about.status;
  }

  /** True if the same call may succeed later by itself. */
  get isTemporary(): boolean {
    const { status } = this.about;
    return status === null || status === 429 || status === 502 || status === 503 || status === 504;
  }

  /** The endpoint is not there: an older gateway, or a part that is switched off. */
  get isMissingEndpoint(): boolean {
    return this.about.status === 404 && this.about.code === null && this.message === "Not found";
  }

  /** The field of a form that was refused, as a path such as `/name`, and what is wrong with it. */
  get field(): { readonly pointer: string; readonly message: string } | null {
    const match = /^Invalid request: (\/\S*) (.+)$/s.exec(this.message);
    return match === null ? null : { pointer: match[1]!, message: match[2]! };
  }
}

/** `offline`: the gateway does not answer; `store`: it answers, its store does not. */
export type Connection = "ok" | "offline" | "store";

export type Query = Readonly<Record<string, string | number | readonly string[] | null | undefined>>;

export interface RequestOptions {
  readonly query?: Query;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface ClientOptions {
  readonly fetch: typeof fetch;
  /** With every call, for example the credentials. */
  readonly headers?: () => Readonly<Record<string, string>>;
  /** After a 401. @returns whether the call is to be made once more */
  readonly onUnauthorized?: () => Promise<boolean>;
}

export interface Client {
  readonly connection: ReadonlySignal<Connection>;
  /** @throws Problem; an AbortError when `signal` says so */
  get<T>(path: string, options?: RequestOptions): Promise<T>;
  /** @throws Problem */
  send<T>(method: "POST" | "PUT" | "PATCH" | "DELETE", path: string, options?: RequestOptions): Promise<T>;
  /** The answer as it comes, for streams and files. @throws Problem */
  open(method: string, path: string, options?: RequestOptions): Promise<Response>;
}

/** The way to one of the gateway's listeners: errors are `Problem`s, and `connection` says whether it is there. */
export function createClient({ fetch, headers, onUnauthorized }: ClientOptions): Client {
  const connection = signal<Connection>("ok");

  const once = async (method: string, path: string, options: RequestOptions): Promise<Response> => {
    const { body, signal: abort } = options;
    let response: Response;
    try {
      response = await fetch(withQuery(path, options.query), {
        method,
        headers: {
          ...(body === undefined ? null : { "content-type": "application/json" }),
          ...headers?.(),
          ...options.headers,
        },
        body: body === undefined ? null : JSON.stringify(body),
        credentials: "same-origin",
        cache: "no-store",
        signal: abort ?? null,
      });
    } catch (error) {
      if (abort?.aborted) throw error;
      connection.value = "offline";
      const about = { status: null, code: null, requestId: null, retryAfterSeconds: null };
      throw new Problem("The gateway is not responding", about);
    }
    connection.value = response.headers.get("x-error-code") === "STORE_UNAVAILABLE" ? "store" : "ok";
    return response;
  };

  const open = async (method: string, path: string, options: RequestOptions = {}): Promise<Response> => {
    let response = await once(method, path, options);
    if (response.status === 401 && onUnauthorized !== undefined && (await onUnauthorized())) {
      response = await once(method, path, options);
    }
    if (!response.ok) throw await problemOf(response);
    return response;
  };

  const json = async <T>(method: string, path: string, options?: RequestOptions): Promise<T> => {
    const response = await open(method, path, options);
    const text = await response.text();
    return (text === "" ? undefined : JSON.parse(text)) as T;
  };

  return {
    connection,
    open,
    get: (path, options) => json("GET", path, options),
    send: (method, path, options) => json(method, path, options),
  };
}

/** Parameters that are null, undefined or empty are omitted. A list becomes one parameter per item. */
export function withQuery(path: string, query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? (value as readonly string[]) : [value]) {
      if (one !== null && one !== undefined && one !== "") parameters.append(name, String(one));
    }
  }
  const text = parameters.toString();
  return text === "" ? path : `${path}?${text}`;
}

/** Reads an error response: text/plain with `X-Error-Code`, or one of the JSON formats. */
export async function problemOf(response: Response): Promise<Problem> {
  const { status, headers } = response;
  const text = await response.text().catch(() => "");
  return new Problem(messageOf(text) || `The gateway responded with status ${status}`, {
    status,
    code: headers.get("x-error-code"),
    requestId: headers.get("x-request-id"),
    retryAfterSeconds: retryAfter(headers.get("retry-after")),
  });
}

function messageOf(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith("{")) return trimmed.startsWith("<") ? "" : trimmed;
  try {
    const { message, error } = JSON.parse(trimmed) as { message?: unknown; error?: unknown };
    if (typeof message === "string") return message;
    if (typeof error === "string") return error;
    const inner = (error as { message?: unknown } | undefined)?.message;
    return typeof inner === "string" ? inner : "";
  } catch {
    return trimmed;
  }
}

/** Seconds; the header's other form, a date, is not sent by the gateway. */
function retryAfter(header: string | null): number | null {
  const seconds = Number(header ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds : null;
}

/**
 * The data of each server-sent event of an answer, as it comes; what breaks off in the middle of an event is not given.
 * Comments, which keep a stream open, are skipped.
 */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      const events = rest.split(/\r?\n\r?\n/);
      rest = events.pop() ?? "";
      for (const event of events) {
        const data = event
          .split(/\r?\n/)
          .filter((line) => line.startsWith("data:"))
          .map((line) => line.slice("data:".length).replace(/^ /, ""));
        if (data.length > 0) yield data.join("\n");
      }
    }
  } finally {
    await reader.cancel();
  }
}
