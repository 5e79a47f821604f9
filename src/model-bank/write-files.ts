import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import type { Bank } from './bank.ts'
import type { Authority } from './certificates.ts'
import type { QuirkName } from './quirks.ts'
import { registerClient } from './register-client.ts'
import type { Version } from './versions.ts'

const PRIVATE_FILE = 0o600

/** Writes what a client of the bank is configured with: the bank's profile, and the software statement with its keys. */
export async function writeFiles(
  dir: string,
  { bank, authority, version }: { bank: Bank; authority: Authority; version: Version['name'] },
): Promise<{ profiles: string; softwareStatement: string }> {
  const { software } = bank.directory
  const [signingKey] = software.signingKeys.toReversed()
  await mkdir(dir, { recursive: true })
  const write = async (name: string, text: string): Promise<string> => {
    const file = join(dir, name)
    await writeFile(file, text, { mode: PRIVATE_FILE })
    return file
  }
  await write('model-bank-ca.pem', authority.pem)
  await write('transport.pem', software.transport.cert)
  await write('transport-key.pem', software.transport.key)
  await write('signing-key.pem', signingKey?.pem ?? '')
  await write('ssa.jwt', software.statement)
  const statement = {
    org_id: software.orgId,
    software_id: software.softwareId,
    ssa: 'ssa.jwt',
    transport: { cert: 'transport.pem', key: 'transport-key.pem' },
    signing: { kid: signingKey?.kid, key: 'signing-key.pem' },
  }
  return {
    profiles: await write('profiles.yaml', stringify({ banks: [profileOf(bank, version)] })),
    softwareStatement: await write('software-statement.json', `${JSON.stringify(statement, null, 2)}\n`),
  }
}

/** Quirks that have a member of their own in a profile, or none, instead of a name among its quirks. */
const MEMBERS: readonly QuirkName[] = [
  'assertion_audience_issuer',
  'discovery_elsewhere',
  'financial_id_required',
  'no_registration_endpoint',
  'pushed_requests',
]

function profileOf(bank: Bank, version: Version['name']): Record<string, unknown> {
  const { issuer, orgId, quirks } = bank
  const resources = { base_url: `${issuer}/open-banking/v${version}/pisp`, version }
  const named = [...quirks].filter((quirk) => !MEMBERS.includes(quirk))
  return {
    id: 'model',
    name: 'Model Bank',
    issuer,
    ...(quirks.has('discovery_elsewhere') ? { discovery: `${issuer}/discovery` } : {}),
    financial_id: orgId,
    ca: 'model-bank-ca.pem',
    client: {
      ...registrationOf(bank),
      token_auth: 'private_key_jwt',
      audience: quirks.has('assertion_audience_issuer') ? 'issuer' : 'token_endpoint',
    },
    payments: resources,
    vrp: { ...resources },
    ...(named.length > 0 ? { quirks: named } : {}),
  }
}

/** Without an endpoint the bank registers its one client by itself, as if its portal had been used. */
function registrationOf({ quirks, books, directory }: Bank): Record<string, unknown> {
  if (!quirks.has('no_registration_endpoint') && !quirks.has('discovery_elsewhere')) return { registration: 'dynamic' }
  const { orgId, softwareId, redirectUris } = directory.software
  const grantTypes = ['client_credentials', 'authorization_code', 'refresh_token']
  const authMethod = 'private_key_jwt'
  const [known] = books.registrations.keys()
  const client = { orgId, softwareId, redirectUris, authMethod, subject: undefined, grantTypes } as const
  return { registration: 'manual', client_id: known ?? registerClient(books, client).clientId }
}
