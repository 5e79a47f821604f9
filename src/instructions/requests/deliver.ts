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

/** One customer makes the service write so many mails an hour to another. */
const MAILS_PER_HOUR = 20

export type Delivery = {
  request: PaymentRequestRecord
  /** Where the other side reads its mail. */
  email: string | null
  /** Who made it, as the bank knows the maker. */
  holder: string
}

/**
 * Tells the other side of a request, in the transaction that makes it. A customer without an e-mail address, and one who
 * was sent more than twenty within an hour by the same maker, finds it in the list alone.
 */
export async function deliverRequest(
  tx: DatabaseTransactionConnection,
  app: Pick<App, 'sealer' | 'ids' | 'config'>,
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
    // The name stands in the text alone, between quotation marks: whoever made it chose it.
    subject: `You have got ${kind === 'RequestToPay' ? 'a' : 'an'} ${noun}: ${amount}`,
    body: bodyOf({ request, holder, amount }),
  })
}

/**
 * Every sentence has a line of its own, short enough for a terminal, and none is broken by us: a long name could be such
 * that its second line begins like a command.
 */
function bodyOf({ request, holder, amount }: Omit<Delivery, 'email'> & { amount: string }): string {
  const { id, kind, name, reference, due_date: dueDate, expires_at: expiresAt } = request
  const command = `npx svc ob ${SIDES[kind].name}`
  const asks = kind === 'RequestToPay' ? 'asks you for' : 'offers you'
  const until = dueDate === null ? londonTimeText(new Date(expiresAt)) : `the end of ${dayText(parseDay(dueDate))}`
  return [
    `${quoteName(name)} ${asks} ${amount}.\nThe account is in the name of ${quoteName(holder)}.`,
    ...(reference === null ? [] : [`Reference: ${quoteName(reference)}`]),
    `You may accept it until ${until} in London:\n\n${command} accept ${id}`,
    `Or refuse it:\n\n${command} reject ${id}`,
    'If you do nothing, nothing is paid.\nAccept nothing from people whom you do not know.',
  ].join('\n\n')
}
