import { meansAllMerchants } from '../client/auth/acting-side.ts'
import type { Client } from '../client/call.ts'
import { grouped } from '../kit/command.ts'
import { ALL_MERCHANTS } from '../kit/paging.ts'
import type { Column } from '../output/table.ts'
import { merchantId } from './find.ts'

export type Owned = { trading_name: string; realm_slug: string | null; merchant_id: string }

/** The name that people know a merchant by; and where there is room for it, what commands take. */
export function whoseColumns<Row>(ownerOf: (row: Row) => Owned | undefined): Column<Row>[] {
  return [
    { title: 'merchant', value: (row) => ownerOf(row)?.trading_name ?? '', least: 10 },
    { title: 'realm', value: (row) => ownerOf(row)?.realm_slug ?? '', dropped: 0 },
  ]
}

/** The same for rows that may be the merchant's own, which are not named. */
export const ownerColumns = whoseColumns((row: object) => (isOwned(row) ? row : undefined))

/** Whose one thing is, as a line of a record; none for the merchant's own. */
export function ownerLines(thing: object): [string, string][] {
  return isOwned(thing) ? [['Merchant', whoseText(thing)]] : []
}

function isOwned(thing: object): thing is Owned {
  return 'trading_name' in thing
}

/** The same in one: `Acme (acme-ltd)`. */
export function whoseText({ trading_name: name, realm_slug: realm, merchant_id: id }: Owned): string {
  return `${name} (${realm ?? id})`
}

/** What an operator says of whose rows are meant, where the same command shows a merchant its own. */
export const OF_MERCHANTS = grouped('As an operator:', {
  ...ALL_MERCHANTS,
  merchant: { value: 'merchant', summary: 'Filter by merchant: its id, realm or client id' },
})

/** The filter of the rows that an operator means; undefined where a merchant means its own. */
export async function scopeOf(
  client: Client,
  { merchant, allMerchants }: { merchant?: string | undefined; allMerchants: boolean },
): Promise<{ merchant_id: string | undefined } | undefined> {
  if (!(await meansAllMerchants(client, allMerchants || merchant !== undefined))) return undefined
  return { merchant_id: await merchantId(client, merchant) }
}
