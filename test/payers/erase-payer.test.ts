import t from 'tap'
import { atBank, createPayment, testService } from '../support/app.ts'
import type { Answer } from '../support/app.ts'
import { dumpDatabase } from '../support/dump.ts'
import { settledPayment } from '../support/payments.ts'
import { messagesTo, signIn } from '../support/payers.ts'
import { checkInvariants } from '../../src/verify/check-invariants.ts'

const service = await testService(t)
const { owner, app } = service
const [merchant, other] = [await service.merchant(), await service.merchant()]

const ADA = {
  payer_name: 'Ada Canary',
  payer_email: 'Ada@Payer.Example',
  debtor_account_scheme: 'UK.OBIE.SortCodeAccountNumber',
  debtor_identification: '20201512345678',
}

async function erase(body: object, query = ''): Promise<Answer> {
  const headers = await service.operator('OWNER')
  return service.call('POST', `/api/v1/admin/payers/erase${query}`, { headers, body })
}
const consentsOf = async (ids: readonly string[]) =>
  (
    await owner.query(
      `select c.payer_name as name, c.payer_email_hash is null and c.payer_phone_hash is null as unlinked,
         c.debtor_identification is null as no_account
       from payment_intents p join payment_consents c on c.merchant_id = p.merchant_id and c.id = p.consent_id
       where p.id = any($1) order by array_position($1, p.id)`,
      [ids],
    )
  ).rows
const listed = async () => {
  const { body } = await service.call('GET', '/api/v1/payer/payments', {
    headers: await signIn(service, { email: 'ada@payer.example' }),
  })
  return body.data.length
}

t.test('a contact, name and messages are gone over all merchants; payments and books stay', async (t) => {
  const paid = await settledPayment(service, merchant, ADA)
  const elsewhere = await settledPayment(service, other, ADA)
  const cancelled = (await createPayment(service, merchant, ADA)).body
  const back = await atBank(cancelled.redirect_url, 'cancel')
  await service.call('POST', `/api/v1/payments/${cancelled.payment_id}/sca-complete`, { body: back })
  const waiting = (await createPayment(service, merchant, ADA)).body.payment_id
  const stranger = await settledPayment(service, merchant, { payer_email: 'eve@payer.example', payer_name: 'Eve' })
  const ids = [paid, elsewhere, cancelled.payment_id, waiting, stranger]
  t.equal(await listed(), 4)

  const asked = { email: ' ADA@payer.example', reason: 'asked to be forgotten' }
  const before = await consentsOf(ids)
  const dry = await erase(asked, '?dry_run=true')
  t.match(dry, { status: 200, body: { consents: 3, accounts: 1, open_consents: 1 } })
  t.same(await consentsOf(ids), before, 'a dry run erases nothing')
  t.equal((await messagesTo(service, 'ada@payer.example')).length, 1)

  const done = await erase(asked)
  t.match(done.body, { consents: 3, accounts: 1, open_consents: 1, messages: 3 })
  const gone = { name: null, unlinked: true }
  t.same(await consentsOf(ids), [
    { ...gone, no_account: false },
    { ...gone, no_account: false },
    { ...gone, no_account: true },
    { name: 'Ada Canary', unlinked: false, no_account: false },
    { name: 'Eve', unlinked: false, no_account: true },
  ])
  t.same(await messagesTo(service, 'ada@payer.example'), [])
  t.equal(await listed(), 1, 'the payer finds the open one only')
  const { body } = await service.call('GET', '/api/v1/payments', { merchant })
  t.equal(body.data.length, 4, 'the merchant still has every payment')
  t.same(await checkInvariants(app, { signal: new AbortController().signal }), [])

  // The one that was left is erased when it is over.
  await service.call('POST', `/api/v1/payments/${waiting}/cancel`, { merchant })
  t.match((await erase(asked)).body, { consents: 1, accounts: 1, open_consents: 0 })
  t.match((await erase(asked)).body, { consents: 0, open_consents: 0 }, 'again there is nothing left')
  t.notMatch(await dumpDatabase(owner), /canary/i, 'the name is in no table, nor in the audit trail')
})

t.test('the audit trail says that it was done and why, and not to whom', async (t) => {
  const { rows } = await owner.query(
    `select subject_id, reason, row_to_json(a)::text as text from operator_actions a where action = 'payer.erase' order by ordinal`,
  )
  t.equal(rows.length, 3)
  t.match(rows[0], { reason: 'asked to be forgotten' })
  t.notMatch(rows.map(({ text }) => text).join(), /canary|payer\.example/i)
  const hash = await app.lookupHash('EMAIL', 'ada@payer.example')
  t.notMatch(rows.map(({ text }) => text).join(), new RegExp(hash))
})

t.test('a phone number names a payer too, and what names no payer is refused', async (t) => {
  const id = await settledPayment(service, merchant, { payer_phone: '+447700900123', payer_name: 'Ada' })
  t.match((await erase({ phone: '07700 900123', reason: 'asked' })).body, { consents: 1 })
  t.match(await consentsOf([id]), [{ name: null, unlinked: true }])
  t.match(await erase({ phone: '070', reason: 'asked' }), { status: 400, body: { code: 'VALIDATION_FAILED' } })
  t.match(await erase({ email: 'ada@payer.example' }), { status: 400 }, 'without a reason')
})
