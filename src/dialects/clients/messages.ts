export { messagesFormat, messagesRefusal } from "./messages/format.ts";
export { readCountTokens, readMessages } from "./messages/read.ts";
