import { effect, signal } from "@preact/signals";

/** `auto`: as the system has it. */
export type Theme = "auto" | "light" | "dark";

export const THEMES: readonly Theme[] = ["auto", "light", "dark"];
const STORED_AS = "theme";

export const theme = signal<Theme>(storedTheme());
/** True while the page is dark. */
export const isDark = signal(false);

/** Puts the theme on the page, now and whenever it changes; to be called once, when a page starts. */
export function followTheme(): void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const update = (): void => {
    isDark.value = theme.value === "auto" ? system.matches : theme.value === "dark";
  };
  system.addEventListener("change", update);
  effect(() => {
    const chosen = theme.value;
    if (chosen === "auto") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = chosen;
    update();
  });
}

export function chooseTheme(chosen: Theme): void {
  theme.value = chosen;
  try {
    localStorage.setItem(STORED_AS, chosen);
  } catch {
    // A browser without storage keeps the choice until the page is left.
  }
}

function storedTheme(): Theme {
  try {
    const stored = localStorage.getItem(STORED_AS);
    return THEMES.find((one) => one === stored) ?? "auto";
  } catch {
    return "auto";
  }
}
