import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../../app.ts'
import { dayText, londonTimeText, parseDay } from '../../lib/london-time.ts'
import { fromMinorUnits } from '../../lib/minor-units.ts'
import { CUSTOMERS_REALM } from '../../lib/realms.ts'
import { queueMail } from '../../mail/queue.ts'
import { quoteName } from '../../mail/quote-name.ts'
import { countRecentlySent } from './read-sql.ts'
import type { PaymentRequestRecord } from './record.ts'
import { SIDES } from './sides.ts'

/** The maximum number of mails per hour from one customer to another. */
const MAILS_PER_HOUR = 20

export type Delivery = {
  request: PaymentRequestRecord
  /** The mail address of the other side. */
  email: string | null
  /** The requester's name at the bank. */
  holder: string
}

/**
 * Queues the mail about a request to the other side, in the transaction that creates it. A customer without an e-mail
 * address, or with more than twenty mails within an hour from the same requester, finds it only in the list.
 */
export async function deliverRequest(
  tx: DatabaseTransactionConnection,
  app: Pick<App, 'sealer' | 'lookupHash' | 'ids' | 'config'>,
  { request, email, holder }: Delivery,
): Promise<void> {
  if (email === null) return
  const { customer_id: customerId, counterparty_id: counterpartyId, kind } = request
  if ((await countRecentlySent(tx, { customerId, counterpartyId, max: MAILS_PER_HOUR + 1 })) > MAILS_PER_HOUR) return
  const { noun, name } = SIDES[kind]
  const amount = `${fromMinorUnits(request.amount_minor, request.currency)} ${request.currency}`
  await queueMail(app, tx, {
    merchantId: null,
    realm: CUSTOMERS_REALM,
    kind: name,
    recipient: email,
    // The name appears only in the text, in quotation marks, because the requester chose it.
    subject: `You have received ${kind === 'RequestToPay' ? 'a' : 'an'} ${noun}: ${amount}`,
    body: bodyOf({ request, holder, amount }),
  })
}

/**
 * Every sentence is on a line of its own, short enough for a terminal, and never wrapped by us: a long name could be
 * crafted so that its second line looks like a command.
 */
function bodyOf({ request, holder, amount }: Omit<Delivery, 'email'> & { amount: string }): string {
  const { id, kind, name, reference, due_date: dueDate, expires_at: expiresAt } = request
  const command = `svc ob ${SIDES[kind].name}`
  const asks = kind === 'RequestToPay' ? 'asks you for' : 'offers you'
  const until = dueDate === null ? londonTimeText(new Date(expiresAt)) : `the end of ${dayText(parseDay(dueDate))}`
  return [
    `${quoteName(name)} ${asks} ${amount}.\nThe account is in the name of ${quoteName(holder)}.`,
    ...(reference === null ? [] : [`Reference: ${quoteName(reference)}`]),
    `You may accept it until ${until} in London:\n\n${command} accept ${id}`,
    `Or reject it:\n\n${command} reject ${id}`,
    'If you do nothing, nothing is paid.\nAccept nothing from people whom you do not know.',
  ].join('\n\n')
}
