import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import { isDatabaseUnavailable } from '../db/is-database-unavailable.ts'
import { sha256Hex } from '../lib/hmac.ts'
import { keepUnsent, queueMail, queueText } from '../mail/queue.ts'
import { contactContext } from './contact.ts'
import { hubAddress, linkMail, linkText } from './link-message.ts'
import { claimLinkRequest, countSentLinks, insertToken, lockSentLinkCount, markRequestHandled } from './sign-in-sql.ts'
import { PAYER_MAIL_REALM } from './record.ts'
import type { LinkRequest } from './record.ts'

/** Requests of one run; the next run follows at once while there are more. */
const REQUESTS_MAX = 50

/** How long a link works (contract §Payer hub); the table says the same. */
const LINK_SECONDS = 600

/** Links that are sent to one contact (decisions 32 and 180), from whichever networks they are requested. */
const PER_HOUR = 5
const PER_DAY = 20

type SendApp = Pick<App, 'pool' | 'log' | 'config' | 'ids' | 'sealer' | 'lookupHash' | 'publicUrl'>

/**
 * Handles requests for links: sends one where some consent has the contact, and nothing where none has or the contact
 * was sent too many already. The requester got the same response before in all cases, so a stranger learns neither whose
 * payments exist nor that another request was made (decision 25). Token, message and mark are one transaction, so that a
 * link is created exactly where it is sent, once. A job.
 */
export async function sendPayerLinks(app: SendApp, signal: AbortSignal): Promise<{ more: boolean }> {
  for (let done = 0; done < REQUESTS_MAX; done += 1) {
    if (signal.aborted || !(await sendOne(app))) return { more: false }
  }
  return { more: true }
}

/** False where no request waits. A request that fails is marked as handled: it would block all later ones. */
async function sendOne(app: SendApp): Promise<boolean> {
  let claimed: string | undefined
  try {
    return await app.pool.transaction(async (tx) => {
      const request = await claimLinkRequest(tx)
      claimed = request?.id
      if (request === null) return false
      await handleRequest(app, tx, request)
      return true
    })
  } catch (error) {
    if (claimed === undefined || isDatabaseUnavailable(error)) throw error
    app.log.error({ err: error, link_request_id: claimed }, 'a request for a link failed and is given up')
    await markRequestHandled(app.pool, claimed)
    return true
  }
}

async function handleRequest(app: SendApp, tx: DatabaseTransactionConnection, request: LinkRequest): Promise<void> {
  // The requester of an old one, from a time without a worker, has given up or asked again.
  const isUseful = request.is_known && request.is_fresh && canReach(app, request)
  if (isUseful && (await isAllowed(app, tx, request))) await send(app, tx, request)
  else if (isUseful && app.config.mode === 'sandbox') await recordUnsent(app, tx, request)
  await markRequestHandled(tx, request.id)
}

/** Whether messages can be sent to the contact: SMS may have been switched off since the request. */
function canReach({ config }: SendApp, request: LinkRequest): boolean {
  return request.contact_type === 'EMAIL' || config.mode === 'sandbox' || config.sms !== undefined
}

async function isAllowed(
  { config }: SendApp,
  tx: DatabaseTransactionConnection,
  request: LinkRequest,
): Promise<boolean> {
  if (!config.rateLimits) return true
  await lockSentLinkCount(tx, request)
  const { hour, day } = await countSentLinks(tx, request)
  return hour < PER_HOUR && day < PER_DAY
}

async function send(app: SendApp, tx: DatabaseTransactionConnection, request: LinkRequest): Promise<void> {
  const token = app.ids.token()
  const id = app.ids.uuid()
  const message = messageTo(app, request)
  const sealed = app.sealer.seal(message.recipient, contactContext('payer_tokens', id))
  await insertToken(tx, { id, request, sealed, tokenHash: sha256Hex(token) })
  const { language } = request
  // In the fragment, which is not sent to servers, logs and link scanners; the page then asks for a click first.
  const link = `${hubAddress(app, language)}#token=${token}`
  if (request.contact_type === 'EMAIL') await queueMail(app, tx, { ...message, ...linkMail({ link, language }) })
  else await queueText(app, tx, { ...message, ...linkText({ link, language }) })
}

function messageTo({ sealer }: SendApp, request: LinkRequest) {
  return {
    merchantId: null,
    realm: PAYER_MAIL_REALM,
    kind: 'payer-link',
    recipient: sealer.open(request.contact, contactContext('payer_link_requests', request.id)),
    uselessAfterSeconds: LINK_SECONDS,
  }
}

/** In the sandbox the outbox says that a link was not sent; in live mode that would show who else asked. */
async function recordUnsent(app: SendApp, tx: DatabaseTransactionConnection, request: LinkRequest): Promise<void> {
  await keepUnsent(app, tx, {
    ...messageTo(app, request),
    channel: request.contact_type === 'EMAIL' ? 'EMAIL' : 'SMS',
    subject: 'Not sent: too many links',
    body: `This contact was sent ${PER_HOUR} links within an hour, or ${PER_DAY} within a day. Use the last one, or wait.`,
    reason: 'limit_reached',
  })
}
