/** Our keys, providers' keys, JSON Web Tokens, passwords inside URLs. */
const SECRETS = /rk_[0-9a-f]{64}|\bsk-[\w-]{16,}|\beyJ[\w-]+\.[\w-]+\.[\w-]*|(?<=:\/\/[^\s/@:"]*:)[^\s/@"]+(?=@)/gi;

/** Takes secrets out of a line of log, wherever they came from: a last net below redaction by field. */
export function scrub(line: string): string {
  return line.replace(SECRETS, "[redacted]");
}
