import { definePlugin, streamTexts, type TextChange, withAnswerTexts, withCallTexts } from "#kit";
import type { GuardWordsOptions } from "#schema";
import { compiled, Search } from "./guard-words/search.ts";

/** Refuses or masks words and expressions in what is asked and answered, wherever a stream breaks them. */
export default definePlugin<GuardWordsOptions>({
  name: "guard-words",
  stage: "transform",
  schema: new URL("../schemas/plugins/guard-words.schema.json", import.meta.url),
  setup({ words = [], patterns = [], action = "refuse", in: where, replacement = "***", whole_words: whole = true }) {
    if (words.length + patterns.length === 0) throw new Error("there are neither words nor patterns");
    const machine = compiled(words, patterns, whole);
    const looks = (place: "request" | "answer"): boolean => where?.includes(place) ?? true;
    const begin = (what: string) => (): TextChange => new Search(machine, action === "mask" ? replacement : null, what);
    const change = (what: string) => (text: string, about: { readonly fixed: boolean }) => {
      const search = begin(what)();
      const changed = search.add(text) + search.end();
      // A signed thought that was changed would be refused by the one who made it.
      return about.fixed ? text : changed;
    };
    const [request, answer] = ["Invalid request: it", "The answer"];
    return {
      ...(looks("request") && { transform: (call) => withCallTexts(call, change(request)) }),
      ...(looks("answer") && {
        stream: () => streamTexts(begin(answer)),
        response: (body) => withAnswerTexts(body, change(answer)),
      }),
    };
  },
});
