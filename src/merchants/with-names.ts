import type { App } from '../app.ts'
import { listMerchantNames } from './names-sql.ts'
import type { MerchantNames } from './names-sql.ts'

type Owned = { merchant_id: string }

/** Rows with the names of their merchants, for operators. */
export async function withMerchantNames<Row extends Owned>(
  app: Pick<App, 'pool'>,
  rows: readonly Row[],
): Promise<(Row & MerchantNames)[]> {
  const named = await namer(app, rows)
  return rows.map(named)
}

export async function withMerchantName<Row extends Owned>(
  app: Pick<App, 'pool'>,
  row: Row,
): Promise<Row & MerchantNames> {
  return (await namer(app, [row]))(row)
}

async function namer({ pool }: Pick<App, 'pool'>, rows: readonly Owned[]) {
  const found = await listMerchantNames(pool, [...new Set(rows.map((row) => row.merchant_id))])
  const names = new Map(found.map((each) => [each.merchant_id, each]))
  return <Row extends Owned>(row: Row): Row & MerchantNames => {
    const named = names.get(row.merchant_id)
    if (named === undefined) throw new Error(`the merchant ${row.merchant_id} is missing`)
    return { ...row, ...named }
  }
}
