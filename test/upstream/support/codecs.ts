import type { AnswerCodec, ByteCodec, UpstreamDialect } from "../../../src/dialects/dialect.ts";
import { openai } from "../../../src/dialects/chat/index.ts";
import { type Call, isJson, type Upload, AttemptError } from "../../../src/kit/index.ts";
import { call } from "./build.ts";

/** A body that comes as bytes: audio, or plain octets, which are called mp3. */
const speech: ByteCodec = {
  type: "bytes",
  request: ({ body }, { model }, key) => ({
    method: "POST",
    path: "/audio/speech",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ ...body, model }),
  }),
  contentType(upstream) {
    if (upstream === "application/octet-stream") return "audio/mpeg";
    return /^audio\//i.test(upstream) ? upstream : null;
  },
};

/** Sends the upload and nothing else; says back what it was called with. */
const transcription: AnswerCodec = {
  type: "answer",
  request: ({ upload }, { model }, key) => ({
    method: "POST",
    path: "/audio/transcriptions",
    headers: { authorization: `Bearer ${key}`, "content-type": upload!.contentType, "x-model": model },
    body: { length: upload!.size, read: () => upload!.read() },
  }),
  answer(bytes, { body: asked }) {
    const body: unknown = JSON.parse(Buffer.from(bytes).toString());
    if (!isJson(body)) throw new AttemptError("protocol", "not an object");
    return { body: { ...body, asked }, usage: null };
  },
  decoder: null,
};

/** The shipped dialect with codecs for bytes in both directions, which hold whatever it makes of them. */
export const bytewise: UpstreamDialect = { ...openai, codecs: { chat: openai.codecs.chat!, speech, transcription } };

export const SPEECH: Call = call({
  kind: "speech",
  body: { input: "Grüße", voice: "x" },
  units: { characters: 5 },
});

export function transcribe(upload: Upload, body = {}): Call {
  return call({ kind: "transcription", body, upload, units: { milliseconds: 1_000 } });
}
