/** The messages that payers are sent. Each explains itself, because its reader may not have asked for it. */
export const mails = {
  subject: 'Your link to sign in',
  body: `Hello,

use this link to see your payments, your receipts and your recurring payments:

{link}

It works once, and for 10 minutes. Anyone who has it can use it, so don't share it.

If you did not ask for it, do nothing: without the link no one can sign in.
We never ask for your bank's passwords or codes, neither in an e-mail nor on the page that the link opens.
`,
  receiptSubject: 'Your receipt',
  paymentId: 'Payment ID',
  receipt: `Hello,

here is the receipt that you asked for:

{facts}

{questions}

All your payments, after you have signed in: {link}

We never ask for your bank's passwords or codes, neither in an e-mail nor on the page that the link opens.
`,
  text: `Sign in to see your payments: {link}
It works once, for 10 minutes. Don't share it. We never ask for bank passwords. If you did not ask for it, do nothing.`,
}

export type MailTexts = typeof mails
