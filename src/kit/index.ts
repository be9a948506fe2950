export { answerOfEvents, eventsOfAnswer } from "./answer-forms.ts";
export * from "./api-keys.ts";
export * from "./audit.ts";
export * from "./cancellation.ts";
export * from "./data-url.ts";
export * from "./dense-set.ts";
export * from "./error-kinds.ts";
export * from "./errors.ts";
export * from "./escape.ts";
export * from "./host.ts";
export * from "./idempotency.ts";
export * from "./ids.ts";
export * from "./json.ts";
export * from "./key-limits.ts";
export * from "./key-use.ts";
export * from "./ledger.ts";
export * from "./lifecycle.ts";
export * from "./listed-models.ts";
export * from "./media.ts";
export * from "./money.ts";
export * from "./nearest.ts";
export * from "./networks.ts";
export * from "./own-reply.ts";
export * from "./plugin.ts";
export type * from "./public-snapshot.ts";
export * from "./references.ts";
export * from "./proxies.ts";
export * from "./reply.ts";
export * from "./request.ts";
export * from "./secret.ts";
export * from "./shedding.ts";
export * from "./snapshot.ts";
export * from "./store.ts";
export { streamTexts } from "./stream-texts.ts";
export {
  type ChangeName,
  type ChangeText,
  isLonger,
  type TextChange,
  withAnswerTexts,
  withCallTexts,
} from "./texts.ts";
export * from "./tags.ts";
export * from "./timeline.ts";
export * from "./trace.ts";
export * from "./turns.ts";
export * from "./users.ts";
export * from "./vendor.ts";
