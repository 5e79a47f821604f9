import type { FailureCode } from '../../lib/failure-codes.ts'
import type { BankProfile } from '../profiles.ts'

type VersionName = BankProfile['payments']['version']

/** What the versions of the standard differ in. */
export type Version = {
  consents: Readonly<Record<string, 'awaiting' | 'authorised' | 'rejected'>>
  /** The status of a consent whose one payment was taken. */
  usedUp: string
  payments: Readonly<Record<string, 'settled' | 'pending' | 'rejected'>>
  remittance(reference: string): object
  /** The member of Risk that says that the payee has a contract with us. The description of 3.1 misspells it. */
  contractMember: 'ContractPresentIndicator' | 'ContractPresentInidicator'
}

/** Statuses by their names; one that is not listed is believed to be neither success nor failure. */
export const VERSIONS: Readonly<Record<VersionName, Version>> = {
  '4.0': {
    consents: {
      AWAU: 'awaiting',
      AUTH: 'authorised',
      COND: 'authorised',
      RJCT: 'rejected',
      CANC: 'rejected',
      EXPD: 'rejected',
    },
    usedUp: 'COND',
    payments: {
      RCVD: 'pending',
      PATC: 'pending',
      PDNG: 'pending',
      ACTC: 'pending',
      ACCP: 'pending',
      ACFC: 'pending',
      ACSP: 'pending',
      ACWC: 'pending',
      ACWP: 'pending',
      ACSC: 'settled',
      ACCC: 'settled',
      BLCK: 'rejected',
      RJCT: 'rejected',
      CANC: 'rejected',
    },
    remittance: (reference) => ({ Unstructured: [reference] }),
    contractMember: 'ContractPresentIndicator',
  },
  '3.1': {
    consents: {
      AwaitingAuthorisation: 'awaiting',
      Authorised: 'authorised',
      Consumed: 'authorised',
      Rejected: 'rejected',
      Revoked: 'rejected',
    },
    usedUp: 'Consumed',
    payments: {
      Pending: 'pending',
      AcceptedSettlementInProcess: 'pending',
      AcceptedWithoutPosting: 'pending',
      AcceptedSettlementCompleted: 'settled',
      AcceptedCreditSettlementCompleted: 'settled',
      Rejected: 'rejected',
    },
    remittance: (reference) => ({ Reference: reference }),
    contractMember: 'ContractPresentInidicator',
  },
}

/** ISO reasons (ExternalStatusReason1Code) and codes of the standard, as failure codes (contract §Failure codes). */
const FAILURES: Readonly<Record<string, FailureCode>> = {
  AC01: 'INVALID_DEBTOR_ACCOUNT',
  AC02: 'INVALID_DEBTOR_ACCOUNT',
  AC03: 'INVALID_CREDITOR_ACCOUNT',
  AC04: 'ACCOUNT_CLOSED',
  AC05: 'ACCOUNT_CLOSED',
  AC06: 'ACCOUNT_BLOCKED',
  AC07: 'INVALID_CREDITOR_ACCOUNT',
  AM02: 'LIMIT_EXCEEDED',
  AM04: 'INSUFFICIENT_FUNDS',
  AM05: 'DUPLICATE_PAYMENT',
  AM14: 'LIMIT_EXCEEDED',
  CUST: 'ACCESS_DENIED',
  DS02: 'ACCESS_DENIED',
  DU03: 'DUPLICATE_PAYMENT',
  FR01: 'FRAUD_SUSPECTED',
  U014: 'LIMIT_EXCEEDED',
  'UK.OBIE.Rules.FailsControlParameters': 'LIMIT_EXCEEDED',
}

/** The failure of a bank's reason. @param reason undefined where the bank gives none */
export function failureOfReason(reason: string | undefined): FailureCode {
  return (reason !== undefined && Object.hasOwn(FAILURES, reason) ? FAILURES[reason] : undefined) ?? 'BANK_ERROR'
}

/** Reasons that are about our signature or headers, and so about every request of ours, in the words of both versions. */
const OF_ALL_REQUESTS = /^(UK\.OBIE\.(Header|Signature)\.|U00[67]$|U01[5-9]$)/

/** Whether a bank's reason is about how we ask, and not about what was asked. */
export function isOfAllRequests(reason: string | undefined): boolean {
  return reason !== undefined && OF_ALL_REQUESTS.test(reason)
}
