import { z } from 'zod'
import { Balance, getBalances } from '../../../src/wire/ledger.ts'
import { Payout, PayoutStatus, listPayouts } from '../../../src/wire/payouts.ts'
import { Settlement, listSettlements } from '../../../src/wire/settlements.ts'
import { call } from '../../client/call.ts'
import { StepFailure } from '../failure.ts'
import { Text, Wait, matchersOf } from '../language/parts.ts'
import type { CaseRun } from '../play/case-run.ts'
import { form, waits, comparison } from './verb.ts'
import type { Subject } from './verb.ts'

/** Of a currency, the newest; what the merchant that the step acts as has. */
function newestOf<T>(what: string, currency: string, [newest]: readonly T[]): T {
  if (newest !== undefined) return newest
  throw new StepFailure(`there is no ${what} in ${currency}`, { hint: 'settlements.close: {}' })
}

async function payoutsNow({ client }: CaseRun, currency: string): Promise<readonly Payout[]> {
  return (await call(client, listPayouts, { query: { currency, limit: 100 } })).body.data
}

export const MONEY = {
  subject: "The merchant's balance, newest settlement or newest payout in a currency",
  awaits: [
    form({
      schema: z.strictObject({
        payout: Text.meta({ description: 'the currency' }),
        amount: Text.optional(),
        status: PayoutStatus,
        within: Wait.optional(),
      }),
      examples: ['await: { payout: GBP, status: PAID }', 'await: { payout: GBP, amount: "48.30", status: PAID }'],
      play: waits(
        async (run, { payout, amount }) =>
          (await payoutsNow(run, payout)).find((row) => amount === undefined || row.amount === amount),
        ({ payout, amount }) => ({
          what: `the payout of ${amount === undefined ? payout : `${amount} ${payout}`}`,
          status: ({ status }) => status,
        }),
      ),
    }),
  ],
  expects: [
    comparison({
      schema: z.strictObject({ ...matchersOf(Balance), balance: Text.meta({ description: 'the currency' }) }),
      examples: ['expect: { balance: GBP, merchant_payable: "48.30" }'],
      what: ({ balance }) => `the balance in ${balance}`,
      now: async ({ client }, { balance }) => {
        const { data } = (await call(client, getBalances, {})).body
        return newestOf(
          'balance',
          balance,
          data.filter(({ currency }) => currency === balance),
        )
      },
      beside: ['balance'],
    }),
    comparison({
      schema: z.strictObject({ ...matchersOf(Settlement), settlement: Text.meta({ description: 'the currency' }) }),
      examples: ['expect: { settlement: GBP, net_amount: "48.30" }'],
      what: ({ settlement }) => `the newest settlement in ${settlement}`,
      now: async ({ client }, { settlement: currency }) => {
        const { data } = (await call(client, listSettlements, { query: { currency, limit: 1 } })).body
        return newestOf('settlement', currency, data)
      },
      beside: ['settlement'],
    }),
    comparison({
      schema: z.strictObject({ ...matchersOf(Payout), payout: Text.meta({ description: 'the currency' }) }),
      examples: ['expect: { payout: GBP, status: FAILED, failure: { code: INVALID_CREDITOR_ACCOUNT } }'],
      what: ({ payout }) => `the newest payout in ${payout}`,
      now: async (run, { payout }) => newestOf('payout', payout, await payoutsNow(run, payout)),
      beside: ['payout'],
    }),
  ],
} as const satisfies Subject
