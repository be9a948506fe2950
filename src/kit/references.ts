import { escapeRegExp } from "./escape.ts";
import { type GatewayError, invalidRequest } from "./errors.ts";
import type { Kind, Model, Upstream } from "./snapshot.ts";

/** Why a reference needs the permission of an operator. */
export type ReferenceKind =
  /** An address of another scheme than `data:`, `https:` and `http:`. */
  | "scheme"
  /** A host that is not public. */
  | "host"
  /** Two servers may read it differently. No list permits it. */
  | "unclear"
  /** Something that a provider keeps: a file, a container, a store, an earlier answer. */
  | "stored";

/** Content that a client names instead of sending it, where that needs the permission of an operator. */
export interface Reference {
  /** JSON pointer into the client's body. */
  readonly at: string;
  /** As the client wrote it. */
  readonly value: string;
  readonly kind: ReferenceKind;
}

const PUBLIC = "send the content as a data: URL, or name it by an https: or http: URL of a public host";

const REFUSALS: Readonly<Record<ReferenceKind, string>> = {
  scheme: `is an address that this gateway does not pass on; ${PUBLIC}`,
  host: `names a host that is not public; ${PUBLIC}`,
  unclear: `is an address that two servers may read differently; ${PUBLIC}`,
  stored: "names something that is stored at a provider, not yours alone; send the content itself, or leave it out",
};

/** As much of a call as decides. */
interface ReferringCall {
  readonly kind: Kind;
  readonly references?: readonly Reference[];
}

type Accepting = Pick<Upstream, "accepts">;

/**
 * The first reference of a call that must not be sent to an upstream; null: it may be sent all of them. This is the one
 * place that decides, for every client format and every dialect. In kinds that are no conversation no list permits any.
 */
export function refusedReference({ kind, references }: ReferringCall, { accepts }: Accepting): Reference | null {
  if (references === undefined) return null;
  const patterns = kind === "chat" ? (accepts?.references ?? []).map(readPattern) : [];
  return references.find((reference) => !isListed(reference, patterns)) ?? null;
}

/** What a client is told of a reference that is not sent on. */
export function referenceRefusal({ at, kind }: Reference): GatewayError {
  return invalidRequest(at, REFUSALS[kind]);
}

/** @throws GatewayError when no target of the model may be sent the references of the call. */
export function requireTakenReferences(
  call: ReferringCall,
  { chain }: Model,
  upstreams: Readonly<Record<string, Accepting>>,
): void {
  if (call.references === undefined) return;
  const targets = chain.flatMap((step) => step.targets);
  const refused = targets.map(({ upstream }) => refusedReference(call, upstreams[upstream] ?? {}));
  const [first] = refused;
  if (first && refused.every((reference) => reference !== null)) throw referenceRefusal(first);
}

/** Whether a value has the form of a pattern. Both are compared as they are written. */
type Pattern = (value: string) => boolean;

/** Longer ones are in no list: a pattern with several `*` takes time by the square of the length. */
const MAX_CHARACTERS = 4_096;

function isListed({ kind, value }: Reference, patterns: readonly Pattern[]): boolean {
  if (kind === "unclear" || value.length > MAX_CHARACTERS) return false;
  const forms = formsOf(value);
  return patterns.some((matches) => forms.every(matches));
}

const ADDRESS = /^([a-z][a-z\d+.-]*:\/\/)([^/?#]*)(.*)$/is;
const DOTS = /\/(?:\.|%2e){1,2}(?:[/?#]|$)/i;

/**
 * A value as it is written, and as a server reads it that resolves `..`: only the first form of
 * `s3://bucket/public/../secret` is below `s3://bucket/public/`.
 */
function formsOf(value: string): readonly string[] {
  return ADDRESS.test(value) && DOTS.test(value) ? [value, URL.parse(value)?.href ?? ""] : [value];
}

/**
 * In a pattern `*` stands for any text, but for one with an `@` before the path: `http://*.corp/*` must not match
 * `http://a@169.254.169.254/.corp/`. For the same reason `*` does not leave the part before the path while more of that
 * part follows.
 */
function readPattern(pattern: string): Pattern {
  const [, scheme, host = "", path = ""] = ADDRESS.exec(pattern) ?? [];
  if (scheme === undefined) {
    const whole = anyText(pattern, "[^]*");
    return (value) => whole.test(value) && !(pattern.includes("*") && ADDRESS.exec(value)?.[2]?.includes("@"));
  }
  const isOpen = path === "" && host.endsWith("*");
  const hosts = anyText(hostOf(scheme, host), "[^@]*");
  const paths = isOpen ? /^/ : anyText(path, "[^]*");
  return (value) => {
    const [, ownScheme, ownHost = "", ownPath = ""] = ADDRESS.exec(value) ?? [];
    if (ownScheme?.toLowerCase() !== scheme.toLowerCase()) return false;
    return hosts.test(hostOf(scheme, ownHost)) && paths.test(ownPath);
  };
}

/** Hosts of the web have no case; buckets do. */
function hostOf(scheme: string, host: string): string {
  return /^https?:/i.test(scheme) ? host.toLowerCase() : host;
}

function anyText(pattern: string, any: string): RegExp {
  const literals = pattern.split("*").map((text) => escapeRegExp(text));
  return new RegExp(`^${literals.join(any)}$`);
}
