import type { DomainError } from '../../lib/errors.ts'
import { html } from '../../lib/html.ts'
import { ERROR_STATUS } from '../error-status.ts'
import { page } from './page.ts'
import type { PageReply } from './page.ts'
import type { PayerLanguage } from './payer-language.ts'

/**
 * The page for a browser with too many requests. It does not know the payment.
 * @param isForm whether a form was sent, which must not be repeated automatically
 */
export function busyPage(
  { code, retryAfterSeconds = 1 }: DomainError,
  { isForm, language }: { isForm: boolean; language: PayerLanguage },
): PageReply {
  const { pages } = language
  const content = html`<h1>${pages.moment}</h1>
<p>${pages.busy} ${isForm ? pages.busyForm : pages.triesAgain}</p>`
  const polling = isForm ? {} : { pollSeconds: retryAfterSeconds }
  const reply = page(ERROR_STATUS[code], { language, brand: pages.payment, title: pages.moment, content, ...polling })
  return { ...reply, headers: { ...reply.headers, 'retry-after': String(retryAfterSeconds) } }
}
