import { spawn } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pino } from 'pino'
import { parse, stringify } from 'yaml'
import { makeObieConnector } from '../../src/banks/obie/connector.ts'
import { readBankProfiles } from '../../src/banks/profiles.ts'
import { readSoftwareStatement } from '../../src/banks/software-statement.ts'
import type { makePool } from '../../src/db/pool.ts'
import { makeSealer } from '../../src/lib/seal.ts'
import { decideAtBank } from '../../test/support/model-bank.ts'
import { encryptionKey } from './database.ts'

const PUBLIC_URL = 'http://127.0.0.1:8377'
const REDIRECT_URI = `${PUBLIC_URL}/bank/return`

type Call = { operation: string; connection: number }

/** The model bank, which has registered the client by hand. */
export async function startModelBank(dir: string): Promise<{ calls(): Promise<Call[]>; stop(): Promise<void> }> {
  const main = new URL('../../src/model-bank/main.ts', import.meta.url).pathname
  const words = ['--dir', dir, '--port', '0', '--control-port', '0', '--redirect-uri', REDIRECT_URI]
  const child = spawn(process.execPath, [main, ...words], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const { value } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next()
  const { controlUrl, profiles } = JSON.parse(String(value)) as { controlUrl: string; profiles: string }
  const registered = await fetch(`${controlUrl}/registrations`, {
    method: 'POST',
    body: JSON.stringify({ redirect_uris: [REDIRECT_URI] }),
  })
  const { client_id } = (await registered.json()) as { client_id: string }
  const { banks } = parse(await readFile(profiles, 'utf8')) as { banks: { client: object }[] }
  const changed = banks.map((bank) => ({ ...bank, client: { ...bank.client, registration: 'manual', client_id } }))
  await writeFile(join(dir, 'registered.yaml'), stringify({ banks: changed }))
  return {
    calls: async () => (await (await fetch(`${controlUrl}/calls`)).json()) as Call[],
    stop: async () => {
      child.kill('SIGTERM')
      await ended
    },
  }
}

const REQUEST = {
  payeeId: 'bench',
  payeeName: 'Bench',
  redirectUri: 'https://shop.example/',
  debtorBankId: 'model',
  debtorAccount: undefined,
  remittanceReference: undefined,
  scenario: undefined,
}

type Connector = ReturnType<typeof makeObieConnector>

/** The connector of the model bank whose files are in this folder. */
export async function connectorOf(dir: string, pool: Awaited<ReturnType<typeof makePool>>): Promise<Connector> {
  const [profile] = await readBankProfiles(join(dir, 'registered.yaml'))
  const statement = await readSoftwareStatement(join(dir, 'software-statement.json'))
  if (profile === undefined) throw new Error('the model bank wrote no profile')
  return makeObieConnector({
    profile,
    platform: { statement: () => statement, clientId: () => profile.client.client_id },
    creditor: { SchemeName: 'UK.OBIE.SortCodeAccountNumber', Identification: '20000055779911', Name: 'Bench' },
    publicUrl: PUBLIC_URL,
    pool,
    sealer: makeSealer(encryptionKey),
    log: pino({ level: 'silent' }),
  })
}

/** One payment from consent to money. @returns milliseconds of processor time in the connector, without the payer's browser */
export async function pay(connector: Connector, ca: string): Promise<number> {
  if (connector.staging !== 'remote' || connector.redirects === undefined) throw new Error('not a bank of this kind')
  const { stage, redirects } = { ...connector, redirects: connector.redirects }
  let cpuMs = 0
  const timed = async <T>(work: () => Promise<T>): Promise<T> => {
    const start = cpuNow()
    const done = await work()
    cpuMs += cpuNow() - start
    return done
  }
  const signal = AbortSignal.timeout(30_000)
  const state = randomUUID()
  const browser = createHash('sha256').update(state).digest('hex')
  const paymentId = randomUUID()
  const endToEndId = `SVC${paymentId.replaceAll('-', '')}`
  const order = { paymentId, endToEndId, amount: '1.0000', currency: 'GBP', state }
  await timed(() => stage({ ...order, ...REQUEST, consentId: randomUUID() }, signal))
  const { location } = await timed(() => redirects.begin({ state, browser }, signal))
  const params = new URLSearchParams((await decideAtBank({ ca }, location)).hash.slice(1))
  const returned = await timed(() => redirects.receiveReturn({ state, browser, params }, signal))
  if (returned.outcome !== 'code') throw new Error(JSON.stringify(returned))
  await timed(() => connector.exchangeCode({ state, code: returned.code }, signal))
  const { outcome } = await timed(() => connector.execute(order, signal))
  if (outcome !== 'executed') throw new Error(`the payment is ${outcome}`)
  return cpuMs
}

/** Milliseconds of processor time of this process. */
export function cpuNow(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
