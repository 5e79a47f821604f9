import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import { isDatabaseAway } from '../db/is-away.ts'
import { sha256Hex } from '../lib/hmac.ts'
import { queueMail, queueText } from '../mail/queue.ts'
import { linkMail, linkText } from './link-message.ts'
import { claimLinkRequest, countSentLinks, insertToken, lockSentLinkCount, markRequestHandled } from './sign-in-sql.ts'
import type { LinkRequest } from './record.ts'

/** Requests of one run; the next run follows at once while there are more. */
const REQUESTS_MAX = 50

/** How long a link works (contract §Payer hub); the table says the same. */
const LINK_SECONDS = 600

/** Links that one contact is sent (decisions 32 and 180), whoever asks for them and from wherever. */
const PER_HOUR = 5
const PER_DAY = 20

/** Where the outbox keeps what is sent to payers: no realm of a merchant has this name, for a slug has no space. */
const REALM = 'payer hub'

type SendApp = Pick<App, 'pool' | 'log' | 'config' | 'ids' | 'sealer' | 'publicUrl'>

/**
 * Looks at what was asked for, and sends a link where the contact stands on some consent; where it does not, nobody
 * hears anything, nor where it was sent enough of them already. Who asked was answered long before, and always the
 * same: a stranger learns neither whose payments there are nor that somebody else has asked (decision 25). The token,
 * the message and the mark are one transaction: a link that was made goes out once, and one that did not go out was
 * not made. A job.
 */
export async function sendPayerLinks(app: SendApp, signal: AbortSignal): Promise<{ more: boolean }> {
  for (let done = 0; done < REQUESTS_MAX; done += 1) {
    if (signal.aborted || !(await sendOne(app))) return { more: false }
  }
  return { more: true }
}

/** False where no request waits. One that can't be looked at is given up: those behind it would wait for ever. */
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
    if (claimed === undefined || isDatabaseAway(error)) throw error
    app.log.error({ err: error, link_request_id: claimed }, 'a request for a link was given up')
    await markRequestHandled(app.pool, claimed)
    return true
  }
}

async function handleRequest(app: SendApp, tx: DatabaseTransactionConnection, request: LinkRequest): Promise<void> {
  // Who asked long ago, while no worker ran, has given up or asked again.
  const isOfUse = request.is_known && request.is_fresh && canReach(app, request)
  if (isOfUse && (await isAllowed(app, tx, request))) await send(app, tx, request)
  await markRequestHandled(tx, request.id)
}

/** Whether there is a way to the contact: what was asked for while there was one may be looked at when it has gone. */
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
  await insertToken(tx, { id: app.ids.uuid(), request, tokenHash: sha256Hex(token) })
  // In the fragment, which no server, log or scanner is sent; the page behind it asks for a click first.
  const link = `${app.publicUrl}/hub#token=${token}`
  const message = {
    merchantId: null,
    realm: REALM,
    kind: 'payer-link',
    recipient: request.contact_normalised,
    uselessAfterSeconds: LINK_SECONDS,
  }
  if (request.contact_type === 'EMAIL') await queueMail(app, tx, { ...message, ...linkMail(link) })
  else await queueText(app, tx, { ...message, ...linkText(link) })
}
