import { invalidRequest } from "../../kit/index.ts";

/** A model with its voice and language: `aura-2-thalia-en`. */
const WITH_VOICE = /.-[a-z]{2,}-[a-z]{2}$/i;
/** `thalia` or `thalia-en`. No digit begins it: `2-thalia-en` would turn `aura` into another family, at another price. */
const VOICE = /^[a-z]+(?:-[a-z]{2})?$/i;

export interface SpokenModel {
  readonly name: string;
  /** Whether it is the voice that the client asked for. */
  readonly asked: boolean;
}

/**
 * Deepgram's models are voices: a target that is a family (`aura-2`) is completed by the client's voice, in English
 * unless it names its language; a target that has a voice already speaks with that one.
 * @throws GatewayError for a voice that completes no model.
 */
export function spokenModel(model: string, voice: unknown): SpokenModel {
  const prefix = `${model}-`;
  const wanted = typeof voice === "string" ? voice : "";
  if (WITH_VOICE.test(model)) return { name: model, asked: `-${prefix}`.includes(`-${wanted}-`) };
  const own = wanted.startsWith(prefix) ? wanted.slice(prefix.length) : wanted;
  if (!VOICE.test(own)) {
    throw invalidRequest("/voice", 'must be the name of a voice, such as "thalia" or "thalia-en"');
  }
  return { name: `${prefix}${own.includes("-") ? own : `${own}-en`}`, asked: true };
}
