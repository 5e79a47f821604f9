import t from 'tap'
import { createPayment, untilStatus } from '../../support/app.ts'
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
