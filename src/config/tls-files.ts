import { resolve } from "node:path";
import type { GatewayConfig, ListenerTlsConfig, UpstreamTlsConfig } from "#schema";
import { authorityFault, expiryNotice, pairFault, type PemFault } from "./certificates.ts";
import { type Finding, join, type Severity } from "./diagnostics.ts";
import { type FileAccess, FileError } from "./files.ts";
import type { Incomplete } from "./validate.ts";

export interface TlsFiles {
  /** Texts of the files of upstreams, by absolute path. */
  readonly texts: ReadonlyMap<string, string>;
  readonly findings: readonly TlsFinding[];
}

export interface TlsFinding {
  readonly pointer: string;
  readonly finding: Finding;
  /** Whether the message says something of a file that it does not name: a name may come from a reference. */
  readonly ofFile: boolean;
}

export interface TlsFilesOptions {
  /** Folder of the configuration file. Paths are relative to it. */
  readonly folder: string;
  /** Reads the files of upstreams, whose contents are part of the configuration. */
  readonly readOfUpstream: FileAccess["read"];
  /** Reads those of listeners, whose contents are not: each instance has its own, and they change while it serves. */
  readonly readOfListener: FileAccess["read"];
  /** How bad a listener's file is that cannot be used: a gateway that serves goes on with the one it has. */
  readonly ofListener: Severity;
  /** Unix milliseconds; null: nothing goes stale. */
  readonly now: number | null;
}

type Config = Incomplete<GatewayConfig>;

/** Reads all TLS files of a configuration and says what is wrong with them. */
export async function readTlsFiles(config: Config, options: TlsFilesOptions): Promise<TlsFiles> {
  const { folder, now, ofListener } = options;
  const texts = new Map<string, string>();
  const findings = new Map<string, TlsFinding>();
  const add = (pointer: string, finding: Finding, ofFile = false): void => {
    if (!findings.has(pointer)) findings.set(pointer, { pointer, finding, ofFile });
  };
  const { server, upstreams = {}, defaults } = config;
  const listeners = [
    ...(server?.listen ?? []).map((one, index) => [one?.tls, join("/server/listen", index, "tls")] as const),
    [server?.admin?.tls, "/server/admin/tls"] as const,
  ];
  for (const [tls, pointer] of listeners) if (tls !== undefined) await listener(tls, pointer);
  const inherited = partsOf(defaults?.upstream?.tls, "/defaults/upstream/tls");
  await upstream(inherited, "/defaults/upstream/tls");
  for (const [name, one] of Object.entries(upstreams)) {
    const pointer = join("/upstreams", name, "tls");
    if (one?.tls !== undefined) await upstream({ ...inherited, ...partsOf(one.tls, pointer) }, pointer);
  }
  return { texts, findings: [...findings.values()] };

  async function listener(tls: Incomplete<ListenerTlsConfig>, pointer: string): Promise<void> {
    const read = async (key: keyof ListenerTlsConfig): Promise<string | null> =>
      tls[key] === undefined ? null : textOf(tls[key], join(pointer, key), options.readOfListener, ofListener);
    const [cert, key, ca] = [await read("cert"), await read("key"), await read("client_ca")];
    const names = { cert: "cert", key: "key", ca: "client_ca" } as const;
    const fault = cert !== null && key !== null ? pairFault({ cert, key }) : null;
    const ofAuthorities = ca === null ? null : authorityFault(ca);
    for (const one of [fault, ofAuthorities]) {
      if (one !== null) add(join(pointer, names[one.part]), { ...worded(one), severity: ofListener });
    }
    if (fault === null && cert !== null) ofTime(cert, join(pointer, "cert"));
    if (ofAuthorities === null && ca !== null) ofTime(ca, join(pointer, "client_ca"));
  }

  async function upstream(parts: Parts, pointer: string): Promise<void> {
    const [ca, cert, key] = [await textOfPart(parts.ca), await textOfPart(parts.cert), await textOfPart(parts.key)];
    if ((parts.cert === undefined) !== (parts.key === undefined)) {
      const [has, lacks] = parts.cert === undefined ? (["key", "cert"] as const) : (["cert", "key"] as const);
      const message = `a client certificate needs both: ${lacks} is missing`;
      // What is missing in the defaults an upstream may have.
      if (pointer !== "/defaults/upstream/tls")
        add(parts[has]!.pointer, { rule: "tls-file", message, hint: `add ${lacks}` });
      return;
    }
    const fault = cert !== null && key !== null ? pairFault({ cert, key }) : null;
    const ofAuthorities = ca === null ? null : authorityFault(ca);
    for (const one of [fault, ofAuthorities]) if (one !== null) add(parts[one.part]!.pointer, worded(one));
    if (fault === null && cert !== null) ofTime(cert, parts.cert!.pointer);
    if (ofAuthorities === null && ca !== null) ofTime(ca, parts.ca!.pointer);
  }

  async function textOfPart(part: Part | undefined): Promise<string | null> {
    if (part === undefined) return null;
    const text = await textOf(part.file, part.pointer, options.readOfUpstream, "error");
    if (text !== null) texts.set(resolve(folder, part.file), text);
    return text;
  }

  async function textOf(
    file: string,
    pointer: string,
    read: FileAccess["read"],
    severity: Severity,
  ): Promise<string | null> {
    // An unset variable, which is said already.
    if (file === "") return null;
    try {
      return await read(resolve(folder, file));
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      const hint =
        error.rule === "file-encoding"
          ? "write PEM; from DER by openssl x509 -inform der -in FILE -out FILE.pem"
          : null;
      add(pointer, { rule: error.rule, severity, message: error.message, hint }, true);
      return null;
    }
  }

  function ofTime(pem: string, pointer: string): void {
    const notice = now === null ? null : expiryNotice(pem, now);
    if (notice === null) return;
    add(pointer, { rule: "tls-expiry", severity: "warning", message: notice, hint: "renew it" });
  }
}

interface Part {
  readonly file: string;
  readonly pointer: string;
}

type Parts = { readonly [Key in keyof UpstreamTlsConfig]: Part };

function partsOf(tls: Incomplete<UpstreamTlsConfig> | undefined, pointer: string): Parts {
  const written = Object.entries(tls ?? {}).filter(([, file]) => file !== undefined);
  return Object.fromEntries(written.map(([key, file]) => [key, { file, pointer: join(pointer, key) }]));
}

function worded({ message, hint }: PemFault): Finding {
  return { rule: "tls-file", message, hint };
}
