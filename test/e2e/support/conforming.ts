import assert from "node:assert/strict";
import { ENDPOINTS } from "../../../src/server/endpoints.ts";
import { ADMIN_ENDPOINTS } from "../../../src/server/admin/endpoints.ts";
import { adminDocument } from "../../../src/server/openapi/admin-document.ts";
import { openApiDocument } from "../../../src/server/openapi/document.ts";
import { conforms } from "../../support/openapi.ts";
import type { Answer } from "./http.ts";

type Operation = { readonly method: string; readonly path: string; readonly pattern: RegExp };

/** A model's identifier has slashes, other parts of a path have none. */
function operation({ method, path }: { readonly method: string; readonly path: string }): Operation {
  return { method, path, pattern: new RegExp(`^${path.replace("{model_id}", ".+").replaceAll(/\{\w+\}/g, "[^/]+")}$`) };
}

const PUBLIC = { document: openApiDocument(), operations: ENDPOINTS.map(operation) };
const ADMIN = { document: adminDocument(), operations: ADMIN_ENDPOINTS.map(operation) };
/** Longer ones are long streams of the same events: to check them all would take longer than the test. */
const LONGEST = 1024 * 1024;

/** @throws AssertionError when an operation's answer is not as the OpenAPI document says. */
export function expectConforming(method: string, target: string, answer: Checked): void {
  check(PUBLIC, method, target, answer);
}

/** The same of an answer of the admin listener. */
export function expectAdminConforming(method: string, target: string, answer: Checked): void {
  check(ADMIN, method, target, answer);
}

type Checked = Omit<Answer, "whole">;

function check({ document, operations }: typeof PUBLIC, method: string, target: string, answer: Checked): void {
  const { status, headers, text, bytes } = answer;
  const [path = ""] = target.split("?", 1);
  const unknownPath = status === 404 && text === '{"message":"Not found"}';
  // A path that is written out is none of those with parameters, whatever its methods are: so says OpenAPI.
  const literal = operations.filter((one) => one.path === path);
  const candidates = literal.length > 0 ? literal : operations.filter((one) => one.pattern.test(path));
  const isOperation = candidates.some((one) => one.method === method);
  if (bytes.length > LONGEST || unknownPath || !isOperation) return;
  const contentType = headers["content-type"] ?? null;
  const body = contentType?.startsWith("audio/") ? bytes : text;
  assert.deepEqual(conforms(document, { method, path, status, contentType, body, headers }), [], `${method} ${path}`);
}
