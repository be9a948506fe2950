import type { DialectName, Model, Snapshot, Target } from "./snapshot.ts";

/*
 * What images, documents and recordings of a prompt count, in tokens, before a provider has told it: by the provider's
 * documented rule where their size is known, else by a constant.
 */

export interface Size {
  /** Pixels. */
  readonly width: number;
  readonly height: number;
}

/** Something in a prompt that is no text. What is not known of it is left out. */
export type Medium =
  | { readonly kind: "image"; readonly size?: Size; readonly detail?: string }
  | { readonly kind: "document"; readonly pages?: number }
  | { readonly kind: "audio" | "video"; readonly seconds?: number };

/** What is not known: an image by its address, a document, a recording. */
const UNKNOWN: Readonly<Record<Medium["kind"], number>> = {
  image: 1_600,
  document: 3_000,
  audio: 10_000,
  video: 10_000,
};

/** How one family of models counts media. */
interface MediaRules {
  readonly image: (size: Size, detail: string | undefined) => number;
  readonly page: number;
  /** A second of audio. */
  readonly second: number;
}

/** "Each page typically uses 1,500-3,000 tokens" (https://platform.claude.com/docs/en/build-with-claude/pdf-support). */
const USUAL_PAGE_TOKENS = 3_000;
/** https://ai.google.dev/gemini-api/docs/tokens: "audio at a fixed rate of 32 tokens per second", the most that is documented. */
const USUAL_SECOND_TOKENS = 32;

/** A size that fits within a square, its form kept. */
function within({ width, height }: Size, side: number): Size {
  const scale = Math.min(1, side / Math.max(width, height));
  return { width: width * scale, height: height * scale };
}

function tiles({ width, height }: Size, side: number): number {
  return Math.max(1, Math.ceil(width / side)) * Math.max(1, Math.ceil(height / side));
}

/**
 * Patches of 28 pixels, of an image that was made smaller where it is beyond the model's limits
 * (https://platform.claude.com/docs/en/build-with-claude/vision: 1000 x 1000 is 1,296, 1920 x 1080 at Claude 4.7 2,691).
 */
function claude(side: number, most: number): MediaRules {
  return {
    image: (size) => Math.min(most, tiles(within(size, side), 28)),
    page: USUAL_PAGE_TOKENS,
    second: USUAL_SECOND_TOKENS,
  };
}

/** A base and so much for each tile of 512 pixels (https://developers.openai.com/api/docs/guides/images-vision#calculating-costs). */
function openaiTiles(base: number, tile: number): MediaRules {
  return {
    image(size, detail) {
      if (detail === "low") return base;
      const { width, height } = within(size, 2_048);
      const scale = Math.min(1, 768 / Math.min(width, height));
      return base + tile * tiles({ width: width * scale, height: height * scale }, 512);
    },
    page: USUAL_PAGE_TOKENS,
    second: OPENAI_SECOND_TOKENS,
  };
}

/** "1 token per 100 ms" (https://developers.openai.com/api/docs/guides/realtime-costs). */
const OPENAI_SECOND_TOKENS = 10;

interface Patches {
  readonly factor: number;
  /** Most patches, for `detail: "high"` and for what is asked by default. */
  readonly high: number;
  readonly usual: number;
}

/** Patches of 32 pixels, times a factor (the same page). */
function openaiPatches({ factor, high, usual }: Patches): MediaRules {
  return {
    image(size, detail) {
      const sent = detail === "low" ? within(size, 512) : detail === "high" ? within(size, 2_048) : size;
      return Math.ceil(Math.min(detail === "high" ? high : usual, tiles(sent, 32)) * factor);
    },
    page: USUAL_PAGE_TOKENS,
    second: OPENAI_SECOND_TOKENS,
  };
}

/** 258 for each tile of 768 pixels, and for a page (https://ai.google.dev/gemini-api/docs/tokens, document-processing). */
const GEMINI_TILE_TOKENS = 258;
const geminiTiles: MediaRules = {
  image: (size) =>
    Math.max(size.width, size.height) <= 384 ? GEMINI_TILE_TOKENS : GEMINI_TILE_TOKENS * tiles(size, 768),
  page: GEMINI_TILE_TOKENS,
  second: USUAL_SECOND_TOKENS,
};
/** From Gemini 3 on as much for each image, and for each page (https://ai.google.dev/gemini-api/docs/media-resolution). */
const geminiBudget: MediaRules = { image: () => 1_120, page: 560, second: USUAL_SECOND_TOKENS };

const standard = claude(1_568, 1_568);
const FEW = { high: 1_536, usual: 1_536 };
const MANY = { factor: 1.2, high: 2_500 };

/**
 * By the upstream's name of a model, the first that matches: whoever serves it, it counts as its maker's. OpenAI's factor of
 * the models from gpt-5.5 on is as measured (https://huggingface.co/datasets/JOHNISKING/image-token-cost).
 */
const RULES: readonly (readonly [RegExp, MediaRules])[] = [
  [/claude-(?:(?:opus|sonnet|haiku)-(?:4[.-][7-9]|[5-9])|fable|mythos)/, claude(2_576, 4_784)],
  [/claude/, standard],
  [/gemini-(?:[3-9]|\d\d)/, geminiBudget],
  [/gemini|gemma/, geminiTiles],
  [/gpt-(?:4\.1|5)-mini|gpt-5\.\d-mini/, openaiPatches({ factor: 1.62, ...FEW })],
  [/gpt-(?:4\.1|5)-nano|gpt-5\.\d-nano/, openaiPatches({ factor: 2.46, ...FEW })],
  [/o4-mini/, openaiPatches({ factor: 1.72, ...FEW })],
  [/gpt-4o-mini/, openaiTiles(2_833, 5_667)],
  [/gpt-4/, openaiTiles(85, 170)],
  [/gpt-5\.5/, openaiPatches({ ...MANY, usual: 10_000 })],
  [/gpt-(?:5\.(?:[6-9]|\d\d)|[6-9])/, openaiPatches({ ...MANY, usual: Infinity })],
  [/gpt-5\.4/, openaiPatches({ factor: 1, high: 2_500, usual: 2_500 })],
  [/gpt-5\.[23]/, openaiPatches({ factor: 1, ...FEW })],
  [/gpt-5/, openaiTiles(70, 140)],
  [/(?:^|[^a-z])o[13](?![a-z0-9])/, openaiTiles(75, 150)],
  [/computer-use-preview/, openaiTiles(65, 129)],
];

/** A model at its provider. */
interface Counting {
  readonly dialect: DialectName;
  /** The upstream's name for it. */
  readonly model: string;
}

/** Of models that nobody knows. At servers of anybody's models images count as Claude's do: most count fewer. */
function usualRules(dialect: DialectName): MediaRules {
  return dialect === "gemini" ? geminiTiles : standard;
}

/** Before it is known which model reads them. */
export const ANY_MODEL: Counting = { dialect: "openai", model: "" };

/** Media are a part of `promptBytes`, with so many bytes a token as a hold takes a text to have. */
const BYTES_PER_TOKEN = 4;

export function mediaBytes(tokens: number): number {
  return tokens * BYTES_PER_TOKEN;
}

export function mediaTokens(media: readonly Medium[], { dialect, model }: Counting): number {
  if (media.length === 0) return 0;
  const name = model.toLowerCase();
  const rules = RULES.find(([pattern]) => pattern.test(name))?.[1] ?? usualRules(dialect);
  return media.reduce((sum, medium) => sum + tokensOf(medium, rules), 0);
}

function tokensOf(medium: Medium, { image, page, second }: MediaRules): number {
  switch (medium.kind) {
    case "image":
      return medium.size === undefined ? UNKNOWN.image : image(medium.size, medium.detail);
    case "document":
      return medium.pages === undefined ? UNKNOWN.document : Math.max(1, medium.pages) * page;
    default:
      return medium.seconds === undefined ? UNKNOWN[medium.kind] : Math.ceil(medium.seconds * second);
  }
}

type Upstreams = Snapshot["upstreams"];

function countingAt({ upstream, model }: Pick<Target, "upstream" | "model">, upstreams: Upstreams): Counting {
  return { dialect: upstreams[upstream]?.dialect ?? "openai", model };
}

/** What media count at a target. */
export function mediaTokensAt(
  media: readonly Medium[] | undefined,
  target: Pick<Target, "upstream" | "model"> | undefined,
  upstreams: Upstreams,
): number {
  if (media === undefined) return 0;
  return mediaTokens(media, target === undefined ? ANY_MODEL : countingAt(target, upstreams));
}

/** The target that a model is tried at first. */
export function firstTarget({ chain }: Model): Target | undefined {
  return chain[0]?.targets[0];
}

/** The most that media count at any target of a model: which of them will serve is not known yet. */
export function mostMediaTokens(media: readonly Medium[], { chain }: Model, upstreams: Upstreams): number {
  const targets = chain.flatMap((step) => step.targets);
  return Math.max(0, ...targets.map((target) => mediaTokensAt(media, target, upstreams)));
}
