import { hash } from "node:crypto";
import { Sha256 } from "@aws-crypto/sha256-js";
import { SignatureV4 } from "@smithy/signature-v4";
import type { AwsCredentials } from "../../dialects/bedrock/aws.ts";

export interface Signing {
  readonly method: string;
  /** With its port, when that is not the protocol's own. */
  readonly host: string;
  /** As it is sent, query included. */
  readonly path: string;
  /** All of them are signed, and `host` with them. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly credentials: AwsCredentials;
  readonly region: string;
  readonly service: string;
  /** Unix milliseconds. */
  readonly now: number;
  /** Whether the path is normalised and encoded once more, as by every service but S3; left out: it is. */
  readonly encodePath?: boolean;
  /** Whether the body's digest is a header of its own, `x-amz-content-sha256`; left out: it is. */
  readonly digest?: boolean;
}

/**
 * The headers with AWS's Signature Version 4: `authorization`, `x-amz-date` and what belongs to them
 * (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html). Names in lower case.
 */
export async function signRequest(signing: Signing): Promise<Readonly<Record<string, string>>> {
  const { method, host, path, headers, body, credentials, region, service, now } = signing;
  const { encodePath = true, digest = true } = signing;
  const signer = new SignatureV4({
    credentials,
    region,
    service,
    sha256: Sha256,
    uriEscapePath: encodePath,
    applyChecksum: digest,
  });
  const [pathname = "", ...query] = path.split("?");
  const request = {
    method,
    protocol: "https:",
    hostname: host,
    path: pathname,
    query: parsed(query.join("?")),
    // The signer's own hashing is slow for bodies of megabytes.
    headers: { host, ...headers, ...(digest ? { "x-amz-content-sha256": hash("sha256", body) } : {}) },
    body,
  };
  const signed = await signer.sign(request, { signingDate: new Date(now) });
  return Object.fromEntries(Object.entries(signed.headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function parsed(query: string): Record<string, string[]> {
  const values: Record<string, string[]> = {};
  // Only in forms is a plus a space.
  for (const [name, value] of new URLSearchParams(query.replaceAll("+", "%2B"))) (values[name] ??= []).push(value);
  return values;
}
