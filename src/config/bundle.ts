import { isRecord } from "./schema.ts";

type SchemaNode = Readonly<Record<string, unknown>>;

/** The options of plugins: of the built-in ones by the schema's own `$ref`, of local ones by how they are named in a step. */
export interface PluginSchemas {
  /** The schema behind a `$ref` to another file. */
  readonly read: (ref: string) => unknown;
  readonly local: ReadonlyMap<string, unknown>;
}

const REFERENCE = String.raw`\$\{(env|file|exec):[^}]+\}`;
const LOCAL_PATH = String.raw`^(\.{1,2}/|/)`;
/** Formats as patterns: validators differ in which formats they know. */
const FORMATS: Readonly<Record<string, string>> = {
  date: "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$",
  "date-time": "^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?([Zz]|[+-][0-9]{2}:?[0-9]{2})$",
};

/** Keywords that editors show and that strict validators refuse. */
export const EDITOR_KEYWORDS = [
  "markdownDescription",
  "enumDescriptions",
  "defaultSnippets",
  "patternErrorMessage",
] as const;

/**
 * Who reads the bundle: `any` validator, which may refuse a keyword that JSON Schema does not define, or an `editor`, which
 * also gets `EDITOR_KEYWORDS`.
 */
export type Readers = "any" | "editor";

/**
 * The schema of gateway.yaml as one that needs no other: references to definitions and files are replaced by what they mean,
 * every scalar fits a `${env:NAME}` too, and every key has a description with its default, and an example.
 */
export function bundleGateway(schema: SchemaNode, plugins: PluginSchemas, readers: Readers = "any"): SchemaNode {
  return new Bundler(schema, plugins, readers).bundle();
}

/**
 * The schema of a config test file for an editor. It keeps its definitions, because one of them holds itself; without titles,
 * which an editor would show in place of the key's name, and without an `$id`, from which it would look for the definitions.
 */
export function bundleConfigTest(schema: SchemaNode): SchemaNode {
  const { $id: _id, ...rest } = schema;
  return withoutTitles(rest) as SchemaNode;
}

function withoutTitles(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutTitles);
  if (!isRecord(schema)) return schema;
  const described = typeof schema.description === "string" ? withDefault(schema) : schema;
  return Object.fromEntries(
    Object.entries(described).flatMap(([key, value]) =>
      key === "title" && typeof value === "string" ? [] : [[key, key === "examples" ? value : withoutTitles(value)]],
    ),
  );
}

/** The schema of one plugin's options in the same form. */
export function bundlePlugin(schema: SchemaNode, readers: Readers = "any"): SchemaNode {
  const none = { read: () => ({}), local: new Map<string, unknown>() };
  return new Bundler(schema, none, readers).bundle();
}

/** Keywords of a schema as a file, and of the types made from it. */
const OF_A_DOCUMENT: ReadonlySet<string> = new Set(["$schema", "$id", "title", "definitions"]);

class Bundler {
  readonly #root: SchemaNode;
  readonly #plugins: PluginSchemas;
  readonly #readers: Readers;
  /** The targets of references that are being replaced. */
  readonly #open = new Set<unknown>();

  constructor(root: SchemaNode, plugins: PluginSchemas, readers: Readers) {
    this.#root = root;
    this.#plugins = plugins;
    this.#readers = readers;
  }

  /** Without an `$id`: an editor would fetch it, and a copy in another place is as good as this one. */
  bundle(): SchemaNode {
    return { $schema: this.#root.$schema, ...this.#node(this.#root, this.#root) };
  }

  /** @param document the file in which `#/…` is looked up. */
  #node(schema: unknown, document: SchemaNode): SchemaNode {
    if (!isRecord(schema)) return {};
    if (typeof schema.$ref === "string") {
      const { $ref, ...site } = schema;
      const [target, home] = this.#target($ref, document);
      // A schema that holds itself has no end: what is so deep is not described.
      if (this.#open.has(target)) return site;
      if (target === stepOf(this.#root)) return { ...this.#step(home), ...site };
      this.#open.add(target);
      const node = this.#node(target, home);
      this.#open.delete(target);
      return { ...node, ...site, ...unitOf(target, site) };
    }
    const { anyOf, oneOf, ...rest } = schema;
    const branches = anyOf ?? oneOf;
    if (Array.isArray(branches)) return { ...this.#union(branches, document), ...this.#inner(rest, document) };
    return widened(this.#inner(rest, document));
  }

  #target(ref: string, document: SchemaNode): readonly [unknown, SchemaNode] {
    if (ref === "#") return [document, document];
    if (!ref.startsWith("#/")) {
      const file = this.#plugins.read(ref);
      return [file, isRecord(file) ? file : {}];
    }
    let target: unknown = document;
    for (const key of ref.slice(2).split("/")) target = isRecord(target) ? target[key] : undefined;
    return [target, document];
  }

  /** What a schema says of what is inside its values. */
  #inner(schema: SchemaNode, document: SchemaNode): SchemaNode {
    const { properties, patternProperties, items } = schema;
    const left = new Set<string>(this.#readers === "editor" ? [] : EDITOR_KEYWORDS);
    const rest = Object.fromEntries(
      Object.entries(schema).filter(([key]) => !OF_A_DOCUMENT.has(key) && !left.has(key)),
    );
    return {
      ...rest,
      ...this.#conditions(rest, document),
      ...(isRecord(properties) && { properties: this.#properties(properties, document) }),
      ...(isRecord(patternProperties) && {
        patternProperties: mapped(patternProperties, (one) => this.#node(one, document)),
      }),
      ...(items !== undefined && { items: this.#node(items, document) }),
    };
  }

  /** Keywords with schemas that a local plugin may use. */
  #conditions(schema: SchemaNode, document: SchemaNode): SchemaNode {
    const single = ["if", "then", "else", "not", "contains", "additionalProperties"].filter((key) =>
      isRecord(schema[key]),
    );
    const { allOf } = schema;
    return {
      ...Object.fromEntries(single.map((key) => [key, this.#node(schema[key], document)])),
      ...(Array.isArray(allOf) && { allOf: allOf.map((one) => this.#node(one, document)) }),
    };
  }

  #properties(properties: SchemaNode, document: SchemaNode): SchemaNode {
    return mapped(properties, (property) => {
      const node = withDefault(this.#node(property, document));
      const shown = node.examples === undefined ? { ...node, examples: [exampleOf(node)] } : node;
      return this.#readers === "editor" ? forEditor(shown) : shown;
    });
  }

  /** One schema for a value that may be of several types: keywords of one type say nothing of the others. */
  #union(branches: readonly unknown[], document: SchemaNode): SchemaNode {
    const nodes = branches.filter((branch) => !isReference(branch)).map((branch) => this.#node(branch, document));
    const [one, other] = nodes;
    const mark = markOf(one, other);
    if (nodes.length === 2 && mark !== null) return eitherMap(one!, other!, mark);
    if (nodes.length === 1) return one!;
    const examples = nodes.flatMap((node) => (Array.isArray(node.examples) ? (node.examples as unknown[]) : []));
    const shown = examples.length > 0 && { examples: unique(examples) };
    // The keywords of one branch would bind the others.
    if (bindEachOther(nodes)) return { anyOf: flat(nodes), ...shown };
    const types = [...new Set(nodes.flatMap(({ type }) => type ?? []))];
    const patterns = nodes.flatMap(({ pattern }) => (typeof pattern === "string" ? [pattern] : []));
    const isAnyText = nodes.some(({ type, pattern }) => type === "string" && pattern === undefined);
    const merged: Record<string, unknown> = Object.assign({}, ...nodes);
    delete merged.description;
    delete merged.pattern;
    delete merged.examples;
    return {
      ...merged,
      type: types.length === 1 ? types[0] : types,
      ...(!isAnyText && patterns.length > 0 && { pattern: alternatives(patterns) }),
      ...shown,
    };
  }

  /** A step of the pipeline: a name, or a map whose options are those of the plugin that `use` names. */
  #step(document: SchemaNode): SchemaNode {
    const definitions = isRecord(document.definitions) ? document.definitions : {};
    const local = this.#node(definitions.localStep, document);
    const builtIn = isRecord(definitions.builtInStep) ? definitions.builtInStep.oneOf : [];
    const options = new Map<string, SchemaNode>();
    const texts = new Map<string, unknown>();
    for (const branch of Array.isArray(builtIn) ? builtIn : []) {
      const { properties } = this.#node(branch, document);
      const { use, options: own } = isRecord(properties) ? properties : {};
      const [name] = isRecord(use) ? wordsOf(use) : [];
      if (typeof name !== "string" || !isRecord(own)) continue;
      options.set(name, own);
      texts.set(name, isRecord(use) ? use.description : undefined);
    }
    const pattern = alternatives([LOCAL_PATH, REFERENCE]);
    for (const [use, schema] of this.#plugins.local)
      if (isRecord(schema))
        options.set(use, { ...new Bundler(schema, this.#plugins, this.#readers).bundle(), $schema: undefined });
    const properties = isRecord(local.properties) ? local.properties : {};
    const names = [...options.keys()];
    const words = {
      enum: names,
      ...(this.#readers === "editor" && { enumDescriptions: names.map((name) => texts.get(name) ?? "a local plugin") }),
    };
    const use = {
      description: "Name of a built-in plugin, or path of a plugin file.",
      anyOf: [words, { type: "string", pattern }],
      ...(this.#readers === "any" && { examples: names }),
    };
    return {
      ...local,
      type: ["string", "object"],
      anyOf: [words, { type: "string", pattern }, { type: "object" }],
      properties: { ...properties, use },
      allOf: [...options].map(([name, own]) => optionsOf(name, own)),
      examples: [...(this.#readers === "any" ? names : []), { use: "transform", options: { remove: ["/logit_bias"] } }],
    };
  }
}

/** Forms of values that several keys have, such as a duration, tell their unit behind the key's own description. */
function unitOf(target: unknown, site: SchemaNode): SchemaNode {
  if (!isRecord(target) || target.title !== undefined || target.type === "object") return {};
  const both = [site.description, target.description].filter((text) => typeof text === "string");
  return both.length === 2 ? { description: both.join(" ") } : {};
}

/**
 * Tells the default in the description, and as the first example. As a keyword it would make editors write every default
 * into a new map.
 */
function withDefault(schema: SchemaNode): SchemaNode {
  const { default: value, ...rest } = schema;
  if (value === undefined || typeof rest.description !== "string") return rest;
  const examples = Array.isArray(rest.examples) ? (rest.examples as unknown[]) : [];
  const isEmpty = value === null || value === "" || (typeof value === "object" && Object.keys(value).length === 0);
  return {
    ...rest,
    description: `${rest.description} Default: ${inYaml(value) || "empty"}.`,
    ...((!isEmpty || examples.length > 0) && { examples: isEmpty ? examples : unique([value, ...examples]) }),
  };
}

/** A value in the flow style of YAML, where text needs no quotes. */
function inYaml(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "" : `[${value.map(inYaml).join(", ")}]`;
  if (!isRecord(value)) return String(value);
  const entries = Object.entries(value).map(([key, one]) => `${key}: ${inYaml(one) || '""'}`);
  return entries.length === 0 ? "" : `{ ${entries.join(", ")} }`;
}

/** What an editor shows of a key: its text with code marked, and without examples that only repeat the allowed words. */
function forEditor(schema: SchemaNode): SchemaNode {
  const { description, examples, ...rest } = schema;
  const words = wordsOf(schema);
  const isRepeated = Array.isArray(examples) && examples.every((example) => words.includes(example));
  return {
    ...(typeof description === "string" && { description, markdownDescription: inMarkdown(description) }),
    ...rest,
    ...(Array.isArray(schema.anyOf) && { anyOf: schema.anyOf.map(branchMessage) }),
    ...(!isRepeated && { examples }),
    ...patternMessage(schema),
  };
}

/** An editor may describe a choice by the branch that only allows references. */
function branchMessage(branch: unknown): unknown {
  if (!isRecord(branch) || typeof branch.pattern !== "string") return branch;
  return { ...branch, patternErrorMessage: `Not an allowed value, nor a reference such as \${env:NAME}.` };
}

function wordsOf({ anyOf }: SchemaNode): readonly unknown[] {
  const branches: readonly unknown[] = Array.isArray(anyOf) ? anyOf : [];
  return branches.flatMap((branch) =>
    isRecord(branch) && Array.isArray(branch.enum) ? (branch.enum as readonly unknown[]) : [],
  );
}

/** Text with `code` in it, whose other characters mean nothing to Markdown. */
function inMarkdown(text: string): string {
  return text
    .split(/(`[^`]+`|Default: (?:.+)\.$)/)
    .map((part) => {
      if (part.startsWith("`")) return part;
      const [, value] = /^Default: (.+)\.$/.exec(part) ?? [];
      return value === undefined ? part.replaceAll(/[\\*_{}[\]#<>!]/g, String.raw`\$&`) : `Default: \`${value}\`.`;
    })
    .join("");
}

/** What an editor says of a value that does not fit, in place of the regular expression. */
function patternMessage({ pattern, type, examples }: SchemaNode): SchemaNode {
  if (typeof pattern !== "string") return {};
  const types = [type].flat();
  const shown = (Array.isArray(examples) ? (examples as unknown[]) : []).filter((one) => typeof one === "string");
  const form = types.some((one) => one === "integer" || one === "number")
    ? "a number"
    : types.includes("boolean")
      ? "true or false"
      : `text such as ${shown.slice(0, 2).join(" or ")}`;
  return { patternErrorMessage: `Write ${form}, or a reference such as \${env:NAME}.` };
}

function optionsOf(name: string, options: SchemaNode): SchemaNode {
  const isNeeded = Array.isArray(options.required) && options.required.length > 0;
  return {
    if: { type: "object", required: ["use"], properties: { use: { const: name } } },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: { type: ["string", "object"], properties: { options }, ...(isNeeded && { required: ["options"] }) },
  };
}

/** Of two kinds of map the key that only the other one requires; null when there is none to tell them by. */
function markOf(one: SchemaNode | undefined, other: SchemaNode | undefined): string | null {
  if (one?.type !== "object" || other?.type !== "object") return null;
  const first = new Set(Array.isArray(one.required) ? (one.required as string[]) : []);
  return (Array.isArray(other.required) ? (other.required as string[]) : []).find((key) => !first.has(key)) ?? null;
}

/** Of two kinds of map the one that has the key which only it requires. */
function eitherMap(one: SchemaNode, other: SchemaNode, mark: string): SchemaNode {
  return {
    type: "object",
    if: { type: "object", required: [mark], properties: { [mark]: {} } },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: other,
    else: one,
    examples: [exampleOf(one), exampleOf(other)],
  };
}

/** Keywords that say something of values of every type. */
const OF_ANY_TYPE = ["enum", "const", "anyOf", "allOf", "not", "if"];
const OF_TEXTS = ["minLength", "maxLength"];

/** Whether the keywords of one branch would say something of the values of another, once they stand in one schema. */
function bindEachOther(nodes: readonly SchemaNode[]): boolean {
  const types = nodes.flatMap(({ type }) => (type === "number" ? "integer" : (type ?? "any")));
  const others = types.filter((type) => type !== "string");
  const texts = nodes.filter(({ type }) => [type].flat().includes("string"));
  const has = (keywords: readonly string[]) => (node: SchemaNode) => keywords.some((keyword) => keyword in node);
  return (
    (others.includes("any") && nodes.length > 1) ||
    new Set(others).size < others.length ||
    (nodes.length > 1 && nodes.some(has(OF_ANY_TYPE))) ||
    (texts.length > 1 && texts.some(has(OF_TEXTS)))
  );
}

/** Choices inside a choice beside the others, each once. */
function flat(nodes: readonly SchemaNode[]): SchemaNode[] {
  return unique(
    nodes.flatMap((node) => {
      const { anyOf, description: _description, examples: _examples, ...rest } = node;
      return Array.isArray(anyOf) && Object.keys(rest).length === 0 ? (anyOf as SchemaNode[]) : [rest];
    }),
  );
}

function stepOf(root: SchemaNode): unknown {
  return isRecord(root.definitions) ? root.definitions.step : undefined;
}

function isReference(branch: unknown): boolean {
  return isRecord(branch) && branch.$ref === "#/definitions/reference";
}

/** A scalar as one pattern, which a reference fits as well. */
function widened(schema: SchemaNode): SchemaNode {
  const { enum: words, enumDescriptions, const: word, format, ...rest } = schema;
  const choices = Array.isArray(words) ? (words as unknown[]) : word === undefined ? null : [word];
  if (choices !== null) {
    const examples = rest.examples ?? choices;
    // Editors list the words of an enum, and complete them; of a pattern they show the regular expression.
    const { type: _type, ...others } = rest;
    const told = enumDescriptions !== undefined && { enumDescriptions };
    return {
      ...others,
      anyOf: [
        { enum: choices, ...told },
        { type: "string", pattern: REFERENCE },
      ],
      examples,
    };
  }
  const { type, pattern = typeof format === "string" ? FORMATS[format] : undefined } = rest;
  if (type === "string" && typeof pattern === "string") return { ...rest, pattern: alternatives([pattern, REFERENCE]) };
  if (type !== "integer" && type !== "number" && type !== "boolean") return rest;
  return { ...rest, type: [type, "string"], pattern: REFERENCE };
}

/** Patterns that are each whole, anchors included; that of references last, and once. */
function alternatives(patterns: readonly string[]): string {
  const own = patterns.map((pattern) => pattern.replace(`|${REFERENCE}`, ""));
  const hasReference = patterns.some((pattern) => pattern.endsWith(REFERENCE));
  return [...unique(own).filter((pattern) => pattern !== REFERENCE), ...(hasReference ? [REFERENCE] : [])].join("|");
}

/** The first example, or one that is made of those inside. */
function exampleOf(schema: unknown): unknown {
  if (!isRecord(schema)) return undefined;
  const { examples, type, properties, required, items, patternProperties, propertyNames } = schema;
  if (Array.isArray(examples)) return (examples as unknown[])[0];
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  if (isRecord(properties) && types.includes("object")) {
    const needed = Array.isArray(required) && required.length > 0 ? (required as string[]) : Object.keys(properties);
    return Object.fromEntries(needed.map((key) => [key, exampleOf(properties[key])]));
  }
  if (types.includes("array")) return [exampleOf(items)];
  if (isRecord(patternProperties)) {
    const [name = ""] = isRecord(propertyNames) && Array.isArray(propertyNames.examples) ? propertyNames.examples : [];
    return { [String(name)]: exampleOf(Object.values(patternProperties)[0]) };
  }
  return types.includes("boolean") ? true : undefined;
}

function mapped(record: SchemaNode, map: (value: unknown) => SchemaNode): SchemaNode {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}

function unique<T>(values: readonly T[]): T[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}
