import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { parse } from 'yaml'
import { readMigrationFiles } from '../../src/db/migration-files.ts'
import { packageRoot } from '../../src/lib/package-root.ts'
import packageFile from '../../package.json' with { type: 'json' }
import { problemsOf } from './check.ts'
import type { Release } from './check.ts'
import { checkoutManifest } from '../../widget/build/package-manifest.ts'
import { envWithoutTap } from '../support/built.ts'
import { blocksOf, readPage } from '../support/markdown.ts'

const WHOLE: Release = {
  version: '1.2.0',
  repository: 'git+https://code.example/pay/svc.git',
  changelog: '# Changelog\n\n## [1.2.0] - 2026-12-01\n\n## [1.1.0] - 2026-11-01\n',
  head: '0123456789abcdef0123456789abcdef01234567',
  tags: ['v1.2.0'],
  changes: [],
  built: '0123456789',
  ciRepository: 'pay/svc',
}

t.test('a release needs its source, its tag, its section, a clean tree and a build of this commit', async (t) => {
  t.same(problemsOf(WHOLE), [])
  t.same(problemsOf({ ...WHOLE, ciRepository: undefined }), [])
  t.same(problemsOf({ ...WHOLE, repository: 'github:pay/svc' }), [])
  const missing: [Partial<Release>, RegExp][] = [
    [{ repository: undefined }, /has no repository.*npm pkg set repository\.url=/],
    [{ ciRepository: 'pay/fork' }, /this is a build of pay\/fork/],
    [{ repository: 'git+https://code.example/pay/other-svc.git' }, /this is a build of pay\/svc/],
    [{ changes: ['src/api.ts'] }, /changes: src\/api\.ts/],
    [{ tags: ['v1.1.0'] }, /HEAD has no tag v1\.2\.0/],
    [{ changelog: '## [1.2.0] - not released\n\n## [1.1.0] - 2026-11-01\n' }, /no section "## \[1\.2\.0\] - <date>"/],
    [{ built: undefined }, /built from no commit and HEAD is 0123456789: npm run build/],
    [{ built: 'abcdefabcd' }, /built from abcdefabcd/],
  ]
  for (const [change, problem] of missing) t.match(problemsOf({ ...WHOLE, ...change }), [problem], String(problem))
})

/** Whatever this person has git do otherwise, such as sign, number lines or write in colours. */
const GIT: NodeJS.ProcessEnv = { ...envWithoutTap(), GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' }

function gitIn(cwd: string): (...words: string[]) => string {
  const author = ['-c', 'user.name=t', '-c', 'user.email=t@svc.example']
  return (...words) => execFileSync('git', [...author, ...words], { cwd, env: GIT, encoding: 'utf8' })
}

t.test('the changelog has the form of Keep a Changelog', async (t) => {
  const lines = readFileSync(join(packageRoot(), 'CHANGELOG.md'), 'utf8').split('\n')
  const sections = lines.filter((line) => line.startsWith('## '))
  // A release renames it.
  for (const line of sections.slice(sections[0] === '## [Unreleased]' ? 1 : 0))
    t.match(line, /^## \[\d+\.\d+\.\d+(?:-[\w.]+)?\] - (?:\d{4}-\d\d-\d\d|not released)$/)
  const groups = lines.filter((line) => line.startsWith('### '))
  for (const line of groups) t.match(line, /^### (?:Added|Changed|Deprecated|Removed|Fixed|Security)$/)
  const entries = lines.findIndex((line) => line.startsWith('- '))
  t.ok(lines.findIndex((line) => line.startsWith('### ')) < entries, 'every change is in a group')
})

t.test('npm asks the check before it publishes either package, and begins nothing after an objection', async (t) => {
  const scripts = { prepublishOnly: `node ${join(packageRoot(), packageFile.scripts.prepublishOnly.slice(5))}` }
  t.equal(packageFile.scripts.prepublishOnly, 'node test/release/check.ts')
  const repository = { type: 'git', url: 'git+https://code.example/pay/svc.git' }
  const manifest = { name: '@pay/svc', version: '1.2.0', scripts }
  const forPages = checkoutManifest({}, { ...manifest, publishConfig: {}, repository })
  const cwd = t.testdir({
    '.gitignore': 'dist',
    'package.json': JSON.stringify(manifest),
    'CHANGELOG.md': '## [1.1.0] - 2026-11-01\n',
    dist: { 'checkout-package': { 'package.json': JSON.stringify(forPages) } },
  })
  const git = gitIn(cwd)
  const publish = (...words: string[]) => {
    const { GITHUB_REPOSITORY: _1, CI_PROJECT_PATH: _2, ...env } = GIT
    // Nothing listens there: a dry run asks which versions there are, and goes on without an answer.
    const away = ['--registry', 'http://127.0.0.1:9', '--fetch-retries', '0']
    return spawnSync('npm', ['publish', '--dry-run', ...away, ...words], { cwd, env, encoding: 'utf8' })
  }
  git('init', '--quiet')
  git('add', '.')
  git('commit', '--quiet', '-m', 'a release')
  const refused = publish()
  t.not(refused.status, 0)
  for (const problem of [
    /has no repository/,
    /has no tag v1\.2\.0/,
    /no section "## \[1\.2\.0\]/,
    /built from no commit/,
  ])
    t.match(refused.stderr, problem)
  t.notMatch(refused.stdout, /^\+ @pay\/svc/m)
  const other = publish('./dist/checkout-package')
  t.not(other.status, 0)
  t.match(other.stderr, /has no tag v1\.2\.0/)
  t.notMatch(other.stdout, /^\+ @pay/m)

  writeFileSync(join(cwd, 'package.json'), JSON.stringify({ ...manifest, repository }))
  writeFileSync(join(cwd, 'CHANGELOG.md'), '## [1.2.0] - 2026-12-01\n')
  git('commit', '--quiet', '-a', '-m', 'a whole one')
  git('tag', 'v1.2.0')
  writeFileSync(join(cwd, 'dist', 'commit'), git('rev-parse', '--short=10', 'HEAD'))
  t.match(publish(), { status: 0, stdout: /^\+ @pay\/svc@1\.2\.0$/m })
  t.match(publish('./dist/checkout-package'), { status: 0, stdout: /^\+ @pay\/checkout@1\.2\.0$/m })
})

t.test('npm version writes the version to all that names it, while files have changes', async (t) => {
  t.equal(packageFile.scripts.version, 'node test/release/set-version.ts')
  const scripts = { version: `node ${join(packageRoot(), 'test/release/set-version.ts')}` }
  const [images, released] = ['examples/operate/kubernetes.yaml', 'migrations/released.json']
  const cwd = t.testdir({
    'package.json': JSON.stringify({ name: '@pay/svc', version: packageFile.version, scripts }),
    examples: { operate: { 'kubernetes.yaml': readFileSync(join(packageRoot(), images), 'utf8') } },
    migrations: { 'released.json': '{}\n' },
  })
  const git = gitIn(cwd)
  git('init', '--quiet')
  git('add', '.')
  const read = (file: string): string => readFileSync(join(cwd, file), 'utf8')
  const before = read(images)
  const words = /`npm (version --no-git-tag-version) 1\.2\.0`/.exec(readPage('docs/releasing.md').text)?.[1] ?? ''
  for (const version of ['0.9.0', '9.2.0-rc.0', '9.2.0']) {
    t.match(spawnSync('npm', [...words.split(' '), version], { cwd, env: GIT, encoding: 'utf8' }), { status: 0 })
    t.equal(JSON.parse(read('package.json')).version, version)
    t.equal(read(images), before.replaceAll(`svc:${packageFile.version}`, `svc:${version}`))
    if (version !== '9.2.0') t.equal(read(released), '{}\n', 'migrations may still change')
  }
  const files = (await readMigrationFiles()).filter(({ kind }) => kind === 'migration')
  t.same(JSON.parse(read(released)), {
    '9.2.0': Object.fromEntries(files.map(({ name, sha256 }) => [name, sha256])),
  })
  t.equal(git('tag'), '')
})

t.test(
  'the package is published in public with provenance, and so is that for pages, which has its facts',
  async (t) => {
    const { name, publishConfig } = packageFile
    t.match(name, /^@[\w-]+\/svc$/)
    t.notOk('private' in packageFile)
    t.same(publishConfig, { access: 'public', provenance: true })
    const own = JSON.parse(readFileSync(join(packageRoot(), 'widget/package/package.json'), 'utf8'))
    t.equal(own.private, true)
    const source = { url: 'git+https://code.example/pay/svc.git' }
    const main = { name: '@pay/svc', version: '1.2.0', publishConfig, homepage: 'https://pay.example' }
    t.match(checkoutManifest(own, { ...main, repository: source }), {
      name: '@pay/checkout',
      version: '1.2.0',
      homepage: 'https://pay.example',
      publishConfig: { access: 'public', provenance: true },
      repository: { ...source, directory: 'widget/package' },
      private: undefined,
      scripts: { prepublishOnly: 'cd ../.. && npm run prepublishOnly' },
      exports: own.exports,
    })
    t.match(checkoutManifest(own, { ...main, repository: 'github:pay/svc' }).repository, { url: 'github:pay/svc' })
    t.match(checkoutManifest(own, main), { private: true }, 'which npm never publishes')
  },
)

t.test('the scope is written as in package.json, so that one command changes it everywhere', async (t) => {
  const [scope = ''] = packageFile.name.split('/')
  const words = ['grep', '-hIoE', `${scope}/[a-zA-Z0-9_-]*`]
  const found = execFileSync('git', words, { cwd: packageRoot(), env: GIT, encoding: 'utf8' })
  t.same([...new Set(found.trim().split('\n'))].toSorted(), [`${scope}/checkout`, `${scope}/svc`])
})

t.test('the command of the documentation changes the scope everywhere, and nothing that is like it', async (t) => {
  const block = blocksOf(readPage('docs/releasing.md')).find(({ text }) => text.startsWith('git grep'))
  const text = (scope: string): string =>
    `The scope \`@${scope}\`, \`@${scope}/svc\`; write t@svc.example; svc --help; ${scope}-checkout-*.tgz\n`
  const cwd = t.testdir({ 'a.md': text('svc') })
  const git = gitIn(cwd)
  git('init', '--quiet')
  git('add', '.')
  execFileSync('sh', ['-ec', block?.text ?? 'exit 1'], { cwd, env: GIT })
  t.equal(readFileSync(join(cwd, 'a.md'), 'utf8'), text('pay'))
  t.equal(git('status', '--porcelain'), 'AM a.md\n', 'and leaves no copies')
})

type Job = {
  needs?: string
  permissions?: Record<string, string>
  steps: { name?: string; run?: string; uses?: string; with?: Record<string, unknown> }[]
}

function readWorkflow(): { on: unknown; permissions: unknown; jobs: Record<'build' | 'publish', Job> } {
  return parse(readFileSync(join(packageRoot(), 'examples/release/github-actions.yml'), 'utf8'))
}

const linesOf = ({ steps }: Job): string[] => steps.flatMap(({ run }) => run ?? [])

t.test('the workflow tests and packs without rights, and what may publish runs no package', async (t) => {
  const { on, permissions, jobs } = readWorkflow()
  t.same(on, { push: { tags: ['v*'] } })
  t.same(permissions, { contents: 'read' })
  t.same(Object.keys(jobs), ['build', 'publish'])
  const { build, publish } = jobs
  t.notOk('permissions' in build, 'which would add to those of all')
  t.same(publish.permissions, { contents: 'write', 'id-token': 'write' })
  t.equal(publish.needs, 'build')
  for (const job of [build, publish])
    for (const { uses } of job.steps) if (uses !== undefined) t.match(uses, /^actions\/[\w-]+@[0-9a-f]{40}$/)
  t.notMatch(linesOf(publish).join('\n'), /npm (?:ci|i|install|test|run|exec|pack)\b|npx/)
  t.notMatch(JSON.stringify(publish), /checkout@/)
  inOrder(t, linesOf(build), ['npm ci', 'npm test', 'npm run prepublishOnly', 'npm pack', 'SHA256SUMS'])
  const parts = ['sha256sum --check', 'gh release create', 'npm publish --provenance', '--draft=false']
  inOrder(t, linesOf(publish), parts)
  t.match(linesOf(publish).join('\n'), /gh release create .* --draft /)
  t.notMatch(JSON.stringify(jobs), /secrets\./, 'there is no token to steal')
})

function inOrder(t: Test, lines: readonly string[], parts: readonly string[]): void {
  const places = parts.map((part) => lines.findIndex((line) => line.includes(part)))
  t.notOk(places.includes(-1), parts.join(', '))
  t.same(
    places,
    places.toSorted((a, b) => a - b),
  )
}

t.test('what is published stays, what is missing is published, a prerelease as next', async (t) => {
  const script = readWorkflow().jobs.publish.steps.find(({ name }) => name === 'Publish')?.run ?? ''
  const npm = `#!/bin/sh
if [ "$1" = view ]; then
  cat "published/$(printf %s "$2" | tr @/ __)" 2> /dev/null
else
  printf '%s\\n' "$*" >> published.log
fi
`
  const cwd = t.testdir({ bin: { npm }, published: {}, packed: {}, one: { package: {} }, two: { package: {} } })
  chmodSync(join(cwd, 'bin/npm'), 0o755)
  const pack = (folder: string, name: string): Buffer => {
    writeFileSync(join(cwd, folder, 'package/package.json'), JSON.stringify({ name, version: '1.2.0' }))
    execFileSync('tar', ['-czf', `packed/${folder}.tgz`, '-C', folder, 'package'], { cwd })
    return readFileSync(join(cwd, 'packed', `${folder}.tgz`))
  }
  const one = pack('one', '@pay/checkout')
  pack('two', '@pay/svc')
  const run = (tag: string) => {
    rmSync(join(cwd, 'published.log'), { force: true })
    const env = { ...GIT, GITHUB_REF_NAME: tag, PATH: `${join(cwd, 'bin')}:${process.env['PATH']}` }
    const { status, stderr } = spawnSync('bash', ['-e', '-c', script], { cwd, env, encoding: 'utf8' })
    const log = join(cwd, 'published.log')
    return { status, stderr, published: existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [] }
  }
  const words = 'publish --provenance --access public'
  t.match(run('v1.2.0'), { status: 0, published: [`${words} ./packed/one.tgz`, `${words} ./packed/two.tgz`] })
  t.match(run('v1.2.0-rc.1').published, [`${words} --tag next ./packed/one.tgz`, /--tag next/])

  const integrity = `sha512-${createHash('sha512').update(one).digest('base64')}`
  writeFileSync(join(cwd, 'published/_pay_checkout_1.2.0'), `${integrity}\n`)
  t.match(run('v1.2.0'), { status: 0, published: [`${words} ./packed/two.tgz`] })

  writeFileSync(join(cwd, 'published/_pay_checkout_1.2.0'), 'sha512-other\n')
  t.match(run('v1.2.0'), { status: 1, published: [], stderr: /@pay\/checkout@1\.2\.0 is published with other content/ })
})
