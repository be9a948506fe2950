/** A refusal by the simulator, written in the error shape of the dialect that was asked. */
export class SimError extends Error {
  override readonly name = "SimError";
  readonly status: number;
  readonly param: string | null;
  readonly code: string | null;

  constructor(status: number, message: string, more: { param?: string; code?: string } = {}) {
    super(message);
    this.status = status;
    this.param = more.param ?? null;
    this.code = more.code ?? null;
  }
}

/** 400 about one parameter of the request. */
export function badParameter(param: string, message: string, code?: string): SimError {
  return new SimError(400, message, { param, code });
}
