import { Agent, request } from 'undici'
import type { Dispatcher } from 'undici'
import { CliError } from '../base/errors.ts'

/** A payment's way to a bank with pages of its own, which starts and ends at the service. */
export const REDIRECTING_PAGE = '/bank/authorise'

const STEPS_MAX = 10

type Answer = { url: URL; location: string | undefined; html: string }

/**
 * Acts as the payer's browser at the model bank (svc up --bank model): there, through its page, and back to the service.
 * @returns the address that the payer is then sent to, with the code or the error
 * @throws {CliError} MODEL_BANK_FAILED where a page is not the model bank's
 */
export async function visitModelBank(
  redirectUrl: string,
  form: Readonly<Record<string, string>>,
  signal: AbortSignal | undefined,
): Promise<URL> {
  const service = new URL(redirectUrl)
  const browse = makeBrowser(signal)
  try {
    let answer = await browse(service)
    for (let step = 0; step < STEPS_MAX; step += 1) {
      const next = answer.location === undefined ? undefined : new URL(answer.location, answer.url)
      if (next?.origin === service.origin) return await bringBack(browse, next)
      if (next !== undefined) answer = await browse(next)
      else answer = await browse(...formOn(answer, form))
    }
    throw failed('it redirects in circles')
  } finally {
    await browse.close()
  }
}

function formOn({ url, html }: Answer, form: Readonly<Record<string, string>>): [URL, Record<string, string>] {
  const action = /<form method="post" action="([^"]+)"/.exec(html)?.[1]
  const account = /<option value="([^"]+)"/.exec(html)?.[1]
  if (action === undefined || account === undefined)
    throw failed(`${url.host} shows a page that is not the model bank's`)
  return [new URL(action, url), { account, ...form }]
}

async function bringBack(browse: Browser, returned: URL): Promise<URL> {
  const answer = (returned.hash || returned.search).slice(1)
  const { html } = await browse(new URL(returned.pathname, returned), { answer })
  const next = /http-equiv="refresh" content="0;url=([^"]+)"/.exec(html)?.[1]
  if (next === undefined) throw failed(/<p class="hint">([A-Z_]+)</.exec(html)?.[1] ?? 'its answer was rejected')
  return new URL(next.replaceAll('&amp;', '&'))
}

type Browser = ((url: URL, form?: Record<string, string>) => Promise<Answer>) & { close(): Promise<void> }

/** Keeps cookies by host. The model bank's certificate is its own, so none is checked: it runs on this machine alone. */
function makeBrowser(signal: AbortSignal | undefined): Browser {
  const dispatcher: Dispatcher = new Agent({ connect: { rejectUnauthorized: false } })
  const cookies = new Map<string, string>()
  const browse = async (url: URL, form?: Record<string, string>): Promise<Answer> => {
    if (!['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname)) throw failed(`${url.host} is not on this machine`)
    const mine = [...cookies].filter(([name]) => name.startsWith(`${url.host} `))
    const { headers, body } = await request(url, {
      dispatcher,
      method: form === undefined ? 'GET' : 'POST',
      headers: {
        cookie: mine.map(([name, value]) => `${name.slice(url.host.length + 1)}=${value}`).join('; '),
        ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(form === undefined ? {} : { body: new URLSearchParams(form).toString() }),
      ...(signal === undefined ? {} : { signal }),
    })
    for (const cookie of [headers['set-cookie'] ?? []].flat()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      cookies.set(`${url.host} ${name}`, value)
    }
    const location = [headers['location']].flat()[0]
    return { url, location, html: await body.text() }
  }
  return Object.assign(browse, { close: () => dispatcher.close() })
}

function failed(why: string): CliError {
  return new CliError('MODEL_BANK_FAILED', `the payer can't be played at this bank: ${why}`)
}
