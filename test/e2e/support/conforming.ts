import assert from "node:assert/strict";
import { ENDPOINTS } from "../../../src/server/endpoints.ts";
import { openApiDocument } from "../../../src/server/openapi/document.ts";
import { conforms } from "../../support/openapi.ts";
import type { Answer } from "./http.ts";

const DOCUMENT = openApiDocument();
/** A model's identifier has slashes, other parts of a path have none. */
const OPERATIONS = ENDPOINTS.map(({ method, path }) => ({
  method,
  pattern: new RegExp(`^${path.replace("{model_id}", ".+").replaceAll(/\{\w+\}/g, "[^/]+")}$`),
}));
/** Longer ones are long streams of the same events: to check them all would take longer than the test. */
const LONGEST = 1024 * 1024;

/** @throws AssertionError when an operation's answer is not as the OpenAPI document says. */
export function expectConforming(method: string, target: string, answer: Answer): void {
  const { status, headers, text, bytes } = answer;
  const [path = ""] = target.split("?", 1);
  const unknownPath = status === 404 && text === '{"message":"Not found"}';
  if (bytes.length > LONGEST || unknownPath || !isOperation(method, path)) return;
  const contentType = headers["content-type"] ?? null;
  const body = contentType?.startsWith("audio/") ? bytes : text;
  assert.deepEqual(conforms(DOCUMENT, { method, path, status, contentType, body, headers }), [], `${method} ${path}`);
}

function isOperation(method: string, path: string): boolean {
  return OPERATIONS.some((operation) => operation.method === method && operation.pattern.test(path));
}
