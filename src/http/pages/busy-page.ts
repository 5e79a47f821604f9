import type { DomainError } from '../../lib/errors.ts'
import { html } from '../../lib/html.ts'
import { ERROR_STATUS } from '../error-status.ts'
import { page } from './page.ts'
import type { PageReply } from './page.ts'

/**
 * The page for a browser with too many requests. It does not know the payment.
 * @param isForm whether a form was sent, which must not be repeated automatically
 */
export function busyPage({ code, retryAfterSeconds = 1 }: DomainError, { isForm }: { isForm: boolean }): PageReply {
  const content = html`<h1>One moment, please</h1>
<p>There are too many requests from your network. ${isForm ? 'Go back, and try again in a moment.' : 'This page tries again by itself.'}</p>`
  const refresh = isForm ? {} : { refreshSeconds: retryAfterSeconds }
  const reply = page(ERROR_STATUS[code], { brand: 'Payment', title: 'One moment, please', content, ...refresh })
  return { ...reply, headers: { ...reply.headers, 'retry-after': String(retryAfterSeconds) } }
}
