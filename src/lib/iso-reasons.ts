/** Why a payment order was rejected: codes of ISO 20022 (ExternalStatusReason1Code; decisions 1 and 5; contract §Failure codes). */
export const ISO_REASONS = ['AC03', 'AC05', 'AC06', 'AC07', 'AC11', 'AM04', 'DS02', 'MS03'] as const
export type IsoReason = (typeof ISO_REASONS)[number]

/** Why a request or an offer was rejected: by itself, or with its payment (decision 5). */
export const REQUEST_REASONS = [...ISO_REASONS, 'EDTR', 'MS02'] as const
export type RequestReason = (typeof REQUEST_REASONS)[number]

/** One fixed text for each, for people. */
const TEXTS: Readonly<Record<RequestReason, string>> = {
  AC03: "The creditor's account does not exist, or is the one that pays",
  AC05: 'The account that pays is closed',
  AC06: 'The account that pays is blocked',
  AC07: "The creditor's account is closed",
  AC11: "The creditor's account is in another currency",
  AM04: 'The account that pays has too little money',
  DS02: 'It was withdrawn before it was carried out',
  EDTR: 'Nobody decided on it before its time was over',
  MS02: 'The other side refused it, and gave no reason',
  MS03: 'It could not be carried out, for no reason of either account',
}

export function isoReasonText(code: RequestReason): string {
  return TEXTS[code]
}
