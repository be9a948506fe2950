import { hash } from "node:crypto";
import { crc32, deflateSync } from "node:zlib";
import { CREATED_SECONDS } from "../answer.ts";
import { jsonOf, jsonReply, type ParsedRequest, type ReceivedRequest, tokensClaimed, tokenUsage } from "../endpoint.ts";
import { badParameter, integer, oneOf, parseModel, parseText, wrong } from "../fields.ts";

const IMAGES_PATH = "/sim/images/";
const MAXIMUM_IMAGES = 10;
/** A larger picture is made this wide or high. */
const MAXIMUM_SIDE_PX = 2_048;
const DEFAULT_SIDE_PX = 1_024;
const MAXIMUM_ECHO_CHARACTERS = 500;
/** Models that refuse to be asked for a form. */
const BASE64_ONLY = /(?:^|\/)(?:chatgpt|gpt)-image/;

interface Size {
  readonly width: number;
  readonly height: number;
}

/** `POST /images/generations`: a picture of one colour for each prompt, as base64 or at an address that serves it. */
export function readImage(received: ReceivedRequest): ParsedRequest {
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
          revised_prompt: `A simulated image: ${prompt.slice(0, MAXIMUM_ECHO_CHARACTERS).toWellFormed()}`,
          [form]:
            form === "url"
              ? `${received.origin}${IMAGES_PATH}${nameOf(seed, size)}`
              : picture(seed, size).toString("base64"),
        };
      });
      const claims = tokensClaimed(script);
      const made = { created: CREATED_SECONDS, data, usage: claims && tokenUsage(claims) };
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
  if (value === undefined || value === null || value === "auto")
    return { width: DEFAULT_SIDE_PX, height: DEFAULT_SIDE_PX };
  if (typeof value !== "string") throw wrong("size", "a string", value);
  const [, width, height] = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/.exec(value) ?? [];
  if (width !== undefined) return { width: clamp(Number(width)), height: clamp(Number(height)) };
  const expected = "'auto' and WIDTHxHEIGHT such as '1024x1024'";
  throw badParameter("size", `Invalid value: '${value}'. Supported values are: ${expected}.`, "invalid_value");
}

function clamp(side: number): number {
  return Math.min(Math.max(side, 1), MAXIMUM_SIDE_PX);
}

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** A picture of one colour (`rrggbb`): a palette of one, a bit a pixel, so that a large one is small too. */
function png(width: number, height: number, colour: string): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([1, 3, 0, 0, 0], 8);
  const rows = Buffer.alloc((1 + Math.ceil(width / 8)) * height);
  return Buffer.concat([
    PNG_SIGNATURE,
    chunk("IHDR", head),
    chunk("PLTE", Buffer.from(colour, "hex")),
    chunk("tEXt", Buffer.from("Software\0simulator")),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type), data]);
  const whole = Buffer.alloc(named.length + 8);
  whole.writeUInt32BE(data.length, 0);
  named.copy(whole, 4);
  whole.writeUInt32BE(crc32(named), named.length + 4);
  return whole;
}
