import { setTimeout as delay } from 'node:timers/promises'
import type { DatabaseTransactionConnection } from 'slonik'
import { clientIdsOf } from '../../../lib/realms.ts'
import { queueMail, secondsToNextMailTo } from '../../../mail/queue.ts'
import { quoteName } from '../../../mail/quote-name.ts'
import { createActionLink, readActionLink, setPasswordByLink } from './action-tokens.ts'
import { addressOf } from './sign-in.ts'
import { forgotPage, forgotSentPage } from '../pages/forgot.ts'
import { unusableLinkPage } from '../pages/message.ts'
import { passwordSetPage, setPasswordPage } from '../pages/set-password.ts'
import type { PageReply } from '../pages/shell.ts'
import { countResets } from './action-tokens-sql.ts'
import type { ActionLink, LinkPurpose } from './action-tokens-sql.ts'
import type { EmbeddedParts } from '../parts.ts'
import type { RealmRecord } from '../record.ts'
import { lockUserByEmail } from './users-sql.ts'
import { pathIn } from './page-request.ts'
import type { PageRequest } from './page-request.ts'

/** Lifetime of a password reset link, and the number of such links for one user an hour (decision 133). */
const RESET_SECONDS = 3_600
const RESETS_PER_HOUR = 5
const RESET = 'reset'

/** Longer than the work takes in any case, so that the response time does not reveal whether an account exists. */
const ANSWER_MS = 250

/** The pages that links in mails lead to, and the page that requests such a mail. */
export function makeLinkPages() {
  return {
    invite: (request: PageRequest) => takeLink(request, 'invite'),
    reset: (request: PageRequest) => takeLink(request, 'reset'),
    forgot,
  }
}

async function takeLink(request: PageRequest, purpose: LinkPurpose): Promise<PageReply> {
  const { parts, realm, theme, form, query } = request
  const token = (form ?? query).get('token') ?? ''
  const key = { realm: realm.slug, purpose, token }
  const unusable = (): PageReply => unusableLinkPage(theme, pathIn(request, '/forgot'))
  const showForm = ({ email }: ActionLink, problem?: string): PageReply =>
    setPasswordPage({
      theme,
      purpose,
      token,
      email,
      action: pathIn(request, `/${purpose}`),
      ...(problem === undefined ? {} : { problem }),
    })
  if (form === undefined || form.get('password') !== form.get('repeated')) {
    const link = await readActionLink(parts.pool, key)
    if (link === null) return unusable()
    return showForm(link, form === undefined ? undefined : 'The passwords do not match.')
  }
  const result = await setPasswordByLink(parts, { ...key, password: form.get('password') ?? '' })
  if (result.outcome === 'unusable') return unusable()
  if (result.outcome === 'rejected') return showForm(result.link, result.problem)
  parts.wake.notify('send-mails')
  parts.log.info({ realm: realm.slug, purpose, user: result.link.user_id }, 'a password was set')
  const { client_id: clientId, redirect_uri: redirectUri } = result.link
  return passwordSetPage({ theme, purpose, slug: realm.slug, clientId, redirectUri })
}

async function forgot(request: PageRequest): Promise<PageReply> {
  const { theme, form, query } = request
  const uid = (form ?? query).get('interaction') ?? ''
  const interaction = /^[A-Za-z0-9_-]{1,64}$/.test(uid) ? uid : undefined
  const backPath = interaction === undefined ? undefined : pathIn(request, `/interaction/${interaction}`)
  const showForm = { theme, action: pathIn(request, '/forgot'), interaction, backPath }
  if (form === undefined) return forgotPage(showForm)
  const email = addressOf(form.get('email') ?? '')
  if (!email.includes('@'))
    return forgotPage({ ...showForm, problem: 'Enter your e-mail address, such as you@example.com.' })
  await Promise.all([sendResetLink(request, email), delay(ANSWER_MS)])
  return forgotSentPage(theme, RESET_SECONDS / 60, backPath)
}

/** Creates link and mail in one transaction. The response never shows whether it did. */
async function sendResetLink({ parts, realm }: PageRequest, email: string): Promise<void> {
  await parts.pool.transaction(async (tx) => {
    const user = await lockUserByEmail(tx, realm.slug, email)
    if (user === null || (await countResets(tx, user.id)) >= RESETS_PER_HOUR) return
    if (!user.has_password && !(await mayMailStranger(parts, tx, { slug: realm.slug, recipient: user.email }))) return
    const link = await createActionLink(parts, tx, {
      realm: realm.slug,
      userId: user.id,
      purpose: 'reset',
      clientId: clientIdsOf(realm.slug).portal,
      redirectUri: realm.kind === 'merchant' ? parts.config.portalUrl : null,
      lifespanSeconds: RESET_SECONDS,
    })
    await queueMail(parts, tx, {
      merchantId: null,
      realm: realm.slug,
      kind: RESET,
      recipient: user.email,
      subject: `Choose a new password for ${realm.slug}`,
      body: resetMail(realm, link),
      uselessAfterSeconds: RESET_SECONDS,
    })
  })
}

/**
 * As for invitations (invite.ts): mails of all realms to an address count together where callers are rate limited. Not for a
 * person with a password, whose mails must not be used up by others.
 */
async function mayMailStranger(
  parts: EmbeddedParts,
  tx: DatabaseTransactionConnection,
  { slug, recipient }: { slug: string; recipient: string },
): Promise<boolean> {
  const realm = parts.config.rateLimits ? null : slug
  return (await secondsToNextMailTo(parts, tx, { recipient, kind: RESET, realm }, RESETS_PER_HOUR)) === 0
}

function resetMail({ slug, display_name: name }: RealmRecord, link: string): string {
  return `Someone, hopefully you, asked for a new password for ${slug} (display name: ${quoteName(name)}).

Choose a new password here. The link works once and expires after ${RESET_SECONDS / 60} minutes:

${link}

If this was not you, ignore this e-mail: your password stays unchanged.
`
}
