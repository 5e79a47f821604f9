import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { packageRoot } from '../../../src/lib/package-root.ts'
import { receiverFile } from '../../../src/lib/receivers.ts'
import { jsonSchema } from '../../scenario/read/file-schema.ts'
import { starterOf } from '../../scenario/read/starter.ts'
import { withServer } from './init-server.ts'
import type { Server } from './init-server.ts'

/** What a shop can be written in. */
export const App = z.enum(['node', 'php', 'python'])
export type App = z.infer<typeof App>

export const APPS: Readonly<Record<App, { needs: string; start: string }>> = {
  node: { needs: 'Node.js 20.6 or later', start: 'npm start' },
  php: { needs: 'PHP 7.4 or later', start: 'sh start.sh' },
  python: { needs: 'Python 3.8 or later', start: 'set -a; . ./.env; set +a; python3 shop.py' },
}

export type ProjectFile = { file: string; what: string; text: string; isProgram: boolean }

/** The files of a project, the settings for this server among them. */
export function filesOf(app: App | undefined, server: Server): ProjectFile[] {
  const examples = join(packageRoot(), 'examples')
  const env = withServer(readFileSync(join(examples, 'samples', 'env.example'), 'utf8'), server)
  return [
    ...(app === undefined ? [] : shopFiles(examples, app)),
    plain('scenarios/first-payment.yaml', 'a story to play, with comments', starterOf('first payment')),
    plain('scenarios/scenario.schema.json', 'what editors check it with', `${JSON.stringify(jsonSchema(), null, 2)}\n`),
    plain('.env.example', 'the settings that .env needs, without secrets', env),
    plain('.gitignore', 'so that no secret gets into the history', GITIGNORE),
  ]
}

/** The shop's own files, and the receiver that comes with svc. */
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

// The state directory has the logins and the database of the sandbox; the project's settings hold none.
const GITIGNORE = '.svc/*\n!.svc/config.yaml\n.env\nnode_modules/\n__pycache__/\norders/\nreceived/\n'
