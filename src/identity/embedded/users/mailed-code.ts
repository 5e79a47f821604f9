import { createHash, randomBytes } from 'node:crypto'
import { base32 } from '../../../lib/totp.ts'
import { queueMail, secondsToNextMailTo } from '../../../mail/queue.ts'
import type { EmbeddedParts } from '../parts.ts'
import type { UserRecord } from '../record.ts'

const KIND = 'factor_code'
const MAILS_PER_HOUR = 5
/** As long as the sign-in waits (pending-sign-in.ts). */
const USELESS_AFTER_SECONDS = 600
/** Forty random bits, for a form that takes some hundred tries at most. */
const CODE_BYTES = 5

/** Mails a code, or says how long no other one is mailed. */
export async function mailCode(
  parts: EmbeddedParts,
  { realm, email }: UserRecord,
): Promise<{ codeHash: string } | { retryAfterSeconds: number }> {
  const code = base32(randomBytes(CODE_BYTES))
  const retryAfterSeconds = await parts.pool.transaction(async (tx) => {
    const seconds = await secondsToNextMailTo(parts, tx, { recipient: email, kind: KIND, realm }, MAILS_PER_HOUR)
    if (seconds > 0) return seconds
    await queueMail(parts, tx, {
      merchantId: null,
      realm,
      kind: KIND,
      recipient: email,
      subject: `Code for your second factor for ${realm}`,
      body: mailOf(realm, email, code),
      uselessAfterSeconds: USELESS_AFTER_SECONDS,
    })
    return 0
  })
  if (retryAfterSeconds > 0) return { retryAfterSeconds }
  parts.wake.notify('send-mails')
  return { codeHash: hashOf(code) }
}

function mailOf(realm: string, email: string, code: string): string {
  return `Someone, hopefully you, has signed in to ${realm} as ${email} and is about to set up a second factor.

Enter this code where you sign in. It works for ten minutes:

${code.slice(0, 4)}-${code.slice(4)}

If this was not you, your password is known to another person: choose a new one at once, and never pass the code on.
`
}

/** Of a code as people type it. */
export function hashOf(code: string): string {
  return createHash('sha256').update(code.replaceAll(/[\s-]/g, '').toUpperCase()).digest('hex')
}
