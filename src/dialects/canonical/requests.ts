import { randomBytes } from "node:crypto";
import { AttemptError, invalidRequest, isJson, type Json, type Upload } from "../../kit/index.ts";
import type { StreamedBody, UpstreamRequest } from "../dialect.ts";
import { guardDepth, parseJson } from "./json.ts";
import { reportedError } from "./refusals.ts";

/** No header for an empty key: some upstreams take none. */
export function bearer(apiKey: string): Readonly<Record<string, string>> {
  return apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` };
}

/** A request whose body is written already. */
export interface JsonRequest extends UpstreamRequest {
  readonly method: "POST";
  readonly body: string;
}

export function getJson(path: string, apiKey: string): UpstreamRequest {
  return { method: "GET", path, headers: { ...bearer(apiKey), accept: "application/json" }, body: null };
}

/** @throws GatewayError when the body cannot be written. */
export function postJson(path: string, apiKey: string, body: Json, accept = "application/json"): JsonRequest {
  return {
    method: "POST",
    path,
    headers: { ...bearer(apiKey), "content-type": "application/json", accept },
    body: guardDepth(
      () => JSON.stringify(body),
      () => invalidRequest("/", "is nested too deeply"),
    ),
  };
}

/** The object that a 200 holds. @throws AttemptError when it holds none, or an error. */
export function parseAnswer(bytes: Uint8Array): Json {
  const body = parseJson(bytes);
  if (!isJson(body)) throw new AttemptError("protocol", "upstream sent a body that is not JSON");
  if (body["error"] !== undefined && body["error"] !== null) throw reportedError(body["error"]);
  return body;
}

export interface Multipart {
  /** With its boundary. */
  readonly contentType: string;
  readonly body: StreamedBody;
}

const CRLF = "\r\n";
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+[\x20-\x7e]*$/;

/**
 * A form of text fields followed by one file (RFC 7578). The file's bytes are never copied together: every read of the
 * body reads the upload again. Names are escaped as browsers do (WHATWG HTML, multipart/form-data encoding).
 * @param file the field's name and its upload.
 */
export function multipartForm(
  fields: readonly (readonly [name: string, value: string])[],
  file: readonly [name: string, upload: Upload],
): Multipart {
  const boundary = `form-${randomBytes(24).toString("hex")}`;
  const part = (disposition: string): string =>
    `--${boundary}${CRLF}content-disposition: form-data; ${disposition}${CRLF}`;
  const [fileField, upload] = file;
  const texts = fields.map(([name, value]) => `${part(`name=${quoted(name)}`)}${CRLF}${value}${CRLF}`).join("");
  const head = Buffer.from(
    `${texts}${part(`name=${quoted(fileField)}; filename=${quoted(upload.name)}`)}` +
      `content-type: ${mediaType(upload)}${CRLF}${CRLF}`,
  );
  const tail = Buffer.from(`${CRLF}--${boundary}--${CRLF}`);
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: {
      length: head.length + upload.size + tail.length,
      async *read() {
        yield head;
        yield* upload.read();
        yield tail;
      },
    },
  };
}

function quoted(name: string): string {
  return `"${name.replaceAll("\n", "%0A").replaceAll("\r", "%0D").replaceAll('"', "%22")}"`;
}

/** What the client announced, unless it would break the part's head. */
function mediaType({ contentType }: Upload): string {
  return MEDIA_TYPE.test(contentType) ? contentType : "application/octet-stream";
}
