import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Provider } from 'oidc-provider'
import { isDatabaseUnavailable } from '../../../db/is-database-unavailable.ts'
import { clientAddressOf } from '../../../lib/client-address.ts'
import { makeLinkPages } from './action-link-pages.ts'
import { makeSignInPages } from './sign-in-pages.ts'
import { failurePage, tooManyPage, unreadablePage } from '../pages/message.ts'
import { sendPage } from '../pages/shell.ts'
import type { PageReply } from '../pages/shell.ts'
import { themeOf } from '../pages/style.ts'
import type { EmbeddedParts } from '../parts.ts'
import type { RealmRecord } from '../record.ts'
import { makeThrottle } from './throttle.ts'
import type { ThrottleKey } from './throttle.ts'
import { isCrossSiteForm, readForm } from './page-request.ts'
import type { PageRequest } from './page-request.ts'

export type PageVisit = {
  provider: Provider
  realm: RealmRecord
  req: IncomingMessage
  res: ServerResponse
  /** The path below `/realms/<slug>`. */
  path: string
}

export type Interactions = {
  /** Responds to requests for pages; false if the path is not a page, so that the protocol library handles it. */
  handle(request: PageVisit): Promise<boolean>
}

/** A page. `throttleKey` limits its form. Without `answer` the library responds. */
type Page = {
  path: RegExp
  throttleKey?: ThrottleKey
  /** Undefined if the library has responded. */
  answer?: (request: PageRequest, uid: string) => Promise<PageReply | undefined>
}

const METHODS = new Set(['GET', 'HEAD', 'POST'])

/**
 * The pages that the protocol library leaves to us: sign-in, consent, invitation and forgotten password. The device
 * code page is the library's own and is only throttled here.
 */
export function makeInteractions(parts: EmbeddedParts): Interactions {
  const throttle = makeThrottle(parts)
  const signIn = makeSignInPages(parts)
  const links = makeLinkPages()
  const pages: Page[] = [
    { path: /^\/interaction\/(?<uid>[A-Za-z0-9_-]{1,64})$/, throttleKey: 'login', answer: signIn },
    { path: /^\/forgot$/, throttleKey: 'forgot', answer: links.forgot },
    { path: /^\/invite$/, answer: links.invite },
    { path: /^\/reset$/, answer: links.reset },
    { path: /^\/device$/, throttleKey: 'device' },
  ]

  return {
    handle: async ({ provider, realm, req, res, path: target }) => {
      const [path = '', ...search] = target.split('?')
      const page = pages.find((each) => each.path.test(path))
      if (page === undefined || !METHODS.has(req.method ?? '')) return false
      const theme = themeOf(realm)
      const isForm = req.method === 'POST'
      const { throttleKey, answer } = page
      const isThrottled = isForm && throttleKey !== undefined
      const seconds = isThrottled ? throttle(throttleKey, clientAddressOf(req, parts.config.trustProxy)) : 0
      if (seconds > 0) {
        sendPage(res, tooManyPage(theme, seconds))
        return true
      }
      if (answer === undefined) return false
      const query = new URLSearchParams(search.join('?'))
      const uid = page.path.exec(path)?.groups?.['uid'] ?? ''
      const request = { parts, provider, realm, theme, req, res, query, form: undefined }
      await answerPage(request, isForm, (filled) => answer(filled, uid))
      return true
    },
  }
}

/** Responds with a page even if it fails; the log has the reason. */
async function answerPage(
  request: PageRequest,
  isForm: boolean,
  run: (request: PageRequest) => Promise<PageReply | undefined>,
): Promise<void> {
  const { req, res, theme, parts } = request
  try {
    const form = isForm && !isCrossSiteForm(req) ? await readForm(req) : undefined
    if (isForm && (form === null || form === undefined)) return sendPage(res, unreadablePage(theme))
    const reply = await run({ ...request, form: form ?? undefined })
    if (reply !== undefined) sendPage(res, reply)
  } catch (error) {
    const context = { err: error, realm: request.realm.slug }
    if (isDatabaseUnavailable(error)) parts.log.warn(context, 'a sign-in page cannot reach the database')
    else parts.log.error(context, 'a sign-in page failed')
    if (!res.headersSent) sendPage(res, failurePage(theme))
  }
}
