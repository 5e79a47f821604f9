import { formatAmount, formatNumeric, parseAmount } from '../../lib/money.ts'
import type { ConsentRequest, MandateLimit } from '../connector.ts'
import type { BankProfile } from '../profiles.ts'
import { VERSIONS } from './versions.ts'

/** The account that payers pay into (SVC_COLLECTION_ACCOUNT), in the standard's members. */
export type CreditorAccount = { SchemeName: string; Identification: string; Name: string }

/** What a payer is asked to approve. Payments repeat `Initiation` and `Risk` letter for letter. */
export type ConsentBody = {
  Data: { Initiation: { CreditorAccount?: CreditorAccount; [member: string]: unknown }; [member: string]: unknown }
  Risk: object
}

type Context = { profile: BankProfile; creditor: CreditorAccount }

/** The account is the operator's own, and the contract with the merchant stands behind it. */
function riskOf({ quirks }: BankProfile, { version }: BankProfile['payments']): object {
  const isMisspelt = quirks.includes('misspelt_contract_present_indicator')
  const member = isMisspelt ? 'ContractPresentInidicator' : VERSIONS[version].contractMember
  return {
    PaymentContextCode: 'TransferToThirdParty',
    ...(quirks.includes('no_contract_present_indicator') ? {} : { [member]: true }),
    BeneficiaryPrepopulatedIndicator: true,
  }
}

const REFERENCE_LENGTH_MAX = 18

const PERIODS: Record<MandateLimit['period'], string> = {
  DAY: 'Day',
  WEEK: 'Week',
  FORTNIGHT: 'Fortnight',
  MONTH: 'Month',
  HALF_YEAR: 'Half-year',
  YEAR: 'Year',
}

type Approvable = Pick<
  ConsentRequest,
  'endToEndId' | 'amount' | 'currency' | 'debtorAccount' | 'remittanceReference' | 'mandate'
>

/** The body of a consent for one payment, or for a mandate and its payments. */
export function consentBody(request: Approvable, { profile, creditor }: Context): ConsentBody {
  const refund = profile.quirks.includes('no_refund_account') ? {} : { ReadRefundAccount: 'Yes' }
  if (request.mandate !== undefined) {
    const ControlParameters = controlParameters(request.currency, request.mandate)
    return {
      Data: { ...refund, ControlParameters, Initiation: { CreditorAccount: creditor } },
      Risk: riskOf(profile, profile.vrp ?? profile.payments),
    }
  }
  const { endToEndId, amount, currency, debtorAccount } = request
  const Initiation = {
    InstructionIdentification: endToEndId,
    EndToEndIdentification: endToEndId,
    InstructedAmount: amountOf(amount, currency),
    ...(debtorAccount === undefined
      ? {}
      : { DebtorAccount: { SchemeName: debtorAccount.scheme, Identification: debtorAccount.identification } }),
    CreditorAccount: creditor,
    RemittanceInformation: remittance(profile.payments.version, request),
  }
  return { Data: { ...refund, Initiation }, Risk: riskOf(profile, profile.payments) }
}

/** Above every amount that full payments of each day of a year can reach: a mandate without limits of its own has none. */
const DAYS = 366n

function controlParameters(currency: string, mandate: NonNullable<ConsentRequest['mandate']>): object {
  const { maxAmountPerPayment, limits, validTo } = mandate
  const single = amountOf(maxAmountPerPayment, currency)
  const given = limits.map(({ period, alignment, maxAmount }) => ({
    PeriodType: PERIODS[period],
    PeriodAlignment: alignment === 'CALENDAR' ? 'Calendar' : 'Consent',
    ...amountOf(maxAmount, currency),
  }))
  return {
    VRPType: ['UK.OBIE.VRPType.Other'],
    PSUAuthenticationMethods: ['UK.OBIE.SCANotRequired'],
    PSUInteractionTypes: ['OffSession'],
    ValidToDateTime: validTo,
    MaximumIndividualAmount: single,
    PeriodicLimits:
      given.length > 0 ? given : [{ PeriodType: 'Year', PeriodAlignment: 'Consent', ...times(single, DAYS) }],
  }
}

/** The order of a payment that was approved by itself. */
export function paymentBody(consentId: string, { Data: { Initiation }, Risk }: ConsentBody): object {
  return { Data: { ConsentId: consentId, Initiation }, Risk }
}

export type MandateInstruction = {
  endToEndId: string
  amount: string
  currency: string
  remittanceReference: string | undefined
}

/** The order of a payment under a mandate. */
export function mandatePaymentBody(
  consentId: string,
  { Data: { Initiation }, Risk }: ConsentBody,
  { profile, creditor, instruction }: Context & { instruction: MandateInstruction },
): object {
  const { endToEndId, amount, currency } = instruction
  const Instruction = {
    InstructionIdentification: endToEndId,
    EndToEndIdentification: endToEndId,
    RemittanceInformation: remittance((profile.vrp ?? profile.payments).version, instruction),
    InstructedAmount: amountOf(amount, currency),
    // What the payer approved, whatever account is configured by now: the bank would refuse another one.
    CreditorAccount: Initiation.CreditorAccount ?? creditor,
  }
  return {
    Data: {
      ConsentId: consentId,
      PSUAuthenticationMethod: 'UK.OBIE.SCANotRequired',
      PSUInteractionType: 'OffSession',
      VRPType: 'UK.OBIE.VRPType.Other',
      Initiation,
      Instruction,
    },
    Risk,
  }
}

function remittance(
  version: BankProfile['payments']['version'],
  { remittanceReference, endToEndId }: Pick<MandateInstruction, 'remittanceReference' | 'endToEndId'>,
): object {
  return VERSIONS[version].remittance((remittanceReference ?? endToEndId).slice(0, REFERENCE_LENGTH_MAX))
}

type Amount = { Amount: string; Currency: string }

function amountOf(numeric: string, currency: string): Amount {
  return { Amount: formatNumeric(numeric, currency), Currency: currency }
}

function times({ Amount: text, Currency }: Amount, factor: bigint): Amount {
  return { Amount: formatAmount(parseAmount(text) * factor, Currency), Currency }
}
