import fc from 'fast-check'
import t from 'tap'
import type pg from 'pg'
import { makePgConnection } from '../../src/db/connection.ts'
import { CHAIN_SHAPES } from '../../src/lib/audit-chain.ts'
import type { AuditChain, AuditRow } from '../../src/lib/audit-chain.ts'
import { LEDGER_ACCOUNTS, MOVEMENTS } from '../../src/ledger/movements.ts'
import { testDatabase } from '../support/database.ts'

const { url: databaseUrl } = await testDatabase(t)
const owner: pg.Client = await makePgConnection({ databaseUrl, onError: () => undefined })
t.teardown(() => owner.end())

type Column = [name: string, type: string, values: fc.Arbitrary<string | null>]

const ODD = ['', '"', '\\', '\\u0041', '|', '-', 'null', 'a\nb\r\n\t\b\f', '\u0001\u001f\u007f\u0080', '\u2028\u2029']
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }).map((text) => text.replaceAll('\u0000', '')),
  fc.string({
    unit: fc.constantFrom(...'"\\/|\n\r\t\b\f\u0001\u2028\u202e\ufeff', '🏦', 'é', 'e\u0301'),
    maxLength: 12,
  }),
  fc.constantFrom(...ODD, 'Zoë 支払い 🏦', '\ud83c\udfe6', '{"a": 1}'),
)
const anyJson = fc.oneof(
  fc.json(),
  fc.tuple(fc.json(), fc.constantFrom(' ', '\n\t')).map(([json, space]) => `${space}${json}${space}`),
  fc.constantFrom('{"a":1,"a":2}', '{"b":"\\u00e9\\/"}', '1.10', 'null', '"\u2028"'),
)
const nullable = (values: fc.Arbitrary<string | null>) => fc.option(values, { nil: null })
const ordinal = fc.bigInt({ min: 1n, max: 9_223_372_036_854_775_807n }).map(String)
const hash = fc.stringMatching(/^[0-9a-f]{64}$/)
const uuid = fc.uuid()
const word = fc.constantFrom('OWNER', 'OPS', 'NONE', 'merchant.kyb', 'a_b.c')
const actor = fc.constantFrom('MERCHANT_API', 'BANK_CALLBACK', 'BATCH_JOB')
const paymentStatus = fc.constantFrom('Initiated', 'AwaitingAuthorisation', 'Authorised', 'Settled', 'Failed')
const disputeStatus = fc.constantFrom('OPEN', 'UNDER_REVIEW', 'ESCALATED', 'RESOLVED_PAYER_FAVOUR')
const refundStatus = fc.constantFrom('PENDING', 'EXECUTED', 'FAILED')
const payoutStatus = fc.constantFrom('CREATED', 'SENT', 'PAID', 'FAILED', 'RETURNED')
const currency = fc.constantFrom('GBP', 'EUR')
const amount = fc.bigInt({ min: 1n, max: 999_999_999_999_999_9999n }).map((units) =>
  String(units)
    .padStart(5, '0')
    .replace(/(\d{4})$/, '.$1'),
)
/** To the microsecond, as PostgreSQL keeps it. */
const time = fc
  .tuple(
    fc.date({ min: new Date('1999-01-01'), max: new Date('2199-01-01'), noInvalidDate: true }),
    fc.integer({ min: 0, max: 999 }),
  )
  .map(([date, micros]) => `${date.toISOString().slice(0, -1)}${String(micros).padStart(3, '0')}`)

/** The columns in the order of the tables. */
const TABLES: Record<AuditChain, { call: string; columns: Column[] }> = {
  operator_actions: {
    call: 'operator_action_hash(row($)::operator_actions)',
    columns: [
      ['ordinal', 'bigint', ordinal],
      ['id', 'uuid', uuid],
      ['actor_id', 'text', anyText],
      ['actor_name', 'text', anyText],
      ['actor_role', 'text', word],
      ['action', 'text', word],
      ['merchant_id', 'uuid', nullable(uuid)],
      ['subject_id', 'text', anyText],
      ['reason', 'text', nullable(anyText)],
      ['before', 'json', nullable(anyJson)],
      ['after', 'json', nullable(anyJson)],
      ['prev_hash', 'char(64)', hash],
      ['action_hash', 'char(64)', hash],
      ['created_at', 'timestamptz', time],
    ],
  },
  payment_events: {
    call: 'payment_event_hash(row($)::payment_events)',
    columns: [
      ['ordinal', 'bigint', ordinal],
      ['id', 'uuid', uuid],
      ['merchant_id', 'uuid', uuid],
      ['payment_intent_id', 'uuid', uuid],
      ['previous_status', 'payment_status', nullable(paymentStatus)],
      ['new_status', 'payment_status', paymentStatus],
      ['changed_by', 'varchar(100)', actor],
      ['raw_payload', 'json', anyJson],
      ['raw_payload_sha256', 'char(64)', hash],
      ['prev_hash', 'char(64)', hash],
      ['event_hash', 'char(64)', hash],
      ['created_at', 'timestamptz', time],
      ['gross_amount', 'numeric(19, 4)', nullable(amount)],
      ['fee_amount', 'numeric(19, 4)', nullable(amount)],
      ['net_amount', 'numeric(19, 4)', nullable(amount)],
      ['currency', 'char(3)', nullable(currency)],
    ],
  },
  payout_events: {
    call: 'payout_event_hash(row($)::payout_events)',
    columns: [
      ['ordinal', 'bigint', ordinal],
      ['id', 'uuid', uuid],
      ['merchant_id', 'uuid', uuid],
      ['payout_id', 'uuid', uuid],
      ['previous_status', 'payout_status', nullable(payoutStatus)],
      ['new_status', 'payout_status', payoutStatus],
      ['changed_by', 'text', actor],
      ['prev_hash', 'char(64)', hash],
      ['event_hash', 'char(64)', hash],
      ['created_at', 'timestamptz', time],
      ['bank_account_id', 'uuid', nullable(uuid)],
      ['amount', 'numeric(19, 4)', nullable(amount)],
      ['currency', 'char(3)', nullable(currency)],
    ],
  },
  refund_events: {
    call: 'refund_event_hash(row($)::refund_events)',
    columns: [
      ['ordinal', 'bigint', ordinal],
      ['id', 'uuid', uuid],
      ['merchant_id', 'uuid', uuid],
      ['refund_id', 'uuid', uuid],
      ['previous_status', 'refund_status', nullable(refundStatus)],
      ['new_status', 'refund_status', refundStatus],
      ['prev_hash', 'char(64)', hash],
      ['event_hash', 'char(64)', hash],
      ['created_at', 'timestamptz', time],
      ['payment_intent_id', 'uuid', nullable(uuid)],
      ['amount', 'numeric(19, 4)', nullable(amount)],
      ['currency', 'char(3)', nullable(currency)],
    ],
  },
  dispute_events: {
    call: 'dispute_event_hash(row($)::dispute_events)',
    columns: [
      ['ordinal', 'bigint', ordinal],
      ['id', 'uuid', uuid],
      ['merchant_id', 'uuid', uuid],
      ['dispute_id', 'uuid', uuid],
      ['previous_status', 'dispute_status', nullable(disputeStatus)],
      ['new_status', 'dispute_status', disputeStatus],
      ['event', 'varchar(64)', anyText],
      ['changed_by', 'varchar(16)', actor],
      ['actor_id', 'text', nullable(anyText)],
      ['actor_name', 'text', nullable(anyText)],
      ['note', 'text', nullable(anyText)],
      ['prev_hash', 'char(64)', hash],
      ['event_hash', 'char(64)', hash],
      ['created_at', 'timestamptz', time],
      ['payment_intent_id', 'uuid', nullable(uuid)],
      ['gross_amount', 'numeric(19, 4)', nullable(amount)],
      ['currency', 'char(3)', nullable(currency)],
    ],
  },
  ledger_entries: {
    call: 'ledger_entry_hash(row($)::ledger_entries)',
    columns: [
      ['ordinal', 'bigint', ordinal],
      ['merchant_id', 'uuid', uuid],
      ['movement', 'ledger_movement', fc.constantFrom(...Object.keys(MOVEMENTS))],
      ['subject_id', 'uuid', uuid],
      ['debit', 'ledger_account', fc.constantFrom(...LEDGER_ACCOUNTS)],
      ['credit', 'ledger_account', fc.constantFrom(...LEDGER_ACCOUNTS)],
      ['amount', 'numeric(19, 4)', amount],
      ['currency', 'char(3)', currency],
      ['created_at', 'timestamptz', time],
      ['entry_hash', 'char(64)', hash],
    ],
  },
  checkpoints: {
    call: 'audit_checkpoint_hash(row($)::audit_checkpoints)',
    columns: [
      ['ordinal', 'bigint', ordinal],
      ['id', 'uuid', uuid],
      ['chain', 'text', fc.constantFrom('operator_actions', 'payment_events', 'refund_events')],
      ['up_to_ordinal', 'bigint', ordinal],
      ['row_count', 'bigint', ordinal],
      ['digest', 'char(64)', hash],
      ['prev_hash', 'char(64)', hash],
      ['checkpoint_hash', 'char(64)', hash],
      ['created_at', 'timestamptz', time],
    ],
  },
}

for (const [chain, { call, columns }] of Object.entries(TABLES)) {
  t.test(`the hash of a row of ${chain} is the one that the database computes, whatever its texts`, async (t) => {
    const names = columns.map(([name]) => name)
    const { rows } = await owner.query(
      `select array_agg(attname::text order by attnum) as names from pg_attribute
       where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
      [chain === 'checkpoints' ? 'audit_checkpoints' : chain],
    )
    t.same(rows[0].names, names, 'every column of the table is covered')
    const values = columns.map(([, type], index) => `$${index + 1}::text::${type}`).join(', ')
    const query = `select ${call.replace('$', () => values)} as hash`
    await fc.assert(
      fc.asyncProperty(fc.tuple(...columns.map(([, , arbitrary]) => arbitrary)), async (texts) => {
        const row: AuditRow = Object.fromEntries(texts.map((text, index) => [names[index] ?? '', text]))
        const { rows: told } = await owner.query(
          query,
          texts.map((text, index) => (names[index] === 'created_at' ? `${text}Z` : text)),
        )
        return told[0].hash === CHAIN_SHAPES[chain as AuditChain].hashOf(row)
      }),
      { numRuns: 400 },
    )
    t.pass('400 rows')
  })
}
