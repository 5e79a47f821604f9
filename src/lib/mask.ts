/** `****` and the last four characters: how secrets and account numbers are shown (specification, Merchant bank account). */
export function mask(secret: string): string {
  return `****${secret.length > 8 ? secret.slice(-4) : ''}`
}
