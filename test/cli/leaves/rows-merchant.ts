import { PAY, UNKNOWN_CLIENT, asMerchant, asNew } from './as-merchant.ts'
import type { Rows, CommandLine } from './row.ts'
import { NOBODY } from './world.ts'
import type { World } from './world.ts'

const NO_PAYMENT = { args: [NOBODY], exit: 6, error: 'PAYMENT_NOT_FOUND' } as const

const PAYMENTS: Rows = {
  'payments create': asMerchant({
    args: [...PAY, '--approve', '--wait'],
    writes: true,
    refusal: {
      args: async ({ pending }) => ({ words: PAY, env: { SVC_CLIENT_ID: (await pending()).clientId } }),
      exit: 5,
      error: 'MERCHANT_NOT_APPROVED',
    },
  }),
  'payments list': asMerchant({ refusal: { args: ['--since', 'some day'], exit: 2, error: 'USAGE' } }),
  'payments show': asMerchant({ args: async ({ refunded }) => [await refunded()], refusal: NO_PAYMENT }),
  'payments events': asMerchant({ args: async ({ refunded }) => [await refunded()], refusal: NO_PAYMENT }),
  'payments receipt': asMerchant({ args: async ({ refunded }) => [await refunded()], refusal: NO_PAYMENT }),
  'payments refund': asMerchant({
    args: async ({ paid }) => [await paid(), '--amount', '10.00', '--wait'],
    writes: true,
    refusal: { args: async ({ waiting }) => [await waiting()], exit: 7, error: 'PAYMENT_NOT_SETTLED' },
  }),
  'payments refunds': asMerchant({ args: async ({ refunded }) => [await refunded()], refusal: NO_PAYMENT }),
  'payments cancel': asMerchant({
    args: async ({ waiting }) => [await waiting()],
    writes: true,
    refusal: { args: async ({ paid }) => [await paid()], exit: 7, error: 'PAYMENT_NOT_CANCELLABLE' },
  }),
  'payments sca-complete': asMerchant({
    args: async ({ broughtBack }) => broughtBack(),
    writes: true,
    refusal: {
      args: async ({ waiting }) => [await waiting(), '--state', 's'.repeat(40), '--code', 'c'],
      exit: 5,
      error: 'STATE_MISMATCH',
    },
  }),
  'payments mandates list': asMerchant({ refusal: { args: ['--limit', 'many'], exit: 2, error: 'USAGE' } }),
  'payments mandates show': asMerchant({
    args: async ({ mandate }) => [await mandate()],
    refusal: { args: [NOBODY], exit: 6, error: 'CONSENT_NOT_FOUND' },
  }),
  'payments mandates end': asMerchant({
    args: async ({ mandate }) => [await mandate()],
    writes: true,
    refusal: { args: [NOBODY], exit: 6, error: 'CONSENT_NOT_FOUND' },
  }),
  'disputes evidence': asMerchant({
    args: async ({ dispute }) => [await dispute(), '--text', 'it was signed for'],
    writes: true,
    refusal: {
      args: async ({ dispute }) => [await dispute('RESOLVED_PAYER_FAVOUR'), '--text', 'it was signed for'],
      exit: 7,
      error: 'DISPUTE_CLOSED',
    },
  }),
  'disputes accept': asMerchant({
    args: async ({ dispute }) => [await dispute(), '--note', 'sent back'],
    writes: true,
    refusal: {
      args: async ({ dispute }) => [await dispute('RESOLVED_PAYER_FAVOUR')],
      exit: 7,
      error: 'DISPUTE_CLOSED',
    },
  }),
  explain: asMerchant({
    args: async ({ refunded }) => [await refunded()],
    skip: { width: 'commands are whole, to be copied', jsonl: 'a line for each event' },
    refusal: { args: [NOBODY], exit: 6, error: 'NOT_FOUND' },
  }),
  'payments export': asMerchant({
    skip: { width: 'the export itself', id: 'the export itself', query: 'an export has whole rows' },
    refusal: { args: ['--file', '/nowhere/payments.csv'], exit: 2, error: 'FILE_NOT_WRITTEN' },
  }),
}

async function asPaused(world: World): Promise<CommandLine> {
  const typed = await asNew(world)
  await world.idFrom('merchant', ['webhooks', 'endpoint', 'pause'], typed.env)
  return typed
}

async function withoutEndpoint({ service }: World, ...words: string[]): Promise<CommandLine> {
  return { words, env: { SVC_CLIENT_ID: (await service.merchant()).clientId } }
}

async function withOverlap(world: World, ...words: string[]): Promise<CommandLine> {
  const typed = await asNew(world, ...words)
  await world.idFrom('merchant', ['secret', 'rotate', '--overlap', '1h'], typed.env)
  return typed
}

const NO_ENDPOINT = { exit: 7, error: 'WEBHOOK_ENDPOINT_NOT_SET' } as const
const NO_DELIVERY = { args: [NOBODY], exit: 6, error: 'DELIVERY_NOT_FOUND' } as const
const SIGNED = { stdin: '{"event":"x"}' }
const SECRET = { SVC_WEBHOOK_SECRET: 'ab'.repeat(32) }
const signed = (...words: string[]): CommandLine => ({ words, env: SECRET, ...SIGNED })

async function signatureOf({ run }: World): Promise<string> {
  return (await run('nobody', ['webhooks', 'sign', '-o', 'id'], { env: SECRET, ...SIGNED })).stdout.trim()
}

const LISTEN = asMerchant({
  args: ['--cursor', 'beginning', '--once'],
  skip: { json: 'what it says is no result', closedPort: 'whom it listens for is told first' },
  refusal: { args: ['--events', 'Payment!'], exit: 2, error: 'USAGE' },
})

const WEBHOOKS: Rows = {
  'webhooks endpoint show': asMerchant({ refusal: UNKNOWN_CLIENT }),
  'webhooks endpoint set': asMerchant({
    args: (world) => asNew(world, world.receiver),
    writes: true,
    refusal: { args: (world) => asNew(world, 'ftp://shop.example'), exit: 2, error: 'VALIDATION_FAILED' },
  }),
  'webhooks endpoint pause': asMerchant({
    args: (world) => asNew(world),
    writes: true,
    refusal: { args: (world) => withoutEndpoint(world), ...NO_ENDPOINT },
  }),
  'webhooks endpoint resume': asMerchant({
    args: asPaused,
    writes: true,
    refusal: { args: (world) => withoutEndpoint(world), ...NO_ENDPOINT },
  }),
  'webhooks endpoint check': asMerchant({ refusal: { args: (world) => withoutEndpoint(world), ...NO_ENDPOINT } }),
  'webhooks list': asMerchant({ refusal: UNKNOWN_CLIENT }),
  'webhooks show': asMerchant({ args: async ({ dead }) => [await dead()], refusal: NO_DELIVERY }),
  'webhooks test': asMerchant({
    args: ['dispute.opened', '--wait'],
    writes: true,
    refusal: { args: (world) => withoutEndpoint(world), ...NO_ENDPOINT },
  }),
  'webhooks replay': asMerchant({
    args: async ({ dead }) => [await dead()],
    writes: true,
    refusal: NO_DELIVERY,
  }),
  listen: LISTEN,
  'webhooks exam': asMerchant({
    args: ['--list'],
    local: true,
    refusal: { args: ['not an address'], exit: 2, error: 'USAGE' },
  }),
  'webhooks verify': asMerchant({
    args: async (world) => signed('--signature', await signatureOf(world)),
    local: true,
    refusal: { args: () => signed('--signature', 'ab'.repeat(32)), exit: 3, error: 'SIGNATURE_INVALID' },
  }),
  'webhooks sign': asMerchant({
    args: () => signed(),
    local: true,
    skip: { width: 'a header as it is sent' },
    refusal: { args: ['--body-file', '/nowhere/body.json'], exit: 2, error: 'USAGE' },
  }),
  'secret show': asMerchant({ refusal: UNKNOWN_CLIENT }),
  'secret snippet': asMerchant({
    args: ['php'],
    local: true,
    skip: { width: 'a program', id: 'a program' },
    refusal: { args: ['cobol'], exit: 2, error: 'USAGE' },
  }),
  'secret rotate': asMerchant({
    args: (world) => asNew(world),
    writes: true,
    refusal: { args: (world) => withOverlap(world), exit: 7, error: 'SECRET_OVERLAP_RUNNING' },
  }),
  'secret end-overlap': asMerchant({
    args: (world) => withOverlap(world),
    writes: true,
    refusal: UNKNOWN_CLIENT,
  }),
}

const API: Rows = {
  api: asMerchant({
    args: ['GET', '/api/v1/payments', '-f', 'limit=3'],
    skip: { width: 'the answer as it is', jsonl: 'the answer as it is' },
    refusal: { args: ['GET', '/api/v1/nonsense'], exit: 6, error: 'NO_SUCH_OPERATION' },
  }),
}

/** What merchants do. */
export const MERCHANT_ROWS: Rows = { ...PAYMENTS, ...WEBHOOKS, ...API }
