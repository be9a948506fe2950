import { isJson } from "../../kit/index.ts";
import { errorMessage as commonMessage } from "../errors.ts";
import { parseJson, publicMessage } from "../json.ts";

/** The words of `{detail: {status, message}}`, `{detail: "…"}` or `{detail: [{loc, msg}]}`, fit for a client. */
export function errorMessage(bytes: Uint8Array): string {
  const body = parseJson(bytes);
  if (!isJson(body) || !isJson(body["detail"])) return commonMessage(bytes);
  const { message } = body["detail"];
  return typeof message === "string" ? publicMessage(message) : "";
}
