import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { Agent, request } from 'undici'
import type { Exchange } from '../../src/model-bank/answer-resource.ts'
import type { Fault } from '../../src/model-bank/faults.ts'
import type { QuirkName } from '../../src/model-bank/quirks.ts'
import { startModelBank } from '../../src/model-bank/start.ts'
import type { ModelBank, ModelBankOptions } from '../../src/model-bank/start.ts'
import { complaintsAbout } from './openapi-check.ts'

export const REDIRECT_URI = 'http://127.0.0.1:3000/bank/return'

export type TestBank = ModelBank & {
  dir: string
  /** The bank's root certificate. */
  ca: string
  exchanges: readonly Exchange[]
  books(): Promise<BooksView>
  setFault(fault: Partial<Fault> & Pick<Fault, 'name'>): Promise<void>
  clearFaults(): Promise<void>
  /** Replaces the quirks that are on. */
  setQuirks(...names: QuirkName[]): Promise<void>
  /** Any other route of the control port (src/model-bank/control.ts). */
  control(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<unknown>
}

export type BooksView = {
  registrations: { clientId: string }[]
  accounts: { Identification: string; balance: string }[]
  consents: { id: string; status: string; kind: string }[]
  payments: { id: string; status: string; consentId: string; amount: string; endToEndId: string; data?: SentOrder }[]
}

/** What a client has sent. */
type SentOrder = {
  Instruction?: {
    CreditorAccount: { Identification: string }
    RemittanceInformation: { Reference?: string; Unstructured?: string[] }
  }
}

/**
 * A model bank for one test file. When the test ends it fails for every request that was accepted and every answer
 * that was given which the official description does not allow, but for those that `tolerated` names: some quirks
 * break the description.
 */
export async function startTestBank(
  t: Test,
  { tolerated, ...options }: Partial<ModelBankOptions> & { tolerated?: RegExp } = {},
): Promise<TestBank> {
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), 'svc-model-bank-')))
  const exchanges: Exchange[] = []
  const bank = await startModelBank({
    dir,
    port: 0,
    controlPort: 0,
    redirectUris: [REDIRECT_URI],
    onExchange: (exchange) => exchanges.push(exchange),
    ...options,
  })
  t.teardown(async () => {
    await bank.close()
    await rm(dir, { recursive: true, force: true })
    const complaints = exchanges.flatMap(complaintsAbout).filter((each) => tolerated?.test(each) !== true)
    if (complaints.length > 0) throw new Error(`not as the official description says:\n${complaints.join('\n')}`)
  })
  const control: TestBank['control'] = (method, path, body) => callControl(`${bank.controlUrl}${path}`, method, body)
  return {
    ...bank,
    dir,
    ca: await readFile(join(dir, 'model-bank-ca.pem'), 'utf8'),
    exchanges,
    books: async () => (await control('GET', '/books')) as BooksView,
    setFault: async (fault) => {
      await control('POST', '/faults', fault)
    },
    clearFaults: async () => {
      await control('DELETE', '/faults')
    },
    setQuirks: async (...names) => {
      await control('PUT', '/quirks', names)
    },
    control,
  }
}

async function callControl(url: string, method: 'GET' | 'POST' | 'PUT' | 'DELETE', body?: unknown): Promise<unknown> {
  const answer = await request(url, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
  const value = await answer.body.json()
  if (answer.statusCode !== 200) throw new Error(`the model bank's control port: ${JSON.stringify(value)}`)
  return value
}

export type Decision = 'approve' | 'reject' | 'cancel'

/**
 * A payer at the bank: follows the address that the service sends browsers to, decides on the page, and gives back the
 * address that the bank sends the browser to, fragment and all.
 */
export async function decideAtBank(
  bank: Pick<TestBank, 'ca'>,
  address: string,
  { decision = 'approve', account }: { decision?: Decision; account?: string } = {},
): Promise<URL> {
  const browser = new Agent({ connect: { ca: bank.ca } })
  try {
    return await browse(browser, address, { decision, account })
  } finally {
    await browser.close()
  }
}

async function browse(
  browser: Agent,
  address: string,
  { decision, account }: { decision: Decision; account: string | undefined },
): Promise<URL> {
  const cookies = new Map<string, string>()
  const { origin } = new URL(address)
  let url = new URL(address)
  let form: string | undefined
  for (let step = 0; step < 8; step += 1) {
    const answer = await request(url, {
      dispatcher: browser,
      method: form === undefined ? 'GET' : 'POST',
      headers: {
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(form === undefined ? {} : { body: form }),
    })
    for (const cookie of [answer.headers['set-cookie'] ?? []].flat()) {
      const [pair = ''] = cookie.split(';')
      cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
    }
    const page = await answer.body.text()
    const { location } = answer.headers
    form = undefined
    if (typeof location === 'string') {
      url = new URL(location, url)
      if (url.origin !== origin) return url
    } else {
      const [, action] = /action="([^"]+)"/.exec(page) ?? []
      if (action === undefined) throw new Error(`the bank shows ${String(answer.statusCode)}: ${page}`)
      const [, first = ''] = /<option value="([^"]+)"/.exec(page) ?? []
      url = new URL(action, url)
      form = new URLSearchParams({ decision, account: account ?? first }).toString()
    }
  }
  throw new Error('the bank redirects in circles')
}
