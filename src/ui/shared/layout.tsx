import type { ReadonlySignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Confirmations } from "./dialog.tsx";
import type { Connection } from "./http.ts";
import icon from "./icon.svg";
import type { Router } from "./router.ts";
import { chooseTheme, theme, type Theme, THEMES } from "./theme.ts";
import { Toasts } from "./toast.tsx";

export interface NavItem {
  readonly path: string;
  readonly title: string;
}

export interface NavGroup {
  readonly title?: string;
  readonly items: readonly NavItem[];
}

interface LayoutProps {
  /** Beside the name of the gateway. */
  readonly product: string;
  readonly router: Router;
  readonly groups: readonly NavGroup[];
  readonly connection: ReadonlySignal<Connection>;
  /** At the right of the bar. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The frame of a page: what leads past the navigation, the bar, the ways to its views, and the view. */
export function Layout({ product, router, groups, connection, actions, children }: LayoutProps) {
  const [open, setOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  const path = router.path.value;
  const shownBefore = useRef(path);

  // Moves the focus, so that screen readers announce the new view.
  useEffect(() => {
    if (shownBefore.current === path) return;
    shownBefore.current = path;
    setOpen(false);
    main.current?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }, [path]);

  return (
    <>
      {/* The part behind `#` is the view, so that the link moves the focus itself. */}
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to content
      </a>
      <header class="bar">
        {groups.length > 0 && (
          <button
            type="button"
            class="button small menu-button"
            aria-expanded={open}
            aria-controls="navigation"
            onClick={() => setOpen(!open)}
          >
            Menu
          </button>
        )}
        <a class="brand" href="#/">
          <img src={icon} alt="" />
          <span>
            Route Gateway <span class="muted">{product}</span>
          </span>
        </a>
        {actions}
        <ThemeSwitch />
      </header>
      <ConnectionBanner connection={connection} />
      <div class={groups.length > 0 ? "frame" : ""}>
        {groups.length > 0 && (
          <nav id="navigation" class={`nav ${open ? "open" : ""}`} aria-label="Pages">
            {groups.map(({ title, items }) => (
              <div key={title ?? ""}>
                {title && <div class="nav-group">{title}</div>}
                <ul>
                  {items.map((item) => (
                    <li key={item.path}>
                      <a href={`#${item.path}`} {...(isAt(item.path, path) ? { "aria-current": "page" } : null)}>
                        {item.title}
                      </a>
                    </li>
                  ))}
                </ul>
              </div>
            ))}
          </nav>
        )}
        <main id="main" class="main" ref={main} tabIndex={-1}>
          {children}
        </main>
      </div>
      <Toasts />
      <Confirmations />
    </>
  );
}

function isAt(item: string, path: string): boolean {
  return item === "/" ? path === "/" : path === item || path.startsWith(`${item}/`);
}

/** The head of a view; its title is the document's too. */
export function PageHead({ title, actions }: { readonly title: string; readonly actions?: ComponentChildren }) {
  useEffect(() => {
    document.title = `${title} · Route Gateway`;
  }, [title]);
  return (
    <div class="page-head">
      <h1>{title}</h1>
      {actions && <div class="row">{actions}</div>}
    </div>
  );
}

const AWAY: Readonly<Record<Exclude<Connection, "ok">, string>> = {
  offline: "The gateway is not responding. This page may be out of date.",
  store: "The gateway cannot reach its store. This page may be out of date.",
};

function ConnectionBanner({ connection }: { readonly connection: ReadonlySignal<Connection> }) {
  const state = connection.value;
  return <div role="status">{state !== "ok" && <p class="banner">{AWAY[state]}</p>}</div>;
}

const THEME_TITLES: Readonly<Record<Theme, string>> = { auto: "Auto", light: "Light", dark: "Dark" };

function ThemeSwitch() {
  const next = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!;
  return (
    <button
      type="button"
      class="button small"
      aria-label={`Theme: ${THEME_TITLES[theme.value]}. Switch to ${THEME_TITLES[next]}`}
      onClick={() => chooseTheme(next)}
    >
      <span aria-hidden="true">◐ </span>
      {THEME_TITLES[theme.value]}
    </button>
  );
}
