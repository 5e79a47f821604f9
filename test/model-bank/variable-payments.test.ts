import { DateTime } from 'luxon'
import t from 'tap'
import { startOfPeriod } from '../../src/model-bank/vrp-limits.ts'
import { startTestBank } from '../support/model-bank.ts'
import { approvedToken, call, callToken, makeRegisteredClient } from './client.ts'
import type { Answer, CallChanges, Client } from './client.ts'

const CREDITOR = { SchemeName: 'UK.OBIE.SortCodeAccountNumber', Identification: '20000055779911', Name: 'A Merchant' }
const RISK = { PaymentContextCode: 'EcommerceMerchantInitiatedPayment' }
const code = ({ status, body }: Answer): string => `${String(status)} ${String(body['Errors']?.[0]?.ErrorCode)}`

type Version = NonNullable<CallChanges['version']>
const REFERENCES = {
  'v4.0': { Unstructured: ['Subscription'] },
  'v3.1': { Unstructured: 'Subscription', Reference: 'SUB-1' },
}

function vrpConsent(version: Version): { Data: Record<string, any>; Risk: unknown } {
  return {
    Data: {
      ReadRefundAccount: 'Yes',
      ControlParameters: {
        VRPType: ['UK.OBIE.VRPType.Other'],
        PSUAuthenticationMethods: ['UK.OBIE.SCANotRequired'],
        PSUInteractionTypes: ['OffSession'],
        ValidToDateTime: '2027-11-23T00:00:00Z',
        MaximumIndividualAmount: { Amount: '20.00', Currency: 'GBP' },
        PeriodicLimits: [{ PeriodType: 'Month', PeriodAlignment: 'Consent', Amount: '50.00', Currency: 'GBP' }],
      },
      Initiation: { CreditorAccount: CREDITOR, RemittanceInformation: REFERENCES[version] },
    },
    Risk: RISK,
  }
}

function vrpOrder(version: Version, consentId: string, amount = '20.00'): { Data: Record<string, any>; Risk: unknown } {
  return {
    Data: {
      ConsentId: consentId,
      PSUAuthenticationMethod: 'UK.OBIE.SCANotRequired',
      PSUInteractionType: 'OffSession',
      VRPType: 'UK.OBIE.VRPType.Other',
      Initiation: { CreditorAccount: CREDITOR, RemittanceInformation: REFERENCES[version] },
      Instruction: {
        InstructionIdentification: 'SVC-1',
        EndToEndIdentification: crypto.randomUUID().slice(0, 35),
        RemittanceInformation: REFERENCES[version],
        InstructedAmount: { Amount: amount, Currency: 'GBP' },
        CreditorAccount: CREDITOR,
      },
    },
    Risk: RISK,
  }
}

async function approve(
  client: Client,
  version: Version,
): Promise<{ consentId: string; token: string; refresh: string }> {
  const staged = await call(client, 'POST', '/domestic-vrp-consents', { version, body: vrpConsent(version) })
  if (staged.status !== 201) throw new Error(staged.text)
  const consentId = String(staged.body['Data'].ConsentId)
  const { access, refresh } = await approvedToken(client, consentId)
  return { consentId, token: access, refresh: refresh ?? '' }
}

for (const version of ['v4.0', 'v3.1'] as const) {
  t.test(`a mandate with three collections and a revocation, ${version}`, async (t) => {
    const bank = await startTestBank(t)
    const client = await makeRegisteredClient(bank)
    const { consentId, token, refresh } = await approve(client, version)
    const isV4 = version === 'v4.0'
    const shown = await call(client, 'GET', `/domestic-vrp-consents/${consentId}`, { version })
    t.match(shown, { status: 200, body: { Data: { Status: isV4 ? 'AUTH' : 'Authorised' } } })

    const ask = { Data: { ConsentId: consentId, InstructedAmount: { Amount: '20.00', Currency: 'GBP' } } }
    const headers = { 'x-idempotency-key': undefined }
    const path = `/domestic-vrp-consents/${consentId}/funds-confirmation`
    const funds = await call(client, 'POST', path, { version, token, headers, body: ask })
    t.match(funds, { status: 201, body: { Data: { FundsAvailableResult: { FundsAvailable: 'Available' } } } })

    const first = await call(client, 'POST', '/domestic-vrps', { version, token, body: vrpOrder(version, consentId) })
    t.match(
      first,
      { status: 201, body: { Data: { Status: isV4 ? 'ACSC' : 'AcceptedSettlementCompleted' } } },
      first.text,
    )
    const renewed = await callToken(client, { grant_type: 'refresh_token', refresh_token: refresh })
    t.match(renewed, { status: 200, body: { refresh_token: String } }, renewed.text)
    t.not(renewed.body['refresh_token'], refresh, 'refresh tokens rotate')
    const later = { version, token: String(renewed.body['access_token']) }
    for (const amount of ['20.00', '10.00']) {
      const paid = await call(client, 'POST', '/domestic-vrps', {
        ...later,
        body: vrpOrder(version, consentId, amount),
      })
      t.match(paid, { status: 201 }, paid.text)
      const read = await call(client, 'GET', `/domestic-vrps/${String(paid.body['Data'].DomesticVRPId)}`, { version })
      t.match(read, { status: 200, body: { Data: { ConsentId: consentId } } })
    }
    const over = await call(client, 'POST', '/domestic-vrps', { ...later, body: vrpOrder(version, consentId, '0.01') })
    t.match(over, {
      status: 400,
      body: {
        Errors: [
          {
            ErrorCode: isV4 ? 'U014' : 'UK.OBIE.Rules.FailsControlParameters',
            Path: 'Data.ControlParameters.PeriodicLimits.0',
          },
        ],
      },
    })

    t.match(await call(client, 'DELETE', `/domestic-vrp-consents/${consentId}`, { version }), { status: 204, text: '' })
    const gone = await call(client, 'GET', `/domestic-vrp-consents/${consentId}`, { version })
    t.match(gone, isV4 ? { body: { Data: { Status: 'CANC' } } } : { status: 400 })
    const refused = await call(client, 'POST', '/domestic-vrps', {
      ...later,
      body: vrpOrder(version, consentId, '0.01'),
    })
    t.equal(refused.status, 400)
    const last = String(renewed.body['refresh_token'])
    t.match(await callToken(client, { grant_type: 'refresh_token', refresh_token: last }), {
      body: { error: 'invalid_grant' },
    })
    t.equal((await bank.books()).payments.length, 3)
  })
}

t.test('a payment under a mandate keeps to what the payer approved', async (t) => {
  const client = await makeRegisteredClient(await startTestBank(t))
  const { consentId, token } = await approve(client, 'v4.0')
  const refused = async (change: (data: Record<string, any>) => void, expected: string): Promise<void> => {
    const order = structuredClone(vrpOrder('v4.0', consentId))
    change(order.Data)
    t.equal(code(await call(client, 'POST', '/domestic-vrps', { token, body: order })), expected, String(change))
  }
  await refused((data) => (data['Instruction'].InstructedAmount.Amount = '20.01'), '400 U014')
  await refused((data) => (data['Instruction'].CreditorAccount.Identification = '20000011112222'), '400 U008')
  await refused((data) => (data['Initiation'].CreditorAccount.Identification = '20000011112222'), '400 U008')
  await refused((data) => (data['Instruction'].RemittanceInformation.Unstructured = ['Other']), '400 U008')
  await refused((data) => (data['VRPType'] = 'UK.OBIE.VRPType.Sweeping'), '400 U008')
  await refused((data) => (data['PSUAuthenticationMethod'] = 'UK.OBIE.SCA'), '400 U008')
  await refused((data) => (data['ConsentId'] = 'vrp-none'), '400 U011')
})

t.test('periods of limits begin in London’s calendar, or with the day of the consent', async (t) => {
  const consentAt = DateTime.fromISO('2026-01-31T10:00:00Z')
  const now = DateTime.fromISO('2026-03-30T10:00:00Z')
  const start = (
    PeriodType: Parameters<typeof startOfPeriod>[0]['PeriodType'],
    PeriodAlignment: 'Consent' | 'Calendar',
  ) => startOfPeriod({ PeriodType, PeriodAlignment, Amount: '1.00', Currency: 'GBP' }, consentAt, now).toISODate()
  t.equal(start('Day', 'Calendar'), '2026-03-30')
  t.equal(start('Week', 'Calendar'), '2026-03-30')
  t.equal(start('Month', 'Calendar'), '2026-03-01')
  t.equal(start('Half-year', 'Calendar'), '2026-01-01')
  t.equal(start('Year', 'Calendar'), '2026-01-01')
  t.equal(start('Week', 'Consent'), '2026-03-28')
  t.equal(start('Fortnight', 'Consent'), '2026-03-28')
  t.equal(start('Month', 'Consent'), '2026-02-28')
  t.equal(start('Half-year', 'Consent'), '2026-01-31')
})
