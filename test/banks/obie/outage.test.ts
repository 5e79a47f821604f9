import t from 'tap'
import { until, untilStatus } from '../../support/app.ts'
import { endMandate, mandateBody, payUnder } from '../../support/mandates.ts'
import { authoriseAtBank, endWorkOfBanks, newBankPayment, obieService, payAtBank, reseal } from '../../support/obie.ts'
import type { ObieService } from '../../support/obie.ts'

t.test('a bank is down for an hour and back: nothing is lost, and nothing paid twice', async (t) => {
  const world = await obieService(t)
  const { service, bank, merchant } = world
  const inBooks = async (endToEndId: string): Promise<string[]> =>
    (await bank.books()).payments.filter((each) => each.endToEndId === endToEndId).map(({ status }) => status)
  const statusOf = async (id: string): Promise<string> =>
    (await service.call('GET', `/api/v1/payments/${id}`, { merchant })).body.status
  const isAvailable = async (): Promise<boolean> => {
    const { body } = await service.call('GET', '/api/v1/banks')
    return body.data.find(({ id }: { id: string }) => id === 'model').available
  }
  const mandate = async (): Promise<{ consentId: string; state: string }> => {
    const changes = mandateBody({ control_parameters: { max_amount_per_payment: 60 } })
    const { id, state } = await authoriseAtBank(world, { changes })
    return { consentId: (await untilStatus(service, merchant, id, 'Settled')).consent_id, state }
  }
  const collected = await mandate()
  const ended = await mandate()
  const waitsForPayer = await newBankPayment(world)
  await bank.setFault({ name: 'late_settlement', seconds: 3_600, times: 1 })
  const inProcess = await authoriseAtBank(world)
  // Not in the bank's books alone: the next fault must not cut the answer off.
  await until(async () => {
    const { rows } = await service.owner.query(
      'select from obie.payments where payment_id = $1 and bank_payment_id is not null',
      [inProcess.id],
    )
    return rows.length === 1
  })
  // Until `server_error` comes before it: no attempt to send it again is answered in between.
  await bank.setFault({ name: 'half_a_body' })
  const lost = await authoriseAtBank(world)
  await until(async () => (await inBooks(lost.endToEndId)).length === 1)
  await bank.setFault({ name: 'server_error', on: ['createPayment'] })
  const unsent = await authoriseAtBank(world)
  await until(async () => {
    const { rows } = await service.owner.query('select from obie.payments where payment_id = $1 and times_asked > 0', [
      unsent.id,
    ])
    return rows.length === 1
  })
  await bank.setFault({ name: 'down' })

  await until(async () => !(await isAvailable()))
  await t.rejects(newBankPayment(world), { message: /BANK_UNAVAILABLE/ })
  const { body: collection } = await payUnder(service, merchant, { consentId: collected.consentId })
  t.equal((await endMandate(service, merchant, ended.consentId)).status < 300, true)
  await passAnHour(world, [collected.state, inProcess.state, lost.state, unsent.state])
  t.same(await Promise.all([inProcess.id, lost.id, unsent.id].map(statusOf)), [
    'Authorised',
    'Authorised',
    'Authorised',
  ])

  await bank.clearFaults()
  await until(async () => {
    await askNow(world)
    return isAvailable()
  })
  const [{ id: bankPaymentId } = { id: '' }] = (await bank.books()).payments.filter(
    ({ endToEndId }) => endToEndId === inProcess.endToEndId,
  )
  await bank.control('POST', `/payments/${bankPaymentId}/settle`)
  await untilAsked(world, inProcess.id, 'Settled')
  const { end_to_end_id: collectionId } = await untilAsked(world, collection.payment_id, 'Settled')
  t.same(await inBooks(collectionId), ['ACSC'], 'with a token that was renewed')
  t.match((await untilAsked(world, unsent.id, 'Failed')).failure, { code: 'AUTHORISATION_FAILED' })
  t.same(await inBooks(unsent.endToEndId), [], 'the payer would have to authorise it again')
  t.equal(await statusOf(lost.id), 'Authorised', 'what the bank may have paid is not called failed')
  t.same(await inBooks(lost.endToEndId), ['ACSC'])
  await until(async () => {
    await askNow(world)
    return (await bank.books()).consents.some(({ status }) => status === 'revoked')
  })

  const { next } = await payAtBank(world, waitsForPayer.address)
  const done = await service.call('POST', `/api/v1/payments/${waitsForPayer.id}/sca-complete`, {
    body: { state: waitsForPayer.state, code: next?.searchParams.get('code') },
  })
  t.match(done, { status: 200 })
  await untilStatus(service, merchant, waitsForPayer.id, 'Settled')
  const { payments } = await bank.books()
  t.equal(new Set(payments.map(({ endToEndId }) => endToEndId)).size, payments.length)
})

/** An hour later the tokens of that time have ended, those of the client too. */
async function passAnHour({ service, bank }: ObieService, states: readonly string[]): Promise<void> {
  const change = (text: string): string => JSON.stringify({ ...JSON.parse(text), endsAt: 0 })
  for (const state of states) await reseal(service, 'consents', { column: 'tokens', id: state, change })
  await bank.control('DELETE', '/tokens')
  await service.owner.query(`update obie.payments set first_sent_at = first_sent_at - interval '1 hour'`)
  await service.owner.query(`update payment_intents set updated_at = updated_at - interval '1 hour'`)
}

/**
 * Waits for a payment's state, and has its bank asked meanwhile: a question that was under way when the bank was silent can
 * end after `askNow`, and puts the next one off by minutes again.
 */
async function untilAsked(world: ObieService, id: string, status: string) {
  const { service, merchant } = world
  return until(async () => {
    await askNow(world)
    await endWorkOfBanks(service)
    const { body } = await service.call('GET', `/api/v1/payments/${id}`, { merchant })
    return body.status === status ? body : undefined
  })
}

/**
 * A payment that is an hour old is asked for after some minutes only, if its bank was silent once more since then, and a
 * revocation is sent the later the more often it was in vain.
 */
async function askNow({ service }: ObieService): Promise<void> {
  await service.owner.query(`update payment_intents set settle_at = now() where settle_at > now()`)
  await service.owner.query(`update payment_consents set revocation_due_at = now() where revocation_due_at > now()`)
}
