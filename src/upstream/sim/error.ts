import type { Shape } from "./shape.ts";

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

/** The body of a failure. */
export function errorBody(error: SimError, shape: Shape = "openai"): string {
  const { message, param, code } = error;
  if (shape === "cohere") return JSON.stringify({ message });
  if (shape === "jina" || shape === "voyage") return JSON.stringify({ detail: message });
  return JSON.stringify({ error: { message, type: errorType(error.status), param, code } });
}

function errorType(status: number): string {
  if (status === 429) return "requests";
  return status >= 500 ? "server_error" : "invalid_request_error";
}
