import type { IncomingMessage, ServerResponse } from 'node:http'
import type { App } from '../../app.ts'
import { ERROR_TEXTS } from '../../lib/error-texts.ts'
import type { ErrorCode } from '../../lib/errors.ts'
import { html } from '../../lib/html.ts'
import type { Html } from '../../lib/html.ts'
import { errorsOf } from '../../wire/operation.ts'
import { ERROR_STATUS } from '../error-status.ts'
import { sendJson } from '../reply.ts'
import { sendPage } from '../router.ts'
import { routesOf } from '../routes.ts'
import { page } from './page.ts'

type ErrorFacts = { code: ErrorCode; status: number; meaning: string; next: string; operations: readonly string[] }

/** The code in the address of an error; undefined where there is none of that name. */
export function codeInAddress(name: string): ErrorCode | undefined {
  const code = name.toUpperCase().replaceAll('-', '_')
  return Object.hasOwn(ERROR_STATUS, code) ? (code as ErrorCode) : undefined
}

/** Serves the address in the `type` of an error response: a page for browsers, JSON for all others. */
export function sendErrorFacts(app: App, req: IncomingMessage, res: ServerResponse, code: ErrorCode): void {
  const operations = routesOf(app.config.mode)
    .map(({ operation }) => operation)
    .filter((operation) => errorsOf(operation).includes(code))
    .map(({ method, path }) => `${method} ${path}`)
  const facts = { code, status: ERROR_STATUS[code], ...ERROR_TEXTS[code], operations }
  res.setHeader('vary', 'accept')
  if (/\btext\/html\b/i.test(req.headers.accept ?? '')) sendPage(res, errorPage(facts))
  else sendJson(res, 200, facts)
}

function errorPage({ code, status, meaning, next, operations }: ErrorFacts) {
  const content = html`<h1>${code}</h1>
<p>${withCode(meaning)}</p>
<h2>What to do</h2>
<p>${withCode(next)}</p>
<dl><div><dt>HTTP status</dt><dd>${String(status)}</dd></div></dl>
<details><summary>Operations that answer with it</summary><ul>${operations.map((each) => html`<li><code>${each}</code></li>`)}</ul></details>
<p><a class="next" href="/reference">API reference</a><a class="next" href="/docs">Documentation</a></p>`
  return page(200, { brand: 'svc', title: code, content })
}

/** Texts have commands and members between backticks. */
function withCode(text: string): Html[] {
  return text.split('`').map((part, index) => (index % 2 === 0 ? html`${part}` : html`<code>${part}</code>`))
}
