import { signal } from "@preact/signals";
import type { Router } from "./router.ts";

/** What a sign-in link of `gateway dev` carries behind the `#` of the address. */
export interface SignInLink {
  readonly code: string;
  /** Empty where the link names nobody. */
  readonly email: string;
}

/** Only codes of links are sent by themselves: a link that somebody else made must not sign anybody in as them. */
const CODE = /^link_[\w-]{22}$/;

/** The link that did not sign this browser in, for the sign-in page to tell of. */
export const failedLink = signal<SignInLink | null>(null);

/** Takes the link out of the address, so that neither the history nor a copied address has it. @returns null without one */
export function takeLink(router: Router): SignInLink | null {
  const { query } = router.route.value;
  const link = { code: query.get("code") ?? "", email: query.get("email") ?? "" };
  if (!CODE.test(link.code)) return null;
  router.setQuery({ code: null, email: null });
  return link;
}
