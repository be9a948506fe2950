import { readError } from "../dialects/canonical/errors.ts";
import type { AnswerForm, Codec, UpstreamDialect } from "../dialects/dialect.ts";
import type { AttemptError, Call, FailureClass, Log } from "../kit/index.ts";
import { ByteStream } from "./bytes.ts";
import { contentType, type Head, headFailure, protocol, refusalFailure, statusFailure } from "./classify.ts";
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
  const { headers } = head;
  if (head.status !== 200) return readRefusal(conversation, head, owner);
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

/** Classes of a status that the body of a refusal may turn into another; of the rest the body is not waited for. */
const TELLING: ReadonlySet<FailureClass> = new Set(["client_fault", "credentials", "rate_limited"]);

function readRefusal({ dialect, call, now }: Conversation, head: Head, owner: ReaderOwner<Answer>): Reader | null {
  const { status, headers } = head;
  const refusal = statusFailure(status, headers, now());
  if (!TELLING.has(refusal.failure) || !isReadable(headers)) {
    owner.reject(refusal);
    owner.drain();
    return null;
  }
  const refused = (body: Uint8Array): AttemptError => {
    const error = readError(body);
    const code = dialect.codeOf?.(headers) ?? "";
    const known = code === "" ? error : { ...error, codes: [code, ...error.codes] };
    const found = { dialect: dialect.name, vendor: dialect.vendor, status, error: known, call };
    return refusalFailure(found, refusal, dialect.errorMessage(body));
  };
  return inPlainText(headers, owner, (plain) => new RefusalReader(plain, refusal, refused));
}
