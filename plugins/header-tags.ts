import { definePlugin, type Exchange, GatewayError, type Tag } from "#kit";
import type { HeaderTagsOptions } from "#schema";

/** For values that are none of those that there are. */
const OTHER = "other";

/** Marks requests by their headers, for log, metrics and ledger. */
export default definePlugin<HeaderTagsOptions>({
  name: "header-tags",
  stage: "admit",
  schema: new URL("../schemas/plugins/header-tags.schema.json", import.meta.url),
  setup({ tags }) {
    const rules = Object.entries(tags).map(([name, { values, ...rest }]) => ({
      ...rest,
      name,
      values: values === undefined ? null : new Set(values),
    }));
    const tagOf = (
      exchange: Exchange,
      { name, header, values, measured, required, ...rule }: (typeof rules)[0],
    ): Tag[] => {
      const sent = exchange.header?.(header)?.trim() || null;
      const isKnown = sent !== null && (values?.has(sent) ?? true);
      if (!isKnown && required === true)
        throw new GatewayError("INVALID_REQUEST", `Invalid request: ${wanted(header, values)}`);
      const value = isKnown ? sent : sent === null ? rule.default : OTHER;
      return value === undefined ? [] : [{ name, value, ...(measured === true && { measured }) }];
    };
    return {
      admit: (exchange) => ({ tags: rules.flatMap((rule) => tagOf(exchange, rule)) }),
    };
  },
});

function wanted(header: string, values: ReadonlySet<string> | null): string {
  return values === null
    ? `the header ${header} is missing`
    : `the header ${header} must be one of ${[...values].join(", ")}`;
}
