/** Addresses are equal but for the case of ASCII letters. */
export function lowerCase(email: string): string {
  return email.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Digests as names of keys and arguments of scripts have them. */
export function hexOf(digest: Uint8Array): string {
  return Buffer.from(digest).toString("hex");
}
