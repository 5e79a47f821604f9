import type { Sealer } from '../lib/seal.ts'

/** Merchants with deliveries at one time; the oldest goes when there are more. */
const OPENED_MAX = 1_000

/** Opens a merchant's sealed signing secret. */
export type OpenSecret = (merchantId: string, sealed: string) => string

/**
 * Keeps opened secrets by their sealed text, for opening one costs more than signing with it. A rotated secret has
 * another sealed text, so that an old one is never used.
 */
export function makeOpenSecret(sealer: Sealer): OpenSecret {
  const opened = new Map<string, string>()
  return (merchantId, sealed) => {
    const key = `${merchantId} ${sealed}`
    const known = opened.get(key)
    if (known !== undefined) return known
    const secret = sealer.open(sealed, {
      table: 'merchants',
      column: 'webhook_signing_secret',
      rowId: merchantId,
      merchantId,
    })
    const [oldest] = opened.keys()
    if (opened.size >= OPENED_MAX && oldest !== undefined) opened.delete(oldest)
    opened.set(key, secret)
    return secret
  }
}
