import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import { recordAction } from '../../src/audit/record-action.ts'
import { sealRows } from '../../src/audit/seal.ts'
import { settlePayments } from '../../src/payments/settle-payments.ts'
import { runCli } from '../cli/harness.ts'
import type { CliSettings, Outcome } from '../cli/harness.ts'
import { authorisedPayment, createPayment, testService } from './app.ts'
import type { TestService } from './app.ts'
import { refund } from './payments.ts'

const TABLES = [
  'operator_actions',
  'payment_events',
  'refund_events',
  'dispute_events',
  'payout_events',
  'ledger_entries',
  'audit_checkpoints',
] as const

export type AuditedService = TestService & {
  /**
   * Fills the trail, an hour old: actions, payments of one and of three events, two partial refunds, a dispute and a
   * payout of three.
   */
  fill(): Promise<void>
  seal(rowsMax?: number): Promise<void>
  /** Changes rows as a superuser, without the triggers. Returns the number of rows. */
  tamper(statement: string, values?: readonly unknown[]): Promise<number>
  /** Keeps the trail as it is, and these tables, and answers how to bring that back. */
  keep(more?: readonly string[]): Promise<() => Promise<void>>
  /** Runs the command line as an owner. */
  svc(words: readonly string[], settings?: CliSettings): Promise<Outcome>
}

/** A service whose trail is written as if it were an hour ago: old enough to be exported and sealed at once. */
export async function auditedService(t: Test): Promise<AuditedService> {
  const service = await testService(t)
  const { owner, app } = service
  for (const table of TABLES)
    await owner.query(`alter table ${table} alter column created_at set default now() - interval '1 hour'`)
  const tamper = async (statement: string, values: readonly unknown[] = []): Promise<number> => {
    await owner.query('begin')
    await owner.query('set local session_replication_role = replica')
    const { rowCount } = await owner.query(statement, [...values])
    await owner.query('commit')
    return rowCount ?? 0
  }
  return {
    ...service,
    tamper,
    fill: async () => {
      await fill(service)
      // The function that posts entries dates and hashes them itself.
      const isNew = `created_at > now() - interval '30 minutes'`
      await tamper(
        `update ledger_entries set created_at = created_at - interval '1 hour', entry_hash = '' where ${isNew}`,
      )
      await tamper(`update ledger_entries e set entry_hash = ledger_entry_hash(e) where entry_hash = ''`)
    },
    seal: async (rowsMax = 10_000) => {
      while ((await sealRows(app, rowsMax)).more) continue
    },
    keep: async (more = []) => {
      const tables = [...TABLES, ...more]
      for (const table of tables) await owner.query(`create table kept_${table} as table ${table}`)
      return async () => {
        for (const table of tables) {
          await tamper(`delete from ${table}`)
          await tamper(`insert into ${table} table kept_${table}`)
        }
      }
    },
    svc: (words, settings) =>
      runCli([...words, '--api-url', service.url], {
        ...settings,
        env: { SVC_PLATFORM_USER: 'ada', ...settings?.env },
      }),
  }
}

const ACTIONS = [
  { reason: 'documents checked', before: { kyb_status: 'PENDING' }, after: { kyb_status: 'APPROVED' } },
  { reason: 'a "quoted" | reason\nof two lines, \u2028 é 🏦 \\ \u0001' },
  { reason: '' },
  {},
]

async function fill(service: TestService): Promise<void> {
  const { app, owner } = service
  const merchant = await service.merchant()
  const actor = { id: 'sub-1', name: 'olga "o"', role: 'OPS' }
  for (const action of ACTIONS) {
    const about = { actor, action: 'merchant.kyb', merchantId: merchant.id, subjectId: merchant.id }
    await app.pool.transaction((tx) => recordAction(app, tx, { ...about, ...action }))
  }
  await createPayment(service, merchant, { metadata: { note: 'Zoë \u2028 支払い 🏦' } })
  const { id } = await authorisedPayment(service, merchant)
  const { id: refunded } = await authorisedPayment(service, merchant)
  await owner.query(`update payment_intents set settle_at = now() where status = 'Authorised'`)
  await settlePayments(app)
  for (const amount of ['10.00', '5.00']) await refund(service, merchant, { id: refunded, body: { amount } })
  await fillDispute(service, { merchantId: merchant.id, paymentId: id })
  await fillPayout(service, merchant.id)
  await createPayment(service, merchant)
}

async function fillPayout({ owner }: TestService, merchantId: string): Promise<void> {
  const [id, accountId] = [randomUUID(), randomUUID()]
  await owner.query(
    `insert into merchant_bank_accounts (id, merchant_id, account_holder_name, encrypted_account_number, encrypted_sort_code)
     values ($1, $2, 'Acme', 'v1.sealed', 'v1.sealed')`,
    [accountId, merchantId],
  )
  await owner.query(
    `insert into payouts (id, merchant_id, currency, amount, bank_account_id, connector, end_to_end_id)
     values ($1, $2, 'GBP', 9.99, $3, 'file', $4)`,
    [id, merchantId, accountId, `SVC${id.replaceAll('-', '')}`],
  )
  await owner.query(`update payouts set status = 'SENT', sent_at = now() where id = $1`, [id])
  await owner.query(`update payouts set status = 'PAID', paid_at = now() where id = $1`, [id])
}

type OfPayment = { merchantId: string; paymentId: string }

async function fillDispute({ owner }: TestService, { merchantId, paymentId }: OfPayment): Promise<void> {
  const disputeId = randomUUID()
  await owner.query(
    `insert into disputes (id, merchant_id, payment_intent_id, opened_by, reason, evidence_due_at)
     values ($1, $2, $3, 'PAYER', 'OTHER', now())`,
    [disputeId, merchantId, paymentId],
  )
  const steps = [
    [null, 'OPEN', 'raise', 'PAYER', null],
    ['OPEN', 'UNDER_REVIEW', 'submit evidence', 'MERCHANT', 'it was "sent"\n\u2029'],
    ['UNDER_REVIEW', 'ESCALATED', 'escalate', 'PLATFORM', ''],
  ]
  for (const [from, to, event, by, note] of steps)
    await owner.query(
      `insert into dispute_events (id, merchant_id, dispute_id, previous_status, new_status, event, changed_by, note, prev_hash, event_hash)
       values (gen_random_uuid(), $1, $2, $3, $4, $5, $6, $7, '', '')`,
      [merchantId, disputeId, from, to, event, by, note],
    )
  await owner.query(`update disputes set status = 'ESCALATED' where id = $1`, [disputeId])
}
