import t from 'tap'
import { createPayment, paymentBody, untilStatus } from '../../support/app.ts'
import { inVersion, obieService, payAtBank } from '../../support/obie.ts'

for (const version of ['4.0', '3.1'] as const)
  t.test(`a payment from the order to the money, version ${version}`, async (t) => {
    const world = await obieService(t, { change: inVersion(version) })
    const { service, bank, merchant } = world
    const { status, body, text } = await createPayment(service, merchant, { debtor_bank_id: 'model' })
    t.equal(status, 201, text)
    t.equal(body.status, 'AwaitingAuthorisation')
    const returned = await payAtBank(world, body.redirect_url)
    t.equal(returned.status, 200, returned.html)
    const { code, state } = Object.fromEntries(returned.next?.searchParams ?? [])
    const done = await service.call('POST', `/api/v1/payments/${body.payment_id}/sca-complete`, {
      body: { state, code },
    })
    t.match(done, { status: 200, body: { status: 'Authorised' } }, done.text)
    await untilStatus(service, merchant, body.payment_id, 'Settled')
    const books = await bank.books()
    t.match(books.payments, [{ status: 'ACSC', amount: '50.00', endToEndId: /^SVC/ }])
    t.equal(books.payments.length, 1)
  })

t.test("the bank's part of a payment continues the trace of the request that created it", async (t) => {
  const world = await obieService(t)
  const { service, bank, merchant } = world
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  const { body } = await service.call('POST', '/api/v1/payments', {
    merchant,
    headers: { 'x-idempotency-key': 'traced-key', traceparent },
    body: paymentBody({ debtor_bank_id: 'model' }),
  })
  const { next } = await payAtBank(world, body.redirect_url)
  const { code, state } = Object.fromEntries(next?.searchParams ?? [])
  const stranger = `00-${'f'.repeat(32)}-00f067aa0ba902b7-01`
  await service.call('POST', `/api/v1/payments/${body.payment_id}/sca-complete`, {
    headers: { traceparent: stranger },
    body: { state, code },
  })
  await untilStatus(service, merchant, body.payment_id, 'Settled')
  const calls = (await bank.control('GET', '/calls')) as { operation: string; traceparent?: string }[]
  const traced = calls.filter((call) => call.traceparent === traceparent).map(({ operation }) => operation)
  t.ok(traced.includes('createConsent'), traced.join(', '))
  t.ok(traced.includes('createPayment'), traced.join(', '))
  t.notOk(
    calls.some((call) => call.traceparent === stranger),
    "a payer's trace does not reach the bank",
  )
})
