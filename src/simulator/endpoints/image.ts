import { hash } from "node:crypto";
import { badParameter } from "../error.ts";
import { jsonOf } from "./endpoint.ts";
import type { Asked, Received } from "./endpoint.ts";
import { integer, oneOf, parseModel, parseText, wrong } from "../fields.ts";
import { CREATED } from "../openai-answer.ts";
import type { Claims } from "../part.ts";
import { png } from "./png.ts";
import { jsonReply } from "../reply.ts";
import type { Script } from "../script.ts";

const FOLDER = "/sim/images/";
const MAXIMUM_IMAGES = 10;
/** A larger picture is made this wide or high. */
const LARGEST = 2_048;
const SIDE = 1_024;
const MAXIMUM_ECHO = 500;
/** Models that refuse to be asked for a form. */
const BASE64_ONLY = /(?:^|\/)(?:chatgpt|gpt)-image/;

interface Size {
  readonly width: number;
  readonly height: number;
}

/** `POST /images/generations`: a picture of one colour for each prompt, as base64 or at an address that serves it. */
export function readImage(received: Received): Asked {
  const body = jsonOf(received);
  const model = parseModel(body["model"]);
  const prompt = parseText("prompt", body["prompt"]);
  const count = integer("n", body["n"], MAXIMUM_IMAGES) ?? 1;
  const size = parseSize(body["size"]);
  const asked = parseForm(model, body["response_format"]);
  return {
    model,
    sim: body["sim"],
    reply: (script) => {
      const images = script.images ?? count;
      const form = script.image ?? asked;
      const data = Array.from({ length: images }, (_, index) => {
        const seed = hash("sha256", `${index}:${prompt}`).slice(0, 24);
        return {
          revised_prompt: `A simulated image: ${prompt.slice(0, MAXIMUM_ECHO).toWellFormed()}`,
          [form]:
            form === "url"
              ? `${received.origin}${FOLDER}${nameOf(seed, size)}`
              : picture(seed, size).toString("base64"),
        };
      });
      const claims = claimsOf(script);
      const made = { created: CREATED, data, usage: usageOf(claims) };
      return jsonReply(200, { data: JSON.stringify(made), claims, units: { images } });
    },
  };
}

/** The picture at a path that an answer gave; null for any other. */
export function imageAt(path: string): Buffer | null {
  const [, seed, width, height] = /^\/sim\/images\/([0-9a-f]{24})-(\d{1,4})x(\d{1,4})\.png$/.exec(path) ?? [];
  if (seed === undefined) return null;
  return picture(seed, { width: clamp(Number(width)), height: clamp(Number(height)) });
}

function nameOf(seed: string, { width, height }: Size): string {
  return `${seed}-${width}x${height}.png`;
}

function picture(seed: string, { width, height }: Size): Buffer {
  return png(width, height, seed.slice(0, 6));
}

function parseForm(model: string, value: unknown): "url" | "b64_json" {
  if (!BASE64_ONLY.test(model)) return oneOf("response_format", value, ["url", "b64_json"]);
  if (value === undefined) return "b64_json";
  throw badParameter("response_format", "Unknown parameter: 'response_format'.", "unknown_parameter");
}

function parseSize(value: unknown): Size {
  if (value === undefined || value === null || value === "auto") return { width: SIDE, height: SIDE };
  if (typeof value !== "string") throw wrong("size", "a string", value);
  const [, width, height] = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/.exec(value) ?? [];
  if (width !== undefined) return { width: clamp(Number(width)), height: clamp(Number(height)) };
  const expected = "'auto' and WIDTHxHEIGHT such as '1024x1024'";
  throw badParameter("size", `Invalid value: '${value}'. Supported values are: ${expected}.`, "invalid_value");
}

function clamp(side: number): number {
  return Math.min(Math.max(side, 1), LARGEST);
}

/** Tokens are counted only for a script that claims some. */
function claimsOf(script: Script): Claims | undefined {
  const prompt = script["usage.prompt"];
  const completion = script["usage.completion"];
  if (script.no_usage || (prompt === undefined && completion === undefined)) return undefined;
  return { prompt: prompt ?? 0, completion: completion ?? 0 };
}

function usageOf(claims: Claims | undefined): object | undefined {
  if (claims === undefined) return undefined;
  const { prompt, completion } = claims;
  return { input_tokens: prompt, output_tokens: completion, total_tokens: Number(prompt) + Number(completion) };
}
