import t from 'tap'
import type { QuirkName } from '../../../src/model-bank/quirks.ts'
import { untilStatus } from '../../support/app.ts'
import { authoriseAtBank, newBankPayment, obieService, payAtBank } from '../../support/obie.ts'

/** Those that a payment meets; the others are about registration. */
const MET: readonly QuirkName[] = [
  'b64_header',
  'unsigned_responses',
  'id_token_without_acr',
  'id_token_without_auth_time',
  'id_token_without_consent_id',
  'id_token_without_nonce',
  'id_token_exp_in_milliseconds',
  'no_refund_account',
  'no_contract_present_indicator',
  'misspelt_contract_present_indicator',
  'no_funds_confirmation',
  'no_payment_details',
  'nonce_in_query',
]
/** Those that are members of a profile, or announced by the bank. */
const OTHERS: readonly QuirkName[] = [
  'assertion_audience_issuer',
  'financial_id_required',
  'pushed_requests',
  'discovery_elsewhere',
]

const idOf = (quirk: QuirkName): string => quirk.replaceAll('_', '-')

const world = await obieService(t, {
  tolerated: /ContractPresent/,
  more: (profile) => [
    ...MET.map((quirk) => ({ ...profile, id: idOf(quirk), quirks: [quirk] })),
    ...OTHERS.map((quirk) => ({
      ...profile,
      id: idOf(quirk),
      ...(quirk === 'discovery_elsewhere' ? { discovery: `${String(profile['issuer'])}/discovery` } : {}),
      client: { ...profile.client, audience: quirk === 'assertion_audience_issuer' ? 'issuer' : 'token_endpoint' },
    })),
  ],
})
const { service, bank, merchant } = world

for (const quirk of [...MET, ...OTHERS])
  t.test(`a bank with ${quirk} is paid at, where its profile says so`, async (t) => {
    await bank.setQuirks(quirk)
    const { id } = await authoriseAtBank(world, { changes: { debtor_bank_id: idOf(quirk) } })
    t.match(await untilStatus(service, merchant, id, 'Settled'), { status: 'Settled' })
    await bank.setQuirks()
  })

/** What a payment meets at a bank that deviates unannounced. */
const UNANNOUNCED: Partial<Record<QuirkName, RegExp>> = {
  b64_header: /BANK_UNAVAILABLE/,
  unsigned_responses: /BANK_UNAVAILABLE/,
  id_token_without_acr: /ACR_MISMATCH/,
  id_token_without_consent_id: /INTENT_MISMATCH/,
  id_token_without_nonce: /NONCE_MISMATCH/,
  misspelt_contract_present_indicator: /BANK_UNAVAILABLE/,
}

for (const [quirk, refusal] of Object.entries(UNANNOUNCED) as [QuirkName, RegExp][])
  t.test(`${quirk} is refused where the profile does not know it`, async (t) => {
    await bank.setQuirks(quirk)
    const refused = await newBankPayment(world)
      .then(({ address }) => payAtBank(world, address))
      .then(({ html }) => html, String)
    t.match(refused, refusal)
    await bank.setQuirks()
  })
