import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { packageRoot } from '../../../src/lib/package-root.ts'
import { clientIdsOf, isSlug } from '../../../src/lib/realms.ts'
import { receiverFile } from '../../../src/lib/receivers.ts'
import { findServiceIfAny } from '../../client/find-service.ts'
import type { FoundService } from '../../client/find-service.ts'
import type { Context } from '../../kit/context.ts'
import { jsonSchema } from '../../scenario/read/file-schema.ts'
import { starterOf } from '../../scenario/commands/scenarios.ts'

/** The values of a server's settings at the service that the command line means, or that runs here, by their names. */
export function settingsOf(context: Context): Readonly<Record<string, string>> {
  const { io, flags } = context
  // A sample is written before there is a service, too.
  const found = findServiceIfAny({ flags, env: io.env, cwd: io.cwd })
  const realm = realmOf(found)
  const clientId = found?.state?.merchant.client_id ?? (realm && clientIdsOf(realm).server)
  const values = { SVC_URL: found?.apiUrl, SVC_REALM: realm, SVC_CLIENT_ID: clientId }
  return Object.fromEntries(Object.entries(values).flatMap(([name, value]) => (isPlain(value) ? [[name, value]] : [])))
}

function realmOf(found: FoundService | undefined): string | undefined {
  const { profile, state } = found ?? {}
  const ofProfile = profile?.settings.kind === 'merchant' ? (profile.settings.realm ?? undefined) : undefined
  const realm = ofProfile ?? state?.merchant.realm
  return realm !== undefined && isSlug(realm) ? realm : undefined
}

/** Shells read the file: nothing that stands in it may be more than a value to them. */
function isPlain(value: string | undefined): value is string {
  return value !== undefined && /^[\w:/.%[\]-]+$/.test(value)
}

export const App = z.enum(['node', 'php', 'python'])
export type App = z.infer<typeof App>

export const APPS: Readonly<Record<App, { needs: string; start: string }>> = {
  node: { needs: 'Node.js 20.6 or later', start: 'npm start' },
  php: { needs: 'PHP 7.4 or later', start: 'sh start.sh' },
  python: { needs: 'Python 3.8 or later', start: 'set -a; . ./.env; set +a; python3 shop.py' },
}

export type ProjectFile = { file: string; what: string; text: string; isProgram: boolean }

export function filesOf(app: App | undefined, values: Readonly<Record<string, string>>): ProjectFile[] {
  const examples = join(packageRoot(), 'examples')
  const env = readFileSync(join(examples, 'samples', 'env.example'), 'utf8').replaceAll(
    /^(\w+)=(.*)$/gm,
    (_line, name: string, value: string) => `${name}=${values[name] ?? value}`,
  )
  return [
    ...(app === undefined ? [] : shopFiles(examples, app)),
    plain('scenarios/first-payment.yaml', 'a scenario to run, with comments', starterOf('first payment')),
    plain('scenarios/scenario.schema.json', 'what editors check it with', `${JSON.stringify(jsonSchema(), null, 2)}\n`),
    plain('.env.example', 'the settings that .env needs, without secrets', env),
    plain('.gitignore', 'so that no secret gets into the history', GITIGNORE),
  ]
}

function shopFiles(examples: string, app: App): ProjectFile[] {
  const own = join(examples, 'samples', app)
  const receiver = receiverFile(app)
  return [
    ...readdirSync(own)
      .toSorted()
      .map((file) => plain(file, 'the shop', readFileSync(join(own, file), 'utf8'))),
    plain(receiver, "the shop's receiver of webhooks", readFileSync(join(examples, 'receivers', receiver), 'utf8')),
  ]
}

function plain(file: string, what: string, text: string): ProjectFile {
  return { file, what, text, isProgram: file.endsWith('.sh') }
}

// The state directory has the logins and the database of the sandbox.
const GITIGNORE = '.svc/\n.env\nnode_modules/\n__pycache__/\norders/\nreceived/\n'
