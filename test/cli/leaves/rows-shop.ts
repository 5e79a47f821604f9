import { PAY, UNKNOWN_CLIENT, asMerchant, asNew } from './as-merchant.ts'
import type { Rows, CommandLine } from './row.ts'
import { NOBODY } from './world.ts'
import type { World } from './world.ts'

let count = 0
const someEmail = (): string => `someone-${(count += 1)}@acme.example`

async function someMember(world: World): Promise<string> {
  const email = someEmail()
  await world.idFrom('merchant', ['team', 'invite', '--email', email, '--role', 'DEVELOPER'])
  return email
}

const newCredential = (world: World): Promise<string> =>
  world.idFrom('merchant', ['credentials', 'create', '--name', 'ci'])

const ACCOUNT = JSON.stringify({ sort_code: '000075', account_number: '55779911' })

const PEOPLE: Rows = {
  'team list': asMerchant({ refusal: UNKNOWN_CLIENT }),
  'team invite': asMerchant({
    args: () => ['--email', someEmail(), '--role', 'FINANCE'],
    writes: true,
    refusal: { args: ['--email', 'nobody', '--role', 'FINANCE'], exit: 2, error: 'VALIDATION_FAILED' },
  }),
  'team role': asMerchant({
    args: async (world) => [await someMember(world), 'FINANCE'],
    writes: true,
    refusal: { args: ['nobody@acme.example', 'FINANCE'], exit: 6, error: 'NOT_FOUND' },
  }),
  'team remove': asMerchant({
    args: async (world) => [await someMember(world)],
    writes: true,
    refusal: { args: ['nobody@acme.example'], exit: 6, error: 'NOT_FOUND' },
  }),
  'team reset-factor': asMerchant({
    args: async (world) => [await someMember(world)],
    writes: true,
    refusal: { args: ['nobody@acme.example'], exit: 6, error: 'NOT_FOUND' },
  }),
  'credentials list': asMerchant({ refusal: UNKNOWN_CLIENT }),
  'credentials create': asMerchant({
    args: (world) => asNew(world, '--name', 'ci', '--role', 'DEVELOPER'),
    writes: true,
    refusal: { args: ['--name', ' '], exit: 2, error: 'VALIDATION_FAILED' },
  }),
  'credentials rotate': asMerchant({
    args: async (world) => [await newCredential(world)],
    writes: true,
    refusal: { args: ['nobody-key-00000000'], exit: 6, error: 'CREDENTIAL_NOT_FOUND' },
  }),
  'credentials revoke': asMerchant({
    args: async (world) => [await newCredential(world)],
    writes: true,
    refusal: { args: ['nobody-key-00000000'], exit: 6, error: 'CREDENTIAL_NOT_FOUND' },
  }),
  'payouts accounts list': asMerchant({ refusal: UNKNOWN_CLIENT }),
  'payouts accounts create': asMerchant({
    args: async (world) => ({ ...(await asNew(world, '--holder', 'Acme Ltd', '--stdin')), stdin: ACCOUNT }),
    writes: true,
    refusal: {
      args: () => ({ words: ['--holder', 'Acme Ltd', '--stdin'], stdin: 'nothing' }),
      exit: 2,
      error: 'USAGE',
    },
  }),
  'payouts accounts disable': asMerchant({
    args: async (world) => {
      const { env = {} } = await asNew(world)
      const add = ['payouts', 'accounts', 'create', '--holder', 'Acme Ltd', '--stdin', '-o', 'id']
      return { words: [(await world.run('merchant', add, { env, stdin: ACCOUNT })).stdout.trim()], env }
    },
    writes: true,
    refusal: { args: [NOBODY], exit: 6, error: 'BANK_ACCOUNT_NOT_FOUND' },
  }),
}

/** A settlement of the shop. */
async function settlement(world: World): Promise<string[]> {
  await world.paid()
  return [await world.idFrom('merchant', ['settlements', 'close', '--currency', 'GBP'])]
}

const UNKNOWN_SETTLEMENT = { args: [NOBODY], exit: 6, error: 'SETTLEMENT_NOT_FOUND' } as const

const SETTLEMENTS: Rows = {
  'settlements list': asMerchant({ refusal: UNKNOWN_CLIENT }),
  'payouts list': asMerchant({ refusal: UNKNOWN_CLIENT }),
  'settlements show': asMerchant({ args: settlement, refusal: UNKNOWN_SETTLEMENT }),
  'settlements lines': asMerchant({ args: settlement, refusal: UNKNOWN_SETTLEMENT }),
  'settlements export': asMerchant({
    args: settlement,
    skip: { width: 'the export itself', id: 'the export itself', query: 'an export has whole rows' },
    refusal: UNKNOWN_SETTLEMENT,
  }),
  'settlements close': asMerchant({
    args: async (world) => {
      await world.paid()
      return []
    },
    writes: true,
    refusal: { args: ['--currency', 'pounds'], exit: 2, error: 'VALIDATION_FAILED' },
  }),
  'settlements schedule show': asMerchant({ refusal: UNKNOWN_CLIENT }),
  'settlements schedule set': asMerchant({
    args: (world) => asNew(world, 'WEEKLY'),
    writes: true,
    refusal: { args: ['HOURLY'], exit: 2, error: 'USAGE' },
  }),
}

const URL_OF_ORIGIN = 'https://shop.example'

async function withOrigin(world: World): Promise<CommandLine> {
  const typed = await asNew(world, URL_OF_ORIGIN)
  await world.idFrom('merchant', ['checkout', 'origins', 'add', URL_OF_ORIGIN], typed.env)
  return typed
}

const CHECKOUT: Rows = {
  'checkout branding show': asMerchant({ refusal: UNKNOWN_CLIENT }),
  'checkout branding set': asMerchant({
    args: (world) => asNew(world, 'primary=#003B2F'),
    writes: true,
    refusal: { args: ['primary=green'], exit: 2, error: 'VALIDATION_FAILED' },
  }),
  'checkout branding reset': asMerchant({
    args: (world) => asNew(world),
    writes: true,
    refusal: UNKNOWN_CLIENT,
  }),
  'checkout branding preview': asMerchant({ refusal: UNKNOWN_CLIENT }),
  'checkout origins list': asMerchant({ refusal: UNKNOWN_CLIENT }),
  'checkout origins add': asMerchant({
    args: (world) => asNew(world, URL_OF_ORIGIN),
    writes: true,
    refusal: { args: ['https://shop.example/page'], exit: 2, error: 'VALIDATION_FAILED' },
  }),
  'checkout origins remove': asMerchant({
    args: withOrigin,
    writes: true,
    refusal: { args: ['https://nobody.example'], exit: 6, error: 'NOT_FOUND' },
  }),
  'checkout token': asMerchant({
    args: [...PAY, '--return-url', 'https://shop.example/thanks'],
    skip: { width: 'a token', query: 'another token each time' },
    refusal: { args: ['--amount', 'much', '--currency', 'GBP'], exit: 2, error: 'VALIDATION_FAILED' },
  }),
  'payments link': asMerchant({
    args: [...PAY],
    skip: { width: 'an address', query: 'another token each time' },
    refusal: { args: [...PAY, '--qr-file', 'code.gif'], exit: 2, error: 'USAGE' },
  }),
  'checkout snippet': asMerchant({
    args: [...PAY, '--return-url', 'https://shop.example/thanks'],
    skip: { width: 'a page', id: 'a page', query: 'a page' },
    refusal: { args: [...PAY, '--callback-origin', 'nowhere'], exit: 2, error: 'USAGE' },
  }),
  'checkout demo': asMerchant({ refusal: { args: ['--api-url', 'ftp://x'], exit: 2, error: 'USAGE' } }),
  'checkout banks': asMerchant({ refusal: { args: ['--api-url', 'ftp://x'], exit: 2, error: 'USAGE' } }),
}

/** A merchant's people and accounts, and what stands on its pages. */
export const SHOP_ROWS: Rows = { ...PEOPLE, ...SETTLEMENTS, ...CHECKOUT }
