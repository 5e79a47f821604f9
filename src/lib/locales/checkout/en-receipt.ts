/** What only a payer who has paid reads. */
export const receipt = {
  date: 'Date',
  gross: 'You paid',
  shares: 'How the shop is paid',
  fee: 'Fee, paid by the shop',
  net: 'The shop receives',
  print: 'Receipt to print',
  contactTitle: 'Find this payment again',
  contactText: 'Leave an e-mail address or phone number to find this payment later.',
  contactLabel: 'E-mail address or phone number',
  contactSend: 'Save',
  contactKept: 'Saved. You can find this payment in your payment hub.',
  contactKnown: 'This payment already has a contact.',
  contactWrong: 'Enter a valid e-mail address or phone number.',
  hub: 'Open the payment hub',
}

export type ReceiptTexts = typeof receipt
