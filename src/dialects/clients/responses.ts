/** OpenAI's Responses API, the client half: stateless, every request brings its whole input. */
export { responsesFormat } from "./responses/format.ts";
export { readResponses } from "./responses/request.ts";
