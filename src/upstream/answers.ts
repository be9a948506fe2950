import type { AnswerForm, Codec, UpstreamDialect } from "../dialects/dialect.ts";
import type { AttemptError, Call, Log } from "../kit/index.ts";
import { ByteStream } from "./bytes.ts";
import { contentType, encodingFailure, type Head, headFailure, protocol, statusFailure } from "./classify.ts";
import { type Answer, AnswerReader, type Reader, type ReaderOwner, RefusalReader } from "./reader.ts";
import { EventStream } from "./stream.ts";

export interface Conversation {
  readonly dialect: UpstreamDialect;
  readonly codec: Codec;
  /** Left out: the codec's own. */
  readonly form?: AnswerForm | undefined;
  readonly call: Call;
  readonly now: () => number;
  readonly log: Log;
}

/** What reads the answer to a call, judged by its head; null when its body is not wanted and the owner has been told. */
export function readAnswer(conversation: Conversation, head: Head, owner: ReaderOwner<Answer>): Reader | null {
  const { dialect, codec, call, now, log } = conversation;
  if (head.status !== 200) return readRefusal(dialect, statusFailure(head.status, head.headers, now()), head, owner);
  if (codec.type === "bytes") {
    const wrong = encodingFailure(head.headers);
    const type = wrong ? null : codec.contentType(contentType(head.headers), call);
    if (type !== null) return new ByteStream(owner, type, call, log);
    owner.fail(wrong ?? protocol("upstream answered with something other than what was asked for"));
    return null;
  }
  const form = conversation.form ?? codec;
  const decoder = call.stream && form.decoder ? form.decoder(call) : null;
  const wrong = headFailure(head.headers, decoder ? (form.streamType ?? "text/event-stream") : "application/json");
  if (!wrong) return decoder ? new EventStream(owner, decoder, log) : new AnswerReader(owner, form, call);
  owner.fail(wrong);
  return null;
}

function readRefusal(
  dialect: UpstreamDialect,
  error: AttemptError,
  { headers }: Head,
  owner: ReaderOwner<Answer>,
): Reader | null {
  const telling = error.failure === "client_fault" || (error.failure === "rate_limited" && dialect.judge !== undefined);
  if (telling && headers["content-encoding"] === undefined) {
    return new RefusalReader(owner, dialect, error, headers);
  }
  owner.reject(error);
  owner.drain();
  return null;
}
