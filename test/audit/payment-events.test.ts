import { createHash, randomUUID } from 'node:crypto'
import t from 'tap'
import { PAYMENT_TRANSITIONS } from '../../src/payments/states.ts'
import type { TestMerchant } from '../support/app.ts'
import { authorisedPayment, createPayment, testService, untilStatus } from '../support/app.ts'

const service = await testService(t, { worker: true })
const merchant = await service.merchant()
const { owner } = service

type Row = {
  ordinal: string
  id: string
  merchant_id: string
  payment_intent_id: string
  previous_status: string | null
  new_status: string
  changed_by: string
  text: string
  raw_payload_sha256: string
  prev_hash: string
  event_hash: string
  at: string
  amounts: string[]
}

async function trail(paymentId: string): Promise<Row[]> {
  const { rows } = await owner.query<Row>(
    `select ordinal::text, id, merchant_id, payment_intent_id, previous_status, new_status, changed_by, raw_payload::text as text, raw_payload_sha256, prev_hash,
       event_hash, to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US') as at,
       array_remove(array[gross_amount::text, fee_amount::text, net_amount::text, currency], null) as amounts
     from payment_events where payment_intent_id = $1 order by payment_events.ordinal`,
    [paymentId],
  )
  return rows
}

function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex')
}

/** Finds the first broken link, knowing nothing of the database's own functions; undefined when the chain holds. */
function brokenAt(rows: Row[]): string | undefined {
  let before = '0'.repeat(64)
  let status: string | null = null
  for (const row of rows) {
    const told = [
      row.prev_hash,
      row.ordinal,
      row.id,
      row.merchant_id,
      row.payment_intent_id,
      row.previous_status ?? '-',
      row.new_status,
      row.changed_by,
      row.raw_payload_sha256,
      row.at,
      ...row.amounts,
    ]
    const holds =
      row.raw_payload_sha256 === sha256(row.text) &&
      row.prev_hash === before &&
      row.event_hash === sha256(told.join('|')) &&
      row.previous_status === status
    if (!holds) return row.ordinal
    before = row.event_hash
    status = row.new_status
  }
  return undefined
}

async function refunded(of: TestMerchant): Promise<string> {
  const { id } = await authorisedPayment(service, of)
  await untilStatus(service, of, id, 'Settled')
  await service.call('POST', `/api/v1/payments/${id}/refund`, { merchant: of })
  return id
}

const ODD_BODIES: [name: string, body: string][] = [
  [
    'white space',
    '  {\n\t"amount" :  "50.00", "currency":"GBP",\r\n "redirect_uri":"https://shop.example/return" }  \n',
  ],
  [
    'escapes',
    String.raw`{"amount":"50.00","currency":"GBP","redirect_uri":"https:\/\/shop.example\/return","metadata":{"note":"a\\b\"c\u00e9\n\t\/"}}`,
  ],
  [
    'many alphabets',
    '{"amount":"50.00","currency":"GBP","redirect_uri":"https://shop.example/return","metadata":{"note":"Zoë 支払い 🏦 \u202e \u0301"}}',
  ],
  [
    'an emoji written as a pair',
    String.raw`{"amount":"50.00","currency":"GBP","redirect_uri":"https://shop.example/return","metadata":{"note":"\ud83c\udfe6"}}`,
  ],
  [
    'a key written twice',
    '{"amount":"1.00","currency":"GBP","redirect_uri":"https://shop.example/return","amount":"50.00"}',
  ],
  [
    'another order and numbers with zeros',
    '{"redirect_uri":"https://shop.example/return","metadata":{"b":"1.10","a":"2"},"currency":"GBP","amount":"50.0000"}',
  ],
  [
    'backslashes that look like octal',
    String.raw`{"amount":"50.00","currency":"GBP","redirect_uri":"https://shop.example/return","metadata":{"note":"\\000\\x41 $1 %s {}"}}`,
  ],
]

t.test("the payload of a creation is the request's exact bytes, and its hash covers them", async (t) => {
  for (const [name, raw] of ODD_BODIES) {
    const { status, body, text } = await service.call('POST', '/api/v1/payments', {
      merchant,
      raw,
      headers: { 'x-idempotency-key': randomUUID() },
    })
    t.equal(status, 201, `${name}: ${text}`)
    const [row] = await trail(body.payment_id)
    t.equal(row?.text, raw, name)
    t.equal(row?.raw_payload_sha256, sha256(raw), name)
    t.equal(brokenAt(await trail(body.payment_id)), undefined)
  }
})

t.test("a payment's events form a chain, and the API shows the same", async (t) => {
  const id = await refunded(merchant)
  const rows = await trail(id)
  t.same(
    rows.map(({ previous_status, new_status, changed_by }) => [previous_status, new_status, changed_by]),
    [
      [null, 'AwaitingAuthorisation', 'MERCHANT_API'],
      ['AwaitingAuthorisation', 'Authorised', 'BANK_CALLBACK'],
      ['Authorised', 'Settled', 'BATCH_JOB'],
      ['Settled', 'Refunded', 'MERCHANT_API'],
    ],
  )
  t.equal(brokenAt(rows), undefined)
  const { body } = await service.call('GET', `/api/v1/payments/${id}/events`, { merchant })
  t.same(
    body.data.map((each: Record<string, string>) => [
      each['ordinal'],
      each['id'],
      each['raw_payload_sha256'],
      each['prev_hash'],
      each['event_hash'],
    ]),
    rows.map((row) => [row.ordinal, row.id, row.raw_payload_sha256, row.prev_hash, row.event_hash]),
  )
})

t.test('payments that are created and moved in one batch have separate chains', async (t) => {
  const made = await Promise.all(Array.from({ length: 30 }, () => authorisedPayment(service, merchant)))
  for (const { id } of made) await untilStatus(service, merchant, id, 'Settled')
  for (const { id } of made) t.equal(brokenAt(await trail(id)), undefined)
})

const CHANGES = [
  `update payment_events set changed_by = 'BATCH_JOB'`,
  'update payment_events set raw_payload = raw_payload',
  'update payment_events set created_at = now() where false',
  'delete from payment_events',
  'delete from payment_events where false',
  'truncate payment_events',
  'truncate payment_events cascade',
  'truncate payment_intents cascade',
  `with gone as (delete from payment_events returning 1) select * from gone`,
  `merge into payment_events e using (select 1) s on true when matched then delete`,
  `insert into payment_events select * from payment_events on conflict (ordinal) do update set changed_by = 'BATCH_JOB'`,
]

t.test("not even the tables' owner can change or remove an event", async (t) => {
  await createPayment(service, merchant)
  for (const change of CHANGES) await t.rejects(owner.query(change), { code: '42501', message: /append-only/ }, change)
})

const RUNTIME_REFUSED = [
  ...CHANGES,
  'alter table payment_events disable trigger append_only',
  'alter table payment_events disable trigger all',
  'drop trigger append_only on payment_events',
  'alter table payment_events drop constraint payment_events__transition',
  'alter table payment_events owner to svc_runtime',
  'drop table payment_events cascade',
  'create or replace function refuse_change() returns trigger language plpgsql as $$ begin return null; end $$',
  'create or replace function seal_payment_event() returns trigger language plpgsql as $$ begin return new; end $$',
  'create rule quiet as on update to payment_events do instead nothing',
  'set session_replication_role = replica',
  'create table public.mine (a int)',
  `insert into payment_events (id, merchant_id, payment_intent_id, previous_status, new_status, changed_by, raw_payload)
     select gen_random_uuid(), merchant_id, id, status, 'Settled', 'BATCH_JOB', '{}' from payment_intents limit 1`,
  `update payment_intents set status = 'Settled'`,
  'update payment_intents set gross_amount = 1',
  'update payment_intents set merchant_id = merchant_id',
  `update payment_consents set status = 'AUTHORISED'`,
  'delete from payment_intents',
  'delete from payment_consents',
  'delete from payment_refunds',
  'delete from webhook_deliveries',
  `update webhook_deliveries set payload = '{}'`,
  'delete from merchants',
]

t.test('the runtime role cannot change history, whatever statement it runs', async (t) => {
  await owner.query('set role svc_runtime')
  t.teardown(() => owner.query('reset role'))
  for (const change of RUNTIME_REFUSED) {
    await t.rejects(owner.query(change), { code: '42501' }, change)
  }
})

t.test('the functions that it may call make only the moves of the contract', async (t) => {
  const { rows } = await owner.query(
    "select id, merchant_id, status from payment_intents where status = 'Settled' limit 1",
  )
  const payment = rows[0]
  const states = ['Initiated', 'AwaitingAuthorisation', 'Authorised', 'Settled', 'Failed', 'Refunded']
  const legal = new Set(PAYMENT_TRANSITIONS.map(({ from, to }) => `${from}>${to}`))
  await owner.query('set role svc_runtime')
  t.teardown(() => owner.query('reset role'))
  for (const to of states.filter((each) => !legal.has(`Settled>${each}`))) {
    const item = {
      merchant_id: payment.merchant_id,
      payment_id: payment.id,
      from_status: 'Settled',
      to_status: to,
      changed_by: 'BATCH_JOB',
      raw_payload: '{}',
      audit_id: randomUUID(),
      delivery_id: randomUUID(),
      event_id: randomUUID(),
      failure_code: to === 'Failed' ? 'BANK_ERROR' : null,
      failure_source: to === 'Failed' ? 'SCHEME' : null,
      test: true,
    }
    await t.rejects(
      owner.query('select * from move_payments($1)', [JSON.stringify([item])]),
      { code: /^(23514|42501)$/ },
      `Settled to ${to}`,
    )
  }
})

t.test("the database's transition table is the one that the code reads", async (t) => {
  const { rows } = await owner.query(
    `select pg_get_constraintdef(oid) as text from pg_constraint where conname = 'payment_events__transition'`,
  )
  const states = [null, 'Initiated', 'AwaitingAuthorisation', 'Authorised', 'Settled', 'Failed', 'Refunded']
  const check = String(rows[0].text).replace(/^CHECK /, '')
  for (const from of states) {
    for (const to of states.slice(1)) {
      const { rows: answer } = await owner.query(
        `select ${check} as allowed from (select $1::payment_status as previous_status, $2::payment_status as new_status) e`,
        [from, to],
      )
      const inCode = PAYMENT_TRANSITIONS.some((row) => row.from === from && row.to === to)
      t.equal(answer[0].allowed === true, inCode, `${from} to ${to}`)
    }
  }
})

/** What somebody with all rights could do behind the triggers, and each is found by computing the chain again. */
const FORGERIES: [name: string, forge: string][] = [
  ['another payload', `update payment_events set raw_payload = '{"amount":"1.00"}' where ordinal = $1`],
  [
    'another payload with its hash',
    `update payment_events set raw_payload = '{}', raw_payload_sha256 = encode(sha256('{}'), 'hex') where ordinal = $1`,
  ],
  [
    'the same payload with other spaces',
    `update payment_events set raw_payload = (raw_payload::text || ' ')::json where ordinal = $1`,
  ],
  ['another actor', `update payment_events set changed_by = 'BATCH_JOB' where ordinal = $1`],
  [
    'a microsecond later',
    `update payment_events set created_at = created_at + interval '1 microsecond' where ordinal = $1`,
  ],
  ["another payment's id", 'update payment_events set id = gen_random_uuid() where ordinal = $1'],
  [
    'the whole row made anew, hash and all',
    `update payment_events e set changed_by = 'BATCH_JOB', event_hash = payment_event_hash(row(e.ordinal, e.id, e.merchant_id, e.payment_intent_id, e.previous_status, e.new_status, 'BATCH_JOB', e.raw_payload, e.raw_payload_sha256, e.prev_hash, e.event_hash, e.created_at, e.gross_amount, e.fee_amount, e.net_amount, e.currency)::payment_events) where ordinal = $1`,
  ],
  ['a row taken out', 'delete from payment_events where ordinal = $1'],
]

t.test('an edit that bypasses the triggers is detected by recomputing the chain', async (t) => {
  for (const [name, forge] of FORGERIES) {
    const id = await refunded(merchant)
    const rows = await trail(id)
    t.equal(brokenAt(rows), undefined)
    await owner.query('begin')
    await owner.query('set local session_replication_role = replica')
    const edit = await owner.query(forge, [rows[1]?.ordinal])
    await owner.query('commit')
    t.equal(edit.rowCount, 1, name)
    t.not(brokenAt(await trail(id)), undefined, name)
  }
})
