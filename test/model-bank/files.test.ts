import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { readBankProfiles } from '../../src/banks/profiles.ts'
import { QUIRKS } from '../../src/banks/quirks.ts'
import { readSoftwareStatement, redirectUrisOf } from '../../src/banks/software-statement.ts'
import { QUIRK_NAMES, isQuirk } from '../../src/model-bank/quirks.ts'
import { startModelBank } from '../../src/model-bank/start.ts'
import type { ModelBank, ModelBankOptions } from '../../src/model-bank/start.ts'
import { REDIRECT_URI } from '../support/model-bank.ts'

async function withBank(options: Partial<ModelBankOptions>, check: (bank: ModelBank) => Promise<void>): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'svc-model-bank-'))
  const bank = await startModelBank({ dir, port: 0, controlPort: 0, redirectUris: [REDIRECT_URI], ...options })
  try {
    await check(bank)
  } finally {
    await bank.close()
    await rm(dir, { recursive: true })
  }
}

t.test('the service reads the files that the bank writes', async (t) => {
  await withBank({}, async ({ profiles, softwareStatement, issuer }) => {
    const [profile] = await readBankProfiles(profiles)
    t.match(profile, {
      id: 'model',
      discovery: `${issuer}/.well-known/openid-configuration`,
      ca: /BEGIN CERTIFICATE/,
      client: { registration: 'dynamic', audience: 'token_endpoint' },
      payments: { version: '4.0' },
      quirks: [],
    })
    t.same(redirectUrisOf(await readSoftwareStatement(softwareStatement)), [REDIRECT_URI])
  })
})

t.test('the profile follows version and quirks', async (t) => {
  const quirks = Object.keys(QUIRK_NAMES).filter(isQuirk)
  await withBank({ version: '3.1', quirks }, async ({ profiles, issuer }) => {
    const [profile] = await readBankProfiles(profiles)
    t.match(profile, {
      discovery: `${issuer}/discovery`,
      client: { registration: 'manual', client_id: /^client-/, audience: 'issuer' },
      payments: { base_url: `${issuer}/open-banking/v3.1/pisp`, version: '3.1' },
    })
    t.same(
      new Set(profile?.quirks),
      new Set(Object.keys(QUIRKS)),
      'each quirk that the service knows can be tried here',
    )
  })
})
