import { readFile, writeFile } from 'node:fs/promises'
import t from 'tap'
import type { Test } from 'tap'
import { freePort } from '../../support/free-port.ts'
import type { QuirkName } from '../../../src/model-bank/quirks.ts'
import { testService, until, untilStatus } from '../../support/app.ts'
import { startTestBank } from '../../support/model-bank.ts'
import { authoriseAtBank } from '../../support/obie.ts'
import type { ObieService } from '../../support/obie.ts'

/** Banks that differ in how clients are registered and known there, from the registration to a payment. */
async function worldWith(
  t: Test,
  quirks: readonly QuirkName[],
  change: (profiles: string) => string = String,
): Promise<ObieService & { register(): Promise<{ status: number; text: string }> }> {
  const port = await freePort()
  const bank = await startTestBank(t, { redirectUris: [`http://127.0.0.1:${port}/bank/return`], quirks })
  await writeFile(bank.profiles, change(await readFile(bank.profiles, 'utf8')))
  const env = {
    SVC_PORT: String(port),
    SVC_BANK_PROFILES: bank.profiles,
    SVC_BANK_SOFTWARE_STATEMENT: bank.softwareStatement,
    SVC_COLLECTION_ACCOUNT: 'UK.OBIE.SortCodeAccountNumber:20000055779911:Collections Ltd',
  }
  const service = await testService(t, { worker: true, env })
  const headers = await service.operator()
  return {
    service,
    bank,
    env,
    merchant: await service.merchant(),
    register: () =>
      service.call('POST', '/api/v1/admin/banks/model/registration', { headers, body: { reason: 'live' } }),
  }
}

const byCertificate = (profiles: string): string => profiles.replace('private_key_jwt', 'tls_client_auth')
const without =
  (quirk: QuirkName) =>
  (profiles: string): string =>
    profiles.replace(`    quirks:\n      - ${quirk}\n`, '')

const BANKS: readonly { what: string; quirks: QuirkName[]; change?: typeof byCertificate; isManual?: boolean }[] = [
  { what: 'registration_as_jose', quirks: ['registration_as_jose'] },
  { what: 'a client that is known by its certificate', quirks: [], change: byCertificate },
  { what: 'dotted_organisation_id', quirks: ['dotted_organisation_id'], change: byCertificate },
  { what: 'no_registration_endpoint', quirks: ['no_registration_endpoint'], isManual: true },
  { what: 'registration by hand and a configuration elsewhere', quirks: ['discovery_elsewhere'], isManual: true },
]
for (const { what, quirks, change, isManual = false } of BANKS)
  t.test(`from the registration to the money: ${what}`, async (t) => {
    const world = await worldWith(t, quirks, change)
    const { service, bank, merchant, register } = world
    const registered = await register()
    t.equal(registered.status, isManual ? 409 : 201, registered.text)
    await until(async () => (await service.call('GET', '/api/v1/banks')).text.includes('"available":true'))
    const { id } = await authoriseAtBank(world)
    await untilStatus(service, merchant, id, 'Settled')
    t.match((await bank.books()).payments, [{ status: 'ACSC' }])
  })

for (const { what, quirk, change = String } of [
  { what: 'registration_as_jose', quirk: 'registration_as_jose' },
  { what: 'dotted_organisation_id', quirk: 'dotted_organisation_id', change: byCertificate },
] as const)
  t.test(`${what}, where the profile does not know it: refused in the bank's words`, async (t) => {
    const { register } = await worldWith(t, [quirk], (profiles) => change(without(quirk)(profiles)))
    t.match(await register(), {
      status: 409,
      body: { code: 'BANK_REGISTRATION_REFUSED', error: /the bank answered 400/ },
    })
  })
