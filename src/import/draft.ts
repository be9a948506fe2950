import { isDeepStrictEqual } from "node:util";
import type { GatewayConfig, LimitsConfig, ModelConfig, Step, TierConfig, UpstreamConfig } from "#schema";
import { PIPELINE } from "../config/defaults.ts";
import { join } from "../config/diagnostics.ts";
import { OPEN_TIER } from "../config/settings.ts";
import { Findings } from "./findings.ts";
import { Secrets, Variables } from "./secrets.ts";
import { type Field, leavesOf } from "./source.ts";

const NO_LIMITS = { day: "none", hour: "none", minute: "none", streams: "none" } as const;
/** What names of models have beside letters and digits; every other character becomes `-`. */
const NOT_IN_MODEL_NAME = /[^A-Za-z0-9_.:@-]+/g;
const MAX_MODEL_NAME_CHARACTERS = 128;
const NOT_IN_UPSTREAM_NAME = /[^A-Za-z0-9_.-]+/g;
const MAX_UPSTREAM_NAME_CHARACTERS = 64;

/** How a tool names a variable in place of a value; null for a text that names none. */
export type ReadReference = (text: string) => string | null;

/** What stands in place of a secret. */
export interface SecretReference {
  readonly text: string;
  /** Tells where it stands, once that is known. */
  readonly tell: (target: string | null) => void;
}

/** The configuration that an import makes, beside what becomes of the source. */
export class Draft {
  readonly findings = new Findings();
  readonly variables = new Variables();
  readonly secrets: Secrets;
  readonly config: GatewayConfig = {
    version: 1,
    upstreams: {},
    models: {},
  };
  /** Comments by JSON pointer of the key that they stand above. */
  readonly notes = new Map<string, readonly string[]>();
  /** Variables that tests need a value of. */
  readonly testVariables = new Map<string, string>();
  readonly #readReference: ReadReference;
  /** Numbers of names that were taken, so that a thousand of one name take no square of it. */
  readonly #taken = new Map<string, number>();

  constructor(readReference: ReadReference) {
    this.#readReference = readReference;
    this.secrets = new Secrets((text) => readReference(text) !== null);
  }

  /** A file of the source: every leaf of it will be told of, its secrets are known, its variables keep their names. */
  addSource(root: Field): void {
    this.findings.add(root);
    this.secrets.scan(root);
    for (const leaf of leavesOf(root)) {
      const name = this.referenceOf(leaf);
      if (name !== null) this.variables.reserve(name);
    }
  }

  note(pointer: string, text: string): void {
    this.notes.set(pointer, [...(this.notes.get(pointer) ?? []), text]);
  }

  /** The variable that a field names; null when its value stands in the source. */
  referenceOf(field: Field | undefined): string | null {
    return field?.text == null ? null : this.#readReference(field.text.trim());
  }

  /** A reference to the variable that a secret comes from. @param wanted names it, if the source does not. @param text the secret alone, where the field holds more. */
  secret(field: Field, wanted: string, text = field.text ?? ""): SecretReference {
    const named = this.referenceOf(field);
    if (named !== null) {
      const name = this.variables.use(named);
      const told =
        name === named
          ? (target: string | null) => this.findings.mapped(field, target, `comes from the variable ${name}`)
          : (target: string | null) =>
              this.findings.changed(
                field,
                target,
                `comes from the variable ${name}, as its name is no name of one here`,
              );
      return { text: `\${env:${name}}`, tell: told };
    }
    this.secrets.note(text);
    const name = this.variables.nameOf(text, wanted);
    const part = text === field.text ? "it" : "the key alone";
    const reason = `is a secret that is not copied: put ${part} into the variable ${name}`;
    return { text: `\${env:${name}}`, tell: (target) => this.findings.changed(field, target, reason) };
  }

  /** The name of an upstream that is as told: one that is there already, or a new one. @param hint tells two apart. */
  addUpstream(wanted: string, upstream: UpstreamConfig, hint?: string): string {
    const base = upstreamName(wanted);
    const same = (name: string): boolean =>
      Object.hasOwn(this.config.upstreams, name) && isDeepStrictEqual(this.config.upstreams[name], upstream);
    const candidates = [base, ...(hint === undefined ? [] : [upstreamName(`${base}-${hint}`)])];
    for (const name of candidates) if (same(name)) return name;
    const free = candidates.find((name) => !Object.hasOwn(this.config.upstreams, name));
    if (free !== undefined) {
      this.config.upstreams[free] = upstream;
      return free;
    }
    for (let number = 2; ; number++) {
      const name = `${base.slice(0, MAX_UPSTREAM_NAME_CHARACTERS - 6)}-${number}`;
      if (same(name)) return name;
      if (Object.hasOwn(this.config.upstreams, name)) continue;
      this.config.upstreams[name] = upstream;
      return name;
    }
  }

  /** The id of a model for the name that clients use today, which no other model has. */
  modelId(name: string): string {
    const plain = name.replaceAll(NOT_IN_MODEL_NAME, "-").replace(/^[^A-Za-z0-9]+/, "");
    const base = `route/${plain.slice(0, MAX_MODEL_NAME_CHARACTERS) || "model"}`;
    let number = this.#taken.get(base) ?? 1;
    let id = number === 1 ? base : `${base.slice(0, MAX_MODEL_NAME_CHARACTERS)}-${number}`;
    while (this.#taken.has(id)) id = `${base.slice(0, MAX_MODEL_NAME_CHARACTERS)}-${++number}`;
    this.#taken.set(base, number + 1);
    if (id !== base) this.#taken.set(id, 1);
    return id;
  }

  /** Without upstreams whose deployments were all left out. */
  removeUnused(): void {
    const { models = {}, upstreams } = this.config;
    const chains = Object.values(models).flatMap(({ chain }) => chain);
    const used = new Set(
      chains.flatMap((step) => ("targets" in step ? step.targets : [step])).map(({ upstream }) => upstream),
    );
    for (const name of Object.keys(upstreams)) if (!used.has(name)) delete upstreams[name];
  }

  addModel(id: string, model: ModelConfig): void {
    this.config.models ??= {};
    this.config.models[id] = model;
  }

  /** A plan beside the open one, which stands in the file from then on. */
  addPlan(name: string, access: TierConfig["access"], limits: Partial<LimitsConfig> = {}): void {
    this.config.tiers ??= { [OPEN_TIER]: { access: "all", limits: NO_LIMITS } };
    this.config.tiers[name] ??= { access, limits: { ...NO_LIMITS, ...limits } };
  }

  /** A step of the pipeline. One that changes or answers requests stands before the relay. */
  addStep(step: Step, before = "stream-relay"): void {
    this.config.pipeline ??= [...PIPELINE];
    this.config.pipeline.splice(this.config.pipeline.indexOf(before), 0, step);
  }
}

export const modelPointer = (id: string, ...keys: readonly (string | number)[]): string => join("/models", id, ...keys);
export const upstreamPointer = (name: string, ...keys: readonly (string | number)[]): string =>
  join("/upstreams", name, ...keys);

function upstreamName(wanted: string): string {
  const plain = wanted.replaceAll(NOT_IN_UPSTREAM_NAME, "-").replaceAll(/^[^A-Za-z]+|[^A-Za-z0-9]+$/g, "");
  return plain.slice(0, MAX_UPSTREAM_NAME_CHARACTERS) || "upstream";
}
