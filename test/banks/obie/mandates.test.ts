import t from 'tap'
import { settlePayments } from '../../../src/payments/settle-payments.ts'
import { until, untilStatus } from '../../support/app.ts'
import { endMandate, mandateBody, payUnder } from '../../support/mandates.ts'
import { authoriseAtBank, inVersion, obieService, reseal } from '../../support/obie.ts'
import { startWorkerProcess } from '../../support/worker-process.ts'

for (const version of ['4.0', '3.1'] as const)
  t.test(`a mandate, three collections and its revocation, version ${version}`, async (t) => {
    const world = await obieService(t, { change: inVersion(version) })
    const { service, bank, merchant } = world
    const caps = { max_amount_per_payment: 60, periodic_limits: [{ period: 'MONTH', max_amount: 90 }] }
    const first = await authoriseAtBank(world, { changes: mandateBody({ control_parameters: caps }) })
    const { body: settled } = await until(async () => {
      const answer = await service.call('GET', `/api/v1/payments/${first.id}`, { merchant })
      return answer.body.status === 'Settled' && answer
    })
    const consentId: string = settled.consent_id

    const collect = async (amount: string): Promise<string> => {
      const { status, body, text } = await payUnder(service, merchant, { consentId, changes: { amount } })
      t.equal(status, 201, text)
      return body.payment_id
    }
    for (const amount of ['10.00', '12.50', '7.25'])
      await untilStatus(service, merchant, await collect(amount), 'Settled')
    t.same(
      (await bank.books()).payments.map(({ amount, status }) => [amount, status]),
      [
        ['50.00', 'ACSC'],
        ['10.00', 'ACSC'],
        ['12.50', 'ACSC'],
        ['7.25', 'ACSC'],
      ],
    )

    const beyond = await untilStatus(service, merchant, await collect('10.26'), 'Failed')
    t.match(beyond.failure, { code: 'LIMIT_EXCEEDED' }, "the bank's limit holds, whatever the service checks")

    t.equal((await endMandate(service, merchant, consentId)).status < 300, true)
    await until(async () => (await bank.books()).consents.every(({ status }) => status === 'revoked'))
    const late = await payUnder(service, merchant, { consentId })
    t.ok(late.status >= 400, late.text)
    t.equal((await bank.books()).payments.length, 4)
  })

for (const version of ['4.0', '3.1'] as const)
  t.test(`what the bank rejects under a mandate fails, with its reason, version ${version}`, async (t) => {
    const world = await obieService(t, { change: inVersion(version) })
    const { service, bank, merchant } = world
    const failureOf = async (id: string) => (await untilStatus(service, merchant, id, 'Failed')).failure
    const changes = mandateBody({ control_parameters: { max_amount_per_payment: 60 } })

    const poor = await authoriseAtBank(world, { changes, account: '20000055556666' })
    t.match(await failureOf(poor.id), { code: 'INSUFFICIENT_FUNDS' }, 'in the answer to the order')

    const first = await authoriseAtBank(world, { changes })
    const { consent_id: consentId } = await untilStatus(service, merchant, first.id, 'Settled')
    await bank.setFault({ name: 'rejected_after_acceptance', seconds: 1, times: 1, reason_code: 'AC06' })
    const { body } = await payUnder(service, merchant, { consentId, changes: { amount: '7.03' } })
    t.match(await failureOf(body.payment_id), { code: 'ACCOUNT_BLOCKED' }, 'in the answer to a question')
    const { payments } = await bank.books()
    t.same(
      payments.map(({ amount, status }) => [amount, status]),
      [
        ['50.00', 'RJCT'],
        ['50.00', 'ACSC'],
        ['7.03', 'RJCT'],
      ],
    )
  })

for (const version of ['4.0', '3.1'] as const)
  t.test(`the payer's statement names each payment of a mandate, the first one too, version ${version}`, async (t) => {
    const world = await obieService(t, { change: inVersion(version) })
    const { service, bank, merchant } = world
    const first = await authoriseAtBank(world, { changes: mandateBody({ remittance_reference: 'Rent 7' }) })
    const { consent_id: consentId } = await untilStatus(service, merchant, first.id, 'Settled')
    for (const changes of [{ amount: '7.06' }, { amount: '7.07', remittance_reference: 'Rent 8' }]) {
      const { body } = await payUnder(service, merchant, { consentId, changes })
      await untilStatus(service, merchant, body.payment_id, 'Settled')
    }
    const nameless = await authoriseAtBank(world, { changes: mandateBody({ amount: '7.08' }) })
    await untilStatus(service, merchant, nameless.id, 'Settled')
    const sent = (await bank.books()).payments.map(({ amount, data }) => {
      const { Reference, Unstructured } = data?.Instruction?.RemittanceInformation ?? {}
      return [amount, Reference ?? Unstructured?.join()]
    })
    t.same(sent, [
      ['50.00', 'Rent 7'],
      ['7.06', 'Rent 7'],
      ['7.07', 'Rent 8'],
      ['7.08', nameless.endToEndId.slice(0, 18)],
    ])
  })

t.test('tokens that end are renewed, by one process at a time', async (t) => {
  const world = await obieService(t)
  const { service, bank, merchant } = world
  const first = await authoriseAtBank(world, {
    changes: mandateBody({ control_parameters: { max_amount_per_payment: 60 } }),
  })
  const { consent_id: consentId } = await untilStatus(service, merchant, first.id, 'Settled')
  const { sealer } = service.app
  const context = { table: 'obie.consents', column: 'tokens', rowId: first.state, merchantId: '' }
  const read = async (): Promise<{ accessToken: string; endsAt: number; refreshToken: string }> => {
    const { rows } = await service.owner.query<{ tokens: string }>(
      'select tokens from obie.consents where state = $1',
      [first.state],
    )
    return JSON.parse(sealer.open(rows[0]?.tokens ?? '', context))
  }
  const before = await read()
  const ended = sealer.seal(JSON.stringify({ ...before, accessToken: 'ended', endsAt: 0 }), context)
  await service.owner.query('update obie.consents set tokens = $1 where state = $2', [ended, first.state])
  const made = await Promise.all(
    ['1.00', '2.00', '3.00'].map((amount) => payUnder(service, merchant, { consentId, changes: { amount } })),
  )
  for (const { body } of made) await untilStatus(service, merchant, body.payment_id, 'Settled')
  const after = await read()
  t.not(after.accessToken, before.accessToken)
  t.not(after.refreshToken, before.refreshToken, 'the bank gives a new one each time')
  t.equal((await bank.books()).payments.length, 4)

  await bank.control('DELETE', '/tokens')
  const { body: early } = await payUnder(service, merchant, { consentId, changes: { amount: '4.00' } })
  await untilStatus(service, merchant, early.payment_id, 'Settled')
  const renewed = await read()
  t.not(renewed.accessToken, after.accessToken, 'also one that the bank has ended before its time')

  const rejected = sealer.seal(JSON.stringify({ ...renewed, refreshToken: 'used up', isRejected: true }), context)
  await service.owner.query('update obie.consents set tokens = $1 where state = $2', [rejected, first.state])
  const { body: last } = await payUnder(service, merchant, { consentId, changes: { amount: '5.00' } })
  await untilStatus(service, merchant, last.payment_id, 'Settled')
  t.equal((await read()).accessToken, renewed.accessToken, 'one that can not be renewed is used to its end')
})

t.test('collections that wait for a token which is being renewed do not close the bank', async (t) => {
  const world = await obieService(t)
  const { service, bank, merchant } = world
  const first = await authoriseAtBank(world, { changes: mandateBody() })
  const { consent_id: consentId } = await untilStatus(service, merchant, first.id, 'Settled')
  const change = (text: string): string => JSON.stringify({ ...JSON.parse(text), endsAt: 0 })
  await reseal(service, 'consents', { column: 'tokens', id: first.state, change })
  // As if another process were renewing it.
  await service.owner.query(`update obie.consents set renewed_until = now() + interval '1 hour'`)
  const { body } = await payUnder(service, merchant, { consentId, changes: { amount: '7.04' } })
  const waits = /svc_bank_calls_total\{bank="model",call="execute",outcome="unknown"\} (\d+)/
  await until(async () => Number(waits.exec((await service.call('GET', '/metrics')).text)?.[1]) >= 6)
  const banks = await service.call('GET', '/api/v1/banks')
  t.match(
    banks.body.data.find(({ id }: { id: string }) => id === 'model'),
    { available: true },
  )
  await service.owner.query('update obie.consents set renewed_until = null')
  await untilStatus(service, merchant, body.payment_id, 'Settled')
  t.equal((await bank.books()).payments.length, 2)
})

t.test('another collection account leaves mandates that stand as their payers approved them', async (t) => {
  const world = await obieService(t, { worker: false })
  const { service, bank, merchant, env } = world
  const first = await authoriseAtBank(world, { changes: mandateBody() })
  await settlePayments(service.app)
  const { consent_id: consentId } = await untilStatus(service, merchant, first.id, 'Settled')
  const { body } = await payUnder(service, merchant, { consentId, changes: { amount: '7.05' } })
  const account = 'UK.OBIE.SortCodeAccountNumber:20000055770000:Other Collections Ltd'
  await startWorkerProcess(t, service, [], { ...env, SVC_COLLECTION_ACCOUNT: account })
  await untilStatus(service, merchant, body.payment_id, 'Settled')
  const { payments } = await bank.books()
  t.same(
    payments.map(({ amount, status, data }) => [amount, status, data?.Instruction?.CreditorAccount.Identification]),
    [
      ['50.00', 'ACSC', '20000055779911'],
      ['7.05', 'ACSC', '20000055779911'],
    ],
  )
})
