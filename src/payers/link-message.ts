/** The mail that a payer signs in with. It stands for itself: who gets it may have asked for nothing. */
export function linkMail(link: string): { subject: string; body: string } {
  return {
    subject: 'Your link to sign in',
    body: `Hello,

with this link you see your payments, your receipts and your recurring payments:

${link}

It works once, and for 10 minutes. Anyone who has it can use it, so pass it on to nobody.

If you did not ask for it, do nothing: without the link nobody can sign in.
We never ask for your bank's passwords or codes, neither in a mail nor on the page behind the link.
`,
  }
}

/** The same as a text message. */
export function linkText(link: string): { subject: string; body: string } {
  return {
    subject: 'Your link to sign in',
    body: `Sign in to see your payments: ${link}
It works once, for 10 minutes. Pass it on to nobody. We never ask for bank passwords. If you did not ask for it, do nothing.`,
  }
}
