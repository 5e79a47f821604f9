import type { SealContext } from '../../lib/seal.ts'

/** What a sealed value of the schema `obie` belongs to: `consents.request`. No merchant's key is involved, so none is named. */
export function obieContext(column: `${string}.${string}`, rowId: string): SealContext {
  const [table = '', name = ''] = column.split('.')
  return { table: `obie.${table}`, column: name, rowId, merchantId: '' }
}
