import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { expireEvidence } from '../../src/disputes/expire-evidence.ts'
import { expireConsents } from '../../src/payments/expire-consents.ts'
import { atBank, createPayment, testService, until } from '../support/app.ts'
import type { TestMerchant } from '../support/app.ts'
import { addCustomer } from '../support/customers.ts'
import { accept, endEvidenceTime, escalate, raise, raiseAsPayer, resolve, submitEvidence } from '../support/disputes.ts'
import { closeDueSettlements } from '../../src/settlements/close-settlements.ts'
import { INVARIANTS, brokenInvariants } from '../support/invariants.ts'
import type { Invariant } from '../support/invariants.ts'
import { completeSca, refund, tally, times } from '../support/payments.ts'

const service = await testService(t, { worker: true })
const merchants = [
  await service.merchant(),
  await service.merchant({ feePercentage: '0.0333', feeFlat: '0.00' }),
  await service.merchant({ feePercentage: '0.0000', feeFlat: '0.07' }),
]
const { owner } = service
/** Payers with accounts at the mock bank: one has enough money, one soon runs out. */
const payers = [
  await addCustomer(service, { accounts: [{ balance: 10_000_000n }, { currency: 'EUR', balance: 10_000_000n }] }),
  await addCustomer(service, { accounts: [{ balance: 100_000n }, { currency: 'EUR', balance: 100_000n }] }),
] as const

const seed = Number(process.env['SVC_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const PAYMENTS = 200
const SIDE_BY_SIDE = 12
const PAYMENTS_A_TURN = 6

/** A Mulberry32 generator of random numbers: a seed always gives the same run. */
function makeRandom(start: number): () => number {
  let state = start
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const SCENARIOS = [
  'success',
  'success',
  'success',
  'success',
  'refund-fails',
  'insufficient-funds',
  'fraud-stop',
  'settlement-fails',
  'sca-fails',
  'limit-exceeded',
  'payer-cancels',
  'callback-before-redirect',
  'duplicate-callback',
  'bank-down',
  'never-returns',
]

/** The debtor of a payment: sometimes an account in another currency, and then the payment fails. */
function debtor(number: string): Record<string, string> {
  return { debtor_account_scheme: 'UK.OBIE.SortCodeAccountNumber', debtor_identification: number }
}

/** The life of one payment, with repeats, requests of strangers and cancellations in between. */
async function live(index: number): Promise<void> {
  const random = makeRandom(seed + index)
  // Some are sure to end as the last checks need it, whatever the seed: refused, or disputed and won by either side.
  const isPlain = [0, 3, 7].includes(index % 10)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const merchant = pick(merchants)
  const currency = pick(['GBP', 'EUR'])
  const { accounts } = isPlain ? payers[0] : pick(payers)
  const fitting = accounts.find((account) => account.currency === currency) ?? pick(accounts)
  const other = accounts.find((account) => account.currency !== currency) ?? fitting
  const changes = {
    amount: `${1 + Math.floor(random() * 900)}.${10 + Math.floor(random() * 90)}`,
    currency,
    scenario: isPlain ? 'success' : pick(SCENARIOS),
    // Some from an account in another currency.
    ...(index % 10 === 0 ? debtor(other.number) : pick([debtor(fitting.number), {}])),
  }
  const key = randomUUID()
  const [created] = await Promise.all(
    Array.from({ length: pick([1, 1, 3]) }, () => createPayment(service, merchant, changes, key)),
  )
  const { payment_id: id, redirect_url: address } = created?.body ?? {}
  const cancel = () => service.call('POST', `/api/v1/payments/${id}/cancel`, { merchant })
  const way = isPlain ? 1 : random()
  if (way < 0.08) return void (await cancel())
  if (way < 0.14) return
  const state = new URL(address).searchParams.get('state') ?? ''
  const back = await atBank(address, isPlain || random() < 0.9 ? 'approve' : 'cancel').catch(() => ({
    state,
    error: 'access_denied',
  }))
  await Promise.all([
    ...Array.from({ length: pick([1, 1, 4]) }, () => completeSca(service, id, back)),
    !isPlain && random() < 0.1 ? cancel() : undefined,
    random() < 0.1 ? completeSca(service, id, { state, code: 'made-up' }) : undefined,
  ])
  if (changes.scenario === 'bank-down') await completeSca(service, id, back)
  if (!isPlain && random() < 0.4) return
  await until(async () =>
    /Settled|Failed/.test((await service.call('GET', `/api/v1/payments/${id}`, { merchant })).body.status),
  )
  const bodies = pick([
    [undefined],
    [undefined, undefined],
    [{ amount: '0.50' }, undefined],
    [{ amount: '0.50' }, { amount: '0.25' }],
    [{ amount: '1.00' }, { amount: '1.00' }, undefined],
  ])
  const isDisputed = isPlain || random() < 0.8
  const disputeWay = isPlain ? (index % 10 === 3 ? 0.75 : 0.65) : random()
  await Promise.all([
    ...(isPlain ? [] : bodies).map((body) => refund(service, merchant, { id, body })),
    isDisputed ? dispute(merchant, id, disputeWay) : undefined,
  ])
}

/** A dispute of a payment that is refunded meanwhile, with concurrent requests of all sides. */
async function dispute(merchant: TestMerchant, paymentId: string, way: number): Promise<void> {
  const raised = await Promise.all([raiseAsPayer(service, paymentId), raise(service, merchant, paymentId)])
  const id = raised.find(({ status }) => status === 201)?.body.id
  if (id === undefined || way < 0.2) return
  if (way < 0.4) await endEvidenceTime(service, id)
  await Promise.all([
    way < 0.4 ? expireEvidence(service.app) : submitEvidence(service, merchant, id),
    way > 0.9 ? escalate(service, id) : undefined,
  ])
  if (way > 0.95) return
  // Between the two no request comes from the payer.
  const isForMerchant = way > 0.7 && way < 0.85
  await Promise.all([
    isForMerchant ? undefined : resolve(service, id, { refund: way < 0.7 }),
    way < 0.6 ? undefined : resolve(service, id, { status: 'RESOLVED_MERCHANT_FAVOUR' }),
    isForMerchant ? undefined : accept(service, merchant, id, { body: { refund: way < 0.5 } }),
    submitEvidence(service, merchant, id),
  ])
  // Where the bank has refused the refund by now, two concurrent requests order it again; else both are rejected.
  if (way < 0.7) await times(2, () => resolve(service, id, { refund: true }))
}

/**
 * Closes the merchants' periods again and again: by hand, by the worker, and by another one, all at once. Each turn is a day
 * of one merchant, on which no payment expires. There is one for so many payments, whatever the machine takes for them.
 */
async function settleWhile({ isGoing, begun }: { isGoing(): boolean; begun(): number }): Promise<void> {
  for (let turn = 0; isGoing(); turn += 1) {
    while (isGoing() && begun() < turn * PAYMENTS_A_TURN) await delay(10)
    const { id } = merchants[turn % merchants.length] ?? {}
    const close = () =>
      merchants.map((merchant) => service.call('POST', '/api/v1/portal/settlements', { merchant, body: {} }))
    const pass = owner.query(`
      update payment_consents set expires_at = expires_at + interval '1 day'
      where merchant_id = '${id}' and status = 'AWAITING_AUTHORISATION';
      select advance_sandbox_clock('${id}', array[]::uuid[], '1 day')`)
    await Promise.all([...(turn % 3 === 0 ? [...close(), ...close()] : []), pass, closeDueSettlements(service.app)])
  }
}

t.test('after a concurrent run of all kinds of payments, all invariants hold', async (t) => {
  t.comment(`SVC_TEST_SEED=${seed}`)
  let next = 0
  let isGoing = true
  const settling = settleWhile({ isGoing: () => isGoing, begun: () => next })
  try {
    await Promise.all(
      Array.from({ length: SIDE_BY_SIDE }, async () => {
        while (next < PAYMENTS) await live(next++)
      }),
    )
  } finally {
    // Else what has failed would leave it going for ever.
    isGoing = false
    await settling
  }
  // Payments whose payers never returned expire.
  await owner.query(`update payment_consents set expires_at = now() where status = 'AWAITING_AUTHORISATION'`)
  await expireConsents(service.app)
  await until(async () => {
    const { rows } = await owner.query(
      `select (select count(*) from payment_intents where status = 'Authorised') + (select count(*) from payment_refunds where status = 'PENDING') as left`,
    )
    return rows[0].left === 0n
  })
  const { rows } = await owner.query<{ status: string }>('select status::text as status from payment_intents')
  const counts = tally(rows.map(({ status }) => status))
  t.equal(rows.length, PAYMENTS, 'twins made nothing more')
  for (const status of ['Failed', 'Settled', 'Refunded'])
    t.ok((counts[status] ?? 0) > 5, `${status}: ${counts[status]}`)
  const { rows: disputes } = await owner.query<{ status: string }>('select status::text as status from disputes')
  const ends = tally(disputes.map(({ status }) => status))
  for (const status of ['RESOLVED_MERCHANT_FAVOUR', 'RESOLVED_PAYER_FAVOUR'])
    t.ok((ends[status] ?? 0) > 0, `disputes ${status}: ${ends[status]}`)
  t.same(await brokenInvariants(owner), [])
  const { rows: moved } = await owner.query(
    `select count(*) filter (where creditor_account_id is null) as back, count(*) filter (where debtor_account_id is not null) as on_accounts,
       (select count(distinct outcome) from mock_bank.refusals) as refusals
     from transfers where id in (select payment_id from mock_bank.bank_debits union all select refund_id from mock_bank.bank_credits)`,
  )
  const { rows: settled } = await owner.query(
    `select count(distinct (merchant_id, currency)) as books, count(*) filter (where kind = 'MANUAL') as by_hand,
       count(*) filter (where kind = 'DAILY') as by_day, count(*) filter (where rounding_amount > 0) as up,
       count(*) filter (where rounding_amount < 0) as down from settlements`,
  )
  for (const [name, count] of Object.entries(settled[0])) t.ok(Number(count) > 0, `settlements, ${name}: ${count}`)
  for (const [name, count] of Object.entries(moved[0])) t.ok(Number(count) > 0, `money on accounts, ${name}: ${count}`)
})

/** Damage that each invariant must detect, done as an attacker could who can disable every guard. */
const DAMAGE: Readonly<Record<Invariant, readonly string[]>> = {
  'I2 what was settled is what the bank took': [
    'delete from mock_bank.bank_debits where payment_id = $1',
    'update mock_bank.bank_debits set amount = amount + 0.01 where payment_id = $1',
    `update payment_intents set status = 'Authorised' where id = $1`,
  ],
  'I2 what was refunded is what the bank gave back': [
    'delete from mock_bank.bank_credits where refund_id in (select refund_id from mock_bank.bank_credits where $1::uuid is not null limit 1)',
    'update mock_bank.bank_credits set amount = amount + 0.01 where $1::uuid is not null',
  ],
  'I9 no money is made or lost on the way': [
    `update accounts set balance_minor = balance_minor + 1 where id = (select creditor_account_id from transfers where id = $1)`,
    'update transfers set amount_minor = amount_minor + 1 where debtor_account_id is null and $1::uuid is not null',
  ],
  'I9 what the mock bank took and gave back moved on its accounts': [
    'delete from transfers where id = $1',
    'update transfers set amount_minor = amount_minor + 1 where id = $1',
    'update mock_bank.bank_debits set creditor_account_id = null where payment_id = $1',
    'delete from mock_bank.bank_debits where payment_id = $1',
    'delete from mock_bank.bank_credits where refund_id = (select id from payment_refunds where id in (select id from transfers) and $1::uuid is not null limit 1)',
  ],
  'I9 what the mock bank refused it did not do': [
    `insert into mock_bank.refusals (id, outcome) values ($1, 'INSUFFICIENT_FUNDS')`,
  ],
  'I10 each movement of money is in the ledger once, with its amount': [
    'delete from ledger_entries where subject_id = $1',
    `delete from ledger_entries where subject_id = $1 and movement = 'fee_taken'`,
    `update ledger_entries set amount = amount + 1 where subject_id = $1 and movement = 'payment_settled'`,
    `update ledger_entries set currency = 'USD' where subject_id = $1`,
    `update ledger_entries set movement = 'payment_refunded', debit = 'clearing', credit = 'bank' where subject_id = $1 and movement = 'payment_settled'`,
    `update ledger_entries set movement = 'dispute_refunded' where movement = 'payment_refunded' and $1::uuid is not null`,
    `update payment_intents set status = 'Authorised' where id = $1`,
  ],
  'I10 every currency of the ledger sums to zero, and its balances are the recount': [
    'delete from ledger_entries where subject_id = $1',
    `update ledger_entries set amount = amount + 0.0001 where subject_id = $1 and movement = 'payment_settled'`,
    `insert into ledger_unfolded select merchant_id, ordinal from ledger_entries where subject_id = $1`,
    `insert into ledger_kept_balances select merchant_id, 'USD', 1, -1, 0, 0, 0, 0, 0 from payment_intents where id = $1`,
  ],
  'I11 each entry that changed clearing is one line of settlements, with its amount': [
    'delete from settlement_lines where subject_id = $1',
    `update settlement_lines set amount = amount + 1 where subject_id = $1 and movement = 'fee_taken'`,
    `update settlement_lines set currency = 'USD' where subject_id = $1`,
    `insert into settlement_lines select merchant_id, -1, currency, movement, subject_id, amount, occurred_at, settlement_id
     from settlement_lines where subject_id = $1 and movement = 'fee_taken'`,
    'delete from ledger_entries where subject_id = $1',
  ],
  'I11 a settlement is the sum of its lines, and what it moved is in the ledger': [
    'update settlement_lines set settlement_id = null where subject_id = $1',
    `update settlement_lines set amount = amount + 1 where subject_id = $1 and movement = 'fee_taken'`,
    'update settlement_lines set settlement_id = gen_random_uuid() where subject_id = $1',
    `update settlements set gross_amount = gross_amount + 1, fee_amount = fee_amount + 1
     where id = (select settlement_id from settlement_lines where subject_id = $1 limit 1)`,
    'update settlements set line_count = line_count + 1 where id = (select settlement_id from settlement_lines where subject_id = $1 limit 1)',
    `delete from settlements where id = (select settlement_id from settlement_lines where subject_id = $1 limit 1)`,
    `delete from ledger_entries where movement = 'settlement_closed' and $1::uuid is not null`,
    `update ledger_entries set amount = amount + 1 where movement = 'settlement_closed' and $1::uuid is not null`,
  ],
  'I11 settlements follow each other without overlap, and each opens with what the last one left': [
    `update settlements set opening_balance = opening_balance + 1, corrected_amount = corrected_amount - 1
     where id = (select settlement_id from settlement_lines where subject_id = $1 limit 1)`,
    `update settlements set period_from = '-infinity' where $1::uuid is not null`,
  ],
  'I11 what clearing has is what settlements left and what is not settled yet': [
    `update ledger_kept_balances set clearing = clearing + 1, bank = bank - 1
     where merchant_id = (select merchant_id from payment_intents where id = $1)`,
    'update settlement_lines set settlement_id = null where subject_id = $1',
  ],
  PAYMENT_MONEY: [
    `update payment_intents set fee_amount = fee_amount + 0.0001, net_amount = net_amount - 0.0001 where id = $1`,
    `update payment_intents set refunded_amount = 0.01 where id = $1`,
    `update payment_intents set refund_reserved_amount = 0.01 where id = $1`,
  ],
  PAYMENT_PATH: [
    `update payment_intents set status = 'Authorised' where id = $1`,
    `delete from payment_events where payment_intent_id = $1 and new_status = 'Authorised'`,
    'delete from payment_events where payment_intent_id = $1',
  ],
  PAYMENT_CONSENT: [
    `update payment_consents set status = 'REJECTED' where id = (select consent_id from payment_intents where id = $1)`,
    'update payment_consents set amount = amount + 1 where id = (select consent_id from payment_intents where id = $1)',
    `update payment_consents set currency = 'USD' where id = (select consent_id from payment_intents where id = $1)`,
  ],
  PAYMENT_DEBIT: [`update payment_intents set status = 'AwaitingAuthorisation' where id = $1`],
  PAYMENT_CHAIN: [
    `update payment_events set changed_by = 'MERCHANT_API' where payment_intent_id = $1 and new_status = 'Settled'`,
    `update payment_events set created_at = created_at - interval '1 day' where payment_intent_id = $1`,
    `delete from payment_events where payment_intent_id = $1 and previous_status is null`,
  ],
  AUDIT_PAYLOAD: [`update payment_events set raw_payload = '{"amount":"1.00"}' where payment_intent_id = $1`],
  DISPUTE_PATH: [
    `update payment_intents set status = 'Authorised' where id = $1`,
    `update disputes set status = 'ESCALATED' where payment_intent_id = $1`,
    `update disputes set evidence_missing = true where payment_intent_id = $1`,
    `delete from dispute_events e using disputes d where d.id = e.dispute_id and d.payment_intent_id = $1`,
    `delete from dispute_events e using disputes d where d.id = e.dispute_id and d.payment_intent_id = $1 and e.event = 'opening'`,
    `update dispute_events e set new_status = 'OPEN' from disputes d where d.id = e.dispute_id and d.payment_intent_id = $1`,
  ],
  DISPUTE_CHAIN: [
    `update dispute_events e set note = 'another' from disputes d where d.id = e.dispute_id and d.payment_intent_id = $1`,
    `update dispute_events e set actor_name = 'another' from disputes d where d.id = e.dispute_id and d.payment_intent_id = $1`,
    `delete from dispute_events e using disputes d where d.id = e.dispute_id and d.payment_intent_id = $1 and e.event = 'opening'`,
  ],
  DISPUTE_REFUND_OWNER: [
    `update disputes set refund_id = (select id from payment_refunds where payment_intent_id <> $1 limit 1) where payment_intent_id = $1`,
  ],
  DISPUTE_REFUND_AGAIN: [
    `update payment_refunds set dispute_id = (select id from disputes where payment_intent_id = $1)
     where id = (select id from payment_refunds where status = 'EXECUTED' and payment_intent_id <> $1 limit 1)`,
  ],
  WEBHOOK_CONTENT: [
    `update webhook_deliveries set payload = replace(payload::text, merchant_id::text, gen_random_uuid()::text)::json where payment_intent_id = $1`,
    `update webhook_deliveries set payload = replace(payload::text, '"grossAmount":"', '"grossAmount":"1')::json where payment_intent_id = $1`,
  ],
  WEBHOOK_FOR_CHANGE: [
    `delete from webhook_deliveries where payment_intent_id = $1 and event_type = 'payment.settled'`,
    `insert into webhook_deliveries (id, merchant_id, payment_intent_id, event_id, event_type, payload)
     select gen_random_uuid(), merchant_id, payment_intent_id, 'evt_1', event_type, payload from webhook_deliveries where payment_intent_id = $1 limit 1`,
  ],
  WEBHOOK_SEQUENCE: [
    'update webhook_deliveries set sequence = sequence + 1 where payment_intent_id = $1',
    'update payment_intents set webhook_sequence = webhook_sequence + 1 where id = $1',
  ],
  WEBHOOK_QUEUE: [
    'delete from webhook_waiting p using webhook_deliveries d where d.id = p.delivery_id and d.payment_intent_id = $1',
    `update webhook_deliveries set status = 'DEAD', attempt_count = 6 where payment_intent_id = $1`,
    'update webhook_deliveries set next_retry_at = now() where payment_intent_id = $1',
    `insert into webhook_queue (merchant_id, delivery_id, sequence, due_at)
     select merchant_id, id, 1, now() from webhook_deliveries where payment_intent_id = $1`,
    `update webhook_waiting p set created_at = now() from webhook_deliveries d where d.id = p.delivery_id and d.payment_intent_id = $1`,
  ],
  WEBHOOK_ATTEMPT: [
    `insert into webhook_attempts (merchant_id, delivery_id, attempt, worker, started_at, duration_ms, outcome)
     select merchant_id, gen_random_uuid(), 1, 'w', now(), 1, 'timeout' from payment_intents where id = $1`,
  ],
  WEBHOOK_LEASE: [
    `insert into webhook_lanes (merchant_id, worker, locked_until) select merchant_id, 'w', 'infinity' from payment_intents where id = $1
     on conflict (merchant_id) do update set worker = 'w', locked_until = 'infinity'`,
  ],
  LEDGER_HASH: [
    `update ledger_entries set amount = amount + 0.0001 where subject_id = $1 and movement = 'payment_settled'`,
    `update ledger_entries set created_at = created_at - interval '1 day' where subject_id = $1`,
    `update ledger_entries set entry_hash = repeat('0', 64) where subject_id = $1`,
  ],
  ACCOUNT_BALANCE: [
    `update accounts set balance_minor = balance_minor + 1 where id = (select creditor_account_id from transfers where id = $1)`,
    `update accounts set transaction_count = transaction_count + 1 where id = (select creditor_account_id from transfers where id = $1)`,
    'delete from transactions where account_id = (select creditor_account_id from transfers where id = $1)',
  ],
  ACCOUNT_BOOKINGS: [
    'delete from transfers where id = $1',
    // Of accounts that have more: where the last one is missing, it is the balance that is wrong.
    'delete from transactions where number = 1 and $1::uuid is not null',
    'update transactions set amount_minor = amount_minor + 1 where transfer_id = $1',
    'update transactions set number = number + 100000 where transfer_id = $1',
  ],
  TRANSFER_BOOKINGS: [
    'delete from transactions where transfer_id = $1',
    'update transactions set amount_minor = amount_minor + 1 where transfer_id = $1',
    'update transfers set creditor_account_id = debtor_account_id, debtor_account_id = creditor_account_id where id = $1',
    `insert into transactions select account_id, number + 100000, transfer_id, amount_minor, credit_debit_indicator, status, booking_date_time, balance_minor
     from transactions where transfer_id = $1`,
  ],
  UNSETTLED_SINCE: [
    `update settlement_lines set settlement_id = null where subject_id = $1 and movement = 'payment_settled'`,
    'update ledger_kept_balances k set unsettled_since = now() from payment_intents p where p.id = $1 and k.merchant_id = p.merchant_id',
  ],
  PERIOD_OVERDUE: [
    `update ledger_kept_balances k set unsettled_since = now() - interval '9 days', settled_until = null
     from payment_intents p where p.id = $1 and k.merchant_id = p.merchant_id`,
  ],
  SETTLEMENT_OVERDUE: [
    `update payment_intents set status = 'Authorised', settle_at = now() - interval '2 days' where id = $1`,
  ],
  REFUND_OVERDUE: [
    `update payment_refunds set status = 'PENDING', failure_code = null, resume_at = now() - interval '2 days' where $1::uuid is not null`,
  ],
  CONSENT_OVERDUE: [
    `update payment_consents set status = 'AWAITING_AUTHORISATION', expires_at = now() - interval '2 days'
     where id = (select consent_id from payment_intents where id = $1)`,
  ],
}

t.test('each invariant detects its kind of damage', async (t) => {
  // Of a closed settlement, for its lines and its settlement are damaged too.
  const { rows } = await owner.query<{ id: string; merchant_id: string }>(
    `select id, merchant_id from payment_intents p
     where status = 'Settled' and refunded_amount = 0 and not exists (select from disputes d where d.payment_intent_id = p.id)
       and (select bool_and(l.settlement_id is not null) from settlement_lines l where l.subject_id = p.id)
     limit 1`,
  )
  const merchant = merchants.find(({ id }) => id === rows[0]?.merchant_id) ?? merchants[0]!
  const { body } = await raise(service, merchant, rows[0]?.id ?? '')
  await submitEvidence(service, merchant, body.id)
  for (const [name, damages] of Object.entries(DAMAGE) as [Invariant, readonly string[]][]) {
    for (const damage of damages) {
      await owner.query('begin')
      await owner.query(`set local session_replication_role = 'replica'`)
      const { rowCount } = await owner.query(damage, [rows[0]?.id])
      t.ok(rowCount, `it changed something: ${damage}`)
      const broken = await brokenInvariants(owner, [name])
      await owner.query('rollback')
      t.same(broken, [name], damage)
    }
  }
  t.strictSame(Object.keys(DAMAGE), INVARIANTS)
  t.same(await brokenInvariants(owner), [], 'all of it was taken back')
})
