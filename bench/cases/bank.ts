import { spawn } from 'node:child_process'
import { createHash, createPrivateKey, createPublicKey, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pino } from 'pino'
import { parse, stringify } from 'yaml'
import { makeObieConnector } from '../../src/banks/obie/connector.ts'
import { makeSigner, problemOfSignature } from '../../src/banks/obie/signing.ts'
import { readBankProfiles } from '../../src/banks/profiles.ts'
import { readSoftwareStatement } from '../../src/banks/software-statement.ts'
import type { SoftwareStatement } from '../../src/banks/software-statement.ts'
import { makePool } from '../../src/db/pool.ts'
import { makeSealer } from '../../src/lib/seal.ts'
import { decideAtBank } from '../../test/support/model-bank.ts'
import type { Bench } from '../support/context.ts'
import { encryptionKey } from '../support/database.ts'
import { median } from '../support/numbers.ts'
import { printTable } from '../support/report.ts'
import { bytesOf } from './size.ts'
import type { RatioTarget } from '../support/report.ts'

const PUBLIC_URL = 'http://127.0.0.1:8377'
const REDIRECT_URI = `${PUBLIC_URL}/bank/return`
/** Such as the payer's browser makes: not a call of ours. */
const PAYERS = ['authorise']

type Call = { operation: string; connection: number }

/**
 * A payment at a real bank's protocol, over the model bank in a process of its own: how many calls it takes, over how many
 * connections, the connector's processor time, and what of that is signing and checking.
 */
export async function benchBank(bench: Bench): Promise<RatioTarget[]> {
  const dir = await mkdtemp(join(tmpdir(), 'svc-bench-bank-'))
  const bank = await startBank(dir)
  const database = await bench.server.database('bench_bank')
  const pool = await makePool({ databaseUrl: database.url, size: 4 })
  const connector = await connectorOf(dir, pool)
  const ca = await readFile(join(dir, 'model-bank-ca.pem'), 'utf8')
  // The first finds configuration, keys and a token, which are kept.
  await pay(connector, ca)
  const before = await bank.calls()
  const count = bench.quick ? 20 : 200
  const cpu: number[] = []
  for (let nth = 0; nth < count; nth += 1) cpu.push(await pay(connector, ca))
  const made = (await bank.calls()).slice(before.length).filter(({ operation }) => !PAYERS.includes(operation))
  const bytes = (await bytesOf(database.owner, `schemaname = 'obie'`)).reduce((sum, each) => sum + each.bytes, 0)
  await connector.close?.()
  await pool.end()
  await bank.stop()
  const statement = await readSoftwareStatement(join(dir, 'software-statement.json'))
  await rm(dir, { recursive: true, force: true })

  const { sign, check } = await costOfSignatures(statement, bench.quick ? 100 : 1_000)
  const perPayment = made.length / count
  const connections = new Set(made.map(({ connection }) => connection)).size
  // Consent, order, request object and client assertion; four answers and the id token.
  const messages = 4 * sign + 5 * check
  printTable(`A payment at a bank, ${count} one after the other`, [
    ['', 'measured'],
    ['calls', perPayment.toFixed(2)],
    ...Object.entries(Object.groupBy(made, ({ operation }) => operation)).map(([operation, calls]) => [
      `  ${operation}`,
      ((calls?.length ?? 0) / count).toFixed(2),
    ]),
    ['connections for all of them', String(connections)],
    ['bytes in the database, with indexes', (bytes / (count + 1)).toFixed(0)],
    ['CPU ms of the connector', median(cpu).toFixed(2)],
    ['CPU ms of a signature (PS256, 2,048 bits)', sign.toFixed(2)],
    ['CPU ms of a check', check.toFixed(2)],
    ['CPU ms of its 4 signatures and 5 checks', messages.toFixed(2)],
  ])
  return [
    { what: 'calls of a bank per payment', ratio: perPayment, most: 5.1 },
    { what: 'connections per call', ratio: connections / made.length, most: 0.05 },
    { what: 'CPU: signing and checking : the connector', ratio: messages / median(cpu), most: 0.5 },
  ]
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
function cpuNow(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** Milliseconds of processor time for signing a body of usual size, and for checking it, as bank and connector do. */
async function costOfSignatures(statement: SoftwareStatement, times: number): Promise<{ sign: number; check: number }> {
  const signer = makeSigner(statement)
  const body = Buffer.from(JSON.stringify({ Data: { text: 'x'.repeat(900) } }))
  const key = createPublicKey(createPrivateKey(statement.signing.key))
  const value = await signer.detached(body, { b64Header: false })
  const perTime = async (work: () => Promise<unknown>): Promise<number> => {
    const start = cpuNow()
    for (let nth = 0; nth < times; nth += 1) await work()
    return (cpuNow() - start) / times
  }
  const check = async (): Promise<void> => {
    const problem = await problemOfSignature(body, value, async () => key)
    if (problem !== undefined) throw new Error(problem)
  }
  await perTime(check)
  return { sign: await perTime(() => signer.detached(body, { b64Header: false })), check: await perTime(check) }
}

/** The model bank, which has registered the client by hand. */
export async function startBank(dir: string): Promise<{ calls(): Promise<Call[]>; stop(): Promise<void> }> {
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
