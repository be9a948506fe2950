import rules from "../../schemas/rules.json" with { type: "json" };

/** Ids are stable: CI configurations refer to them. */
export type RuleId = keyof typeof rules;

export interface Rule {
  /** Of its findings; `error or warning` where it depends on the rest of the configuration, or on how it is loaded. */
  readonly severity: string;
  /** What holds where the rule is kept. */
  readonly title: string;
  /** What goes wrong where it is not, and what to do. */
  readonly paragraph: string;
}

/** Every rule a diagnostic can name. */
export const RULES: Readonly<Record<RuleId, Rule>> = rules;
