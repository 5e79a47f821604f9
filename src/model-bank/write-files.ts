import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import type { Bank } from './bank.ts'
import type { Authority } from './certificates.ts'

const PRIVATE_FILE = 0o600

/** Writes what a client of the bank is configured with: the bank's profile, and the software statement with its keys. */
export async function writeFiles(
  dir: string,
  { bank, authority }: { bank: Bank; authority: Authority },
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
    profiles: await write('profiles.yaml', stringify({ banks: [profileOf(bank)] })),
    softwareStatement: await write('software-statement.json', `${JSON.stringify(statement, null, 2)}\n`),
  }
}

function profileOf({ issuer, orgId }: Bank): Record<string, unknown> {
  const resources = { base_url: `${issuer}/open-banking/v4.0/pisp`, version: '4.0' }
  return {
    id: 'model',
    name: 'Model Bank',
    issuer,
    financial_id: orgId,
    ca: 'model-bank-ca.pem',
    client: { registration: 'dynamic', token_auth: 'private_key_jwt', audience: 'token_endpoint' },
    payments: resources,
    vrp: { ...resources },
  }
}
