import { asText, badParameter, type SimError } from "../../fields.ts";
import { quotedList } from "../rule.ts";
import { type Issue, type Path, problemOf, type Shape } from "../shape.ts";

/*
 * How OpenAI words what its schema refuses: https://github.com/neuron-core/neuron-ai/issues/76 (missing),
 * https://github.com/danny-avila/LibreChat/issues/3111 (type), https://github.com/VectorlyApp/bluebox/issues/31 (length),
 * https://github.com/decolua/9router/pull/1672 (bounds), https://github.com/Soju06/codex-lb/pull/637 (value),
 * https://github.com/BerriAI/litellm/issues/12311 (unknown)
 */

/** The first thing that is wrong with a body, in OpenAI's words. */
export function shapeRefusal(shape: Shape, body: unknown): SimError | undefined {
  const problem = problemOf(shape, body);
  return problem && refusal(placeOf(problem.path), problem.issue);
}

function placeOf(path: Path): string {
  return path
    .map((step) => (typeof step === "number" ? `[${step}]` : typeof step === "string" ? `.${step}` : ""))
    .join("")
    .replace(/^\./, "");
}

function refusal(at: string, issue: Issue): SimError {
  switch (issue.kind) {
    case "type": {
      const message = `Invalid type for '${at}': expected ${issue.expected}, but got ${kindOf(issue.value)} instead.`;
      return badParameter(at, message, "invalid_type");
    }
    case "missing":
      return missing(at);
    case "unknown":
      return badParameter(at, `Unknown parameter: '${at}'.`, "unknown_parameter");
    case "word":
      return badValue(at, issue.value, issue.known);
    case "tag": {
      const place = `${at}.${issue.tag}`;
      return issue.value === undefined ? missing(place) : badValue(place, issue.value, issue.known);
    }
    case "pattern": {
      const message = `Invalid '${at}': string does not match pattern. Expected a string that matches the pattern '${issue.pattern}'.`;
      return badParameter(at, message, "invalid_value");
    }
    case "bound": {
      const { type, value, bound } = issue;
      const [side, sign] = bound.side === "minimum" ? ["below minimum", ">="] : ["above maximum", "<="];
      const message = `Invalid '${at}': ${type} ${side} value. Expected a value ${sign} ${bound.at}, but got ${value} instead.`;
      return badParameter(at, message, `${type}_${bound.side === "minimum" ? "below_min" : "above_max"}_value`);
    }
    case "length":
      return badLength(at, issue);
  }
}

function badLength(at: string, { of, length, bound }: Extract<Issue, { readonly kind: "length" }>): SimError {
  const a = of === "array" ? "an array" : "a string";
  if (length === 0) {
    const message = `Invalid '${at}': empty ${of}. Expected ${a} with minimum length ${bound.at}, but got an empty ${of} instead.`;
    return badParameter(at, message, `empty_${of}`);
  }
  const [side, code] = bound.side === "minimum" ? ["short", "below_min"] : ["long", "above_max"];
  const message = `Invalid '${at}': ${of} too ${side}. Expected ${a} with ${bound.side} length ${bound.at}, but got ${a} with length ${length} instead.`;
  return badParameter(at, message, `${of}_${code}_length`);
}

export function badValue(at: string, value: unknown, known: readonly string[]): SimError {
  const message = `Invalid value: '${asText(value)}'. Supported values are: ${quotedList(known)}.`;
  return badParameter(at, message, "invalid_value");
}

export function missing(at: string): SimError {
  return badParameter(at, `Missing required parameter: '${at}'.`, "missing_required_parameter");
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return "an object";
  if (typeof value !== "number") return `a ${typeof value}`;
  return Number.isInteger(value) ? "an integer" : "a decimal number";
}
