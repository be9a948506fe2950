import { basename } from "node:path";
import type { RequestListener } from "node:http";
import { authorityFault, expiryNotice, pairFault } from "../config/certificates.ts";
import { disk, FileError, noting, type WatchedFile } from "../config/files.ts";
import { watchConfig } from "../config/watch.ts";
import type { ListenerAddress, ListenerTls, Log } from "../kit/index.ts";
import { type Listening, listenOn, type ListenOptions } from "../server/listen.ts";
import type { TlsMaterial } from "../server/secure.ts";

/**
 * A certificate and its key are two files, renewed one after the other: a pair that does not fit is looked at again
 * before it is called broken.
 */
const SETTLE_TRIES = 5;
const SETTLE_MS = 300;

export interface CertificateOptions {
  readonly log: Pick<Log, "debug" | "error" | "info" | "warn">;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds between looks at the files, where the system tells nothing; 2 s unless given. */
  readonly poll?: number;
  /** Milliseconds between looks at a pair that does not fit; 300 unless given. */
  readonly settle?: number;
}

/**
 * Listens as `listenOn` does, by HTTPS where an address has `tls`, and follows its files: renewed ones serve new
 * connections, broken ones are an error in the log and change nothing. @throws Error naming an address or a file
 */
export async function listenSecurely(
  addresses: readonly ListenerAddress[],
  handler: RequestListener,
  options: ListenOptions,
  { log, now, poll, settle = SETTLE_MS }: CertificateOptions,
): Promise<Listening> {
  const { setting = "listen" } = options;
  const followed: Followed[] = [];
  const materials: (TlsMaterial | null)[] = [];
  for (const [index, { tls }] of addresses.entries()) {
    const name = addresses.length > 1 || setting === "server.listen" ? `${setting}[${index}].tls` : `${setting}.tls`;
    const read = tls === undefined ? null : await readMaterial(tls);
    if (read !== null && "broken" in read) throw new Error(`${name}: ${read.broken}`);
    materials.push(read && read.material);
    if (tls && read) followed.push({ index, name, tls, files: read.files });
    if (read) logExpiry(name, read.material);
  }
  const listening = await listenOn(
    addresses.map(({ host, port }, index) => ({ host, port, tls: materials[index] ?? null })),
    handler,
    {
      ...options,
      // Anybody can make one: at a higher level they would fill the log.
      onFailedHandshake: (failed) => log.debug({ listener: setting, ...failed }, "TLS handshake failed"),
    },
  );
  const watches = followed.map((one) =>
    watchConfig({
      files: () => one.files,
      onChange: () => take(one),
      log,
      ...(poll !== undefined && { poll }),
    }),
  );
  return {
    ...listening,
    async close() {
      await Promise.all(watches.map((watch) => watch.close()));
      await listening.close();
    },
  };

  async function take(one: Followed): Promise<void> {
    const read = await readSettled(one.tls, settle);
    if ("broken" in read) {
      log.error({ listener: one.name }, `new certificate not used, the old one stays in service: ${read.broken}`);
      return;
    }
    try {
      listening.renew(one.index, read.material);
    } catch (err) {
      log.error({ listener: one.name, err }, "new certificate not used, the old one stays in service");
      return;
    }
    one.files = read.files;
    log.info({ listener: one.name }, "certificate renewed");
    logExpiry(one.name, read.material);
  }

  function logExpiry(listener: string, { cert }: TlsMaterial): void {
    const notice = expiryNotice(cert, now());
    if (notice !== null) log.warn({ listener }, `the certificate ${notice}: renew it`);
  }
}

interface Followed {
  readonly index: number;
  /** The setting, for the log. */
  readonly name: string;
  readonly tls: ListenerTls;
  /** As those in service were found. */
  files: readonly WatchedFile[];
}

type Read = { readonly material: TlsMaterial; readonly files: readonly WatchedFile[] } | { readonly broken: string };

async function readSettled(tls: ListenerTls, waitMs: number): Promise<Read> {
  for (let attempt = 1; ; attempt += 1) {
    const read = await readMaterial(tls);
    if (!("broken" in read) || attempt === SETTLE_TRIES) return read;
    await new Promise((resolve) => setTimeout(resolve, waitMs).unref());
  }
}

async function readMaterial({ cert, key, clientCa }: ListenerTls): Promise<Read> {
  const { access, files } = noting(disk);
  try {
    const pair = { cert: await access.read(cert), key: await access.read(key) };
    const authorities = clientCa === undefined ? null : await access.read(clientCa);
    const fault = pairFault(pair) ?? (authorities === null ? null : authorityFault(authorities));
    if (fault === null) return { material: { ...pair, clientCa: authorities }, files: files() };
    const file = { cert, key, ca: clientCa ?? "" }[fault.part];
    return { broken: `${basename(file)} ${fault.message}${fault.hint === null ? "" : ` (${fault.hint})`}` };
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    const missing = files().find(({ found }) => found === error.message)?.path ?? cert;
    return { broken: `${basename(missing)} ${error.message}` };
  }
}
