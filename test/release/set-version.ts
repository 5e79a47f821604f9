import { readFileSync, writeFileSync } from 'node:fs'
import { readMigrationFiles } from '../../src/db/migration-files.ts'
import { isNewerVersion } from '../../src/lib/versions.ts'

/*
 * npm runs this after it has written a version to package.json (version): what else names the version is written too. From
 * 1.0.0 on that is the hash of each migration, which may not change any more (test/db/released-migrations.test.ts).
 */
const IMAGES = 'examples/operate/kubernetes.yaml'
const RELEASED = 'migrations/released.json'

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
writeFileSync(IMAGES, readFileSync(IMAGES, 'utf8').replaceAll(/\bsvc:\d\S*/g, `svc:${version}`))

if (!version.includes('-') && !isNewerVersion('1.0.0', version)) {
  const files = (await readMigrationFiles()).filter(({ kind }) => kind === 'migration')
  const released = JSON.parse(readFileSync(RELEASED, 'utf8')) as Record<string, Record<string, string>>
  const entry = Object.fromEntries(files.map(({ name, sha256 }) => [name, sha256]))
  writeFileSync(RELEASED, `${JSON.stringify({ ...released, [version]: entry }, null, 2)}\n`)
}
