import type { CommonQueryMethods } from 'slonik'
import { makeBatcher } from '../../src/db/batcher.ts'
import { findPaymentsStatement } from '../../src/payments/batches-sql.ts'
import { FoundPayment } from '../../src/payments/record.ts'
import type { PaymentBatches } from '../../src/payments/batches.ts'

/** A comparison of a tenant with a value of the statement. */
const FILTER = /(?<![.\w])(?:\w+\.)?merchant_id = (\$\w+)(?:::uuid)?/g

/** The statement as it would be if whoever wrote it had forgotten each of its filters by merchant. */
const withoutFilter = (text: string): string => text.replaceAll(FILTER, '$1::uuid is not null')

type Statement = { sql: string; name?: string }

const isStatement = (value: unknown): value is Statement =>
  typeof value === 'object' && value !== null && 'sql' in value && typeof value.sql === 'string'

/** A pool, or a transaction, that forgets the filters by merchant of the statements that it is given. */
export function withoutFilters<T extends object>(pool: T): T {
  const get = (target: T, name: string | symbol): unknown => {
    const method: unknown = Reflect.get(target, name)
    if (typeof method !== 'function') return method
    return (first: unknown, ...rest: unknown[]): unknown => {
      if (isStatement(first)) {
        const { name: known, ...statement } = first
        const named = known === undefined ? {} : { name: `${known}_unfiltered` }
        return Reflect.apply(method, target, [{ ...statement, ...named, sql: withoutFilter(first.sql) }, ...rest])
      }
      const work: unknown =
        typeof first === 'function'
          ? (tx: CommonQueryMethods) => Reflect.apply(first, undefined, [withoutFilters(tx)])
          : first
      return Reflect.apply(method, target, [work, ...rest])
    }
  }
  return new Proxy(pool, { get })
}

/** The most frequent read, which is a batch over connections of its own, without its filter. */
export function findWithoutFilter(databaseUrl: string): PaymentBatches['find'] {
  const statement = findPaymentsStatement.replace('p.merchant_id = i.merchant_id and ', '')
  if (statement === findPaymentsStatement) throw new Error('the statement has no such filter')
  return makeBatcher({
    databaseUrl,
    role: 'svc_runtime',
    name: 'find_payments',
    statement,
    parseRow: (row) => FoundPayment.parse(row),
  })
}
