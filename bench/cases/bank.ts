import { createPrivateKey, createPublicKey } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeSigner, problemOfSignature } from '../../src/banks/obie/signing.ts'
import { readSoftwareStatement } from '../../src/banks/software-statement.ts'
import type { SoftwareStatement } from '../../src/banks/software-statement.ts'
import { makePool } from '../../src/db/pool.ts'
import type { BenchOptions } from '../support/context.ts'
import { connectorOf, cpuNow, pay, startModelBank } from '../support/model-bank.ts'
import { median } from '../support/numbers.ts'
import { printTable } from '../support/report.ts'
import { bytesOf } from './size.ts'
import type { RatioTarget } from '../support/report.ts'

/** Such as the payer's browser makes: not a call of ours. */
const PAYERS = ['authorise']

/**
 * A payment at a real bank's protocol, over the model bank in a process of its own: how many calls it takes, over how many
 * connections, the connector's processor time, and what of that is signing and checking.
 */
export async function benchBank(bench: BenchOptions): Promise<RatioTarget[]> {
  const dir = await mkdtemp(join(tmpdir(), 'svc-bench-bank-'))
  const bank = await startModelBank(dir)
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
