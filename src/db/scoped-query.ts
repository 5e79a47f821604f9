import pg from 'pg'
import type { Connection, QueryResult } from 'pg'
import type { DriverClient } from 'slonik'
import { scopedMerchant } from './merchant-scope.ts'

/** The role of a request that sees the rows of one merchant, or of none (migrations/0037_merchant_scope.sql). */
export const MERCHANT_ROLE = 'svc_merchant'

/** Limits the transaction that it is in: at the end the server forgets role and merchant. It returns no row. */
const LIMIT = {
  name: 'limit_to_merchant',
  text: "select where set_config('svc.merchant_id', $1, true) || set_config('role', $2, true) is null",
}

/** The texts with which slonik begins and ends a transaction, and what must come before its first query. */
const BEGIN = 'START TRANSACTION'
const ENDS: ReadonlySet<string> = new Set(['COMMIT', 'ROLLBACK'])
const CHARACTERISTICS = /^\s*set transaction /i

type Query = DriverClient['query']

/**
 * Limits the statements of a connection to the merchant whose work they are (db/merchant-scope.ts). The limit travels with
 * the statement in one message, and is of its transaction only: the connection never carries it to the next one.
 */
export function limitToMerchant(query: Query): Query {
  let open: { merchantId: string | undefined; isLimited: boolean } | undefined
  let isPrepared = false
  return async (text, values, options) => {
    const merchantId = scopedMerchant()
    if (text === BEGIN) open = { merchantId, isLimited: merchantId === undefined }
    else if (ENDS.has(text)) open = undefined
    else if (open !== undefined && open.merchantId !== merchantId)
      throw new Error('a transaction began for another merchant')
    const needsNone = merchantId === undefined || open?.isLimited === true || text === BEGIN || ENDS.has(text)
    if (needsNone || CHARACTERISTICS.test(text)) return query(text, values, options)
    if (open !== undefined) open.isLimited = true
    // Of its own name: the server plans a statement again whenever the role that runs it is another than before.
    const name = options?.name === undefined ? {} : { name: `merchant_${options.name}` }
    const onPrepared = () => (isPrepared = true)
    const statement = limitedQuery({ text, values, ...name }, { merchantId, isPrepared, onPrepared })
    // The driver passes on what it gets, and its client takes a query as well as a text.
    return query(statement as unknown as string)
  }
}

type Statement = { text: string; values: unknown[] | undefined; name?: string }
type Internals = { handleCommandComplete(message: unknown, connection: Connection): void }

/** A query of `pg` that sends the limit before the statement. Until the sync after both, the server has one transaction. */
function limitedQuery(
  { text, values = [], name }: Statement,
  { merchantId, isPrepared, onPrepared }: { merchantId: string; isPrepared: boolean; onPrepared: () => void },
): PromiseLike<QueryResult> {
  const { promise, resolve, reject } = Promise.withResolvers<QueryResult>()
  const config = { text, values, ...(name === undefined ? {} : { name }), queryMode: 'extended' }
  const query = new pg.Query(config, (error, result) => (error ? reject(error) : resolve(result))) as pg.Query &
    Internals
  const submit = query.submit.bind(query)
  const complete = query.handleCommandComplete.bind(query)
  let isLimited = false
  return Object.assign(query, {
    submit: (connection: Connection) => {
      connection.stream.cork()
      try {
        if (!isPrepared) connection.parse({ ...LIMIT, types: [] }, true)
        connection.bind({ statement: LIMIT.name, values: [merchantId, MERCHANT_ROLE] }, true)
        connection.execute(null, true)
        return submit(connection)
      } finally {
        connection.stream.uncork()
      }
    },
    handleCommandComplete: (message: unknown, connection: Connection) => {
      if (isLimited) complete(message, connection)
      else onPrepared()
      isLimited = true
    },
    // oxlint-disable-next-line unicorn/no-thenable -- the driver awaits what its client returns
    then: promise.then.bind(promise),
  })
}
