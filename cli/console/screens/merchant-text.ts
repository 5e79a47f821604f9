import type { Who } from '../../client/auth/acting-side.ts'

type Owner = { trading_name: string | null; realm_slug: string | null; merchant_id: string | null }

/** What stands there of a merchant's own, which names no merchant. */
export const OWN: Readonly<Record<keyof Owner, null>> = { trading_name: null, realm_slug: null, merchant_id: null }

export function ownerText({ trading_name: name, realm_slug: realm, merchant_id: id }: Owner): string {
  return name ?? realm ?? id ?? ''
}

/** The same with what commands take: `Acme (acme-ltd)`. */
export function ownerWhole({ trading_name: name, realm_slug: realm, merchant_id: id }: Owner): string {
  return name === null ? (realm ?? id ?? '') : `${name} (${realm ?? id ?? ''})`
}

export function ofMerchant(id: string): string {
  return `merchant:${id}`
}

export function ofPayment(id: string): string {
  return `payment:${id}`
}

export function wordAfter(word: string, beginning: string): string | undefined {
  return word.startsWith(beginning) && word.length > beginning.length ? word.slice(beginning.length) : undefined
}

export function oneOf<Word extends string>(words: readonly Word[]): (word: string) => Word | undefined {
  return (word) => words.find((each) => each.toLowerCase() === word.toLowerCase())
}

const BEGINNINGS: Readonly<Record<string, string>> = { merchant_id: ofMerchant(''), payment_id: ofPayment('') }

/**
 * A filter as what the service is asked for: a query of the words that it understands, the same in one form however it
 * was typed, and the words that are left. Of two words for one member the first counts.
 */
export function readFilter<Query extends object>(
  filter: string,
  readers: { readonly [Member in keyof Query]: (word: string) => Query[Member] | undefined },
): { query: { -readonly [Member in keyof Query]?: Query[Member] }; asked: string; others: readonly string[] } {
  const query: { -readonly [Member in keyof Query]?: Query[Member] } = {}
  const members = Object.keys(readers) as (keyof Query & string)[]
  const words = filter.split(/\s+/).filter((word) => word !== '')
  const others = words.filter((word) => {
    const member = members.find((each) => readers[each](word) !== undefined)
    const value = member === undefined ? undefined : readers[member](word)
    if (member !== undefined && value !== undefined) query[member] ??= value
    return member === undefined
  })
  const known = members.filter((member) => query[member] !== undefined)
  return {
    query,
    asked: known.map((member) => `${BEGINNINGS[member] ?? ''}${String(query[member])}`).join(' '),
    others,
  }
}

/** The command that explains a thing; an operator's names its side, for those who are both. */
export function explainText(id: string, kind: Who['kind']): string {
  return `svc explain ${id}${kind === 'platform' ? ' --platform' : ''}`
}

const LISTED_MAX = 5

export function listed<Row>(rows: readonly Row[], textOf: (row: Row) => string): string[] {
  const rest = rows.length - LISTED_MAX
  return [...rows.slice(0, LISTED_MAX).map(textOf), ...(rest > 0 ? [`and ${rest} more`] : [])]
}
