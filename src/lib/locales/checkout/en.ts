import type { ReceiptTexts } from './en-receipt.ts'
import type { Failures } from './en-failures.ts'

/** How many banks were found, by the language's plural forms. */
type Plural = { other: string } & { [Form in Intl.LDMLPluralRule]?: string }

export const en = {
  loading: 'Preparing your payment',
  testMode: 'Test mode: no real money moves',
  payTo: 'To',
  cancel: 'Cancel and return to {merchant}',
  back: 'Return to {merchant}',
  newTab: '(opens in a new tab)',
  help: 'How paying by bank works',
  helpText:
    'You approve this one payment in your own bank’s app or website. The money goes straight from your account to {merchant}.',
  safe: 'You sign in at your bank only. We never see your bank passwords.',
  consentTitle: 'Confirm your payment',
  consentText:
    'By continuing you authorise this service to route a one-off payment of {amount} from your bank to {merchant}.',
  payee: 'Payee',
  accountEnd: 'account ending {end}',
  amount: 'Amount',
  provider: 'Payment service by {provider}.',
  terms: 'Terms',
  privacy: 'Privacy',
  continue: 'Continue',
  banksTitle: 'Choose your bank',
  quickPay: 'Pay with {bank}',
  lastUsed: 'Last used',
  unavailable: 'Not available at the moment',
  unavailableSince: 'Not available since {time}',
  popular: 'Popular banks',
  search: 'Search all banks',
  allBanks: 'All banks',
  found: { one: '{count} bank found', other: '{count} banks found' } as Plural,
  noneFound: 'No bank has that name. Check the spelling.',
  creatingTitle: 'Connecting to {bank}',
  cancellingTitle: 'Cancelling your payment',
  mobileTitle: 'Continue in your bank’s app',
  mobileText: 'Approve {amount} to {merchant} with {bank}.',
  openApp: 'Open your bank app',
  otherDevice: 'Use another device',
  otherDeviceText: 'Scan the code with the phone that has your bank’s app, or open the link there.',
  qrTitle: 'Scan with your phone',
  qrText: 'Point your phone’s camera at the code to approve {amount} to {merchant} with {bank}.',
  qrLabel: 'QR code that opens {bank}',
  scanned: 'I have scanned the code',
  thisBrowser: 'Continue in this browser',
  qrLocal: 'A phone can’t reach this sandbox: it runs on this computer only.',
  linkLabel: 'Link to your bank',
  copy: 'Copy link',
  copied: 'Link copied',
  processingTitle: 'Waiting for your bank',
  processingText: 'Approve the payment at {bank}. Keep this page open.',
  authorisedText: '{bank} has approved the payment. We are waiting for the money to arrive.',
  offlineText: 'You are offline. We look again when you are back; the payment is safe at your bank.',
  openAgain: 'Open {bank} again',
  waitingTitle: 'Still waiting for your bank',
  waitingText: 'This takes longer than usual. Check again, or return to {merchant}: the shop gets the result.',
  checkAgain: 'Check again',
  paidTitle: 'Payment complete',
  paidText: 'You paid {amount} to {merchant}.',
  paidBeforeTitle: 'Already paid',
  paidBeforeText: 'This order is already paid, or its payment is in progress. You do not need to pay again.',
  reference: 'Reference',
  failedTitle: 'Payment not completed',
  nothingTaken: 'No money was taken.',
  again: 'Try again',
  otherBank: 'Choose another bank',
  unusableTitle: 'This checkout can’t be used',
  unusableText: 'Go back to the shop and try again.',
  developer: 'For the shop’s developer',
  leftTitle: 'Nothing more to do here',
  /** What can happen without a connection; the others load when one is shown. */
  failures: {
    NETWORK: 'We can’t reach the service. Check your connection and try again.',
    UNKNOWN: 'The payment was not completed.',
  } as Partial<Failures> & Pick<Failures, 'NETWORK' | 'UNKNOWN'>,
}

/** The texts of a language up to the receipt, without most failures. */
export type Texts = typeof en

/** All texts of a language: English loads those of the receipt and of failures when they are shown. */
export type AllTexts = Texts & ReceiptTexts & { failures: Failures }
