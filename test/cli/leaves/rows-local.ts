import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Ran, Row, Rows, CommandLine } from './row.ts'
import { NOBODY, PAYER, newLink } from './world.ts'
import type { World } from './world.ts'

const of = (row: Omit<Ran, 'as'>): Row => ({ as: 'nobody', ...row })
const asOperator = (row: Omit<Ran, 'as'>): Row => ({ as: 'operator', ...row })
const asPayer = (row: Omit<Ran, 'as'>): Row => ({ as: 'payer', ...row })
const asMerchant = (row: Omit<Ran, 'as'>): Row => ({ as: 'merchant', ...row })

const EXTRA = { args: ['extra'], exit: 2, error: 'USAGE' } as const

let count = 0
const registration = (): string[] => {
  count += 1
  return ['--company', `Shop ${count} Ltd`, '--trading-name', `Shop ${count}`, '--email', `ada${count}@shop.example`]
}

/** A folder of profiles with one in it, or with none. */
async function withProfile({ dir, run }: World, ...words: string[]): Promise<CommandLine> {
  const env = { SVC_CONFIG_DIR: mkdtempSync(join(dir, 'config-')) }
  await run('nobody', ['profile', 'create', 'shop', '--realm', 'acme'], { env })
  return { words, env }
}

const emptyConfig = ({ dir }: World, ...words: string[]): CommandLine => ({
  words,
  env: { SVC_CONFIG_DIR: mkdtempSync(join(dir, 'config-')) },
})
const NO_PROFILE = {
  args: (world: World): CommandLine => emptyConfig(world, 'nobody'),
  exit: 6,
  error: 'NO_SUCH_PROFILE',
} as const

const machine = ({ env }: World, ...words: string[]): CommandLine => ({ words, env })

/** A migration begun in what looks like a checkout, where commands run. */
function inCheckout({ dir }: World): string[] {
  mkdirSync(join(dir, 'src', 'db'), { recursive: true })
  mkdirSync(join(dir, 'migrations'), { recursive: true })
  writeFileSync(join(dir, 'src', 'db', 'migrate.ts'), '')
  return [`add_notes_${(count += 1)}`]
}

const RUN: Rows = {
  worker: of({
    args: (world) => machine(world, '--once'),
    local: true,
    refusal: { args: ['--concurrency', '0'], exit: 2, error: 'USAGE' },
  }),
  'migrate up': of({
    args: machine,
    local: true,
    refusal: { args: [], exit: 2, error: 'CONFIGURATION' },
  }),
  'migrate create': of({
    args: inCheckout,
    local: true,
    writes: true,
    refusal: { args: ['Add-Notes'], exit: 2, error: 'USAGE' },
  }),
  'migrate status': of({
    args: machine,
    local: true,
    refusal: { args: [], exit: 2, error: 'CONFIGURATION' },
  }),
  'staff bootstrap': of({
    args: (world) => machine(world, '--email', 'ada@pay.example'),
    local: true,
    writes: true,
    refusal: { args: ['--email', 'nobody'], exit: 2, error: 'USAGE' },
  }),
  status: of({ skip: { closedPort: 'that nothing listens is its result' }, refusal: EXTRA }),
  register: of({
    args: registration,
    writes: true,
    refusal: {
      args: async (world) => {
        const words = registration()
        await world.idFrom('nobody', ['register', ...words])
        return words
      },
      exit: 7,
      error: 'REALM_EXISTS',
    },
  }),
  'config keys list': of({ args: machine, local: true, refusal: { args: [], exit: 6, error: 'NO_KEY' } }),
  'config keys create': of({ local: true, skip: { query: 'another key each time' }, refusal: EXTRA }),
  'config keys rotate': of({ args: machine, local: true, refusal: { args: [], exit: 6, error: 'NO_KEY' } }),
  completion: of({
    args: ['bash'],
    local: true,
    skip: { json: 'a program', id: 'a program', width: 'a program' },
    refusal: { args: ['tcsh'], exit: 2, error: 'USAGE' },
  }),
  'config show': of({ local: true, refusal: EXTRA }),
  'config check': of({ args: machine, local: true, refusal: EXTRA }),
  'api openapi': of({
    skip: { width: 'the document itself', jsonl: 'the document itself' },
    refusal: { args: ['--file', '/nowhere/openapi.json'], exit: 2, error: 'FILE_NOT_WRITTEN' },
  }),
  docs: of({ local: true, refusal: { args: ['no', 'such', 'chapter'], exit: 6, error: 'NO_SUCH_TOPIC' } }),
  open: of({ args: ['payer', '--print'], refusal: { args: ['portal'], exit: 2, error: 'USAGE' } }),
  init: of({
    args: ({ dir }) => [join(dir, `project-${(count += 1)}`), '--app', 'node'],
    local: true,
    writes: true,
    refusal: { args: ['/dev/null/project'], exit: 2, error: 'USAGE' },
  }),
  help: of({
    args: ['exit-codes'],
    local: true,
    refusal: { args: ['nonsense'], exit: 2, error: 'USAGE' },
  }),
}

const SIGN_IN: Rows = {
  logout: of({ args: (world) => emptyConfig(world), local: true, refusal: EXTRA }),
  whoami: asMerchant({
    refusal: { args: () => ({ words: [], env: { SVC_CLIENT_ID: 'nobody-at-all' } }), exit: 4, error: 'UNKNOWN_CLIENT' },
  }),
  'profile list': of({ args: (world) => withProfile(world), local: true, refusal: EXTRA }),
  'profile show': of({ args: (world) => withProfile(world, 'shop'), local: true, refusal: NO_PROFILE }),
  'profile create': of({
    args: (world) => emptyConfig(world, 'shop', '--realm', 'acme'),
    writes: true,
    skip: { closedPort: 'it is there already' },
    refusal: { args: (world) => withProfile(world, 'shop'), exit: 7, error: 'PROFILE_EXISTS' },
  }),
  'profile use': of({
    args: (world) => withProfile(world, 'shop'),
    local: true,
    writes: true,
    refusal: NO_PROFILE,
  }),
  'profile remove': of({
    args: (world) => withProfile(world, 'shop'),
    local: true,
    writes: true,
    refusal: NO_PROFILE,
  }),
  'sandbox mail list': asOperator({ refusal: EXTRA }),
  'sandbox mail show': asOperator({
    args: ['--recipient', PAYER],
    skip: { width: 'its links are whole' },
    refusal: { args: [NOBODY], exit: 6, error: 'MAIL_NOT_FOUND' },
  }),
}

/** A payer who has signed in and whom nobody else is. */
async function signedIn(world: World): Promise<CommandLine> {
  const typed = emptyConfig(world)
  await world.idFrom('payer', ['payer', 'verify', await newLink(world)], typed.env)
  return typed
}

const signedOut = (...more: string[]) => ({
  args: (world: World): CommandLine => emptyConfig(world, ...more),
  exit: 4 as const,
  error: 'NOT_SIGNED_IN',
})
const WHY = ['--reason', 'OTHER', '--statement', 'odd'] as const
const SESSION_ELSEWHERE = { closedPort: 'who is signed in there is nobody elsewhere' }

const PAYERS: Rows = {
  'payer link': asPayer({
    args: (world) => emptyConfig(world, `someone-${(count += 1)}@home.example`),
    writes: true,
    refusal: { args: ['nobody'], exit: 2, error: 'USAGE' },
  }),
  'payer verify': asPayer({
    args: async (world) => emptyConfig(world, await newLink(world)),
    writes: true,
    refusal: { args: (world) => emptyConfig(world, 'k'.repeat(43)), exit: 4, error: 'LINK_INVALID' },
  }),
  'payer whoami': asPayer({ skip: SESSION_ELSEWHERE, refusal: signedOut() }),
  'payer logout': asPayer({ args: signedIn, writes: true, skip: SESSION_ELSEWHERE, refusal: EXTRA }),
  'payer payments list': asPayer({ skip: SESSION_ELSEWHERE, refusal: signedOut() }),
  'payer show': asPayer({
    args: async ({ refunded }) => [await refunded()],
    skip: SESSION_ELSEWHERE,
    refusal: { args: [NOBODY], exit: 6, error: 'PAYMENT_NOT_FOUND' },
  }),
  'payments mandates cancel': asPayer({
    args: async ({ mandate }) => [await mandate()],
    writes: true,
    skip: SESSION_ELSEWHERE,
    refusal: { args: [NOBODY], exit: 6, error: 'CONSENT_NOT_FOUND' },
  }),
  'payer send-receipt': asPayer({
    args: async ({ paid }) => [await paid()],
    writes: true,
    skip: SESSION_ELSEWHERE,
    refusal: {
      args: async ({ waiting }) => [await waiting()],
      exit: 7,
      error: 'PAYMENT_NOT_SETTLED',
    },
  }),
  'payer dispute': asPayer({
    args: async ({ paid }) => [await paid(), ...WHY],
    writes: true,
    skip: SESSION_ELSEWHERE,
    refusal: {
      args: async ({ waiting }) => [await waiting(), ...WHY],
      exit: 7,
      error: 'PAYMENT_NOT_DISPUTABLE',
    },
  }),
}

/** What runs the service, who signs in, and payers. */
export const LOCAL_ROWS: Rows = { ...RUN, ...SIGN_IN, ...PAYERS }
