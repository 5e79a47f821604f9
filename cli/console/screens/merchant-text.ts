import type { Who } from '../../client/auth/acting-side.ts'

type Owner = { trading_name: string | null; realm_slug: string | null; merchant_id: string | null }

/** What stands there of a merchant's own, which names no merchant. */
export const OWN: Readonly<Record<keyof Owner, null>> = { trading_name: null, realm_slug: null, merchant_id: null }

/** Whose it is, as people call it; empty for a merchant's own. */
export function ownerText({ trading_name: name, realm_slug: realm, merchant_id: id }: Owner): string {
  return name ?? realm ?? id ?? ''
}

/** The same with what commands take: `Acme (acme-ltd)`. */
export function ownerWhole({ trading_name: name, realm_slug: realm, merchant_id: id }: Owner): string {
  return name === null ? (realm ?? id ?? '') : `${name} (${realm ?? id ?? ''})`
}

/** What stands in a filter for what belongs to one merchant. */
export function ofMerchant(id: string): string {
  return `merchant:${id}`
}

/** What stands in a filter for what belongs to one payment. */
export function ofPayment(id: string): string {
  return `payment:${id}`
}

/** The word of a filter that begins like this, without its beginning. */
export function wordAfter(filter: string, beginning: string): string | undefined {
  const word = filter.split(/\s+/).find((each) => each.startsWith(beginning) && each.length > beginning.length)
  return word?.slice(beginning.length)
}

/** The command that tells the story of a thing: where somebody is both, an operator's is another. */
export function explainText(id: string, kind: Who['kind']): string {
  return `svc explain ${id}${kind === 'platform' ? ' --platform' : ''}`
}

const LISTED_MAX = 5

/** The first rows of many, and how many there are beside them. */
export function listed<Row>(rows: readonly Row[], textOf: (row: Row) => string): string[] {
  const rest = rows.length - LISTED_MAX
  return [...rows.slice(0, LISTED_MAX).map(textOf), ...(rest > 0 ? [`and ${rest} more`] : [])]
}
