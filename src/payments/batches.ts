import type { DatabaseTransactionConnection } from 'slonik'
import { makeBatcher } from '../db/batcher.ts'
import type { Batcher } from '../db/batcher.ts'
import type { ConnectionTarget } from '../db/connection.ts'
import type { OnStatement } from '../db/pool.ts'
import { createPaymentsStatement, findPaymentRow, findPaymentsStatement, movePaymentsStatement } from './batches-sql.ts'
import { createPaymentRow } from './mandates/sql.ts'
import { CreateOutcome, FoundPayment, MoveOutcome } from './record.ts'
import type { NewPaymentItem, PaymentMoveItem } from './record.ts'
import { movePaymentRow } from './sql.ts'

/** The two writes and the read under most load, each batched over connections of its own. */
export type PaymentBatches = {
  create: Batcher<NewPaymentItem, CreateOutcome>
  move: Batcher<PaymentMoveItem, MoveOutcome>
  /** Finds a payment of one merchant with its history; both ids must be UUIDs. */
  find: Batcher<{ merchant_id: string; id: string }, FoundPayment>
}

/** @param target its `onStatement` is called with the name of each batch's statement and its duration */
export function makePaymentBatches(target: ConnectionTarget & { onStatement?: OnStatement }): PaymentBatches {
  return {
    create: makeBatcher({
      ...target,
      name: 'create_payments',
      statement: createPaymentsStatement,
      parseRow: (row) => CreateOutcome.parse(row),
    }),
    move: makeBatcher({
      ...target,
      name: 'move_payments',
      statement: movePaymentsStatement,
      parseRow: (row) => MoveOutcome.parse(row),
    }),
    find: makeBatcher({
      ...target,
      name: 'find_payments',
      statement: findPaymentsStatement,
      parseRow: (row) => FoundPayment.parse(row),
    }),
  }
}

/** The same statements for one payment at a time within a transaction, as a dry run needs them. */
export function paymentBatchesIn(tx: DatabaseTransactionConnection): PaymentBatches {
  const close = () => Promise.resolve()
  return {
    create: { run: (item) => createPaymentRow(tx, item), close },
    move: { run: (item) => movePaymentRow(tx, item), close },
    find: { run: (key) => findPaymentRow(tx, key), close },
  }
}
