import { sha256 } from "../tool-ids.ts";
import type { Rules } from "./types.ts";

const NOT_WORD = /[^\w-]/g;
/** Characters of the digest that keeps shortened names apart. */
const DIGEST = 8;

/** What names of tools an upstream takes. */
export type NameRules = Pick<Rules, "toolName" | "toolNameCharacters">;

/** The names of one request's tools as an upstream takes them, and back. Equal names stay equal, different ones different. */
export class ToolNames {
  readonly #rules: NameRules;
  readonly #short = new Map<string, string>();
  readonly #own = new Map<string, string>();

  constructor(rules: NameRules) {
    this.#rules = rules;
  }

  /** Whether any name was changed: only then has an answer names to be put back. */
  get changed(): boolean {
    return this.#own.size > 0;
  }

  /** The very same name where the upstream takes it. */
  written(name: string): string {
    if (this.#fits(name)) return name;
    const known = this.#short.get(name);
    if (known !== undefined) return known;
    let short = this.#made(name, name);
    for (let n = 2; this.#own.has(short); n++) short = this.#made(name, `${n}/${name}`);
    this.#short.set(name, short);
    this.#own.set(short, name);
    return short;
  }

  /** The client's own name for one that a model calls. */
  read(name: string): string {
    return this.#own.get(name) ?? name;
  }

  #fits(name: string): boolean {
    const { toolName, toolNameCharacters } = this.#rules;
    return name.length <= toolName && (toolNameCharacters === "any" || name.search(NOT_WORD) < 0);
  }

  #made(name: string, seed: string): string {
    const { toolName } = this.#rules;
    const digest = sha256(seed).slice(0, DIGEST);
    const room = Math.max(0, Math.min(toolName, 1024) - digest.length - 1);
    return `${name.replaceAll(NOT_WORD, "_").slice(0, room)}_${digest}`.slice(-toolName);
  }
}
