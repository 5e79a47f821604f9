import type { PayerContact } from '../../../src/wire/payer.ts'
import { PayerContact as Contact } from '../../../src/wire/payer.ts'
import { StepFailure } from '../failure.ts'

const NUMBER = /^\+?[\d ().-]+$/

/** An e-mail address, or a phone number. @throws {StepFailure} for what is neither */
export function contactOf(text: string): PayerContact {
  const parsed = Contact.safeParse(text.includes('@') ? { email: text } : { phone: text })
  if (parsed.success && (text.includes('@') || NUMBER.test(text))) return parsed.data
  throw new StepFailure(`"${text}" is neither an e-mail address nor a phone number`, {
    at: ['contact'],
    hint: 'ada@example.org, or +447700900123',
  })
}

/** As the outbox writes it: an address in lower case, a number as the service knows it. */
export async function recipientOf(contact: PayerContact): Promise<string> {
  if ('email' in contact) return contact.email
  const { normalisePhone } = await import('../../../src/lib/payer-contact.ts')
  return normalisePhone(contact.phone) ?? contact.phone
}
