import { isJson } from "../../kit/index.ts";
import { errorMessage as commonMessage } from "../errors.ts";
import { parseJson, publicMessage } from "../json.ts";

/** The words of `{err_code, err_msg}` or `{category, message, details}`, fit for a client. */
export function errorMessage(bytes: Uint8Array): string {
  const body = parseJson(bytes);
  if (!isJson(body)) return "";
  const { err_msg, message, details } = body;
  const said = [err_msg ?? message, details].filter((part) => typeof part === "string");
  return said.length > 0 ? publicMessage(said.join(" ")) : commonMessage(bytes);
}
