import { join } from 'node:path'
import { dayFromNow, sent } from '../../support/payment-requests.ts'
import { orderRecurring } from '../../support/recurring.ts'
import type { Ran, Row, Rows, CommandLine } from './row.ts'
import { NOBODY } from './world.ts'
import type { World } from './world.ts'

const asCustomer = (row: Omit<Ran, 'as'>): Row => ({ as: 'customer', ...row })
const asOperator = (row: Omit<Ran, 'as'>): Row => ({ as: 'operator', ...row })
const asMerchant = (row: Omit<Ran, 'as'>): Row => ({ as: 'merchant', ...row })

const NO_ACCOUNT = { args: [NOBODY], exit: 6, error: 'NOT_FOUND' } as const
const BAD_PAGE = { args: ['--page', '0'], exit: 2, error: 'USAGE' } as const
const POUNDS = ['--amount', '1.50', '--currency', 'GBP'] as const
const DOLLARS = ['--amount', '1.50', '--currency', 'USD'] as const

const recurring = async ({ service, grace }: World): Promise<string> =>
  (await orderRecurring(service, grace)).body.RecurringPaymentId

const OB: Rows = {
  'ob accounts': asCustomer({ refusal: BAD_PAGE }),
  'ob balances': asCustomer({ args: ({ grace }) => [grace.account.id], refusal: NO_ACCOUNT }),
  'ob transactions': asCustomer({ args: ({ grace }) => [grace.account.id], refusal: NO_ACCOUNT }),
  'ob pay': asCustomer({
    args: ({ ada }) => [...POUNDS, '--to', ada.account.number, '--wait'],
    writes: true,
    refusal: { args: ({ ada }) => [...DOLLARS, '--to', ada.account.number], exit: 2, error: 'VALIDATION_FAILED' },
  }),
  'ob payment': asCustomer({
    args: async ({ ada, idFrom }) => [
      await idFrom('customer', ['ob', 'pay', ...POUNDS, '--to', ada.account.number, '--wait']),
    ],
    refusal: { args: [NOBODY], exit: 6, error: 'UK.OBIE.Resource.NotFound' },
  }),
  'ob recurring create': asCustomer({
    args: ({ ada }) => [...POUNDS, '--to', ada.account.number, '--frequency', 'EvryDay', '--first', '2099-01-01'],
    writes: true,
    refusal: {
      args: ({ ada }) => [...POUNDS, '--to', ada.account.number, '--frequency', 'Often', '--first', '2099-01-01'],
      exit: 2,
      error: 'UK.OBIE.Field.Invalid',
    },
  }),
  'ob recurring list': asCustomer({ refusal: BAD_PAGE }),
  'ob recurring show': asCustomer({
    args: async (world) => [await recurring(world)],
    refusal: { args: [NOBODY], exit: 6, error: 'UK.OBIE.Resource.NotFound' },
  }),
  'ob recurring cancel': asCustomer({
    args: async (world) => [await recurring(world)],
    writes: true,
    refusal: { args: [NOBODY], exit: 6, error: 'UK.OBIE.Resource.NotFound' },
  }),
}

type Path = 'request-to-pay' | 'offer-to-pay'

/** Requests and offers have the same commands. */
function requestsRows(path: Path, to: (world: World) => Promise<readonly string[]>): Rows {
  const refusal = { args: [NOBODY], exit: 6, error: 'UK.OBIE.Resource.NotFound' } as const
  /** A request to grace; an offer, which its payer has to pay, the same way. */
  const given = async ({ service, ada, grace }: World): Promise<string[]> => [
    await sent(service, path, { by: ada, to: grace }),
  ]
  return {
    [`ob ${path} create`]: asCustomer({
      args: async (world) => [...POUNDS, ...(await to(world)), '--name', 'Grace'],
      writes: true,
      refusal: {
        args: async (world) => [...DOLLARS, ...(await to(world)), '--name', 'Grace'],
        exit: 2,
        error: 'VALIDATION_FAILED',
      },
    }),
    [`ob ${path} list`]: asCustomer({ refusal: BAD_PAGE }),
    [`ob ${path} show`]: asCustomer({ args: given, refusal }),
    [`ob ${path} accept`]: asCustomer({ args: given, writes: true, refusal }),
    [`ob ${path} reject`]: asCustomer({ args: given, writes: true, refusal }),
  }
}

const REQUESTS: Rows = {
  ...requestsRows('request-to-pay', async ({ service, ada }) => [
    '--to',
    ada.email,
    '--due',
    await dayFromNow(service, 5),
  ]),
  ...requestsRows('offer-to-pay', async ({ ada }) => ['--to', ada.email]),
}

const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString()
let count = 0

const ofMerchant = async ({ merchant }: World): Promise<string[]> => ['--merchant', (await merchant()).realm]
const NO_MERCHANT = { args: ['--merchant', 'nobody-at-all'], exit: 6, error: 'NOT_FOUND' } as const
const asBoth = (word: string) => (): CommandLine => ({ words: [word], env: { SVC_PLATFORM_USER: 'ada' } })
const STORY = asMerchant({
  args: asBoth('happy-path'),
  writes: true,
  skip: { id: 'its report' },
  refusal: { args: ['sad-path'], exit: 2, error: 'NO_SCENARIO' },
})
const EVENT = asMerchant({
  args: asBoth('payment.initiated'),
  writes: true,
  refusal: { args: ['payment.imagined'], exit: 2, error: 'USAGE' },
})

const STORIES: Rows = {
  'sandbox run': STORY,
  run: STORY,
  trigger: EVENT,
  'sandbox scenarios list': asMerchant({
    local: true,
    skip: { width: 'stories are told whole' },
    refusal: { args: ['--tag', 'no-such-tag'], exit: 2, error: 'USAGE' },
  }),
  'sandbox scenarios show': asMerchant({
    args: ['happy-path'],
    local: true,
    skip: { json: 'a file', id: 'a file', width: 'a file' },
    refusal: { args: ['sad-path'], exit: 6, error: 'NO_SCENARIO' },
  }),
  'sandbox scenarios validate': asMerchant({
    args: ['happy-path'],
    local: true,
    refusal: { args: ['nowhere.yaml'], exit: 2, error: 'NO_SCENARIO' },
  }),
  'sandbox scenarios create': asMerchant({
    args: ({ dir }) => ['my refund', '--file', join(dir, `refund-${(count += 1)}.yaml`)],
    local: true,
    writes: true,
    skip: { width: 'the name of a file' },
    refusal: { args: ['refund', '--file', '/nowhere/refund.yaml'], exit: 2, error: 'USAGE' },
  }),
  'sandbox scenarios schema': asMerchant({
    local: true,
    skip: { id: 'a schema', query: 'a schema', width: 'a schema', jsonl: 'a schema' },
    refusal: { args: ['extra'], exit: 2, error: 'USAGE' },
  }),
}

const SANDBOX: Rows = {
  'sandbox clock advance': asOperator({
    args: async (world) => ['2h', ...(await ofMerchant(world))],
    writes: true,
    refusal: { args: ['soon'], exit: 2, error: 'USAGE' },
  }),
  'sandbox clock set': asOperator({
    args: async (world) => [inDays(30), ...(await ofMerchant(world))],
    writes: true,
    refusal: {
      args: async (world) => [inDays(-30), ...(await ofMerchant(world))],
      exit: 2,
      error: 'VALIDATION_FAILED',
    },
  }),
  'sandbox clock show': asOperator({ args: ofMerchant, refusal: NO_MERCHANT }),
  'sandbox bank fault': asOperator({
    args: async (world) => ['--latency', '20ms', ...(await ofMerchant(world))],
    writes: true,
    refusal: { args: ['--latency', 'long'], exit: 2, error: 'USAGE' },
  }),
  'sandbox bank faults': asOperator({ args: ofMerchant, refusal: NO_MERCHANT }),
  'sandbox bank list': asMerchant({ refusal: { args: ['extra'], exit: 2, error: 'USAGE' } }),
  'sandbox bank approve': asMerchant({
    args: async ({ waiting }) => [await waiting()],
    writes: true,
    refusal: { args: [NOBODY], exit: 6, error: 'PAYMENT_NOT_FOUND' },
  }),
  'sandbox bank cancel': asMerchant({
    args: async ({ waiting }) => [await waiting()],
    writes: true,
    refusal: { args: [NOBODY], exit: 6, error: 'PAYMENT_NOT_FOUND' },
  }),
  'sandbox advance': asMerchant({
    args: async ({ waiting }) => [await waiting()],
    writes: true,
    refusal: { args: [NOBODY], exit: 6, error: 'PAYMENT_NOT_FOUND' },
  }),
  'sandbox seed': asOperator({
    args: ['--seed', '7', '--customers', '1', '--days', '2'],
    writes: true,
    refusal: { args: ['--days', '0'], exit: 2, error: 'VALIDATION_FAILED' },
  }),
  'sandbox customers create': asOperator({
    args: ['--name', 'Ada', '--balance', '250.00'],
    writes: true,
    refusal: { args: ['--account', 'USD:5'], exit: 2, error: 'USAGE' },
  }),
  'sandbox accounts': asOperator({ refusal: { args: ['--merchant', 'nobody-at-all'], exit: 6, error: 'NOT_FOUND' } }),
  'sandbox account set': asOperator({
    args: ({ ada }) => [ada.account.id, '--overdraft', '250.00'],
    writes: true,
    refusal: { args: [NOBODY, '--status', 'closed'], exit: 6, error: 'ACCOUNT_NOT_FOUND' },
  }),
  'sandbox books': asOperator({
    skip: { query: 'its first member is the time' },
    refusal: { args: ['extra'], exit: 2, error: 'USAGE' },
  }),
}

/** What customers of the bank do, and who plays with the sandbox. */
export const BANK_ROWS: Rows = { ...OB, ...REQUESTS, ...STORIES, ...SANDBOX }
