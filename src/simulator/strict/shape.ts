import { type Json, isJson } from "../../kit/index.ts";
import { asText } from "../fields.ts";
import { wordSet } from "./rule.ts";

/**
 * Documented types. A provider that checks bodies against a schema refuses every breach in one form, so a reference is
 * written down once, as shapes, and each provider words what is wrong (`openai/words.ts`, `pydantic.ts`).
 */
export interface Shape {
  /** With its article: `a string`. */
  readonly type: string;
  readonly fits: (value: unknown) => boolean;
  /** Called with a value that fits. */
  readonly check: (value: unknown, path: Path) => Problem | undefined;
}

/** A step is a field, an index, or the tag by which an object's kind was told. */
export type Path = readonly (string | number | { readonly tag: string })[];

export interface Problem {
  readonly path: Path;
  readonly issue: Issue;
}

export type Issue =
  | { readonly kind: "type"; readonly expected: string; readonly value: unknown }
  | { readonly kind: "missing" }
  | { readonly kind: "unknown"; readonly value: unknown }
  | { readonly kind: "word"; readonly value: unknown; readonly known: readonly string[] }
  | { readonly kind: "tag"; readonly tag: string; readonly value: unknown; readonly known: readonly string[] }
  | { readonly kind: "bound"; readonly type: "integer" | "decimal"; readonly value: number; readonly bound: Bound }
  | { readonly kind: "length"; readonly of: "string" | "array"; readonly length: number; readonly bound: Bound }
  | { readonly kind: "pattern"; readonly pattern: string };

export interface Bound {
  readonly side: "minimum" | "maximum";
  readonly at: number;
}

/** The first thing that is wrong with a value. */
export function problemOf(shape: Shape, value: unknown, path: Path = []): Problem | undefined {
  if (shape.fits(value)) return shape.check(value, path);
  if (value === undefined) return { path, issue: { kind: "missing" } };
  return { path, issue: { kind: "type", expected: shape.type, value } };
}

const nothing = (): undefined => undefined;

export const anything: Shape = { type: "a value", fits: (value) => value !== undefined, check: nothing };
export const flag: Shape = { type: "a boolean", fits: (value) => typeof value === "boolean", check: nothing };
export const map: Shape = { type: "an object", fits: isJson, check: nothing };

/** An object of any names. */
export function mapOf(shape: Shape): Shape {
  return { ...map, check: (value, path) => record(each(Object.keys(value as Json), shape)).check(value, path) };
}

interface TextLimits {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: RegExp;
}

/** Limits are in characters. */
export function text({ minimum = 0, maximum = Infinity, pattern }: TextLimits = {}): Shape {
  return {
    type: "a string",
    fits: (value) => typeof value === "string",
    check: (value, path) => {
      const given = asText(value);
      const long = outside("string", given.length, minimum, maximum);
      if (long) return { path, issue: long };
      if (!pattern || pattern.test(given)) return undefined;
      return { path, issue: { kind: "pattern", pattern: pattern.source } };
    },
  };
}

function outside(of: "string" | "array", length: number, minimum: number, maximum: number): Issue | undefined {
  if (length < minimum) return { kind: "length", of, length, bound: { side: "minimum", at: minimum } };
  return length > maximum ? { kind: "length", of, length, bound: { side: "maximum", at: maximum } } : undefined;
}

/** One of some words. */
export function word(words: string): Shape {
  const known = wordSet(words);
  return {
    type: "a string",
    fits: (value) => typeof value === "string",
    check: (value, path) =>
      known.has(asText(value)) ? undefined : { path, issue: { kind: "word", value, known: [...known] } },
  };
}

export function integer(minimum = -Infinity, maximum = Infinity): Shape {
  return { type: "an integer", fits: Number.isInteger, check: inRange("integer", minimum, maximum) };
}

export function decimal(minimum = -Infinity, maximum = Infinity): Shape {
  return { type: "a decimal", fits: Number.isFinite, check: inRange("decimal", minimum, maximum) };
}

function inRange(type: "integer" | "decimal", minimum: number, maximum: number): Shape["check"] {
  return (given, path) => {
    const value = Number(given);
    if (value >= minimum && value <= maximum) return undefined;
    const bound: Bound = value < minimum ? { side: "minimum", at: minimum } : { side: "maximum", at: maximum };
    return { path, issue: { kind: "bound", type, value, bound } };
  };
}

export function list(of: Shape, minimum = 0, maximum = Infinity): Shape {
  return {
    type: of.type.startsWith("one of") ? "an array" : `an array of ${of.type.replace(/^an? /, "")}s`,
    fits: Array.isArray,
    check: (value, path) => {
      const items = value as readonly unknown[];
      const issue = outside("array", items.length, minimum, maximum);
      if (issue) return { path, issue };
      for (const [index, item] of items.entries()) {
        const problem = problemOf(of, item, [...path, index]);
        if (problem) return problem;
      }
      return undefined;
    },
  };
}

type Fields = Readonly<Record<string, Shape>>;

interface RecordOptions {
  /** Names that must be there, with spaces between. */
  readonly required?: string;
  /** The provider refuses names that it does not know here. */
  readonly closed?: true;
}

export function record(fields: Fields, { required = "", closed }: RecordOptions = {}): Shape {
  const needed = required.split(" ").filter((name) => name !== "");
  return {
    type: "an object",
    fits: isJson,
    check: (value, path) => {
      const given = value as Json;
      const absent = needed.find((name) => given[name] === undefined);
      if (absent !== undefined) return { path: [...path, absent], issue: { kind: "missing" } };
      for (const [name, inner] of Object.entries(given)) {
        if (inner === undefined) continue;
        const shape = Object.hasOwn(fields, name) ? fields[name] : undefined;
        const at = [...path, name];
        const problem = shape && problemOf(shape, inner, at);
        if (problem) return problem;
        if (closed && !shape) return { path: at, issue: { kind: "unknown", value: inner } };
      }
      return undefined;
    },
  };
}

/** An object whose kind a field tells. @param otherwise the kind of an object without that field */
export function tagged(tag: string, kinds: Fields, otherwise?: string): Shape {
  return {
    type: "an object",
    fits: isJson,
    check: (value, path) => {
      const kind = (value as Json)[tag] ?? otherwise;
      if (kind !== undefined && typeof kind !== "string") return problemOf(text(), kind, [...path, tag]);
      const shape = kind !== undefined && Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
      if (shape) return problemOf(shape, value, [...path, { tag: asText(kind) }]);
      return { path, issue: { kind: "tag", tag, value: kind, known: Object.keys(kinds) } };
    },
  };
}

/** One of several types of JSON. */
export function either(...shapes: readonly Shape[]): Shape {
  const [first, ...others] = shapes.map(({ type }) => type);
  return {
    type: `one of ${[first, ...others.map((type) => type.replace(/^an? /, ""))].join(" or ")}`,
    fits: (value) => shapes.some((shape) => shape.fits(value)),
    check: (value, path) => shapes.find((shape) => shape.fits(value))?.check(value, path),
  };
}

export function nullable(shape: Shape): Shape {
  return {
    type: shape.type,
    fits: (value) => value === null || shape.fits(value),
    check: (value, path) => (value === null ? undefined : shape.check(value, path)),
  };
}

/** The same shape for each of some names. */
export function each(names: readonly string[], shape: Shape): Fields {
  return Object.fromEntries(names.map((name) => [name, shape]));
}
