import t from 'tap'
import { until, untilStatus } from '../../support/app.ts'
import { endMandate, mandateBody, payUnder } from '../../support/mandates.ts'
import { authoriseAtBank, endWorkOfBanks, newBankPayment, obieService, reseal } from '../../support/obie.ts'

/** What a bank, or what stands before it, says besides its word on the payment: none of it ends a payment that was ordered. */
const world = await obieService(t)
const { service, bank, merchant } = world

const statusOf = async (id: string): Promise<string> =>
  (await service.call('GET', `/api/v1/payments/${id}`, { merchant })).body.status

const paidFor = async (endToEndId: string): Promise<string[]> =>
  (await bank.books()).payments.filter((each) => each.endToEndId === endToEndId).map(({ status }) => status)

/** Waits until a payment was tried this many times more. */
async function untilTried(id: string, times: number): Promise<void> {
  const tried = async (): Promise<number> => {
    const { rows } = await service.owner.query<{ attempts: string }>(
      `select count(*) as attempts from obie.calls c join payment_intents p on p.bank_consent_id = c.state
       where p.id = $1`,
      [id],
    )
    return Number(rows[0]?.attempts)
  }
  const before = await tried()
  await until(async () => {
    await endWorkOfBanks(service)
    return (await tried()) >= before + times
  })
}

t.test('a bank that does not find the payment which it took fails nothing', async (t) => {
  await bank.setFault({ name: 'late_settlement', seconds: 3_600, times: 1 })
  const { id, endToEndId } = await authoriseAtBank(world)
  const known = await until(async () => {
    const { rows } = await service.owner.query<{ bank_payment_id: string | null }>(
      'select bank_payment_id from obie.payments where payment_id = $1',
      [id],
    )
    return rows[0]?.bank_payment_id ?? undefined
  })
  await service.owner.query(`update obie.payments set bank_payment_id = 'unknown' where payment_id = $1`, [id])
  await untilTried(id, 2)
  t.equal(await statusOf(id), 'Authorised')
  await service.owner.query('update obie.payments set bank_payment_id = $1 where payment_id = $2', [known, id])
  await bank.control('POST', `/payments/${known}/settle`)
  await untilStatus(service, merchant, id, 'Settled')
  t.same(await paidFor(endToEndId), ['ACSC'])
})

t.test("the payer's token ends before a lost order is repeated: nothing fails that was paid", async (t) => {
  // Until its tokens have ended: no attempt to send it again is answered in between.
  await bank.setFault({ name: 'half_a_body' })
  const { id, state, endToEndId } = await authoriseAtBank(world)
  await until(async () => (await paidFor(endToEndId)).length === 1)
  const change = (text: string): string => JSON.stringify({ ...JSON.parse(text), endsAt: 0, refreshToken: undefined })
  const before = await reseal(service, 'consents', { column: 'tokens', id: state, change })
  await untilTried(id, 2)
  await bank.clearFaults()
  await untilTried(id, 2)
  t.equal(await statusOf(id), 'Authorised')
  await service.owner.query('update obie.consents set tokens = $1 where state = $2', [before, state])
  await untilStatus(service, merchant, id, 'Settled')
  t.same(await paidFor(endToEndId), ['ACSC'])
})

t.test("the payer's token ends before the order was ever sent: the payment fails, and nothing is paid", async (t) => {
  await bank.setFault({ name: 'server_error', on: ['confirmFunds'] })
  const { id, state, endToEndId } = await authoriseAtBank(world)
  const change = (text: string): string => JSON.stringify({ ...JSON.parse(text), endsAt: 0, refreshToken: undefined })
  await reseal(service, 'consents', { column: 'tokens', id: state, change })
  // The fault stays: an attempt that began with the tokens of before would be answered, and pay.
  t.match((await untilStatus(service, merchant, id, 'Failed')).failure, { code: 'AUTHORISATION_FAILED' })
  t.same(await paidFor(endToEndId), [])
  await bank.clearFaults()
})

t.test('a collection that was taken without a word, and is refused when repeated, is not called failed', async (t) => {
  const caps = { max_amount_per_payment: 60 }
  const first = await authoriseAtBank(world, { changes: mandateBody({ control_parameters: caps }) })
  const { consent_id: consentId } = await untilStatus(service, merchant, first.id, 'Settled')
  await bank.setFault({ name: 'half_a_body' })
  const { body } = await payUnder(service, merchant, { consentId, changes: { amount: '7.01' } })
  const id: string = body.payment_id
  await until(async () => (await bank.books()).payments.some(({ amount }) => amount === '7.01'))
  const before = await reseal(service, 'payments', { column: 'request', id, change: (text) => `${text} ` })
  const orders = async (which = 'true'): Promise<number> =>
    (await service.owner.query(`select from obie.calls where step = 'payment' and ${which}`)).rows.length
  const refusals = () => orders('http_status in (400, 409)')
  // The second one has begun after the change: now none of before can be answered any more.
  const sent = await orders()
  await until(async () => (await orders()) >= sent + 2)
  await bank.clearFaults()
  const known = await refusals()
  await until(async () => (await refusals()) > known)
  t.equal(await statusOf(id), 'Authorised')
  await service.owner.query('update obie.payments set request = $1 where payment_id = $2', [before, id])
  await untilStatus(service, merchant, id, 'Settled')
  t.equal((await bank.books()).payments.filter(({ amount }) => amount === '7.01').length, 1)

  await bank.setFault({ name: 'unsigned_refusal', on: ['revokeVrpConsent'], times: 2 })
  await endMandate(service, merchant, consentId)
  for (const times of [1, 2]) {
    await until(async () => {
      const { rows } = await service.owner.query(
        `select from obie.calls where step = 'revocation' and http_status = 400`,
      )
      // The job tries again by itself, in its own time.
      return rows.length >= times
    })
    await service.owner.query('update payment_consents set revocation_due_at = now() where revocation_due_at > now()')
    service.app.wake.notify('end-mandates')
  }
  await until(async () => (await bank.books()).consents.some(({ status }) => status === 'revoked'))
  t.pass('a revocation that a gateway refuses is tried again')
})

t.test('a token that the bank has ended early is asked for again', async (t) => {
  await newBankPayment(world)
  await bank.control('DELETE', '/tokens')
  await newBankPayment(world).catch(String)
  t.match(await newBankPayment(world), { state: String })
})

t.test(
  "a payer's token that the bank has ended early says nothing of the bank, and closes it to no other payer",
  async (t) => {
    await bank.setFault({ name: 'server_error', on: ['confirmFunds'] })
    const { id, state, endToEndId } = await authoriseAtBank(world)
    await bank.control('DELETE', '/tokens')
    await bank.clearFaults()
    const rejected = async (): Promise<number> => {
      const { rows } = await service.owner.query('select from obie.calls where state = $1 and http_status = 401', [
        state,
      ])
      return rows.length
    }
    await until(async () => (await rejected()) >= 6)
    const { body } = await service.call('GET', '/api/v1/banks')
    t.match(
      body.data.find(({ id: bankId }: { id: string }) => bankId === 'model'),
      { available: true },
    )
    const change = (text: string): string => JSON.stringify({ ...JSON.parse(text), endsAt: 0, refreshToken: undefined })
    await reseal(service, 'consents', { column: 'tokens', id: state, change })
    t.match((await untilStatus(service, merchant, id, 'Failed')).failure, { code: 'AUTHORISATION_FAILED' })
    t.same(await paidFor(endToEndId), [])
  },
)
