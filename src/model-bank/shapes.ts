import { z } from 'zod'
import { BankError } from './bank-error.ts'
import type { BankErrorCode } from './bank-error.ts'
import type { Version } from './versions.ts'

/** What the bank reads of a body. Unknown members are refused, as the official description does. */
const Amount = z.strictObject({
  // The standard allows five decimals; sterling has two.
  Amount: z.string().regex(/^\d{1,13}(\.\d{1,2})?$/),
  Currency: z.string().regex(/^[A-Z]{3}$/),
})
const Text = (max: number): z.ZodString => z.string().min(1).max(max)
const AccountId = z.strictObject({
  SchemeName: z.enum(['UK.OBIE.SortCodeAccountNumber', 'UK.OBIE.IBAN']),
  Identification: Text(256),
  Name: Text(350).optional(),
  SecondaryIdentification: Text(34).optional(),
})
const Creditor = AccountId.required({ Name: true })
const Remittance = {
  '4.0': z.strictObject({
    Structured: z.array(z.looseObject({})).optional(),
    Unstructured: z.array(Text(140)).optional(),
  }),
  '3.1': z.strictObject({ Reference: Text(35).optional(), Unstructured: Text(140).optional() }),
}
const Risk = z.looseObject({ PaymentContextCode: z.string().optional() })

const initiationOf = (version: Version['name']) =>
  z.strictObject({
    InstructionIdentification: Text(35),
    EndToEndIdentification: Text(35),
    LocalInstrument: z.string().optional(),
    InstructedAmount: Amount,
    DebtorAccount: AccountId.optional(),
    CreditorAccount: Creditor,
    RemittanceInformation: Remittance[version].optional(),
    SupplementaryData: z.looseObject({}).optional(),
  })

const paymentConsentOf = (version: Version['name']) =>
  z.strictObject({
    Data: z.strictObject({
      ReadRefundAccount: z.enum(['Yes', 'No']).optional(),
      Initiation: initiationOf(version),
      Authorisation: z.looseObject({ AuthorisationType: z.enum(['Any', 'Single']) }).optional(),
      SCASupportData: z.looseObject({}).optional(),
    }),
    Risk,
  })
const PaymentConsent = { '4.0': paymentConsentOf('4.0'), '3.1': paymentConsentOf('3.1') }
export type PaymentConsent = z.infer<(typeof PaymentConsent)['4.0' | '3.1']>

/** Its Initiation is compared with the consent's; its own form needs no second reading. */
const PaymentOrder = z.strictObject({
  Data: z.strictObject({ ConsentId: Text(128), Initiation: z.looseObject({}) }),
  Risk,
})
export type PaymentOrder = z.infer<typeof PaymentOrder>

const Limit = Amount.extend({
  PeriodType: z.enum(['Day', 'Week', 'Fortnight', 'Month', 'Half-year', 'Year']),
  PeriodAlignment: z.enum(['Consent', 'Calendar']),
})
export type PeriodicLimit = z.infer<typeof Limit>

const ControlParameters = z.strictObject({
  VRPType: z.array(z.enum(['UK.OBIE.VRPType.Sweeping', 'UK.OBIE.VRPType.Other'])).min(1),
  PSUAuthenticationMethods: z.array(z.enum(['UK.OBIE.SCA', 'UK.OBIE.SCANotRequired'])).min(1),
  PSUInteractionTypes: z.array(z.enum(['InSession', 'OffSession'])).optional(),
  ValidFromDateTime: z.iso.datetime({ offset: true }).optional(),
  ValidToDateTime: z.iso.datetime({ offset: true }).optional(),
  MaximumIndividualAmount: Amount,
  PeriodicLimits: z.array(Limit).min(1),
  SupplementaryData: z.looseObject({}).optional(),
})
export type ControlParameters = z.infer<typeof ControlParameters>

const vrpConsentOf = (version: Version['name']) =>
  z.strictObject({
    Data: z.strictObject({
      ReadRefundAccount: z.enum(['Yes', 'No']).optional(),
      ControlParameters,
      Initiation: z.strictObject({
        DebtorAccount: AccountId.required({ Name: true }).optional(),
        CreditorAccount: Creditor.optional(),
        RemittanceInformation: Remittance[version].optional(),
      }),
    }),
    Risk,
  })
const VrpConsent = { '4.0': vrpConsentOf('4.0'), '3.1': vrpConsentOf('3.1') }
export type VrpConsent = z.infer<(typeof VrpConsent)['4.0' | '3.1']>

const vrpOrderOf = (version: Version['name']) =>
  z.strictObject({
    Data: z.strictObject({
      ConsentId: Text(128),
      PSUAuthenticationMethod: z.string(),
      PSUInteractionType: z.enum(['InSession', 'OffSession']).optional(),
      VRPType: z.string(),
      Initiation: z.looseObject({}),
      Instruction: z.strictObject({
        InstructionIdentification: Text(35),
        EndToEndIdentification: Text(35),
        LocalInstrument: z.string().optional(),
        RemittanceInformation: Remittance[version].optional(),
        InstructedAmount: Amount,
        CreditorAccount: Creditor,
        SupplementaryData: z.looseObject({}).optional(),
      }),
    }),
    Risk,
  })
const VrpOrder = { '4.0': vrpOrderOf('4.0'), '3.1': vrpOrderOf('3.1') }
export type VrpOrder = z.infer<(typeof VrpOrder)['4.0' | '3.1']>

const VrpFunds = z.strictObject({
  Data: z.strictObject({ ConsentId: Text(128), Reference: Text(35).optional(), InstructedAmount: Amount }),
})
export type VrpFunds = z.infer<typeof VrpFunds>

export function readVrpConsent(version: Version, body: unknown): VrpConsent {
  return read<VrpConsent>(VrpConsent[version.name], body)
}

export function readVrpOrder(version: Version, body: unknown): VrpOrder {
  return read<VrpOrder>(VrpOrder[version.name], body)
}

export function readVrpFunds(body: unknown): VrpFunds {
  return read(VrpFunds, body)
}

export function readPaymentConsent(version: Version, body: unknown): PaymentConsent {
  return read(PaymentConsent[version.name], body)
}

export function readPaymentOrder(body: unknown): PaymentOrder {
  return read(PaymentOrder, body)
}

/** @throws {BankError} with the path of the first member that is wrong */
function read<Output>(schema: z.ZodType<Output>, body: unknown): Output {
  const result = schema.safeParse(body)
  if (result.success) return result.data
  const [issue] = result.error.issues
  if (issue === undefined) throw new BankError('UK.OBIE.Resource.InvalidFormat', 'the body cannot be read')
  throw new BankError(codeOf(issue), issue.message, { path: issue.path.join('.') })
}

function codeOf(issue: z.core.$ZodIssue): BankErrorCode {
  if (issue.code === 'unrecognized_keys') return 'UK.OBIE.Field.Unexpected'
  if (issue.code === 'invalid_type' && issue.input === undefined) return 'UK.OBIE.Field.Missing'
  if (issue.path.at(-1) === 'SchemeName') return 'UK.OBIE.Unsupported.Scheme'
  return 'UK.OBIE.Field.Invalid'
}
