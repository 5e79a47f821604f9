import t from 'tap'
import { retryAfterMs } from '../../../src/banks/obie/http.ts'
import { payMandates } from '../../../src/payments/mandates/pay-mandates.ts'
import { settlePayments } from '../../../src/payments/settle-payments.ts'
import { moveClocks } from '../../support/clocks.ts'
import { mandateBody, payUnder } from '../../support/mandates.ts'
import { authoriseAtBank, newBankPayment, obieService, reseal } from '../../support/obie.ts'

/** When a bank is asked again. Time passes here by hand: nothing waits. */
const world = await obieService(t, { worker: false, waits: true })
const { service, bank, merchant } = world

// The wait as it was decided: a machine that stands still in between shortens what is left of it.
await service.owner.query(`
  create table waits (payment_id uuid, seconds float8);
  create function note_wait() returns trigger language plpgsql security definer as
    $$ begin insert into public.waits values (new.id, extract(epoch from new.settle_at - now())); return null; end $$;
  create trigger note_wait after update of settle_at on payment_intents for each row execute function note_wait()`)

/** Lets the job run once where a payment is due, and says how many seconds it then waits. */
async function settleOnce(id: string): Promise<number> {
  await service.owner.query('update payment_intents set settle_at = now(), locked_until = null where id = $1', [id])
  await service.owner.query('truncate waits')
  await settlePayments(service.app)
  const { rows } = await service.owner.query<{ seconds: number }>('select seconds from waits where payment_id = $1', [
    id,
  ])
  return Math.round(rows[0]?.seconds ?? Number.NaN)
}

/** Time passes for the process alone. */
const clocks = moveClocks(t)

const statusOf = async (id: string): Promise<string> =>
  (await service.call('GET', `/api/v1/payments/${id}`, { merchant })).body.status

t.test('a payment that is in process is asked for ever less often, at most every five minutes', async (t) => {
  await bank.setFault({ name: 'late_settlement', seconds: 600, times: 1 })
  const { id } = await authoriseAtBank(world)
  const waits: number[] = []
  for (let times = 0; times < 10; times += 1) waits.push(await settleOnce(id))
  t.same(waits, [2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
  const [payment] = (await bank.books()).payments
  await bank.control('POST', `/payments/${String(payment?.id)}/settle`)
  await settleOnce(id)
  t.equal(await statusOf(id), 'Settled')
})

t.test('a bank that is down is asked every two seconds at first, and every minute in the end', async (t) => {
  const { id } = await authoriseAtBank(world)
  await bank.setFault({ name: 'down' })
  for (const [age, seconds] of [
    ['0 seconds', 2],
    ['5 minutes', 30],
    ['1 hour', 60],
  ] as const) {
    await service.owner.query('update payment_intents set updated_at = now() - $2::interval where id = $1', [id, age])
    t.equal(await settleOnce(id), seconds, age)
  }
  await bank.clearFaults()
  await settleOnce(id)
  t.equal(await statusOf(id), 'Settled')
})

t.test('an order that was lost, and is refused when repeated, fails a minute after it was lost', async (t) => {
  await bank.setFault({ name: 'server_error', on: ['createPayment'], times: 1 })
  const { id } = await authoriseAtBank(world)
  let passed = 0
  const passTime = async (): Promise<void> => {
    const seconds = await settleOnce(id)
    if ((await statusOf(id)) !== 'Authorised') return
    passed += seconds
    await service.owner.query(
      `update obie.payments set asked_at = asked_at - make_interval(secs => $2),
        asked_before_at = asked_before_at - make_interval(secs => $2) where payment_id = $1`,
      [id, seconds],
    )
  }
  await passTime()
  const change = (text: string): string => text.replaceAll('Collections Ltd', 'Another Ltd')
  await reseal(service, 'payments', { column: 'request', id, change })
  await passTime()
  t.equal(await statusOf(id), 'Authorised', 'the bank may still be at work on it')
  while ((await statusOf(id)) === 'Authorised' && passed < 600) await passTime()
  t.equal(await statusOf(id), 'Failed')
  t.ok(passed <= 65, `after ${passed} seconds`)
})

t.test('a bank that asks for fewer requests gets none before its time', async (t) => {
  const { id, endToEndId } = await authoriseAtBank(world)
  const seconds = 30
  await bank.setFault({ name: 'too_many_requests', on: ['createPayment'], seconds, times: 1 })
  await settleOnce(id)
  const calls = async () => (await bank.control('GET', '/calls')) as { at: string; status: number }[]
  const before = await calls()
  t.match(before.at(-1), { operation: 'createPayment', status: 429 })
  await settleOnce(id)
  await t.rejects(newBankPayment(world), { message: /BANK_UNAVAILABLE/ })
  t.same(await calls(), before, 'neither for this payment nor for another')

  // Less than the minute for which a bank believes what is signed.
  clocks.setBack(40_000)
  clocks.pass(seconds * 1_000)
  await settleOnce(id)
  t.equal(await statusOf(id), 'Settled')
  t.match(
    (await bank.books()).payments.filter((each) => each.endToEndId === endToEndId),
    [{ status: 'ACSC' }],
  )
})

t.test('a collection that was held back was not sent: the bank rejects it later, and it fails', async (t) => {
  const first = await authoriseAtBank(world, { changes: mandateBody() })
  await settleOnce(first.id)
  const { body: mandate } = await service.call('GET', `/api/v1/payments/${first.id}`, { merchant })
  const { body } = await payUnder(service, merchant, { consentId: mandate.consent_id })
  const id: string = body.payment_id
  await payMandates(service.app)
  await service.owner.query(`update payment_intents set settle_at = now() + interval '1 day' where id = $1`, [id])
  const other = await authoriseAtBank(world)
  const seconds = 30
  await bank.setFault({ name: 'too_many_requests', on: ['createPayment'], seconds, times: 1 })
  await settleOnce(other.id)
  await settleOnce(id)
  const { rows } = await service.owner.query(
    'select times_asked, first_sent_at from obie.payments where payment_id = $1',
    [id],
  )
  t.same(rows, [{ times_asked: 0, first_sent_at: null }])

  const change = (text: string): string => text.replaceAll('Collections Ltd', 'Another Ltd')
  await reseal(service, 'payments', { column: 'request', id, change })
  clocks.pass(seconds * 1_000)
  await settleOnce(id)
  t.equal(await statusOf(id), 'Failed')
})

t.test('the time to wait comes in seconds or as a date, and is never longer than five minutes', async (t) => {
  const now = Date.parse('2026-03-02T10:00:00Z')
  for (const [header, ms] of [
    ['7', 7_000],
    ['0', 0],
    ['Mon, 02 Mar 2026 10:01:30 GMT', 90_000],
    ['Mon, 02 Mar 2026 09:00:00 GMT', 0],
    ['Tue, 03 Mar 2026 10:00:00 GMT', 300_000],
    ['86400', 300_000],
    ['soon', 2_000],
    [undefined, 2_000],
  ] as const)
    t.equal(retryAfterMs(header, now), ms, header ?? 'no header')
})
