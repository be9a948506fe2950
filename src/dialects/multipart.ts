import { randomBytes } from "node:crypto";
import type { Upload } from "../kit/index.ts";
import type { StreamedBody } from "./dialect.ts";

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
