import { errors } from 'oidc-provider'
import { SCOPES } from '../../../lib/permissions.ts'
import type { Scope } from '../../../lib/permissions.ts'
import { clientIdsOf } from '../../../lib/realms.ts'
import { clientAddressOf } from '../../../lib/client-address.ts'
import { loggedNetwork } from '../../../lib/network-hash.ts'
import { pendingOf } from './pending-sign-in.ts'
import { afterPassword, answerPending } from './second-factor-pages.ts'
import { finish, textOf } from './sign-in-step.ts'
import type { Step } from './sign-in-step.ts'
import { makeSignIn } from './sign-in.ts'
import { consentPage } from '../pages/consent.ts'
import { loginPage } from '../pages/login.ts'
import { lostSignInPage } from '../pages/message.ts'
import { formSourceOf } from '../pages/shell.ts'
import type { PageReply } from '../pages/shell.ts'
import type { EmbeddedParts } from '../parts.ts'
import type { RealmRecord } from '../record.ts'
import { findUserBySubject } from './users-sql.ts'
import { pathIn } from './page-request.ts'
import type { PageRequest } from './page-request.ts'

const REJECTED =
  'The e-mail address or password is wrong. After five wrong attempts the account is locked for a few minutes.'
const LATE = 'That took too long. Sign in again.'
const BUSY = 'Too many sign-ins at the moment. Try again shortly.'

/**
 * The sign-in that the library sent the browser to. It is bound to the browser by a cookie: in another browser the same
 * URL shows an ended sign-in, and a form of another site comes without the cookie.
 */
export function makeSignInPages(parts: EmbeddedParts) {
  const signIn = makeSignIn(parts)

  return async (request: PageRequest, uid: string): Promise<PageReply | undefined> => {
    const details = await detailsOf(request)
    if (details === undefined || details.uid !== uid) return lostSignInPage(request.theme)
    const step = { request, details, action: pathIn(request, `/interaction/${uid}`) }
    if (request.form?.get('action') === 'cancel') return finish(step, { error: 'access_denied' })
    if (details.prompt.name === 'consent') return allow(step)
    const pending = pendingOf(step)
    // Going back to the password begins again.
    if (pending !== undefined && request.form?.has('password') !== true) return answerPending(step, pending)
    if (request.form === undefined) return showLogin(step)
    if (!request.form.has('password')) return showLogin(step, { email: '', problem: LATE, status: 422 })
    return login(step, request.form)
  }

  async function login(step: Step, form: URLSearchParams): Promise<PageReply | undefined> {
    const email = form.get('email') ?? ''
    const attempt = { realm: step.request.realm.slug, email, password: form.get('password') ?? '' }
    const result = await signIn(attempt)
    if (result.outcome === 'signed-in') return afterPassword(step, result)
    // Without the address: users sometimes type a password into the wrong field.
    const address = clientAddressOf(step.request.req, parts.config.trustProxy)
    const network = loggedNetwork(parts.networks(address))
    parts.securityLog.info({ realm: attempt.realm, outcome: result.outcome, network }, 'sign-in rejected')
    if (result.outcome === 'busy') return showLogin(step, { email, problem: BUSY, status: 503 })
    return showLogin(step, { email, problem: REJECTED, status: 422 })
  }
}

async function detailsOf({ provider, req, res }: PageRequest): Promise<Step['details'] | undefined> {
  try {
    return await provider.interactionDetails(req, res)
  } catch (error) {
    if (error instanceof errors.SessionNotFound) return undefined
    throw error
  }
}

type FormError = { email: string; problem: string; status: number }

function showLogin({ request, details, action }: Step, wrong?: FormError): PageReply {
  return loginPage({
    theme: request.theme,
    action,
    forgotPath: pathIn(request, `/forgot?interaction=${details.uid}`),
    email: wrong?.email ?? textOf(details.params['login_hint']),
    formTargets: formSourceOf(textOf(details.params['redirect_uri'])),
    ...wrong,
  })
}

/** The consent step, for clients that are programs on the user's machine. */
async function allow(step: Step): Promise<PageReply | undefined> {
  const { request, details, action } = step
  const { slug } = request.realm
  if (request.form?.get('action') === 'allow') return finish(step, { consent: {} })
  const subject = details.session?.accountId
  const user = subject === undefined ? null : await findUserBySubject(request.parts.pool, slug, subject)
  if (user === null) return lostSignInPage(request.theme)
  const clientId = textOf(details.params['client_id']) ?? ''
  return consentPage({
    theme: request.theme,
    action,
    program: clientId === clientIdsOf(slug).cli ? 'svc' : clientId,
    email: user.email,
    scopes: requestedScopes(request.realm, textOf(details.params['scope'])),
    formTargets: formSourceOf(textOf(details.params['redirect_uri'])),
  })
}

function requestedScopes(realm: RealmRecord, asked = ''): Scope[] {
  const names = new Set(asked.split(' '))
  return SCOPES.filter((scope) => names.has(scope) && realm.scopes.includes(scope))
}
