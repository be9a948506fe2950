import type { Choice } from "./fields.tsx";

/** As `expires_in` of a new key takes them. */
export const KEY_EXPIRIES: readonly Choice[] = [
  { value: "", title: "Never" },
  { value: "1h", title: "In an hour" },
  { value: "1d", title: "In a day" },
  { value: "7d", title: "In 7 days" },
  { value: "30d", title: "In 30 days" },
  { value: "90d", title: "In 90 days" },
  { value: "365d", title: "In a year" },
];
/** As `budget.per` of a new key takes them. */
export const BUDGET_PERIODS: readonly Choice[] = [
  { value: "day", title: "a day" },
  { value: "month", title: "a month" },
  { value: "total", title: "in total" },
];
