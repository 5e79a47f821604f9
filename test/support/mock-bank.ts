import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import type { DatabasePool } from 'slonik'
import { z } from 'zod'
import type { ConsentRequest, ExecutionOrder, RefundOrder } from '../../src/banks/connector.ts'
import { makeMockBank } from '../../src/banks/mock.ts'
import type { MockBank, MockBankOptions } from '../../src/banks/mock.ts'
import { makePgConnection } from '../../src/db/connection.ts'
import { makePool } from '../../src/db/pool.ts'
import { sql } from '../../src/db/sql.ts'
import { makeIds } from '../../src/lib/ids.ts'
import { makeLog } from '../../src/observe/log.ts'
import { bySocket } from './cluster.ts'
import { testDatabase } from './database.ts'

/** The mock bank's key in tests. */
export const BANK_SECRET = 'the key of the mock bank'

/** The merchant of consents by default. */
const PAYEE_ID = '0192f0c1-2d3e-7a4b-8c5d-6e7f80910203'

type Teardown = { teardown: (handler: () => Promise<void>) => unknown }

/** A mock bank on a database of its own, acting as the runtime role, with one payee. Its silences are short. */
export async function testMockBank(
  t: Teardown,
  options: Partial<MockBankOptions> = {},
): Promise<{ bank: MockBank; pool: DatabasePool; owner: pg.Client }> {
  const url = bySocket((await testDatabase(t)).url)
  const pool = await makePool({ databaseUrl: url, size: 6, role: 'svc_runtime', timeoutFactor: 4 })
  const owner = await makePgConnection({ databaseUrl: url, onError: () => undefined })
  t.teardown(async () => {
    await owner.end()
    await pool.end()
  })
  await addPayee(owner, PAYEE_ID)
  const bank = makeMockBank({
    publicUrl: 'http://127.0.0.1:9',
    secret: BANK_SECRET,
    pool,
    ids: makeIds(),
    log: makeLog('silent'),
    post: async () => 200,
    silenceMs: 20,
    ...options,
  })
  return { bank, pool, owner }
}

/** A merchant as far as a bank needs one: a row that its account's owner can refer to. */
export async function addPayee(owner: pg.Client, id: string = randomUUID()): Promise<string> {
  await owner.query(
    `insert into merchants (id, client_id, legal_name, trading_name, name, fee_percentage, fee_flat, webhook_signing_secret)
     values ($1, $2, 'Corner Shop Ltd', 'Corner Shop', 'Corner Shop', 0.01, 0.20, 'sealed')`,
    [id, `merchant-${id}`],
  )
  return id
}

/** A signal that never comes in a test. */
export function patience(): AbortSignal {
  return AbortSignal.timeout(600_000)
}

export function consentRequest(over: Partial<ConsentRequest> = {}): ConsentRequest {
  const ids = makeIds()
  return {
    paymentId: randomUUID(),
    consentId: randomUUID(),
    endToEndId: ids.endToEndId(),
    state: ids.token(),
    amount: '50.0000',
    currency: 'GBP',
    payeeId: PAYEE_ID,
    payeeName: 'Corner Shop',
    redirectUri: 'https://shop.example/return',
    debtorBankId: undefined,
    debtorAccount: undefined,
    remittanceReference: undefined,
    scenario: undefined,
    ...over,
  }
}

/** The URL that staging a consent gives the payer. */
export function stage(bank: MockBank, consent: ConsentRequest): URL {
  if (bank.staging !== 'local') throw new Error('the mock bank stages locally')
  return new URL(bank.stage(consent).redirectUrl)
}

/** Lets the payer decide on the bank's page, without the page; the code, or undefined where none comes back. */
export async function decideOn(
  bank: MockBank,
  consent: ConsentRequest,
  decision: 'approve' | 'cancel' = 'approve',
  account?: string,
): Promise<string | undefined> {
  const request = bank.readRequest(stage(bank, consent).searchParams.get('request') ?? '')
  if (!request) throw new Error('the mock bank does not know its own request')
  const outcome = await bank.decide(request, decision, account)
  return outcome.returns === 'with-code' ? outcome.code : undefined
}

export function executionOf(consent: ConsentRequest): ExecutionOrder {
  const { paymentId, endToEndId, state, amount, currency } = consent
  return { paymentId, endToEndId, state, amount, currency }
}

export function refundOf(consent: ConsentRequest, over: Partial<RefundOrder> = {}): RefundOrder {
  return { ...executionOf(consent), refundId: randomUUID(), ...over }
}

const Booked = z.strictObject({ amount: z.string(), currency: z.string() })

/** The entries of a payment in the mock bank's books. */
export async function books(pool: DatabasePool, endToEndId: string): Promise<{ debits: string[]; credits: string[] }> {
  const debits = await pool.any(sql.type(Booked)`
    select amount, currency from mock_bank.bank_debits where end_to_end_id = ${endToEndId}
  `)
  const credits = await pool.any(sql.type(Booked)`
    select amount, currency from mock_bank.bank_credits where end_to_end_id = ${endToEndId} order by created_at
  `)
  const text = ({ amount, currency }: z.infer<typeof Booked>) => `${amount} ${currency}`
  return { debits: debits.map(text), credits: credits.map(text) }
}
