export { readCountTokens } from "./messages/count.ts";
export { messagesFormat } from "./messages/format.ts";
export { readMessages } from "./messages/read.ts";
export { messagesRefusal } from "./messages/refusal.ts";
