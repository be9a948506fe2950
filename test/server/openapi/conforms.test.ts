import { expect, test } from "vitest";
import { openApiDocument } from "../../../src/server/openapi/document.ts";
import { answered, conforms } from "../../support/openapi.ts";

const document = openApiDocument();
const MODELS = { object: "list", data: [{ id: "route/a", object: "model", created: 0, owned_by: "a", tier: "Free" }] };
const CHUNK = JSON.stringify({ model: "route/a", choices: [] });

type More = Parameters<typeof answered>[2];

function events(...data: string[]): More {
  return { contentType: "text/event-stream", body: data.map((text) => `data: ${text}\n\n`).join("") };
}

test.for<[method: string, path: string, more: More]>([
  ["GET", "/v1/models?x=1", { body: JSON.stringify(MODELS) }],
  ["GET", "/v1/models/route/a", { status: 404, body: '{"error":"Model not found"}' }],
  ["POST", "/auth/logout", { status: 204, contentType: null }],
  ["POST", "/v1/audio/speech", { contentType: "audio/mpeg", body: new Uint8Array([1]) }],
  ["POST", "/v1/chat/completions", events(CHUNK, "[DONE]")],
])("as described: %s %s %j", ([method, path, more]) => {
  expect(conforms(document, answered(method, path, more))).toEqual([]);
});

test.for<[method: string, path: string, more: More, fault: RegExp]>([
  ["GET", "/v1/models", { body: JSON.stringify({ ...MODELS, next: null }) }, /additional properties .*next/],
  ["GET", "/v1/models", { body: JSON.stringify({ ...MODELS, data: [{}] }) }, /^\/data\/0 must have required property/],
  ["GET", "/v1/models", { body: "{" }, /^not JSON: \{/],
  ["GET", "/v1/models", { body: "x", contentType: "text/html" }, /^its type is text\/html, not application\/json$/],
  ["GET", "/v1/models", { body: "x", contentType: null }, /^its type is null/],
  ["POST", "/v1/models", { body: "{}" }, /^POST \/v1\/models has no answer 200$/],
  ["GET", "/v1/nothing", { body: "{}" }, /^GET \/v1\/nothing has no answer 200$/],
  ["GET", "/v1/models/route%2Fa", { status: 404, body: '{"message":"Not found"}' }, /required property/],
  ["DELETE", "/v1/user/key/a/b", { status: 404 }, /^DELETE \/v1\/user\/key\/a\/b has no answer 404$/],
  ["POST", "/auth/logout", { status: 204, contentType: null, body: "{}" }, /^there is a body$/],
  ["GET", "/auth/oauth/corp", { status: 302, contentType: null }, /^Location is missing$/],
  ["POST", "/v1/audio/speech", { contentType: "audio/mpeg", body: new Uint8Array() }, /^the body is empty$/],
  ["POST", "/v1/chat/completions", events(CHUNK), /^the stream does not end in \[DONE\]$/],
  [
    "POST",
    "/v1/chat/completions",
    events('{"choices":[]}', "[DONE]"),
    /required property 'model'|required property 'error'/,
  ],
  [
    "POST",
    "/v1/chat/completions",
    { contentType: "text/event-stream", body: "event: x\ndata: [DONE]" },
    /^a line of the/,
  ],
  ["POST", "/v1/rerank", { status: 400, contentType: "text/plain", body: "x" }, /^X-Error-Code is missing$/],
  [
    "POST",
    "/v1/rerank",
    { status: 401, contentType: "text/plain", body: "x", headers: { "X-Error-Code": "INVALID_TOKEN" } },
    /^X-Error-Code: \/ must be equal to one of/,
  ],
  ["POST", "/v1/rerank", { status: 401, contentType: "text/plain", body: "x" }, /^X-Error-Code is missing$/],
  [
    "POST",
    "/v1/rerank",
    { status: 429, body: '{"message":"x","retry_after":1}', headers: { "Retry-After": "0.5" } },
    /^Retry-After: \/ must be integer/,
  ],
  ["POST", "/v1/rerank", { status: 429, body: '{"message":"x","retry_after":1}' }, /^Retry-After is missing$/],
])("not as described: %s %s %j", ([method, path, more, fault]) => {
  expect(conforms(document, answered(method, path, more))).toEqual(
    expect.arrayContaining([expect.stringMatching(fault)]),
  );
});
