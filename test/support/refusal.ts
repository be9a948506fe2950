import { type GatewayError, invalidRequest } from "../../src/kit/index.ts";

/** The error of a refusal, by its text: `/messages/0/role must be a string`, with or without `Invalid request: ` before it. */
export function refusalOf(text: string): GatewayError {
  const [, pointer, what] = /^(?:Invalid request: )?(\S+) (.*)$/s.exec(text) ?? [];
  if (pointer === undefined || what === undefined) throw new Error(`not the text of a refusal: ${text}`);
  return invalidRequest(pointer, what);
}
