import { errors } from 'oidc-provider'
import { SCOPES } from '../../../lib/permissions.ts'
import type { Scope } from '../../../lib/permissions.ts'
import { clientIdsOf } from '../../../lib/realms.ts'
import { makeSignIn } from './login.ts'
import { consentPage } from '../pages/consent.ts'
import { loginPage } from '../pages/login.ts'
import { lostSignInPage } from '../pages/message.ts'
import { formSourceOf } from '../pages/shell.ts'
import type { PageReply } from '../pages/shell.ts'
import type { EmbeddedParts } from '../parts.ts'
import type { RealmRecord } from '../record.ts'
import { findUserBySubject } from './users-sql.ts'
import { pathIn } from './visit.ts'
import type { Visit } from './visit.ts'

const REFUSED = 'The e-mail address or the password is not right. After five wrong tries signing in pauses for a while.'
const BUSY = 'Too many people are signing in just now. Try again in a moment.'

type Details = Awaited<ReturnType<Visit['provider']['interactionDetails']>>
type Step = { visit: Visit; details: Details; action: string }

/**
 * A sign-in under way, which the library sent the browser to. It belongs to the browser that holds its cookie: the same
 * address elsewhere is a sign-in that has ended, and another site's form comes without it.
 */
export function makeSignInPages(parts: EmbeddedParts) {
  const signIn = makeSignIn(parts)

  return async (visit: Visit, uid: string): Promise<PageReply | undefined> => {
    const details = await detailsOf(visit)
    if (details === undefined || details.uid !== uid) return lostSignInPage(visit.theme)
    const step = { visit, details, action: pathIn(visit, `/interaction/${uid}`) }
    if (visit.form?.get('action') === 'cancel') return finish(step, { error: 'access_denied' })
    if (details.prompt.name === 'consent') return allow(step)
    return visit.form === undefined ? showLogin(step) : login(step, visit.form)
  }

  async function login(step: Step, form: URLSearchParams): Promise<PageReply | undefined> {
    const email = form.get('email') ?? ''
    const attempt = { realm: step.visit.realm.slug, email, password: form.get('password') ?? '' }
    const result = await signIn(attempt)
    if (result.outcome === 'signed-in') return finish(step, { login: { accountId: result.subject, ts: result.at } })
    // Not who tried: what is typed into the wrong field may be a password.
    parts.log.info({ realm: attempt.realm, outcome: result.outcome }, 'a password was refused')
    if (result.outcome === 'busy') return showLogin(step, { email, problem: BUSY, status: 503 })
    return showLogin(step, { email, problem: REFUSED, status: 422 })
  }
}

async function detailsOf({ provider, req, res }: Visit): Promise<Details | undefined> {
  try {
    return await provider.interactionDetails(req, res)
  } catch (error) {
    if (error instanceof errors.SessionNotFound) return undefined
    throw error
  }
}

/** The library sends the browser on, to the next step or back to the client. */
async function finish({ visit }: Step, result: Parameters<Visit['provider']['interactionFinished']>[2]) {
  await visit.provider.interactionFinished(visit.req, visit.res, result)
  return undefined
}

type Wrong = { email: string; problem: string; status: number }

function showLogin({ visit, details, action }: Step, wrong?: Wrong): PageReply {
  return loginPage({
    theme: visit.theme,
    action,
    forgotPath: pathIn(visit, `/forgot?interaction=${details.uid}`),
    email: wrong?.email ?? textOf(details.params['login_hint']),
    leadsTo: formSourceOf(textOf(details.params['redirect_uri'])),
    ...wrong,
  })
}

/** What the library asks for where the client is a program on somebody's machine. */
async function allow(step: Step): Promise<PageReply | undefined> {
  const { visit, details, action } = step
  const { slug } = visit.realm
  if (visit.form?.get('action') === 'allow') return finish(step, { consent: {} })
  const subject = details.session?.accountId
  const user = subject === undefined ? null : await findUserBySubject(visit.parts.pool, slug, subject)
  if (user === null) return lostSignInPage(visit.theme)
  const clientId = textOf(details.params['client_id']) ?? ''
  return consentPage({
    theme: visit.theme,
    action,
    program: clientId === clientIdsOf(slug).cli ? 'svc' : clientId,
    email: user.email,
    scopes: askedScopes(visit.realm, textOf(details.params['scope'])),
    leadsTo: formSourceOf(textOf(details.params['redirect_uri'])),
  })
}

function askedScopes(realm: RealmRecord, asked = ''): Scope[] {
  const names = new Set(asked.split(' '))
  return SCOPES.filter((scope) => names.has(scope) && realm.scopes.includes(scope))
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
