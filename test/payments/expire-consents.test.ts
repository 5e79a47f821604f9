import t from 'tap'
import { expireConsents } from '../../src/payments/expire-consents.ts'
import { createPayment, testService } from '../support/app.ts'
import { endConsent, eventsOf, movesOf, stateOf, times, webhooksOf, webhookTypesOf } from '../support/payments.ts'

const service = await testService(t)
const merchant = await service.merchant()

async function created(): Promise<string> {
  return (await createPayment(service, merchant)).body.payment_id
}

const EXPIRED = { payment: 'Failed', consent: 'EXPIRED', failure: 'CONSENT_EXPIRED' }

t.test("the job fails payments that still wait after the consent's end, and no others", async (t) => {
  const [late, later, inTime, cancelled] = [await created(), await created(), await created(), await created()]
  await service.call('POST', `/api/v1/payments/${cancelled}/cancel`, { merchant })
  for (const id of [late, later, cancelled]) await endConsent(service, id)
  t.same(await expireConsents(service.app), { more: false })
  t.same(await stateOf(service, late), EXPIRED)
  t.same(await stateOf(service, later), EXPIRED)
  t.equal((await stateOf(service, inTime)).payment, 'AwaitingAuthorisation')
  t.equal((await stateOf(service, cancelled)).failure, 'CANCELLED_BY_MERCHANT')
})

t.test('an expiry writes an event of the job, and a webhook with the failure', async (t) => {
  const id = await created()
  await endConsent(service, id)
  await expireConsents(service.app)
  const [, event] = await eventsOf(service, id)
  t.same(
    { ...event, raw_payload: JSON.parse(event?.raw_payload ?? '') },
    {
      previous_status: 'AwaitingAuthorisation',
      new_status: 'Failed',
      changed_by: 'BATCH_JOB',
      raw_payload: { job: 'expire-consents', reason: 'the consent ended before the payer authorised it' },
    },
  )
  t.match(await webhooksOf(service, id), [
    {},
    {
      event_type: 'payment.failed',
      payload: {
        data: { status: 'FAILED', failure: { code: 'CONSENT_EXPIRED', source: 'PLATFORM', isoCode: 'TKXP' } },
      },
    },
  ])
})

t.test("a payment read after its consent's end is expired", async (t) => {
  for (const by of ['merchant', 'payer'] as const) {
    const { body } = await createPayment(service, merchant)
    const state = new URL(body.redirect_url).searchParams.get('state') ?? ''
    await endConsent(service, body.payment_id)
    const read = await service.call(
      'GET',
      `/api/v1/payments/${body.payment_id}`,
      by === 'merchant' ? { merchant } : { headers: { 'x-payment-state': state } },
    )
    t.match(read, { status: 200, body: { status: 'Failed', failure: { code: 'CONSENT_EXPIRED' } } }, by)
    t.same(await movesOf(service, body.payment_id), ['AwaitingAuthorisation', 'Failed'], by)
  }
})

t.test('concurrent jobs and readers expire a payment once', async (t) => {
  const ids = await times(20, () => created())
  for (const id of ids) await endConsent(service, id)
  await Promise.all([
    ...Array.from({ length: 5 }, () => expireConsents(service.app)),
    ...ids.map((id) => service.call('GET', `/api/v1/payments/${id}`, { merchant })),
  ])
  for (const id of ids) {
    t.same(await movesOf(service, id), ['AwaitingAuthorisation', 'Failed'])
    t.same(await webhookTypesOf(service, id), ['payment.initiated', 'payment.failed'])
  }
})

t.test('a run is bounded and asks to be run again', async (t) => {
  const ids = await times(201, () => created())
  await service.owner.query(
    `update payment_consents set expires_at = now() - interval '1 second' where status = 'AWAITING_AUTHORISATION'`,
  )
  t.same(await expireConsents(service.app), { more: true })
  t.same(await expireConsents(service.app), { more: false })
  const { rows } = await service.owner.query(
    `select count(*)::int4 as count from payment_intents where id = any ($1) and failure_code = 'CONSENT_EXPIRED'`,
    [ids],
  )
  t.same(rows, [{ count: 201 }])
})

t.test('payments that cannot be expired do not keep others waiting, though a page is full of them', async (t) => {
  const ids = await times(201, () => created())
  const { owner } = service
  await owner.query(
    `update payment_consents set expires_at = now() - interval '1 hour' where status = 'AWAITING_AUTHORISATION'`,
  )
  const last = ids.at(-1) ?? ''
  await endConsent(service, last)
  await owner.query(`
    create function refuse_move() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
    create trigger refuse_move before update on payment_intents
      for each row when (old.id <> '${last}') execute function refuse_move();
  `)
  t.same(await expireConsents(service.app), { more: true })
  await t.rejects(expireConsents(service.app), { message: /^200 / }, 'the job counts as failed')
  t.same(await stateOf(service, last), EXPIRED)
  t.equal((await stateOf(service, ids[0] ?? '')).payment, 'AwaitingAuthorisation')
  await owner.query('drop function refuse_move() cascade')
  while ((await expireConsents(service.app)).more);
  for (const id of ids) t.equal((await stateOf(service, id)).payment, 'Failed')
})
