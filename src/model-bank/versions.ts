import type { BankError } from './bank-error.ts'
import type { ConsentKind, ConsentStatus, PaymentStatus } from './books.ts'

/** What differs between the versions of the standard, as data. */
export type Version = {
  name: '4.0' | '3.1'
  basePath: string
  consentStatus: Record<ConsentKind, Record<ConsentStatus, string>>
  paymentStatus: Record<PaymentStatus, string>
  errorCode(error: BankError): string
}

const PAYMENT_STATUS_V4: Version['paymentStatus'] = {
  RCVD: 'RCVD',
  PDNG: 'PDNG',
  ACSP: 'ACSP',
  ACSC: 'ACSC',
  ACCC: 'ACCC',
  RJCT: 'RJCT',
}

const V4: Version = {
  name: '4.0',
  basePath: '/open-banking/v4.0/pisp',
  consentStatus: {
    'domestic-payment': { awaiting: 'AWAU', authorised: 'AUTH', consumed: 'COND', rejected: 'RJCT', revoked: 'RJCT' },
    'domestic-vrp': { awaiting: 'AWAU', authorised: 'AUTH', consumed: 'AUTH', rejected: 'RJCT', revoked: 'CANC' },
  },
  paymentStatus: PAYMENT_STATUS_V4,
  errorCode: ({ shortCode }) => shortCode,
}

const CONSENT_STATUS_V3 = {
  awaiting: 'AwaitingAuthorisation',
  authorised: 'Authorised',
  consumed: 'Consumed',
  rejected: 'Rejected',
  revoked: 'Rejected',
}

const V3: Version = {
  name: '3.1',
  basePath: '/open-banking/v3.1/pisp',
  consentStatus: {
    'domestic-payment': CONSENT_STATUS_V3,
    'domestic-vrp': { ...CONSENT_STATUS_V3, consumed: 'Authorised' },
  },
  paymentStatus: {
    RCVD: 'Pending',
    PDNG: 'Pending',
    ACSP: 'AcceptedSettlementInProcess',
    ACSC: 'AcceptedSettlementCompleted',
    ACCC: 'AcceptedCreditSettlementCompleted',
    RJCT: 'Rejected',
  },
  errorCode: ({ code }) => code,
}

export const VERSIONS: readonly Version[] = [V4, V3]
