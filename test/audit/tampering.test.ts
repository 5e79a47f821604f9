import { join } from 'node:path'
import t from 'tap'
import { auditedService } from '../support/audit.ts'

const service = await auditedService(t)
await service.fill()
const free = await skippedOrdinal()
await service.fill()
await service.seal(4)
// What came after the last checkpoint is chained, and not sealed yet.
await service.fill()
// The index would stop some of these changes before the trail shows them.
await service.owner.query('drop index payment_events__path')
const restore = await service.keep()
const directory = t.testdir()

type Broken = { ordinal: string; id: string | null; problem: string; detail: string }
type VerifiedChain = { chain: string; rows: number; head: string | null; broken: Broken | null }

/** What `svc audit verify` says of each chain; online, and the same once more from an export. */
async function verified(words: readonly string[] = []): Promise<{ code: number; chains: Map<string, VerifiedChain> }> {
  const online = await service.svc(['audit', 'verify', '-o', 'json', ...words])
  const file = join(directory, 'audit.jsonl')
  const exported = await service.svc(['audit', 'export', '--file', file, '--force'])
  if (exported.code !== 0) throw new Error(exported.stderr)
  const offline = await service.svc(['audit', 'verify', '-o', 'json', '--file', file, ...words])
  if (offline.stdout !== online.stdout) throw new Error(`offline says ${offline.stdout}, and not ${online.stdout}`)
  if (offline.code !== online.code) throw new Error(`offline ends with ${offline.code}`)
  const chains: VerifiedChain[] = JSON.parse(online.stdout).chains
  return { code: online.code, chains: new Map(chains.map((each) => [each.chain, each])) }
}

/** An ordinal of payment_events that no row has, as a transaction leaves one that is rolled back. */
async function skippedOrdinal(): Promise<string> {
  const { rows } = await service.owner.query(`select nextval('payment_events_ordinal_seq')::text as ordinal`)
  return rows[0].ordinal
}

async function ordinals(table: string, more: string): Promise<string[]> {
  const { rows } = await service.owner.query(`select ordinal::text as text from ${table} ${more}`)
  return rows.map(({ text }) => text)
}

t.test('an unchanged trail verifies, sealed or not', async (t) => {
  const { code, chains } = await verified()
  t.equal(code, 0)
  t.same(
    [...chains.keys()],
    [
      'operator_actions',
      'payment_events',
      'refund_events',
      'dispute_events',
      'payout_events',
      'ledger_entries',
      'checkpoints',
    ],
  )
  for (const [chain, { rows, head, broken }] of chains) {
    t.equal(broken, null, chain)
    t.match(head, /^\d+:[0-9a-f]{64}$/, chain)
    const table = chain === 'checkpoints' ? 'audit_checkpoints' : chain
    t.same([String(rows)], await ordinals(`(select count(*) as ordinal from ${table}) c`, ''), 'every row was read')
  }
  t.ok((chains.get('checkpoints')?.rows ?? 0) > 6)
})

/** One row of each table, by a condition that holds for it alone, and a change of each of its columns. */
const MIDDLE = `ordinal = (select min(ordinal) from payment_events where new_status = 'Authorised')`
const ENTRY = `ordinal = (select min(ordinal) from ledger_entries where movement = 'payment_settled')`
const REFUND = 'ordinal = (select min(ordinal) from refund_events)'
const PAYOUT = 'ordinal = (select min(ordinal) from payout_events)'
const DISPUTE = `ordinal = (select min(ordinal) from dispute_events where new_status = 'UNDER_REVIEW')`
const CHANGES: Record<string, { where: string; set: string[] }> = {
  payment_events: {
    where: MIDDLE,
    set: [
      'id = gen_random_uuid()',
      'merchant_id = gen_random_uuid()',
      'payment_intent_id = gen_random_uuid()',
      `new_status = 'Failed'`,
      `previous_status = 'Initiated', new_status = 'Failed'`,
      `previous_status = null, new_status = 'Initiated', gross_amount = 1, fee_amount = 0, net_amount = 1, currency = 'GBP'`,
      `changed_by = 'BATCH_JOB'`,
      `raw_payload_sha256 = repeat('a', 64)`,
      `prev_hash = repeat('a', 64)`,
      `event_hash = repeat('a', 64)`,
      `created_at = created_at + interval '1 microsecond'`,
      `raw_payload = '{}', raw_payload_sha256 = encode(sha256('{}'), 'hex')`,
    ],
  },
  payout_events: {
    where: PAYOUT,
    set: [
      'id = gen_random_uuid()',
      'merchant_id = gen_random_uuid()',
      'payout_id = gen_random_uuid()',
      'bank_account_id = gen_random_uuid()',
      'amount = amount + 0.0001',
      `currency = 'EUR'`,
      `changed_by = 'OPERATOR'`,
      `previous_status = 'CREATED', new_status = 'SENT', bank_account_id = null, amount = null, currency = null`,
      `prev_hash = repeat('a', 64)`,
      `event_hash = repeat('a', 64)`,
      `created_at = created_at + interval '1 microsecond'`,
    ],
  },
  refund_events: {
    where: REFUND,
    set: [
      'id = gen_random_uuid()',
      'merchant_id = gen_random_uuid()',
      'refund_id = gen_random_uuid()',
      'payment_intent_id = gen_random_uuid()',
      'amount = amount + 0.0001',
      `currency = 'EUR'`,
      `previous_status = 'PENDING', new_status = 'FAILED', payment_intent_id = null, amount = null, currency = null`,
      `prev_hash = repeat('a', 64)`,
      `event_hash = repeat('a', 64)`,
      `created_at = created_at + interval '1 microsecond'`,
    ],
  },
  dispute_events: {
    where: DISPUTE,
    set: [
      'id = gen_random_uuid()',
      'merchant_id = gen_random_uuid()',
      'dispute_id = gen_random_uuid()',
      `previous_status = 'ESCALATED'`,
      `previous_status = null, payment_intent_id = gen_random_uuid(), gross_amount = 1, currency = 'GBP'`,
      `new_status = 'ESCALATED'`,
      `event = 'other'`,
      `changed_by = 'PAYER'`,
      `actor_id = ''`,
      `actor_name = '-'`,
      'note = null',
      `note = note || ' '`,
      `prev_hash = repeat('0', 64)`,
      `event_hash = repeat('0', 64)`,
      `created_at = created_at - interval '1 microsecond'`,
    ],
  },
  ledger_entries: {
    where: ENTRY,
    set: [
      'merchant_id = gen_random_uuid()',
      'subject_id = gen_random_uuid()',
      `movement = 'payment_refunded', debit = 'clearing', credit = 'bank'`,
      `movement = 'correction'`,
      `movement = 'correction', debit = 'fees_earned'`,
      `movement = 'correction', debit = 'clearing', credit = 'bank'`,
      'amount = amount + 0.0001',
      `currency = 'EUR'`,
      `entry_hash = repeat('0', 64)`,
      `created_at = created_at + interval '1 microsecond'`,
    ],
  },
  operator_actions: {
    where: 'ordinal = 2',
    set: [
      'id = gen_random_uuid()',
      `actor_id = 'x'`,
      `actor_name = 'otto'`,
      `actor_role = 'OWNER'`,
      `action = 'merchant.hold'`,
      'merchant_id = null',
      `subject_id = 'x'`,
      'reason = null',
      `before = '{}'`,
      `after = 'null'`,
      `prev_hash = repeat('0', 64)`,
      `action_hash = repeat('0', 64)`,
      `created_at = created_at + interval '1 microsecond'`,
    ],
  },
  audit_checkpoints: {
    where: 'ordinal = 2',
    set: [
      'id = gen_random_uuid()',
      `chain = 'dispute_events', up_to_ordinal = 999`,
      'up_to_ordinal = up_to_ordinal + 1000',
      'row_count = row_count + 1',
      `digest = repeat('0', 64)`,
      `prev_hash = repeat('0', 64)`,
      `checkpoint_hash = repeat('0', 64)`,
      `created_at = created_at + interval '1 microsecond'`,
    ],
  },
}

for (const [table, { where, set }] of Object.entries(CHANGES)) {
  t.test(`a change in any column of ${table} is detected`, async (t) => {
    const [ordinal] = await ordinals(table, `where ${where}`)
    const chain = table === 'audit_checkpoints' ? 'checkpoints' : table
    for (const change of set) {
      t.equal(await service.tamper(`update ${table} set ${change} where ${where}`), 1, change)
      const { code, chains } = await verified()
      t.equal(code, 3, change)
      const { broken } = chains.get(chain) ?? {}
      const problem = change.startsWith('raw_payload_sha256') ? 'payload changed' : 'changed'
      t.match(broken, { ordinal, problem, id: /-/ }, change)
      await restore()
    }
  })
}

t.test('a changed payload is detected, even by a single space', async (t) => {
  for (const change of [`raw_payload = '{}'`, `raw_payload = (raw_payload::text || ' ')::json`]) {
    await service.tamper(`update payment_events set ${change} where ${MIDDLE}`)
    const { chains } = await verified()
    const [ordinal] = await ordinals('payment_events', `where ${MIDDLE}`)
    t.match(chains.get('payment_events')?.broken, { ordinal, problem: 'payload changed' })
    await restore()
  }
})

/** A payment of three events whose all events are sealed. */
const SEALED = `(select payment_intent_id from payment_events where ${MIDDLE})`

type Removal = { name: string; does: string[]; chain: string; problem: string; detail?: RegExp }
const REMOVALS: Removal[] = [
  {
    name: 'an event in the middle of a payment',
    does: [`delete from payment_events where ${MIDDLE}`],
    chain: 'payment_events',
    problem: 'not as sealed',
    detail: /sealed 4 rows .*; there are 3$/,
  },
  {
    name: 'an event in the middle of a payment that no checkpoint knows yet',
    does: [
      `delete from payment_events where ordinal = (select max(ordinal) from payment_events where new_status = 'Authorised')`,
    ],
    chain: 'payment_events',
    problem: 'row missing before it',
  },
  {
    name: 'the first event of a payment that no checkpoint knows yet',
    does: [
      `delete from payment_events where previous_status is null and payment_intent_id =
         (select payment_intent_id from payment_events where new_status = 'Settled' order by ordinal desc limit 1)`,
    ],
    chain: 'payment_events',
    problem: 'row missing before it',
  },
  {
    name: 'the last event of a payment',
    does: [`delete from payment_events where new_status = 'Settled' and payment_intent_id = ${SEALED}`],
    chain: 'payment_events',
    problem: 'status edited',
    detail: /its last event, to Authorised, and the status itself is Settled$/,
  },
  {
    name: 'all events of a payment',
    does: [`delete from payment_events where payment_intent_id = ${SEALED}`],
    chain: 'payment_events',
    problem: 'not as sealed',
  },
  {
    name: 'all events of all payments',
    does: ['delete from payment_events'],
    chain: 'payment_events',
    problem: 'not as sealed',
    detail: /sealed 4 rows above ordinal 0 .*; there are 0$/,
  },
  {
    name: 'the end of all that is sealed',
    does: [
      `delete from payment_events where ordinal >= (select max(up_to_ordinal) from audit_checkpoints where chain = 'payment_events')`,
    ],
    chain: 'payment_events',
    problem: 'not as sealed',
  },
  {
    name: 'a whole dispute',
    does: [
      'delete from dispute_events where dispute_id = (select dispute_id from dispute_events order by ordinal limit 1)',
    ],
    chain: 'dispute_events',
    problem: 'not as sealed',
  },
  {
    name: 'the last operator actions, which are sealed',
    does: ['delete from operator_actions where ordinal > 3'],
    chain: 'operator_actions',
    problem: 'not as sealed',
  },
  {
    name: 'an operator action',
    does: ['delete from operator_actions where ordinal = 2'],
    chain: 'operator_actions',
    problem: 'row missing before it',
  },
  {
    name: 'the first operator action',
    does: ['delete from operator_actions where ordinal = 1'],
    chain: 'operator_actions',
    problem: 'row missing before it',
  },
  {
    name: 'a checkpoint',
    does: ['delete from audit_checkpoints where ordinal = 3'],
    chain: 'checkpoints',
    problem: 'row missing before it',
  },
  {
    name: 'the first checkpoint',
    does: ['delete from audit_checkpoints where ordinal = 1'],
    chain: 'checkpoints',
    problem: 'row missing before it',
  },
  {
    name: 'two rows that changed places',
    does: [
      'update operator_actions set ordinal = 1000 where ordinal = 2',
      'update operator_actions set ordinal = 2 where ordinal = 3',
      'update operator_actions set ordinal = 3 where ordinal = 1000',
    ],
    chain: 'operator_actions',
    problem: 'changed',
  },
  {
    name: 'an event with the right hash at the end of a payment, at an ordinal that a rollback had left free',
    does: [
      `insert into payment_events (ordinal, id, merchant_id, payment_intent_id, previous_status, new_status, changed_by, raw_payload, raw_payload_sha256, prev_hash, event_hash)
       select ${free}, gen_random_uuid(), merchant_id, payment_intent_id, 'Settled', 'Refunded', 'MERCHANT_API', raw_payload, raw_payload_sha256, event_hash, ''
       from payment_events where new_status = 'Settled' and payment_intent_id = ${SEALED}`,
      `update payment_events e set event_hash = payment_event_hash(e) where ordinal = ${free}`,
    ],
    chain: 'payment_events',
    problem: 'status edited',
    detail: /its last event, to Refunded, and the status itself is Settled$/,
  },
  {
    name: 'a row made anew with the hash that is right for it',
    does: [
      `update payment_events set changed_by = 'BATCH_JOB' where ${MIDDLE}`,
      `update payment_events e set event_hash = payment_event_hash(e) where ${MIDDLE}`,
    ],
    chain: 'payment_events',
    problem: 'not as sealed',
  },
  {
    name: 'the last event of a payment made anew, hash and all, where no row after it tells',
    does: [
      `update payment_events set changed_by = 'MERCHANT_API' where new_status = 'Settled' and payment_intent_id = ${SEALED}`,
      `update payment_events e set event_hash = payment_event_hash(e) where new_status = 'Settled' and payment_intent_id = ${SEALED}`,
    ],
    chain: 'payment_events',
    problem: 'not as sealed',
    detail: /there are others now$/,
  },
  {
    name: 'a second beginning of a payment, with the hash that is right for it',
    does: [
      `insert into payment_events (ordinal, id, merchant_id, payment_intent_id, previous_status, new_status, changed_by, raw_payload, raw_payload_sha256, prev_hash, event_hash, gross_amount, fee_amount, net_amount, currency)
       select 5000, gen_random_uuid(), merchant_id, payment_intent_id, null, 'Initiated', 'MERCHANT_API', raw_payload, raw_payload_sha256, repeat('0', 64), '', 50, 0.7, 49.3, 'GBP'
       from payment_events where ${MIDDLE}`,
      'update payment_events e set event_hash = payment_event_hash(e) where ordinal = 5000',
    ],
    chain: 'payment_events',
    problem: 'row missing before it',
  },
]

for (const { name, does, chain, problem, detail } of REMOVALS) {
  t.test(`detected: ${name}`, async (t) => {
    for (const statement of does) t.ok((await service.tamper(statement)) > 0)
    const { code, chains } = await verified()
    t.equal(code, 3)
    t.match(chains.get(chain)?.broken, { problem, ordinal: /^\d+$/, ...(detail === undefined ? {} : { detail }) })
    for (const [other, { broken }] of chains) if (other !== chain) t.equal(broken, null, `${other} is whole`)
    await restore()
  })
}

t.test('unsealed rows can be cut off undetected, unless the previous head is known', async (t) => {
  const before = (await verified()).chains
  const heads = [...before.values()].flatMap(({ chain, head }) => ['--expect-head', `${chain}:${head}`])
  t.equal((await verified(heads)).code, 0, 'the recorded heads still match')
  await service.tamper(
    'delete from operator_actions where ordinal > (select max(up_to_ordinal) from audit_checkpoints where chain = $1)',
    ['operator_actions'],
  )
  t.equal((await verified()).code, 0, 'the actions of the last minutes')
  const [ordinal] = String(before.get('operator_actions')?.head).split(':')
  const told = await verified(['--expect-head', String(before.get('operator_actions')?.head)])
  t.equal(told.code, 3)
  t.match(told.chains.get('operator_actions')?.broken, { ordinal, id: null, problem: 'not as before' })
  await restore()

  await service.tamper('delete from audit_checkpoints')
  await service.tamper(
    'delete from payment_events where payment_intent_id = (select payment_intent_id from payment_events order by ordinal limit 1)',
  )
  t.equal((await verified()).code, 0, 'with all checkpoints gone, and a payment')
  const known = await verified(['--expect-head', `checkpoints:${before.get('checkpoints')?.head}`])
  t.match(known.chains.get('checkpoints')?.broken, { problem: 'not as before' })
  await restore()
})

t.test('a chain that was rebuilt from its first row differs from the previous head', async (t) => {
  const head = String((await verified()).chains.get('operator_actions')?.head)
  await service.tamper('delete from audit_checkpoints')
  await service.tamper(`update operator_actions set reason = 'better so' where ordinal = 1`)
  const { rows } = await service.owner.query('select count(*)::int as count from operator_actions')
  for (let ordinal = 1; ordinal <= rows[0].count; ordinal += 1) {
    await service.tamper(
      `update operator_actions a set prev_hash = coalesce((select action_hash from operator_actions where ordinal = a.ordinal - 1), repeat('0', 64))
       where ordinal = $1`,
      [ordinal],
    )
    await service.tamper('update operator_actions a set action_hash = operator_action_hash(a) where ordinal = $1', [
      ordinal,
    ])
  }
  t.equal((await verified()).code, 0, 'the chain alone verifies')
  const { code, chains } = await verified(['--expect-head', head])
  t.equal(code, 3)
  t.match(chains.get('operator_actions')?.broken, { ordinal: head.split(':')[0], problem: 'not as before' })
  await restore()
})
