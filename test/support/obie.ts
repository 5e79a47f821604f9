import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'
import { parse, stringify } from 'yaml'
import { freePort } from './free-port.ts'
import { makeClient, register } from '../model-bank/client.ts'
import { createPayment, testService } from './app.ts'
import type { TestMerchant, TestService } from './app.ts'
import { decideAtBank, startTestBank } from './model-bank.ts'
import type { Decision, TestBank } from './model-bank.ts'

export type ObieService = {
  service: TestService
  bank: TestBank
  merchant: TestMerchant
  /** What the service knows of the bank, for another process. */
  env: Record<string, string>
}

export type Profile = Record<string, unknown> & { client: Record<string, unknown>; payments: object; vrp: object }

type ObieServiceOptions = {
  change?: (profile: Profile) => Profile
  /** Further banks, which are the same one. */
  more?: (profile: Profile) => object[]
  tolerated?: RegExp
  /** False for a test that runs its own. */
  worker?: boolean
  /** True for a test of the time between two questions to the bank, which others skip. */
  waits?: boolean
}

/** A sandbox service that is registered with a model bank, which checks every request against the official description. */
export async function obieService(
  t: Test,
  { change = (profile) => profile, more = () => [], tolerated, worker = true, waits = false }: ObieServiceOptions = {},
): Promise<ObieService> {
  const port = await freePort()
  const redirectUri = `http://127.0.0.1:${port}/bank/return`
  const bank = await startTestBank(t, {
    redirectUris: [redirectUri],
    ...(tolerated === undefined ? {} : { tolerated }),
  })
  const client = await makeClient(bank)
  const registered = await register(client, { redirect_uris: [redirectUri] })
  if (registered.status !== 201) throw new Error(registered.text)
  await client.dispatcher.close()
  const file = parse(await readFile(bank.profiles, 'utf8')) as { banks: [Profile] }
  const [profile] = file.banks
  const manual = { ...profile.client, registration: 'manual', client_id: registered.body['client_id'] }
  const profiles = join(bank.dir, 'changed-profiles.yaml')
  const registeredProfile = { ...profile, client: manual }
  await writeFile(profiles, stringify({ banks: [change(registeredProfile), ...more(registeredProfile)] }))
  const env = {
    SVC_PORT: String(port),
    SVC_BANK_PROFILES: profiles,
    SVC_BANK_SOFTWARE_STATEMENT: bank.softwareStatement,
    SVC_COLLECTION_ACCOUNT: 'UK.OBIE.SortCodeAccountNumber:20000055779911:Collections Ltd',
  }
  const service = await testService(t, { worker, env })
  if (!waits) skipWaits(t, service)
  return { service, bank, merchant: await service.merchant(), env }
}

const SKIP_EVERY_MS = 100

/**
 * Makes payments due that wait until their bank is asked again, up to the longest back-off. What is done when they are due,
 * in which order and how often, stays the worker's.
 */
function skipWaits(t: Test, { app, owner }: TestService): void {
  const skip = async (): Promise<void> => {
    const { rowCount } = await owner.query(`
      update payment_intents set settle_at = now()
      where status = 'Authorised' and settle_at between now() and now() + interval '301 seconds' and locked_until is null`)
    if (rowCount !== 0) app.wake.notify('settle-payments')
  }
  let isOver = false
  const skipping = (async () => {
    while (!isOver) await Promise.all([skip(), delay(SKIP_EVERY_MS)])
  })()
  t.teardown(() => {
    isOver = true
    return skipping
  })
}

/** A payer's browser: goes to the bank by the payment's address, decides there, and brings the answer back to the service. */
export async function payAtBank(
  { service, bank }: Pick<ObieService, 'service' | 'bank'>,
  redirectUrl: string,
  options: { decision?: Decision; account?: string } = {},
): Promise<Returned> {
  return bringBack(service, await visitBank({ bank }, redirectUrl, options))
}

/** The first half of it: what the bank answers, and the cookie of the browser that was there. */
export async function visitBank(
  { bank }: { bank: Pick<TestBank, 'ca'> },
  redirectUrl: string,
  { cookie, ...options }: { decision?: Decision; account?: string; cookie?: string } = {},
): Promise<{ cookie: string; answer: string }> {
  const visit = await fetch(redirectUrl, { redirect: 'manual', headers: cookie === undefined ? {} : { cookie } })
  const location = visit.headers.get('location')
  if (location === null) throw new Error(`no way to the bank: ${visit.status} ${await visit.text()}`)
  const [given = ''] = (visit.headers.get('set-cookie') ?? '').split(';')
  const back = await decideAtBank(bank, location, options)
  return { cookie: given, answer: (back.hash || back.search).slice(1) }
}

export type Returned = { status: number; html: string; next: URL | undefined }

/** What the return page of the service sends. */
export async function bringBack(
  service: Pick<TestService, 'url'>,
  { cookie, answer }: { cookie: string; answer: string },
): Promise<Returned> {
  const reply = await fetch(`${service.url}/bank/return`, {
    method: 'POST',
    headers: { cookie },
    body: new URLSearchParams({ answer }),
  })
  const html = await reply.text()
  const [, next] = /content="0;url=([^"]+)"/.exec(html) ?? []
  return { status: reply.status, html, next: next === undefined ? undefined : new URL(next.replaceAll('&amp;', '&')) }
}

/** A payment that waits for its payer at the model bank. @throws with the service's answer where it is not taken */
export async function newBankPayment({ service, merchant }: ObieService, changes: object = {}) {
  const { body, status, text } = await createPayment(service, merchant, { debtor_bank_id: 'model', ...changes })
  if (status !== 201) throw new Error(text)
  const address: string = body.redirect_url
  const id = String(body.payment_id)
  const { rows } = await service.owner.query<{ end_to_end_id: string }>(
    'select end_to_end_id from payment_intents where id = $1',
    [id],
  )
  const state = new URL(address).searchParams.get('state') ?? ''
  return { id, address, state, endToEndId: rows[0]?.end_to_end_id ?? '' }
}

/** A payment that its payer has approved at the bank, and whose return the service knows. */
export async function authoriseAtBank(world: ObieService, options: { account?: string; changes?: object } = {}) {
  const payment = await newBankPayment(world, options.changes)
  const { next, html } = await payAtBank(world, payment.address, options)
  const code = next?.searchParams.get('code')
  if (!code) throw new Error(html)
  const path = `/api/v1/payments/${payment.id}/sca-complete`
  const { status, text } = await world.service.call('POST', path, { body: { state: payment.state, code } })
  if (status !== 200) throw new Error(text)
  return payment
}

/** Makes a profile that of another version of the standard. */
export function inVersion(version: '4.0' | '3.1') {
  return <P extends object>(profile: P): P => {
    const text = JSON.stringify(profile)
    return JSON.parse(version === '4.0' ? text : text.replaceAll('"4.0"', '"3.1"').replaceAll('v4.0', 'v3.1')) as P
  }
}

/** For a test in both versions of the standard: the same bank twice, side by side. */
export const bothVersions: ObieServiceOptions = {
  more: (profile) => [{ ...inVersion('3.1')(profile), id: 'model-3', name: 'Bank of 3.1' }],
}

/** As if each order had last been sent an hour ago: no bank is still at work on one. */
export async function endWorkOfBanks({ owner }: Pick<TestService, 'owner'>): Promise<void> {
  await owner.query(`
    update obie.payments
    set asked_at = least(asked_at, now() - interval '1 hour'),
      asked_before_at = least(asked_before_at, now() - interval '1 hour')
    where asked_at is not null`)
}

/** Changes what is sealed in the books of the connector, and gives back the row's text from before. */
export async function reseal(
  { app, owner }: TestService,
  table: 'consents' | 'payments',
  { column, id, change }: { column: 'tokens' | 'request'; id: string; change: (text: string) => string },
): Promise<string> {
  const key = table === 'consents' ? 'state' : 'payment_id'
  const context = { table: `obie.${table}`, column, rowId: id, merchantId: '' }
  const { sealer } = app
  const { rows } = await owner.query<Record<string, string>>(`select ${column} from obie.${table} where ${key} = $1`, [
    id,
  ])
  const before = rows[0]?.[column] ?? ''
  const changed = sealer.seal(change(sealer.open(before, context)), context)
  await owner.query(`update obie.${table} set ${column} = $1 where ${key} = $2`, [changed, id])
  return before
}
