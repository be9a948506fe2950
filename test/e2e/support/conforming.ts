import assert from "node:assert/strict";
import { openApiDocument } from "../../../src/server/openapi/document.ts";
import { conforms } from "../../support/openapi.ts";
import type { Answer } from "./http.ts";

const DOCUMENT = openApiDocument();
/** Longer ones are long streams of the same events: to check them all would take longer than the test. */
const LONGEST = 1024 * 1024;

/** @throws AssertionError when an operation's answer is not as the OpenAPI document says. */
export function expectConforming(method: string, path: string, answer: Answer): void {
  const { status, headers, text, bytes } = answer;
  if (bytes.length > LONGEST || !isOperation(method, answer)) return;
  const contentType = headers["content-type"] ?? null;
  const body = contentType?.startsWith("audio/") ? bytes : text;
  assert.deepEqual(conforms(DOCUMENT, { method, path, status, contentType, body, headers }), [], `${method} ${path}`);
}

/** What was never meant for an operation is answered like this, and described nowhere. */
function isOperation(method: string, { status, text }: Answer): boolean {
  const unknown = status === 404 && text === '{"message":"Not found"}';
  return ["GET", "POST", "DELETE"].includes(method) && status !== 405 && !unknown;
}
