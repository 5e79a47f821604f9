import t from 'tap'
import { consentBody, mandatePaymentBody } from '../../../src/banks/obie/bodies.ts'
import type { BankProfile } from '../../../src/banks/profiles.ts'

const ACCOUNT = {
  SchemeName: 'UK.OBIE.SortCodeAccountNumber',
  Identification: '20000055779911',
  Name: 'Collections Ltd',
}
const OTHER = { ...ACCOUNT, Identification: '20000055770000' }
const instruction = { endToEndId: 'E2E', amount: '7.0000', currency: 'GBP', remittanceReference: undefined }
const approvable = {
  endToEndId: 'E2E',
  amount: '50.0000',
  currency: 'GBP',
  debtorAccount: undefined,
  remittanceReference: undefined,
  mandate: { maxAmountPerPayment: '60.0000', limits: [], validTo: '2027-01-01T00:00:00Z' },
}

for (const version of ['4.0', '3.1'] as const)
  t.test(`an order under a mandate credits the account that its payer approved, version ${version}`, async (t) => {
    const api = { base_url: 'https://bank.example', version }
    const profile = { quirks: [], payments: api, vrp: api } as unknown as BankProfile
    const approved = consentBody(approvable, { profile, creditor: ACCOUNT })
    t.match(approved.Data.Initiation, { CreditorAccount: ACCOUNT }, 'a new mandate names the account of today')
    const later = { profile, creditor: OTHER, instruction }
    t.match(mandatePaymentBody('c', approved, later), {
      Data: { Initiation: { CreditorAccount: ACCOUNT }, Instruction: { CreditorAccount: ACCOUNT } },
    })
    const open = { ...approved, Data: { ...approved.Data, Initiation: {} } }
    const order = mandatePaymentBody('c', open, later)
    t.match(order, { Data: { Instruction: { CreditorAccount: OTHER } } }, 'where it approved none')
  })
