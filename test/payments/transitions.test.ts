import { randomUUID } from 'node:crypto'
import t from 'tap'
import { CONSENT_TRANSITIONS } from '../../src/consents/states.ts'
import { makePgConnection } from '../../src/db/connection.ts'
import { movePayment } from '../../src/payments/move.ts'
import { PAYMENT_TRANSITIONS } from '../../src/payments/states.ts'
import { ConsentStatus, PaymentStatus } from '../../src/wire/payments.ts'
import { createPayment, testService } from '../support/app.ts'
import { movesOf, settledPayment, stateOf } from '../support/payments.ts'

const service = await testService(t)
const merchant = await service.merchant()
const { owner } = service

/** Runs a statement, rolls it back, and returns the error's SQLSTATE; undefined where it succeeded. */
async function attempt(statement: string, values: unknown[] = [], before = 'select 1'): Promise<string | undefined> {
  await owner.query('begin')
  try {
    await owner.query(before)
    await owner.query(statement, values)
    return undefined
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error)
  } finally {
    await owner.query('rollback')
  }
}

t.test('the database accepts exactly the payment moves of the transition table', async (t) => {
  const { body } = await createPayment(service, merchant)
  const allowed = new Set(PAYMENT_TRANSITIONS.map(({ from, to }) => `${from} ${to}`))
  let refused = 0
  for (const from of [null, ...PaymentStatus.options]) {
    for (const to of PaymentStatus.options) {
      // Without the trigger and the index that go by the payment's other events: this tests the check alone.
      const code = await attempt(
        `insert into payment_events (id, merchant_id, payment_intent_id, previous_status, new_status, changed_by, raw_payload,
           raw_payload_sha256, prev_hash, event_hash, gross_amount, fee_amount, net_amount, currency)
         select $1::uuid, $2::uuid, $3::uuid, $4::payment_status, $5::payment_status, 'BATCH_JOB', '{}', '', '', '', p.gross_amount, p.fee_amount, p.net_amount, p.currency
         from (select 1) as one left join payment_intents p on p.id = $3::uuid and $4::payment_status is null`,
        [randomUUID(), merchant.id, body.payment_id, from, to],
        'set local session_replication_role = replica; drop index payment_events__path',
      )
      if (!allowed.has(`${from} ${to}`)) refused += 1
      t.equal(code, allowed.has(`${from} ${to}`) ? undefined : '23514', `${from ?? '(none)'} -> ${to}`)
    }
  }
  t.equal(refused, 7 * 6 - new Set(allowed).size)
})

t.test('the database accepts exactly the consent moves of the transition table', async (t) => {
  const insert = `
    insert into payment_consents (
      id, merchant_id, consent_type, status, amount, control_parameters, currency, expires_at, valid_to, revoked_by
    )
    values (
      $1, $2, $3::consent_type, $4::consent_status, $5, $6, 'GBP', now(),
      case when $3::consent_type = 'VARIABLE_RECURRING' then now() end,
      case when $4::consent_status = 'REVOKED' then 'PAYER' end
    )`
  for (const type of ['SINGLE_IMMEDIATE', 'VARIABLE_RECURRING']) {
    for (const from of ConsentStatus.options) {
      const id = randomUUID()
      await owner.query(insert, [
        id,
        merchant.id,
        type,
        from,
        type === 'SINGLE_IMMEDIATE' ? 10 : null,
        type === 'SINGLE_IMMEDIATE' ? null : '{}',
      ])
      for (const to of ConsentStatus.options) {
        const inTable = CONSENT_TRANSITIONS.some((row) => row.from === from && row.to === to)
        // Moves from AUTHORISED are for recurring consents only.
        const allowed = from === to || (inTable && (from !== 'AUTHORISED' || type === 'VARIABLE_RECURRING'))
        t.equal(
          await attempt(
            `update payment_consents
             set status = $1::consent_status, revoked_by = case when $1::consent_status = 'REVOKED' then 'PAYER' end
             where id = $2`,
            [to, id],
          ),
          allowed ? undefined : '23514',
          `${type} ${from} -> ${to}`,
        )
      }
    }
  }
})

t.test('an unknown move is rejected as a whole: no status, no event, no webhook', async (t) => {
  const { body } = await createPayment(service, merchant)
  const item = {
    merchant_id: merchant.id,
    payment_id: body.payment_id,
    from_status: 'AwaitingAuthorisation',
    to_status: 'Settled',
    changed_by: 'BATCH_JOB',
    raw_payload: '{}',
    audit_id: randomUUID(),
    delivery_id: randomUUID(),
    event_id: `evt_${randomUUID()}`,
    event_type: 'payment.settled',
  }
  await t.rejects(owner.query('select * from move_payments($1)', [JSON.stringify([item])]), { code: '23514' })
  t.equal((await stateOf(service, body.payment_id)).payment, 'AwaitingAuthorisation')
  t.same(await movesOf(service, body.payment_id), ['AwaitingAuthorisation'])
})

t.test('the service rejects a move that is not in the transition table', async (t) => {
  const move = { merchantId: merchant.id, paymentId: randomUUID(), rawPayload: '{}' }
  await t.rejects(
    movePayment(service.app, { ...move, from: 'Failed', on: 'settlement' }),
    /no transition from Failed on settlement/,
  )
  await t.rejects(movePayment(service.app, { ...move, from: 'AwaitingAuthorisation', on: 'denial' }), /failure code/)
  await t.rejects(
    movePayment(service.app, { ...move, from: 'Authorised', on: 'settlement', failureCode: 'BANK_ERROR' }),
    /failure code/,
  )
})

t.test("a move from another status, or of another merchant's payment, changes nothing", async (t) => {
  const { body } = await createPayment(service, merchant)
  const stranger = await service.merchant()
  const move = { from: 'AwaitingAuthorisation', on: 'authorisation', rawPayload: '{}' } as const
  t.match(await movePayment(service.app, { ...move, merchantId: stranger.id, paymentId: body.payment_id }), {
    outcome: 'STALE',
    status: null,
  })
  t.match(await movePayment(service.app, { ...move, merchantId: merchant.id, paymentId: randomUUID() }), {
    outcome: 'STALE',
    status: null,
  })
  t.match(
    await movePayment(service.app, {
      merchantId: merchant.id,
      paymentId: body.payment_id,
      from: 'Authorised',
      on: 'settlement',
      rawPayload: '{}',
    }),
    { outcome: 'STALE', status: 'AwaitingAuthorisation' },
    'no consent says so here, only the status',
  )
  t.equal((await stateOf(service, body.payment_id)).payment, 'AwaitingAuthorisation')
})

t.test('a failed payment needs its code, and a full refund the whole amount', async (t) => {
  const id = await settledPayment(service, merchant)
  const set = (assignment: string) => attempt(`update payment_intents set ${assignment} where id = $1`, [id])
  const wrong = [
    `status = 'Failed'`,
    `failure_code = 'BANK_ERROR', failure_source = 'SCHEME'`,
    `status = 'Refunded'`,
    `status = 'Refunded', refunded_amount = 49.99`,
    'refunded_amount = 50.0001',
    'refunded_amount = 30, refund_reserved_amount = 20.01',
    'refund_reserved_amount = -1',
    'refunded_amount = -0.01',
    'gross_amount = 51',
    'net_amount = 49.31',
    'fee_amount = 0',
    `gross_amount = 'NaN', amount = 'NaN'`,
    `refunded_amount = 'NaN'`,
  ]
  for (const assignment of wrong) t.equal(await set(assignment), '23514', assignment)
  t.equal(await set('refunded_amount = 50'), undefined)
})

t.test("the service's database role can't bypass the state machine or the audit trail", async (t) => {
  const { body } = await createPayment(service, merchant)
  const runtime = await makePgConnection({
    databaseUrl: service.databaseUrl,
    role: 'svc_runtime',
    onError: () => undefined,
  })
  t.teardown(() => runtime.end())
  const statements = [
    `update payment_intents set status = 'Settled'`,
    'update payment_intents set gross_amount = 1',
    'update payment_intents set fee_amount = 0, net_amount = gross_amount',
    `update payment_intents set failure_code = 'BANK_ERROR'`,
    `update payment_consents set status = 'AUTHORISED'`,
    'update payment_consents set amount = 1',
    'update payment_consents set expires_at = now()',
    `insert into payment_intents (id, merchant_id) values (gen_random_uuid(), '${merchant.id}')`,
    `insert into payment_consents (id, merchant_id) values (gen_random_uuid(), '${merchant.id}')`,
    `insert into payment_events (id, merchant_id, payment_intent_id, new_status, changed_by, raw_payload)
     values (gen_random_uuid(), '${merchant.id}', '${body.payment_id}', 'Initiated', 'BATCH_JOB', '{}')`,
    'update payment_events set changed_by = changed_by',
    'delete from payment_events',
    'truncate payment_events',
    'delete from payment_intents',
    'delete from payment_consents',
    'delete from payment_refunds',
    'update payment_refunds set amount = 1',
    'alter table payment_events disable trigger append_only',
    'drop trigger append_only on payment_events',
    'alter table payment_events drop constraint payment_events__transition',
    `set session_replication_role = 'replica'`,
    'create or replace function refuse_change() returns trigger language plpgsql as $$ begin return null; end $$',
  ]
  for (const statement of statements) await t.rejects(runtime.query(statement), { code: '42501' }, statement)
  t.same(await movesOf(service, body.payment_id), ['AwaitingAuthorisation'])
})

t.test('not even the owner of the tables can change the audit trail', async (t) => {
  await createPayment(service, merchant)
  for (const statement of [
    'update payment_events set changed_by = changed_by',
    'delete from payment_events',
    'truncate payment_events',
  ]) {
    t.equal(await attempt(statement), '42501', statement)
  }
})

t.test("the database computes an event's hash, whatever hash the writer sends", async (t) => {
  const { body } = await createPayment(service, merchant)
  const raw = '{"a":"é\\n\\\\ \\u00e9", "a":1.10}'
  await owner.query(
    `insert into payment_events (id, merchant_id, payment_intent_id, previous_status, new_status, changed_by, raw_payload, raw_payload_sha256, prev_hash, event_hash)
     values ($1, $2, $3, 'AwaitingAuthorisation', 'Failed', 'BATCH_JOB', $4, 'x', 'y', 'z')`,
    [randomUUID(), merchant.id, body.payment_id, raw],
  )
  const { rows } = await owner.query(
    `select e.raw_payload_sha256 = encode(sha256(convert_to($2, 'UTF8')), 'hex') as payload, e.prev_hash = b.event_hash as chained, e.event_hash = payment_event_hash(e) as own
     from payment_events e join payment_events b on b.payment_intent_id = e.payment_intent_id and b.previous_status is null
     where e.payment_intent_id = $1 and e.previous_status is not null`,
    [body.payment_id, raw],
  )
  t.same(rows, [{ payload: true, chained: true, own: true }])
})
