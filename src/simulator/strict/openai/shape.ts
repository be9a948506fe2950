import { type Json, isJson } from "../../../kit/index.ts";
import { asText, badParameter, type SimError } from "../../fields.ts";
import { quotedList, wordSet } from "../rule.ts";
import { tooLong } from "./limits.ts";

/**
 * A documented type. OpenAI checks every body against its schema and words each refusal in one form:
 * https://github.com/neuron-core/neuron-ai/issues/76 (missing), https://github.com/danny-avila/LibreChat/issues/3111
 * (type), https://github.com/VectorlyApp/bluebox/issues/31 (length), https://github.com/decolua/9router/pull/1672
 * (bounds), https://github.com/Soju06/codex-lb/pull/637 (value), https://github.com/BerriAI/litellm/issues/12311 (unknown)
 */
export interface Shape {
  /** How OpenAI names it, with its article: `a string`. */
  readonly type: string;
  readonly fits: (value: unknown) => boolean;
  /** Called with a value that fits. */
  readonly check: (value: unknown, at: string) => SimError | undefined;
}

/** The first thing that is wrong with a value, in OpenAI's words. */
export function shapeProblem(shape: Shape, value: unknown, at: string): SimError | undefined {
  if (shape.fits(value)) return shape.check(value, at);
  const message = `Invalid type for '${at}': expected ${shape.type}, but got ${kindOf(value)} instead.`;
  return badParameter(at, message, "invalid_type");
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return "an object";
  if (typeof value !== "number") return `a ${typeof value}`;
  return Number.isInteger(value) ? "an integer" : "a decimal number";
}

const nothing = (): undefined => undefined;

export const anything: Shape = { type: "a value", fits: () => true, check: nothing };
export const flag: Shape = { type: "a boolean", fits: (value) => typeof value === "boolean", check: nothing };
export const map: Shape = { type: "an object", fits: isJson, check: nothing };

/** An object of any names. */
export function mapOf(shape: Shape): Shape {
  return { ...map, check: (value, at) => record(each(Object.keys(value as Json), shape)).check(value, at) };
}

/** @param maximum in characters */
export function text({ minimum = 0, maximum = Infinity, pattern }: TextLimits = {}): Shape {
  return {
    type: "a string",
    fits: (value) => typeof value === "string",
    check: (value, at) => {
      const given = asText(value);
      if (given.length < minimum) return emptyText(at, minimum);
      const long = tooLong(at, given, maximum);
      if (long || !pattern || pattern.test(given)) return long;
      const message = `Invalid '${at}': string does not match pattern. Expected a string that matches the pattern '${pattern.source}'.`;
      return badParameter(at, message, "invalid_value");
    },
  };
}

interface TextLimits {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: RegExp;
}

function emptyText(at: string, minimum: number): SimError {
  const message = `Invalid '${at}': empty string. Expected a string with minimum length ${minimum}, but got an empty string instead.`;
  return badParameter(at, message, "empty_string");
}

/** One of some words. */
export function word(words: string): Shape {
  const known = wordSet(words);
  return {
    type: "a string",
    fits: (value) => typeof value === "string",
    check: (value, at) => (known.has(asText(value)) ? undefined : badValue(at, value, [...known])),
  };
}

export function badValue(at: string, value: unknown, known: readonly string[]): SimError {
  const message = `Invalid value: '${asText(value)}'. Supported values are: ${quotedList(known)}.`;
  return badParameter(at, message, "invalid_value");
}

export function integer(minimum = -Infinity, maximum = Infinity): Shape {
  return { type: "an integer", fits: Number.isInteger, check: inRange("integer", minimum, maximum) };
}

export function decimal(minimum = -Infinity, maximum = Infinity): Shape {
  return { type: "a decimal", fits: Number.isFinite, check: inRange("decimal", minimum, maximum) };
}

function inRange(kind: string, minimum: number, maximum: number): Shape["check"] {
  return (value, at) => {
    const given = Number(value);
    const [side, sign, bound, code] =
      given < minimum ? ["below minimum", ">=", minimum, "below_min"] : ["above maximum", "<=", maximum, "above_max"];
    if (given >= minimum && given <= maximum) return undefined;
    const message = `Invalid '${at}': ${kind} ${side} value. Expected a value ${sign} ${bound}, but got ${given} instead.`;
    return badParameter(at, message, `${kind}_${code}_value`);
  };
}

export function list(of: Shape, minimum = 0, maximum = Infinity): Shape {
  return {
    type: of.type.startsWith("one of") ? "an array" : `an array of ${of.type.replace(/^an? /, "")}s`,
    fits: Array.isArray,
    check: (value, at) => {
      const items = value as readonly unknown[];
      if (items.length < minimum) return emptyList(at, minimum);
      if (items.length > maximum) return longList(at, items.length, maximum);
      for (const [index, item] of items.entries()) {
        const problem = shapeProblem(of, item, `${at}[${index}]`);
        if (problem) return problem;
      }
      return undefined;
    },
  };
}

function emptyList(at: string, minimum: number): SimError {
  const message = `Invalid '${at}': empty array. Expected an array with minimum length ${minimum}, but got an empty array instead.`;
  return badParameter(at, message, "empty_array");
}

function longList(at: string, length: number, maximum: number): SimError {
  const message = `Invalid '${at}': array too long. Expected an array with maximum length ${maximum}, but got an array with length ${length} instead.`;
  return badParameter(at, message, "array_above_max_length");
}

type Fields = Readonly<Record<string, Shape>>;

/** An object. `closed` if OpenAI refuses fields that it does not know there. */
export function record(fields: Fields, required = "", closed = false): Shape {
  return {
    type: "an object",
    fits: isJson,
    check: (value, at) => recordProblem(fields, required, closed, value as Json, at),
  };
}

function recordProblem(
  fields: Fields,
  required: string,
  closed: boolean,
  value: Json,
  at: string,
): SimError | undefined {
  const place = (name: string) => (at === "" ? name : `${at}.${name}`);
  const absent = required.split(" ").find((name) => name !== "" && value[name] === undefined);
  if (absent !== undefined) return missing(place(absent));
  for (const [name, inner] of Object.entries(value)) {
    if (inner === undefined) continue;
    const shape = fields[name];
    const problem = shape && Object.hasOwn(fields, name) ? shapeProblem(shape, inner, place(name)) : undefined;
    if (problem) return problem;
    if (closed && !Object.hasOwn(fields, name)) return unknown(place(name));
  }
  return undefined;
}

export function missing(at: string): SimError {
  return badParameter(at, `Missing required parameter: '${at}'.`, "missing_required_parameter");
}

function unknown(at: string): SimError {
  return badParameter(at, `Unknown parameter: '${at}'.`, "unknown_parameter");
}

/** An object whose kind a field tells. @param otherwise the kind of an object without that field */
export function tagged(tag: string, kinds: Fields, otherwise?: string): Shape {
  return {
    type: "an object",
    fits: isJson,
    check: (value, at) => {
      const kind = (value as Json)[tag] ?? otherwise;
      const place = `${at}.${tag}`;
      if (kind === undefined) return missing(place);
      if (typeof kind !== "string") return shapeProblem(text(), kind, place);
      const shape = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
      return shape ? shapeProblem(shape, value, at) : badValue(place, kind, Object.keys(kinds));
    },
  };
}

/** One of several types of JSON. */
export function either(...shapes: readonly Shape[]): Shape {
  const [first, ...others] = shapes.map(({ type }) => type);
  return {
    type: `one of ${[first, ...others.map((type) => type.replace(/^an? /, ""))].join(" or ")}`,
    fits: (value) => shapes.some((shape) => shape.fits(value)),
    check: (value, at) => shapes.find((shape) => shape.fits(value))?.check(value, at),
  };
}

export function nullable(shape: Shape): Shape {
  return {
    type: shape.type,
    fits: (value) => value === null || shape.fits(value),
    check: (value, at) => (value === null ? undefined : shape.check(value, at)),
  };
}

/** The same shape for each of some names. */
export function each(names: readonly string[], shape: Shape): Fields {
  return Object.fromEntries(names.map((name) => [name, shape]));
}
