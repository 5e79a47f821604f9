import { Name, Ref, Text } from '../language/parts.ts'
import type { Client } from '../../client/call.ts'
import { madeOf } from '../play/case-run.ts'
import type { CaseRun, MadeRequest } from '../play/case-run.ts'
import { asCustomer, clientOf } from './customers.ts'

/* What the instructions of customers have in common: standing orders, requests and offers. */

/** A moment, in the words of `svc ob recurring`. */
export const When = Text.meta({
  description:
    'now, a time from now such as 10m, a day such as 14d from today or 2026-12-01 (09:00 in London), or a time',
  examples: ['1d'],
})

/** What every instruction says. */
export const creating = {
  as: Name.optional(),
  amount: Text,
  currency: Text.optional(),
  reference: Text.optional(),
  idempotency_key: Text.optional(),
  from: Ref.customer,
}
export type Money = { Amount: string; Currency: string }

export function amountOf(
  run: CaseRun,
  { from, amount, currency }: { from: string; amount: string; currency?: string | undefined },
): Money {
  return { Amount: amount, Currency: currency ?? madeOf(run, 'customer', from).account.currency }
}

export const otherwise = (run: CaseRun, by: string | undefined, usual: MadeRequest['maker']): Client =>
  by === undefined ? clientOf(run, usual) : asCustomer(run, by)
/** Who looks or decides, where it is another than usual. */
export const by = Ref.customer.optional()
