import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { SimError } from "../error.ts";

const SIGNATURE =
  /^AWS4-HMAC-SHA256 Credential=([^/\s,]+)\/(\d{8})\/([a-z0-9-]+)\/([a-z0-9-]+)\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/;

/**
 * A Bearer key, or a signature as SigV4 writes it: of these very bytes, for this service and day. Any secret will do.
 * @throws SimError 403
 */
export function checkSigned(headers: IncomingHttpHeaders, body: Uint8Array): void {
  const { authorization } = headers;
  if (authorization === undefined) throw refused("MissingAuthenticationTokenException", "Missing Authentication Token");
  if (/^Bearer \S/.test(authorization)) return;
  const [whole, , day, , service, signed = ""] = SIGNATURE.exec(authorization) ?? [];
  if (whole === undefined) {
    throw refused(
      "IncompleteSignatureException",
      "Authorization header requires 'Credential', 'SignedHeaders' and 'Signature' parameters.",
    );
  }
  if (service !== "bedrock") {
    throw refused("InvalidSignatureException", `Credential should be scoped to correct service: 'bedrock'.`);
  }
  const date = String(headers["x-amz-date"]);
  if (!/^\d{8}T\d{6}Z$/.test(date) || !date.startsWith(String(day))) {
    throw refused("InvalidSignatureException", "Date in Credential scope does not match the one of x-amz-date.");
  }
  const missing = ["host", "x-amz-date"].find((name) => !signed.split(";").includes(name));
  if (missing !== undefined)
    throw refused("InvalidSignatureException", `'${missing}' must be a 'SignedHeader' in the AWS Request.`);
  const digest = headers["x-amz-content-sha256"];
  if (digest !== undefined && digest !== "UNSIGNED-PAYLOAD" && digest !== hash("sha256", body)) {
    throw refused(
      "InvalidSignatureException",
      "The value passed in x-amz-content-sha256 does not match the request's payload.",
    );
  }
}

function refused(code: string, message: string): SimError {
  return new SimError(403, message, { code });
}
