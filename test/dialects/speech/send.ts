import { Readable } from "node:stream";
import type { UpstreamRequest } from "../../../src/dialects/dialect.ts";

/** Sends a dialect's request as it is written. */
export function send(origin: string, { method, path, headers, body }: UpstreamRequest): Promise<Response> {
  if (body === null || typeof body === "string") return fetch(origin + path, { method, headers, body });
  if ("json" in body) throw new TypeError("a long body is written by who sends it");
  return fetch(origin + path, {
    method,
    headers: { ...headers, "content-length": String(body.length) },
    body: Readable.toWeb(Readable.from(body.read())),
    duplex: "half",
  });
}
