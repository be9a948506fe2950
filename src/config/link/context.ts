import type { AcceptsConfig, GatewayConfig } from "#schema";
import type { DialectName, Kind, Steps, Upstream } from "../../kit/index.ts";
import {
  diagnose,
  type Diagnostic,
  didYouMean,
  type Finding,
  join,
  type Place,
  type Severity,
} from "../diagnostics.ts";
import { inCamelCase, OPEN_TIER } from "../settings.ts";
import { find, type MapNode, type ScalarNode, scalarsInSteps, showNode } from "../node.ts";
import type { Incomplete, Validated } from "../validate.ts";

export interface DialectCapability {
  /** What it can serve. */
  readonly kinds: readonly Kind[];
  /** What of it this build speaks. */
  readonly served: readonly Kind[];
  /** Whether a word of a model's `features` is lost on the way to the upstream's model of that name. */
  readonly loses: (kind: Kind, promise: string, model: string, location: UpstreamLocation) => boolean;
  /** Whether a key may be Google's credentials, which are no key to be sent. */
  readonly takesGoogleCredentials: (location: UpstreamLocation) => boolean;
  /** Who is known to stand there, where that is more than the dialect says; else null. */
  readonly vendor: (location: UpstreamLocation) => string | null;
  /** Whether the upstream's model of that name may write answers of so many tokens. */
  readonly writes: (tokens: number, model: string, location: UpstreamLocation) => boolean;
  /** Whether there may be a Responses endpoint. */
  readonly mayHaveResponses: (location: UpstreamLocation) => boolean;
  /** The same for one upstream, found once: what is asked of the result ignores other locations. */
  readonly at: (location: UpstreamLocation) => DialectCapability;
}

/** What tells one upstream of a dialect from another. */
export type UpstreamLocation = Pick<Upstream, "baseUrl" | "headers" | "vendor" | "accepts" | "api">;

export type Dialects = Readonly<Record<DialectName, DialectCapability>>;

export type NameSection = "tiers" | "upstreams" | "models";

export interface ContextOptions {
  readonly dialects: Dialects;
  /** How bad an unset variable or an empty secret is. */
  readonly missingSecret: Severity;
  /** When it is; null: nothing goes stale. */
  readonly now: number | null;
}

/** What the checks of the linker share: the configuration, its places, and where findings go. */
export class LinkContext {
  readonly config: Incomplete<GatewayConfig>;
  readonly dialects: Dialects;
  /** How bad a missing variable or secret is: it stops a gateway that serves, not one that is tried out. */
  readonly missingSecret: Severity;
  readonly now: number | null;
  readonly diagnostics: Diagnostic[] = [];
  readonly #tree: MapNode;
  readonly #invalid: readonly string[];
  readonly #locations = new Map<string, UpstreamLocation>();
  readonly #located = new Map<string, DialectCapability | null>();

  constructor(validated: Validated, { dialects, missingSecret, now }: ContextOptions) {
    this.config = validated.config;
    this.dialects = dialects;
    this.missingSecret = missingSecret;
    this.now = now;
    this.#tree = validated.tree;
    this.#invalid = validated.invalid;
  }

  /** Adds a finding, unless something is wrong at that very place already: one mistake gives one diagnostic. */
  report(pointer: string, finding: Finding, at: "key" | "value" = "value"): void {
    if (this.#invalid.includes(pointer) || this.isUnset(pointer)) return;
    this.add(pointer, finding, at);
  }

  add(pointer: string, finding: Finding, at: "key" | "value" = "value"): void {
    this.diagnostics.push(diagnose(this.#place(pointer, at), pointer, finding));
  }

  /** Whether an upstream publishes models of its provider's list: their names are not known here. */
  get publishesListed(): boolean {
    return Object.values(this.config.upstreams ?? {}).some(
      (upstream) => upstream !== undefined && "models" in upstream,
    );
  }

  /** Whether there is anything to serve. */
  get hasModels(): boolean {
    return find(this.#tree, "/models") !== null || this.publishesListed;
  }

  /** Whether something is wrong at the pointer, or inside it. */
  isInvalid(pointer: string): boolean {
    return this.#invalid.some((invalid) => invalid === pointer || invalid.startsWith(`${pointer}/`));
  }

  /** Whether a key of the map at the pointer is wrong: what seems to be missing may be that one. */
  misspelt(pointer: string): boolean {
    return this.#invalid.some((invalid) => invalid.slice(0, invalid.lastIndexOf("/")) === pointer);
  }

  /** Whether the value is an unset variable. */
  isUnset(pointer: string): boolean {
    const node = find(this.#tree, pointer)?.node;
    return node?.kind === "scalar" && typeof node.reference?.unset === "string";
  }

  /** A value as messages may show it: a reference by what is written, never by what it brought. */
  show(pointer: string): string {
    const node = find(this.#tree, pointer)?.node;
    return node ? showNode(node) : "nothing";
  }

  /** Names as written, also of entries that are wrong in themselves; null when there is no such section. */
  names(section: NameSection): readonly string[] | null {
    const node = find(this.#tree, `/${section}`)?.node;
    if (node === undefined && section === "tiers" && this.config.tiers !== undefined) return [OPEN_TIER];
    return node?.kind === "map" ? [...node.entries.keys()] : null;
  }

  /** Reports a name that its section does not define. */
  resolve(section: "tiers" | "upstreams", name: string | undefined, pointer: string): void {
    const known = this.names(section);
    if (name === undefined || known === null || known.length === 0 || known.includes(name)) return;
    const rule = section === "tiers" ? "unknown-tier" : "unknown-upstream";
    const isDefault = section === "tiers" && find(this.#tree, "/tiers") === null;
    const others = isDefault
      ? `without tiers the one plan is ${OPEN_TIER}: remove it here, or define it under tiers`
      : null;
    const hint = didYouMean(name, known) ?? others ?? `${section}: ${known.join(", ")}`;
    this.report(pointer, { rule, message: `no ${section.slice(0, -1)} is named ${this.show(pointer)}`, hint });
  }

  /** What the upstream of that name can do; null when it is not defined, or not what it speaks. */
  capability(upstream: string | undefined): DialectCapability | null {
    if (upstream === undefined) return null;
    const known = this.#located.get(upstream);
    if (known !== undefined) return known;
    const dialect = this.config.upstreams?.[upstream]?.dialect;
    const found = dialect === undefined ? null : this.dialects[dialect].at(this.location(upstream));
    this.#located.set(upstream, found);
    return found;
  }

  /** Where an upstream is, as far as its configuration is sound. */
  location(name: string): UpstreamLocation {
    const known = this.#locations.get(name) ?? this.#locate(name);
    this.#locations.set(name, known);
    return known;
  }

  #locate(name: string): UpstreamLocation {
    const { base_url: baseUrl = "", vendor, accepts, api } = this.config.upstreams?.[name] ?? {};
    const isValid = accepts !== undefined && !this.isInvalid(join("/upstreams", name, "accepts"));
    return {
      baseUrl,
      headers: {},
      ...(vendor !== undefined && { vendor }),
      ...(isValid && { accepts: inCamelCase(accepts as AcceptsConfig) }),
      ...(api !== undefined && { api }),
    };
  }

  /** Every scalar with its path, which is the walk's own: it changes with the next step. */
  eachScalar(visit: (node: ScalarNode, path: readonly string[]) => void): Steps<void> {
    return scalarsInSteps(this.#tree, visit);
  }

  /** What is not there is shown at what should hold it. */
  #place(pointer: string, at: "key" | "value"): Place {
    const found = find(this.#tree, pointer);
    if (found) return at === "key" ? found.key : found.node.place;
    return this.#place(pointer.slice(0, pointer.lastIndexOf("/")), "key");
  }
}
