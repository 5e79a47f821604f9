import { setTimeout as delay } from 'node:timers/promises'
import { clientIdsOf } from '../../../lib/realms.ts'
import { queueMail } from '../../../mail/queue.ts'
import { quoteName } from '../../../mail/quote-name.ts'
import { createActionLink, readActionLink, setPasswordByLink } from './action-tokens.ts'
import { addressOf } from './login.ts'
import { forgotPage, forgotSentPage } from '../pages/forgot.ts'
import { deadLinkPage } from '../pages/message.ts'
import { passwordSetPage, setPasswordPage } from '../pages/set-password.ts'
import type { PageReply } from '../pages/shell.ts'
import { countResets, lockPerson } from './people-sql.ts'
import type { Link, LinkPurpose } from './people-sql.ts'
import type { RealmRecord } from '../record.ts'
import { pathIn } from './visit.ts'
import type { Visit } from './visit.ts'

/** How long a link for a forgotten password works, and how many one person is sent an hour (decision 133). */
const RESET_SECONDS = 3_600
const RESETS_PER_HOUR = 5

/** Longer than the answer takes in any case, so that its time does not tell who has an account. */
const ANSWER_MS = 250

/** The pages that are reached by links of mails, and the one that asks for such a mail. */
export function makeLinkPages() {
  return {
    invite: (visit: Visit) => takeLink(visit, 'invite'),
    reset: (visit: Visit) => takeLink(visit, 'reset'),
    forgot,
  }
}

async function takeLink(visit: Visit, purpose: LinkPurpose): Promise<PageReply> {
  const { parts, realm, theme, form, query } = visit
  const token = (form ?? query).get('token') ?? ''
  const key = { realm: realm.slug, purpose, token }
  const dead = (): PageReply => deadLinkPage(theme, pathIn(visit, '/forgot'))
  const ask = ({ email }: Link, problem?: string): PageReply =>
    setPasswordPage({
      theme,
      purpose,
      token,
      email,
      action: pathIn(visit, `/${purpose}`),
      ...(problem === undefined ? {} : { problem }),
    })
  if (form === undefined || form.get('password') !== form.get('repeated')) {
    const link = await readActionLink(parts.pool, key)
    if (link === null) return dead()
    return ask(link, form === undefined ? undefined : 'The two passwords are not the same.')
  }
  const done = await setPasswordByLink(parts, { ...key, password: form.get('password') ?? '' })
  if (done.outcome === 'dead') return dead()
  if (done.outcome === 'refused') return ask(done.link, done.problem)
  parts.log.info({ realm: realm.slug, purpose, user: done.link.user_id }, 'a password was set')
  const { client_id: clientId, redirect_uri: redirectUri } = done.link
  return passwordSetPage({ theme, purpose, slug: realm.slug, clientId, redirectUri })
}

async function forgot(visit: Visit): Promise<PageReply> {
  const { theme, form, query } = visit
  const uid = (form ?? query).get('interaction') ?? ''
  const interaction = /^[A-Za-z0-9_-]{1,64}$/.test(uid) ? uid : undefined
  const backPath = interaction === undefined ? undefined : pathIn(visit, `/interaction/${interaction}`)
  const ask = { theme, action: pathIn(visit, '/forgot'), interaction, backPath }
  if (form === undefined) return forgotPage(ask)
  const email = addressOf(form.get('email') ?? '')
  if (!email.includes('@'))
    return forgotPage({ ...ask, problem: 'Enter your e-mail address, such as you@example.com.' })
  await Promise.all([sendResetLink(visit, email), delay(ANSWER_MS)])
  return forgotSentPage(theme, RESET_SECONDS / 60, backPath)
}

/** Link and mail are there together or not at all. Nobody is told whether they are. */
async function sendResetLink({ parts, realm }: Visit, email: string): Promise<void> {
  await parts.pool.transaction(async (tx) => {
    const person = await lockPerson(tx, realm.slug, email)
    if (person === null || (await countResets(tx, person.id)) >= RESETS_PER_HOUR) return
    const link = await createActionLink(parts, tx, {
      realm: realm.slug,
      userId: person.id,
      purpose: 'reset',
      clientId: clientIdsOf(realm.slug).portal,
      redirectUri: realm.kind === 'merchant' ? parts.config.portalUrl : null,
      lifespanSeconds: RESET_SECONDS,
    })
    await queueMail(parts, tx, {
      merchantId: null,
      realm: realm.slug,
      kind: 'reset',
      recipient: person.email,
      subject: `Choose a new password for ${realm.slug}`,
      body: resetMail(realm, link),
    })
  })
}

function resetMail({ slug, display_name: name }: RealmRecord, link: string): string {
  return `Somebody, you we hope, asked for a new password for ${slug}, which calls itself ${quoteName(name)}.

Open this link and choose one. It works once, for ${RESET_SECONDS / 60} minutes:

${link}

You did not ask? Then there is nothing to do: without the link your password stays as it is.
`
}
