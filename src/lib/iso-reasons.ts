/**
 * Why a payment order was rejected: codes of ISO 20022 (ExternalStatusReason1Code; decisions 1 and 5; contract
 * §Failure codes).
 */
export const ISO_REASONS = ['AC03', 'AC05', 'AC06', 'AC07', 'AC11', 'AM04', 'DS02', 'MS03'] as const
export type IsoReason = (typeof ISO_REASONS)[number]

/** Why a request or an offer was rejected: on its own, or with its payment (decision 5). */
export const REQUEST_REASONS = [...ISO_REASONS, 'EDTR', 'MS02'] as const
export type RequestReason = (typeof REQUEST_REASONS)[number]

/** One fixed text per code, for people. */
const TEXTS: Readonly<Record<RequestReason, string>> = {
  AC03: "The creditor's account does not exist, or is the debtor's own",
  AC05: "The debtor's account is closed",
  AC06: "The debtor's account is blocked",
  AC07: "The creditor's account is closed",
  AC11: "The creditor's account is in another currency",
  AM04: "The debtor's account has insufficient funds",
  DS02: 'It was withdrawn before it was executed',
  EDTR: 'It expired before a decision',
  MS02: 'The other party rejected it without a reason',
  MS03: 'It could not be executed, for a reason unrelated to either account',
}

export function isoReasonText(code: RequestReason): string {
  return TEXTS[code]
}
