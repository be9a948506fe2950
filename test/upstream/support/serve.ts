import { afterEach } from "vitest";
import type { UpstreamDialect } from "../../../src/dialects/dialect.ts";
import { openai } from "../../../src/dialects/chat/index.ts";
import { type Leased, leaseWith, upstream } from "./build.ts";
import { RawUpstream, type RawRequest } from "./raw-upstream.ts";

export type Closable = { close(): Promise<unknown> };

/** What the tests of a file open: closed after each of them. To be called once, at the top of the file. */
export function closedAfterEach(): Closable[] {
  const open: Closable[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((one) => one.close()));
  });
  return open;
}

export interface Served {
  readonly server: RawUpstream;
  readonly leased: Leased;
}

/** An upstream that answers as `script` says, and a lease of it. */
export async function serveRaw(
  open: Closable[],
  script: (request: RawRequest) => void,
  dialect: UpstreamDialect = openai,
  changes: Parameters<typeof upstream>[1] = {},
): Promise<Served> {
  const server = await RawUpstream.start(script);
  const leased = await leaseWith(dialect, upstream(`${server.origin}/v1`, changes));
  open.push({ close: () => leased.end() }, server);
  return { server, leased };
}
