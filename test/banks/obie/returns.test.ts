import t from 'tap'
import type { FaultName } from '../../../src/model-bank/faults.ts'
import type { ReturnRefusal } from '../../../src/banks/redirects.ts'
import { createPayment } from '../../support/app.ts'
import { bringBack, obieService, payAtBank, visitBank } from '../../support/obie.ts'

const world = await obieService(t)
const { service, bank, merchant } = world

async function newPayment(): Promise<{ id: string; address: string; state: string }> {
  const { body, status, text } = await createPayment(service, merchant, { debtor_bank_id: 'model' })
  if (status !== 201) throw new Error(text)
  const address: string = body.redirect_url
  return { id: String(body.payment_id), address, state: new URL(address).searchParams.get('state') ?? '' }
}

const statusOf = async (id: string): Promise<string> =>
  (await service.call('GET', `/api/v1/payments/${id}`, { merchant })).body.status

/** The refusals on record, the oldest first. */
async function refusalsOf(state: string): Promise<string[]> {
  const { rows } = await service.owner.query<{ verdict: string }>(
    `select verdict from obie.calls where state = $1 and step = 'return' order by id`,
    [state],
  )
  return rows.map(({ verdict }) => verdict)
}

const REFUSALS: Partial<Record<FaultName, ReturnRefusal>> = {
  return_wrong_nonce: 'NONCE_MISMATCH',
  return_wrong_issuer: 'ISSUER_MISMATCH',
  return_wrong_issuer_parameter: 'ISSUER_MISMATCH',
  return_wrong_audience: 'AUDIENCE_MISMATCH',
  return_wrong_intent: 'INTENT_MISMATCH',
  return_wrong_acr: 'ACR_MISMATCH',
  return_wrong_c_hash: 'C_HASH_MISMATCH',
  return_wrong_s_hash: 'S_HASH_MISMATCH',
  return_without_c_hash: 'C_HASH_MISMATCH',
  return_without_s_hash: 'S_HASH_MISMATCH',
  return_expired: 'TOKEN_EXPIRED',
  return_wrong_key: 'SIGNATURE_INVALID',
  return_alg_none: 'ALG_NOT_ALLOWED',
  return_alg_rs256: 'ALG_NOT_ALLOWED',
}

for (const [name, reason] of Object.entries(REFUSALS) as [FaultName, ReturnRefusal][])
  t.test(`${name} is refused as ${reason}, on record, and the payment waits on`, async (t) => {
    const { id, address, state } = await newPayment()
    await bank.setFault({ name, times: 1 })
    const { status, html, next } = await payAtBank(world, address)
    await bank.clearFaults()
    t.equal(status, 400)
    t.match(html, reason)
    t.equal(next, undefined, 'nothing goes on to the merchant')
    t.same(await refusalsOf(state), [reason])
    t.equal(await statusOf(id), 'AwaitingAuthorisation')
    t.equal((await payAtBank(world, address)).status, 200, 'the payer can do it again')
  })

t.test('a return with another state belongs to no payment', async (t) => {
  const { id, address, state } = await newPayment()
  await bank.setFault({ name: 'return_wrong_state', times: 1 })
  t.equal((await payAtBank(world, address)).status, 404)
  await bank.clearFaults()
  t.equal(await statusOf(id), 'AwaitingAuthorisation')
  t.same(await refusalsOf(state), ['UNKNOWN_STATE'], 'on record for the payment that the browser was sent for')
  const stranger = await bringBack(service, { cookie: `svc-bank=${'x'.repeat(43)}`, answer: 'state=made-up&code=x' })
  t.equal(stranger.status, 404)
  const { rows } = await service.owner.query(`select from obie.calls where verdict = 'UNKNOWN_STATE'`)
  t.equal(rows.length, 1, 'a browser that was never sent to a bank writes nothing')
})

t.test('a stolen answer is worth nothing in another browser, nor a second time in the same', async (t) => {
  const { address, state } = await newPayment()
  const { cookie, answer } = await visitBank(world, address)
  const thief = await visitBank(world, (await newPayment()).address)
  for (const other of ['', thief.cookie]) {
    const stolen = await bringBack(service, { cookie: other, answer })
    t.equal(stolen.status, 400)
    t.match(stolen.html, 'OTHER_BROWSER')
  }
  t.equal((await bringBack(service, { cookie, answer })).status, 200)
  t.match((await bringBack(service, { cookie, answer })).html, 'ALREADY_RETURNED')
  t.same(await refusalsOf(state), ['OTHER_BROWSER', 'OTHER_BROWSER', 'ALREADY_RETURNED'])
})

t.test('an answer for one payment does not authorise another of the same payer', async (t) => {
  const [one, two] = [await newPayment(), await newPayment()]
  const { cookie, answer } = await visitBank(world, one.address)
  await visitBank(world, two.address, { cookie })
  const swapped = new URLSearchParams(answer)
  swapped.set('state', two.state)
  const { status, html } = await bringBack(service, { cookie, answer: swapped.toString() })
  t.equal(status, 400)
  t.match(html, 'NONCE_MISMATCH')
  t.equal(await statusOf(two.id), 'AwaitingAuthorisation')
})

t.test('our code is good for its payment alone, and once', async (t) => {
  const [one, two] = [await newPayment(), await newPayment()]
  const { next } = await payAtBank(world, one.address)
  const { code = '' } = Object.fromEntries(next?.searchParams ?? [])
  const complete = ({ id, state }: typeof one, given: string) =>
    service.call('POST', `/api/v1/payments/${id}/sca-complete`, { body: { state, code: given } })
  t.match(await complete(two, code), { status: 400, body: { code: 'CODE_INVALID' } })
  t.match(await complete(one, `${code}x`), { status: 400, body: { code: 'CODE_INVALID' } })
  t.same(await refusalsOf(two.state), ['CODE_INVALID'])
  t.same(await refusalsOf(one.state), ['CODE_INVALID'])
  t.match(await complete(one, code), { status: 200 })
  t.match(await complete(one, code), { status: 200 }, 'a repeat answers what is so')
})

t.test('what is missing or doubled in an answer is refused', async (t) => {
  const { address, state } = await newPayment()
  const { cookie, answer } = await visitBank(world, address)
  const params = new URLSearchParams(answer)
  const without = (name: string): string => {
    const less = new URLSearchParams(params)
    less.delete(name)
    return less.toString()
  }
  for (const broken of [
    without('id_token'),
    without('code'),
    `${answer}&code=another`,
    `state=${state}&error=<script>`,
  ]) {
    const { status, html } = await bringBack(service, { cookie, answer: broken })
    t.equal(status, 400)
    t.match(html, 'RESPONSE_INVALID')
  }
})

t.test('the record of what was refused can not be changed', async (t) => {
  for (const statement of ['update obie.calls set verdict = null', 'delete from obie.calls', 'truncate obie.calls'])
    await t.rejects(service.owner.query(statement), { message: /the table is append-only/ })
})
