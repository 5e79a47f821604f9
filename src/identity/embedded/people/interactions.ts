import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Provider } from 'oidc-provider'
import { isDatabaseAway } from '../../../db/is-away.ts'
import { clientAddressOf } from '../../../lib/client-address.ts'
import { makeLinkPages } from './link-pages.ts'
import { makeSignInPages } from './sign-in-pages.ts'
import { failurePage, tooManyPage, unreadablePage } from '../pages/message.ts'
import { sendPage } from '../pages/shell.ts'
import type { PageReply } from '../pages/shell.ts'
import { themeOf } from '../pages/style.ts'
import type { EmbeddedParts } from '../parts.ts'
import type { RealmRecord } from '../record.ts'
import { makeThrottle } from './throttle.ts'
import type { Door } from './throttle.ts'
import { isForeignForm, readForm } from './visit.ts'
import type { Visit } from './visit.ts'

export type InteractionRequest = {
  provider: Provider
  realm: RealmRecord
  req: IncomingMessage
  res: ServerResponse
  /** Below `/realms/<slug>`. */
  path: string
}

export type Interactions = {
  /** Answers what is a page for people; false where it is not, and the protocol library is asked. */
  handle(request: InteractionRequest): Promise<boolean>
}

/** A page; `door` is what its form is throttled by. Without `answer` the library answers. */
type Place = {
  path: RegExp
  door?: Door
  /** Undefined: it was answered by the library. */
  answer?: (visit: Visit, uid: string) => Promise<PageReply | undefined>
}

const METHODS = new Set(['GET', 'HEAD', 'POST'])

/**
 * The pages that the protocol library leaves to us: signing in, allowing a program, taking an invitation, and replacing
 * a forgotten password. The device's code is the library's own page, and only held to the throttle here.
 */
export function makeInteractions(parts: EmbeddedParts): Interactions {
  const throttle = makeThrottle(parts)
  const signIn = makeSignInPages(parts)
  const links = makeLinkPages()
  const pages: Place[] = [
    { path: /^\/interaction\/(?<uid>[A-Za-z0-9_-]{1,64})$/, door: 'login', answer: signIn },
    { path: /^\/forgot$/, door: 'forgot', answer: links.forgot },
    { path: /^\/invite$/, answer: links.invite },
    { path: /^\/reset$/, answer: links.reset },
    { path: /^\/device$/, door: 'device' },
  ]

  return {
    handle: async ({ provider, realm, req, res, path: target }) => {
      const [path = '', ...search] = target.split('?')
      const place = pages.find((each) => each.path.test(path))
      if (place === undefined || !METHODS.has(req.method ?? '')) return false
      const theme = themeOf(realm)
      const isForm = req.method === 'POST'
      const { door, answer } = place
      const isHeld = isForm && door !== undefined
      const seconds = isHeld ? throttle(door, clientAddressOf(req, parts.config.trustProxy)) : 0
      if (seconds > 0) {
        sendPage(res, tooManyPage(theme, seconds))
        return true
      }
      if (answer === undefined) return false
      const query = new URLSearchParams(search.join('?'))
      const uid = place.path.exec(path)?.groups?.['uid'] ?? ''
      const visit = { parts, provider, realm, theme, req, res, query, form: undefined }
      await answerVisit(visit, isForm, (filled) => answer(filled, uid))
      return true
    },
  }
}

/** People get a page whatever goes wrong, and the log the reason. */
async function answerVisit(
  visit: Visit,
  isForm: boolean,
  run: (visit: Visit) => Promise<PageReply | undefined>,
): Promise<void> {
  const { req, res, theme, parts } = visit
  try {
    const form = isForm && !isForeignForm(req) ? await readForm(req) : undefined
    if (isForm && (form === null || form === undefined)) return sendPage(res, unreadablePage(theme))
    const reply = await run({ ...visit, form: form ?? undefined })
    if (reply !== undefined) sendPage(res, reply)
  } catch (error) {
    const context = { err: error, realm: visit.realm.slug }
    if (isDatabaseAway(error)) parts.log.warn(context, 'a sign-in page gets no answer from the database')
    else parts.log.error(context, 'a sign-in page failed')
    if (!res.headersSent) sendPage(res, failurePage(theme))
  }
}
