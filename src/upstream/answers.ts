import type { AnswerForm, Codec, UpstreamDialect } from "../dialects/dialect.ts";
import type { AttemptError, Call, Log } from "../kit/index.ts";
import { ByteStream } from "./bytes.ts";
import { contentType, type Head, headFailure, protocol, statusFailure } from "./classify.ts";
import { inPlainText, isReadable } from "./compressed.ts";
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
  const { dialect, now } = conversation;
  const { status, headers } = head;
  if (status !== 200) return readRefusal(dialect, statusFailure(status, headers, now()), head, owner);
  return inPlainText(headers, owner, (plain) => readServed(conversation, head, plain));
}

function readServed(conversation: Conversation, head: Head, owner: ReaderOwner<Answer>): Reader | null {
  const { codec, call, log } = conversation;
  if (codec.type === "bytes") {
    const type = codec.contentType(contentType(head.headers), call);
    if (type !== null) return new ByteStream(owner, type, call, log);
    owner.fail(protocol("upstream answered with something other than what was asked for"));
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
  if (telling && isReadable(headers)) {
    return inPlainText(headers, owner, (plain) => new RefusalReader(plain, dialect, error, headers));
  }
  owner.reject(error);
  owner.drain();
  return null;
}
