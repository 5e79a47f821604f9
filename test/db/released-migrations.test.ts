import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { z } from 'zod'
import { readMigrationFiles } from '../../src/db/migration-files.ts'
import { packageRoot, packageVersion } from '../../src/lib/package-root.ts'
import { isNewerVersion } from '../../src/lib/versions.ts'

/*
 * Until 1.0.0 the migrations may be edited. From then on migrations/released.json has the hash of every migration of each
 * released version, and none of them may change: databases that have applied it would never get the change.
 */
const Released = z.record(z.string().regex(/^\d+\.\d+\.\d+$/), z.record(z.string(), z.string()))
type Released = z.infer<typeof Released>

type Hashes = Record<string, string>

/** Why this version must not be released, or used to edit migrations, as it is. */
function problemsOf(released: Released, version: string, migrations: Hashes): string[] {
  const changed = Object.entries(released).flatMap(([release, files]) =>
    Object.entries(files).flatMap(([name, sha256]) => {
      if (migrations[name] === sha256) return []
      const what = migrations[name] === undefined ? 'removed' : 'edited'
      return [`migrations/${name}.sql was ${what}, but ${release} was released with it: add a new migration instead`]
    }),
  )
  const isFree = version.includes('-') || isNewerVersion('1.0.0', version)
  if (isFree || released[version] !== undefined) return changed
  const fix = `npm version --no-git-tag-version --allow-same-version ${version}`
  return [...changed, `migrations/released.json has no entry for ${version}: ${fix}`]
}

t.test('migrations of released versions are unchanged', async (t) => {
  const text = readFileSync(join(packageRoot(), 'migrations', 'released.json'), 'utf8')
  const files = (await readMigrationFiles()).filter(({ kind }) => kind === 'migration')
  const migrations = Object.fromEntries(files.map(({ name, sha256 }) => [name, sha256]))
  t.same(problemsOf(Released.parse(JSON.parse(text)), packageVersion(), migrations), [])
})

t.test('each migration has a number of its own', async (t) => {
  const numbers = (await readMigrationFiles()).flatMap(({ kind, name }) =>
    kind === 'migration' ? [name.slice(0, 4)] : [],
  )
  t.same(
    numbers.filter((number, index) => numbers.indexOf(number) !== index),
    [],
  )
})

t.test('an edit, a removal and a release without an entry are found', async (t) => {
  const released = { '1.0.0': { '0001_room': 'a', '0002_meter': 'b' } }
  t.same(problemsOf({}, '0.9.0', { '0001_room': 'x' }), [], 'before 1.0.0 all may change')
  t.same(problemsOf({}, '1.0.0-rc.1', { '0001_room': 'x' }), [])
  t.same(problemsOf({}, '1.1.0-rc.1', { '0001_room': 'x' }), [], 'and those of a prerelease until the release')
  t.same(problemsOf(released, '1.0.0', { '0001_room': 'a', '0002_meter': 'b', '0003_new': 'c' }), [])
  t.match(problemsOf(released, '1.0.0', { '0001_room': 'x' }), [
    /0001_room\.sql was edited, but 1\.0\.0 was released/,
    /0002_meter\.sql was removed/,
  ])
  t.match(problemsOf({}, '1.0.0', { '0001_room': 'a' }), [/has no entry for 1\.0\.0: npm version .* 1\.0\.0$/])
  t.match(problemsOf(released, '1.1.0', { '0001_room': 'a', '0002_meter': 'b' }), [/no entry for 1\.1\.0/])
})
