import { join } from 'node:path'
import t from 'tap'
import { settlePayments } from '../../src/payments/settle-payments.ts'
import { auditedService } from '../support/audit.ts'

const service = await auditedService(t)
const { app, owner } = service
await service.fill()
const file = join(t.testdir(), 'audit.jsonl')

type Broken = { ordinal: string; id: string; problem: string; detail: string }

/** The breaks that `svc audit verify` names, by chain; online, and the same once more from an export. */
async function broken(): Promise<Record<string, Broken>> {
  const online = await service.svc(['audit', 'verify', '-o', 'json'])
  await service.svc(['audit', 'export', '--file', file, '--force'])
  const offline = await service.svc(['audit', 'verify', '-o', 'json', '--file', file])
  if (offline.stdout !== online.stdout) throw new Error(`offline says ${offline.stdout}, and not ${online.stdout}`)
  const chains: { chain: string; broken: Broken | null }[] = JSON.parse(online.stdout).chains
  const found = chains.flatMap(({ chain, broken: row }) => (row === null ? [] : [[chain, row] as const]))
  if (online.code !== (found.length === 0 ? 0 : 3)) throw new Error(`exit code ${online.code}: ${online.stderr}`)
  return Object.fromEntries(found)
}

async function settled(): Promise<{ id: string; first: string }> {
  const { rows } = await owner.query(
    `select p.id, e.id as first from payment_intents p
     join payment_events e on e.payment_intent_id = p.id and e.previous_status is null
     where p.status = 'Settled' order by e.ordinal limit 1`,
  )
  return rows[0]
}

t.test('the gross amount of a settled payment that a superuser raised is named', async (t) => {
  t.same(await broken(), {})
  const { id, first } = await settled()
  const set =
    'update payment_intents set amount = $2, gross_amount = $2, net_amount = $2::numeric - fee_amount where id = $1'
  await service.tamper(set, [id, '5000'])
  t.match(await broken(), {
    payment_events: {
      id: first,
      problem: 'value edited',
      detail: `payment ${id}: gross_amount was 50.0000 and is now 5000.0000; net_amount was 49.3000 and is now 4999.3000`,
    },
  })
  await service.tamper(set, [id, '50'])
  t.same(await broken(), {})
})

t.test('a payment whose status was set back is not settled twice', async (t) => {
  const { id } = await settled()
  await service.tamper(`update payment_intents set status = 'Authorised', settle_at = now() where id = $1`, [id])
  await settlePayments(app)
  const { rows } = await owner.query(
    `select (select count(*)::int from payment_events where payment_intent_id = $1 and new_status = 'Settled') as events,
       (select count(*)::int from webhook_deliveries where payment_intent_id = $1 and event_type = 'payment.settled') as webhooks,
       (select status::text from payment_intents where id = $1) as status`,
    [id],
  )
  t.same(rows, [{ events: 1, webhooks: 1, status: 'Authorised' }])
  t.match(await broken(), {
    payment_events: { problem: 'status edited', detail: /to Settled, and the status itself is Authorised$/ },
  })
  await service.tamper(`update payment_intents set status = 'Settled' where id = $1`, [id])
})

/** One row of each kind, and its key for the statements below. */
async function subjects(): Promise<Record<'payment' | 'other' | 'refund' | 'dispute' | 'merchant', string>> {
  const { rows } = await owner.query(
    `select (select id from payment_intents where status = 'Settled' and refunded_amount = 0 order by id limit 1) as payment,
       (select id from payment_intents where status = 'AwaitingAuthorisation' order by id limit 1) as other,
       (select id from payment_refunds where amount = 10 limit 1) as refund, (select id from disputes limit 1) as dispute`,
  )
  return { ...rows[0], merchant: (await service.merchant()).id }
}

const HASHED = {
  payment_events: 'payment_event_hash',
  refund_events: 'refund_event_hash',
  dispute_events: 'dispute_event_hash',
}

type Corruption = {
  name: string
  /** `$1` to `$5`: a settled payment, another payment, a refund, a dispute, another merchant. */
  does: string
  /** The chain that names it, and the condition of the event that it names. */
  chain: keyof typeof HASHED
  event: string
  problem: string
  detail: RegExp
}
const FIRST = 'previous_status is null and payment_intent_id = $1'
const CORRUPTIONS: Corruption[] = [
  {
    name: "a payment's amount",
    does: 'update payment_intents set amount = 49, gross_amount = 49, net_amount = 49 - fee_amount where id = $1',
    chain: 'payment_events',
    event: FIRST,
    problem: 'value edited',
    detail:
      /^payment [\w-]+: gross_amount was 50\.0000 and is now 49\.0000; net_amount was 49\.3000 and is now 48\.3000$/,
  },
  {
    name: "a payment's fee, and with it what the merchant gets",
    does: 'update payment_intents set fee_amount = 0, net_amount = gross_amount where id = $1',
    chain: 'payment_events',
    event: FIRST,
    problem: 'value edited',
    detail: /: fee_amount was 0\.7000 and is now 0\.0000; net_amount was 49\.3000 and is now 50\.0000$/,
  },
  {
    name: "a payment's net amount, behind the table's own check",
    does: 'update payment_intents set net_amount = 49.9 where id = $1',
    chain: 'payment_events',
    event: FIRST,
    problem: 'value edited',
    detail: /: net_amount was 49\.3000 and is now 49\.9000$/,
  },
  {
    name: "a payment's currency",
    does: `update payment_intents set currency = 'EUR' where id = $1`,
    chain: 'payment_events',
    event: FIRST,
    problem: 'value edited',
    detail: /: currency was GBP and is now EUR$/,
  },
  {
    name: "a payment's merchant",
    does: 'update payment_intents set merchant_id = $5 where id = $1',
    chain: 'payment_events',
    event: FIRST,
    problem: 'value edited',
    detail: /: merchant_id was [\w-]+ and is now [\w-]+$/,
  },
  {
    name: "a payment's first event, so that it agrees with the edited payment",
    does: `update payment_events set gross_amount = 5000, net_amount = 4999.3 where ${FIRST}`,
    chain: 'payment_events',
    event: FIRST,
    problem: 'changed',
    detail: /./,
  },
  {
    name: "a refund's amount",
    does: 'update payment_refunds set amount = 1 where id = $3',
    chain: 'refund_events',
    event: 'previous_status is null and refund_id = $3',
    problem: 'value edited',
    detail: /^refund [\w-]+: amount was 10\.0000 and is now 1\.0000$/,
  },
  {
    name: "a refund's payment",
    does: 'update payment_refunds set payment_intent_id = $2 where id = $3',
    chain: 'refund_events',
    event: 'previous_status is null and refund_id = $3',
    problem: 'value edited',
    detail: /: payment_intent_id was [\w-]+ and is now [\w-]+$/,
  },
  {
    name: 'a refund that is set back',
    does: `update payment_refunds set status = 'PENDING' where id = $3`,
    chain: 'refund_events',
    event: `new_status = 'EXECUTED' and refund_id = $3`,
    problem: 'status edited',
    detail: /to EXECUTED, and the status itself is PENDING$/,
  },
  {
    name: 'a refund that is removed',
    does: 'delete from payment_refunds where id = $3',
    chain: 'refund_events',
    event: `new_status = 'EXECUTED' and refund_id = $3`,
    problem: 'status edited',
    detail: /to EXECUTED, and the status itself is gone$/,
  },
  {
    name: "a disputed payment's amount",
    does: `update payment_intents set amount = 60, gross_amount = 60, net_amount = 60 - fee_amount
           where id = (select payment_intent_id from disputes where id = $4)`,
    chain: 'dispute_events',
    event: 'previous_status is null and dispute_id = $4',
    problem: 'value edited',
    detail: /^dispute [\w-]+: gross_amount was 50\.0000 and is now 60\.0000$/,
  },
  {
    name: "a dispute's payment",
    does: 'update disputes set payment_intent_id = $2 where id = $4',
    chain: 'dispute_events',
    event: 'previous_status is null and dispute_id = $4',
    problem: 'value edited',
    detail: /: payment_intent_id was [\w-]+ and is now [\w-]+$/,
  },
  {
    name: "an event that is another payment's now",
    does: `update payment_events set payment_intent_id = $2 where payment_intent_id = $1 and new_status = 'Authorised'`,
    chain: 'payment_events',
    event: `payment_intent_id = $2 and new_status = 'Authorised'`,
    problem: 'changed',
    detail: /./,
  },
  {
    name: "an event's payload",
    does: `update payment_events set raw_payload = '{"amount":"5000.00"}' where ${FIRST}`,
    chain: 'payment_events',
    event: FIRST,
    problem: 'payload changed',
    detail: /./,
  },
  {
    name: 'an event that is removed',
    does: `delete from payment_events where payment_intent_id = $1 and new_status = 'Authorised'`,
    chain: 'payment_events',
    event: `payment_intent_id = $1 and new_status = 'Settled'`,
    problem: 'row missing before it',
    detail: /./,
  },
  {
    name: 'a second settlement, with the hash that is right for it',
    does: `with made as (
             insert into payment_events (id, merchant_id, payment_intent_id, previous_status, new_status, changed_by,
               raw_payload, raw_payload_sha256, prev_hash, event_hash)
             select gen_random_uuid(), merchant_id, payment_intent_id, 'Authorised', 'Settled', 'BATCH_JOB', raw_payload,
               raw_payload_sha256, event_hash, ''
             from payment_events where payment_intent_id = $1 and new_status = 'Settled'
             returning *
           ) select * from made`,
    chain: 'payment_events',
    event: `payment_intent_id = $1 and new_status = 'Settled' and ordinal = (select max(ordinal) from payment_events)`,
    problem: 'path broken',
    detail: /^payment [\w-]+: it goes from Authorised, and the event before it went to Settled$/,
  },
]

t.test('each corruption by hand is named with its row and both values', async (t) => {
  await service.fill()
  const { payment, other, refund, dispute, merchant } = await subjects()
  const values = [payment, other, refund, dispute, merchant]
  await owner.query('alter table payment_intents drop constraint payment_intents_check1')
  await owner.query('drop index payment_events__path')
  const restore = await service.keep(['payment_intents', 'payment_refunds', 'disputes'])
  const all = `($1::uuid, $2::uuid, $3::uuid, $4::uuid, $5::uuid) is not null`
  for (const { name, does, chain, event, problem, detail } of CORRUPTIONS) {
    t.same(await broken(), {}, `before: ${name}`)
    const last = await owner.query(`select max(ordinal) as ordinal from ${chain}`)
    const statement = does.startsWith('with') ? does.replace('where ', `where ${all} and `) : `${does} and ${all}`
    t.equal(await service.tamper(statement, values), 1, name)
    await service.tamper(`update ${chain} e set event_hash = ${HASHED[chain]}(e) where ordinal > $1`, [
      last.rows[0].ordinal,
    ])
    const { rows } = await owner.query(`select id from ${chain} where ${event} and ${all}`, values)
    const found = (await broken())[chain]
    t.match(found, { id: rows[0].id, problem, detail }, name)
    t.equal(rows.length, 1)
    await restore()
  }
  await owner.query(
    'create unique index payment_events__path on payment_events (merchant_id, payment_intent_id, previous_status) nulls not distinct',
  )
})

t.test('the database itself refuses an event off the path', async (t) => {
  const { payment, refund, dispute } = await subjects()
  const insert = (from: string | null, to: string) =>
    owner.query(
      `insert into payment_events (id, merchant_id, payment_intent_id, previous_status, new_status, changed_by, raw_payload,
         gross_amount, fee_amount, net_amount, currency)
       select gen_random_uuid(), merchant_id, id, $2::payment_status, $3::payment_status, 'BATCH_JOB', '{}',
         case when $2::payment_status is null then 1 end, case when $2::payment_status is null then 1 end, case when $2::payment_status is null then 1 end,
         case when $2::payment_status is null then 'GBP' end
       from payment_intents where id = $1`,
      [payment, from, to],
    )
  const off = { code: '23505', constraint: 'payment_events__path' }
  await t.rejects(insert('Authorised', 'Settled'), off, 'settled again')
  await t.rejects(insert('AwaitingAuthorisation', 'Failed'), off, 'failed from another status')
  await t.rejects(insert(null, 'Initiated'), off, 'begun again')
  await t.rejects(
    insert('Initiated', 'AwaitingAuthorisation'),
    { code: '23514', message: /can't move from Initiated: no event of it says so$/ },
    'a status that it never had',
  )
  await t.rejects(
    owner.query(`update payment_refunds set status = 'PENDING' where id = $1`, [refund]),
    { code: '23514' },
    'a refund does not go back, whoever updates it',
  )
  await t.rejects(
    owner.query(
      `insert into dispute_events (id, merchant_id, dispute_id, previous_status, new_status, event, changed_by, prev_hash, event_hash)
       select gen_random_uuid(), merchant_id, id, 'OPEN', 'UNDER_REVIEW', 'submit evidence', 'MERCHANT', '', ''
       from disputes where id = $1`,
      [dispute],
    ),
    { code: '23514', message: /its last event says ESCALATED$/ },
  )
  t.same(await broken(), {})
})
