import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { freePort } from '../support/free-port.ts'
import type { BooksView, Decision } from '../support/model-bank.ts'
import { bringBack, visitBank } from '../support/obie.ts'
import { startPart } from './process.ts'
import type { Part } from './process.ts'

/** The model bank as a process of its own, with books that only it writes. */
export type Bank = {
  part: Part
  env: Record<string, string>
  books(): Promise<BooksView>
  /** Lets something go wrong with its next answers. */
  fail(name: string, times: number): Promise<void>
  heal(): Promise<void>
  /** The payer's way: to the bank, and back to the service. Undefined where it leads nowhere. */
  pay(redirectUrl: string, decision: Decision): Promise<URL | undefined>
}

const READY_TIMEOUT_MS = 60_000
/** Money enough for every payment of a run. */
const ACCOUNT = '20000033334444'

export async function startBank(dir: string, { publicUrl }: { publicUrl: string }): Promise<Bank> {
  mkdirSync(dir, { recursive: true })
  const [port, controlPort] = [await freePort(), await freePort()]
  const control = `http://127.0.0.1:${controlPort}`
  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const answer = await fetch(control + path, { method, ...sent, signal: AbortSignal.timeout(5_000) })
    return answer.json()
  }
  const isReady = (): Promise<boolean> =>
    call('GET', '/faults').then(
      () => true,
      () => false,
    )
  const options = { dir, port, 'control-port': controlPort, 'redirect-uri': `${publicUrl}/bank/return` }
  const words = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)])
  const part = startPart('bank', { program: 'model bank', words, env: {}, isReady })
  const deadline = Date.now() + READY_TIMEOUT_MS
  while (!(await isReady())) {
    if (Date.now() > deadline) throw new Error('the model bank does not start; CHAOS_LOG=debug shows why')
    await delay(100)
  }
  const ca = readFileSync(join(dir, 'model-bank-ca.pem'), 'utf8')
  return {
    part,
    env: {
      SVC_BANK_PROFILES: join(dir, 'profiles.yaml'),
      SVC_BANK_SOFTWARE_STATEMENT: join(dir, 'software-statement.json'),
      SVC_COLLECTION_ACCOUNT: 'UK.OBIE.SortCodeAccountNumber:20000055779911:Collections Ltd',
    },
    books: async () => (await call('GET', '/books')) as BooksView,
    fail: async (name, times) =>
      void (await call('POST', '/faults', { name, times, seconds: 1 }).catch(() => undefined)),
    heal: async () => void (await call('DELETE', '/faults')),
    pay: async (redirectUrl, decision) => {
      const url = new URL(redirectUrl).origin
      const visit = await visitBank({ bank: { ca } }, redirectUrl, { decision, account: ACCOUNT })
      return (await bringBack({ url }, visit)).next
    },
  }
}

type OwnPayment = { id: string; reference: string; amount: string; status: string }

export async function compareBooks(owner: pg.Client, books: BooksView): Promise<string[]> {
  const { rows } = await owner.query<OwnPayment>(
    `select id, end_to_end_id as reference, trim_scale(gross_amount)::text as amount, status from payment_intents where bank_connector = 'model'`,
  )
  return differencesOf(rows, books)
}

/** What differs between the bank's books and the service's: money moves once, and both say so. */
export function differencesOf(
  rows: readonly OwnPayment[],
  { payments, accounts }: Pick<BooksView, 'payments' | 'accounts'>,
): string[] {
  const differences: string[] = []
  const theirs = Map.groupBy(payments, ({ endToEndId }) => endToEndId)
  for (const [reference, all] of theirs) {
    if (all.length > 1) differences.push(`${reference}: ${all.length} payments at the bank`)
    if (!rows.some((row) => row.reference === reference)) differences.push(`${reference}: unknown to the service`)
  }
  for (const { id, reference, amount, status } of rows) {
    const [payment] = theirs.get(reference) ?? []
    const isPaid = payment?.status === 'ACSC'
    if (isPaid !== ['Settled', 'Refunded'].includes(status))
      differences.push(`${id}: ${status}, and ${payment?.status ?? 'nothing'} at the bank`)
    if (isPaid && Number(payment.amount) !== Number(amount)) differences.push(`${id}: ${amount} and ${payment.amount}`)
  }
  return [...differences, ...compareBalances({ payments, accounts })]
}

/** In whole pennies: each account has lost what its payments say. */
function compareBalances({ payments, accounts }: Pick<BooksView, 'payments' | 'accounts'>): string[] {
  const pennies = (amount: string): number => Math.round(Number(amount) * 100)
  const OPENING = 25_500_050
  const left = accounts.reduce((sum, { balance }) => sum + pennies(balance), 0)
  const paid = payments.filter(({ status }) => status === 'ACSC').reduce((sum, { amount }) => sum + pennies(amount), 0)
  return OPENING - paid === left ? [] : [`the bank has ${left} pennies after payments of ${paid}`]
}
