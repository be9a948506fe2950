/** A refusal by the simulator, written in the error form of the dialect that was asked. */
export class SimError extends Error {
  override readonly name = "SimError";
  readonly status: number;
  readonly param: string | null;
  readonly code: string | null;
  /** For a Retry-After, as the script writes it. */
  readonly retryAfter: string | null;
  /** The whole JSON body, of a provider that has a form of its own. */
  readonly body: object | null;

  constructor(
    status: number,
    message: string,
    more: { param?: string; code?: string; retryAfter?: string; body?: object } = {},
  ) {
    super(message);
    this.status = status;
    this.param = more.param ?? null;
    this.code = more.code ?? null;
    this.retryAfter = more.retryAfter ?? null;
    this.body = more.body ?? null;
  }
}

/** 400 about one parameter of the request. */
export function badParameter(param: string, message: string, code?: string): SimError {
  return new SimError(400, message, { param, code });
}
