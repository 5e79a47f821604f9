import t from 'tap'
import { redactPayload } from '../../src/lib/redact-payload.ts'
import { auditedService } from '../support/audit.ts'
import { plainToken, startPayment } from '../support/checkout.ts'
import { accept, raiseAsPayer } from '../support/disputes.ts'
import { dumpDatabase } from '../support/dump.ts'
import { authorisedMandate } from '../support/mandates.ts'
import { signIn, paymentOf } from '../support/payers.ts'
import { settledPayment } from '../support/payments.ts'

const EMAIL = 'Canary.Payer@Payer.Example'
const PHONE = '+447700900981'
const NUMBER = '40478470872490'
const IBAN = 'GB11BUKB40478470872491'
const CANARIES = [EMAIL, PHONE, NUMBER, IBAN].map((text) => text.toLowerCase())

/** Base64 of any kind, decoded: texts hide in addresses and tokens. */
function decodedParts(text: string): string {
  return [...text.matchAll(/[\w+/-]{16,}/g)]
    .map(([part]) => Buffer.from(part, 'base64url').toString('latin1'))
    .join('\n')
}

t.test('account numbers and contacts of payers are nowhere in clear in the database', async (t) => {
  const service = await auditedService(t)
  const merchant = await service.merchant()
  const account = { debtor_account_scheme: 'UK.OBIE.SortCodeAccountNumber', debtor_identification: NUMBER }
  const iban = { debtor_account_scheme: 'UK.OBIE.IBAN', debtor_identification: IBAN }
  await paymentOf(service, merchant, { ...account, payer_email: EMAIL, payer_phone: PHONE })
  await settledPayment(service, merchant, { ...iban, payer_email: EMAIL })
  await authorisedMandate(service, merchant, { ...account, payer_phone: PHONE })
  const token = plainToken(service, merchant, {
    debtorAccountScheme: account.debtor_account_scheme,
    debtorIdentification: NUMBER,
  })
  t.equal((await startPayment(service, token)).status, 201)
  await signIn(service, { email: EMAIL })
  await signIn(service, { phone: PHONE })

  const dump = (await dumpDatabase(service.owner)).toLowerCase()
  const decoded = decodedParts(await dumpDatabase(service.owner)).toLowerCase()
  for (const canary of CANARIES) {
    t.notOk(dump.includes(canary), canary)
    t.notOk(decoded.includes(canary), `${canary} in base64`)
  }

  const headers = await service.operator('OWNER')
  const exported = await service.call('GET', '/api/v1/admin/audit/export?chain=payment_events', { headers })
  t.ok(exported.body.data.length > 0)
  for (const canary of CANARIES) t.notOk(exported.text.toLowerCase().includes(canary), canary)
})

t.test("what a merchant writes when it accepts a dispute is in no entry of the operators' audit trail", async (t) => {
  const service = await auditedService(t)
  const merchant = await service.merchant()
  const dispute = (await raiseAsPayer(service, await settledPayment(service, merchant))).body
  const note = 'Zoe Canary of 12 Canary Road has called us.'
  t.match(await accept(service, merchant, dispute.id, { body: { note } }), { status: 200 })
  const headers = await service.operator('OWNER')
  const { text } = await service.call('GET', '/api/v1/admin/audit/export?chain=operator_actions', { headers })
  t.match(text, /dispute\.accept/)
  t.notMatch(text, /Canary/)
  const { rows } = await service.owner.query('select a::text as entry from operator_actions a')
  for (const { entry } of rows) t.notMatch(entry, /Canary/)
})

t.test(
  'the audit trail keeps neither the code nor the state of a payer, nor the account that a bank names',
  async (t) => {
    for (const [text, kept] of [
      ['{"amount":"1.00","metadata":{"note":"Zoë"}}', '{"amount":"1.00","metadata":{"note":"Zoë"}}'],
      ['{"amount":"1.00","payer_name":"Zoë"}', '{"amount":"1.00","payer_name":"[redacted]"}'],
      ['{"Debtor":{"Name":"Zoë"}}', '{"Debtor":{"Name":"[redacted]"}}'],
      ['{ "amount": 1.10 }', '{ "amount": 1.10 }'],
      ['{"state":"s","code":"c","error":null}', '{"state":"[redacted]","code":"[redacted]","error":null}'],
      [
        '{"debtorIdentification":"20","a":{"Iban":["x"]}}',
        '{"debtorIdentification":"[redacted]","a":{"Iban":"[redacted]"}}',
      ],
      ['{"payer\\u005femail":"a@b"}', '{"payer_email":"[redacted]"}'],
      ['{"email":"a@b","email":null}', '{"email":null}'],
      ['{"data":{"email":"a@b"},"data":1}', '{"data":1}'],
      [
        '{"Data":{"DebtorAccount":{"SchemeName":"UK.OBIE.IBAN","Identification":"GB"}}}',
        '{"Data":{"DebtorAccount":{"SchemeName":"UK.OBIE.IBAN","Identification":"[redacted]"}}}',
      ],
    ] as const)
      t.equal(redactPayload(text), kept)
  },
)
