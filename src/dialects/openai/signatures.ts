import { isJson, type Json } from "../../kit/index.ts";
import { stripSignature } from "../tool-ids.ts";

/** A chat client's body with the ids of its tool calls as their upstream knew them; the very same where none changes. */
export function withoutSignatures(body: Json): Json {
  const messages = changed(body["messages"], (message) => {
    const calls = changed(message["tool_calls"], (call) => withId(call, "id"));
    const called = calls === message["tool_calls"] ? message : { ...message, tool_calls: calls };
    return withId(called, "tool_call_id");
  });
  return messages === body["messages"] ? body : { ...body, messages };
}

function withId(object: Json, name: string): Json {
  const id = object[name];
  if (typeof id !== "string") return object;
  const own = stripSignature(id);
  return own === id ? object : { ...object, [name]: own };
}

/** A list with its objects changed; anything else, and a list in which none changes, as it is. */
function changed(list: unknown, change: (item: Json) => Json): unknown {
  if (!Array.isArray(list)) return list;
  let same = true;
  const items = list.map((item: unknown) => {
    const now = isJson(item) ? change(item) : item;
    same &&= now === item;
    return now;
  });
  return same ? list : items;
}
