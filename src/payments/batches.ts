import { makeBatcher } from '../db/batcher.ts'
import type { Batcher } from '../db/batcher.ts'
import type { ConnectionTarget } from '../db/connection.ts'
import type { OnStatement } from '../db/pool.ts'
import { CreateOutcome, FoundPayment, MoveOutcome } from './record.ts'
import type { NewPaymentItem, PaymentMoveItem } from './record.ts'
import { findPaymentsStatement } from './sql.ts'

/** What carries the service's load, two writes and a read, each batched over connections of its own. */
export type PaymentBatches = {
  create: Batcher<NewPaymentItem, CreateOutcome>
  move: Batcher<PaymentMoveItem, MoveOutcome>
  /** A payment of one merchant with its history; both ids must be UUIDs. */
  find: Batcher<{ merchant_id: string; id: string }, FoundPayment>
}

/** @param target with `onStatement`, who is told the name of each batch's statement and how long it took */
export function makePaymentBatches(target: ConnectionTarget & { onStatement?: OnStatement }): PaymentBatches {
  return {
    create: makeBatcher({
      ...target,
      name: 'create_payments',
      statement: 'select * from create_payments($1)',
      parseRow: (row) => CreateOutcome.parse(row),
    }),
    move: makeBatcher({
      ...target,
      name: 'move_payments',
      statement: 'select * from move_payments($1)',
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
