import { type ComponentChild, render } from "preact";
import { followTheme } from "./theme.ts";
import { startClock } from "./time.tsx";

/** Puts a page into its document, with what every page has. */
export function startPage(page: ComponentChild): void {
  followTheme();
  startClock();
  const place = document.getElementById("app");
  if (place === null) throw new Error("the document has no place for the page");
  render(page, place);
}
