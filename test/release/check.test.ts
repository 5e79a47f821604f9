import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { packageRoot } from '../../src/lib/package-root.ts'
import packageFile from '../../package.json' with { type: 'json' }
import { problemsOf } from './check.ts'
import type { Release } from './check.ts'
import { checkoutManifest } from '../../widget/build/package-manifest.ts'
import { envWithoutTap } from '../support/built.ts'

const WHOLE: Release = {
  version: '1.2.0',
  repository: 'git+https://code.example/pay/svc.git',
  changelog: '# Changelog\n\n## 1.2.0 (2026-12-01)\n\n## 1.1.0 (2026-11-01)\n',
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
  t.same(problemsOf({ ...WHOLE, changelog: '## 1.2.0\n' }), [])
  const missing: [Partial<Release>, RegExp][] = [
    [{ repository: undefined }, /has no repository.*npm pkg set repository\.url=/],
    [{ ciRepository: 'pay/fork' }, /this is a build of pay\/fork/],
    [{ repository: 'git+https://code.example/pay/other-svc.git' }, /this is a build of pay\/svc/],
    [{ changes: ['src/api.ts'] }, /changes: src\/api\.ts/],
    [{ tags: ['v1.1.0'] }, /HEAD has no tag v1\.2\.0/],
    [{ changelog: '## 1.2.0 (not released)\n\n## 1.1.0\n' }, /no section "## 1\.2\.0 /],
    [{ built: undefined }, /built from no commit and HEAD is 0123456789: npm run build/],
    [{ built: 'abcdefabcd' }, /built from abcdefabcd/],
  ]
  for (const [change, problem] of missing) t.match(problemsOf({ ...WHOLE, ...change }), [problem], String(problem))
})

t.test('npm asks the check before it publishes, and begins nothing after an objection', async (t) => {
  const scripts = { prepublishOnly: `node ${join(packageRoot(), packageFile.scripts.prepublishOnly.slice(5))}` }
  t.equal(packageFile.scripts.prepublishOnly, 'node test/release/check.ts')
  const manifest = { name: '@pay/svc', version: '1.2.0', scripts }
  const cwd = t.testdir({
    '.gitignore': 'dist',
    'package.json': JSON.stringify(manifest),
    'CHANGELOG.md': '## 1.1.0\n',
  })
  // Whatever this person has git do otherwise, such as sign.
  const settings = { ...envWithoutTap(), GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' }
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@svc.example', ...words], {
      cwd,
      env: settings,
      encoding: 'utf8',
    })
  const publish = () => {
    const { GITHUB_REPOSITORY: _1, CI_PROJECT_PATH: _2, ...env } = envWithoutTap()
    // Nothing listens there: a dry run asks which versions there are, and goes on without an answer.
    const away = ['--registry', 'http://127.0.0.1:9', '--fetch-retries', '0']
    return spawnSync('npm', ['publish', '--dry-run', ...away], { cwd, env, encoding: 'utf8' })
  }
  git('init', '--quiet')
  git('add', '.')
  git('commit', '--quiet', '-m', 'a release')
  const refused = publish()
  t.not(refused.status, 0)
  for (const problem of [/has no repository/, /has no tag v1\.2\.0/, /no section "## 1\.2\.0/, /built from no commit/])
    t.match(refused.stderr, problem)
  t.notMatch(refused.stdout, /^\+ @pay\/svc/m)

  const repository = { type: 'git', url: 'git+https://code.example/pay/svc.git' }
  writeFileSync(join(cwd, 'package.json'), JSON.stringify({ ...manifest, repository }))
  writeFileSync(join(cwd, 'CHANGELOG.md'), '## 1.2.0 (2026-12-01)\n')
  git('commit', '--quiet', '-a', '-m', 'a whole one')
  git('tag', 'v1.2.0')
  mkdirSync(join(cwd, 'dist'))
  writeFileSync(join(cwd, 'dist', 'commit'), git('rev-parse', '--short=10', 'HEAD'))
  t.match(publish(), { status: 0, stdout: /^\+ @pay\/svc@1\.2\.0$/m })
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
      exports: own.exports,
    })
    t.match(checkoutManifest(own, { ...main, repository: 'github:pay/svc' }).repository, { url: 'github:pay/svc' })
    t.match(checkoutManifest(own, main), { private: true }, 'which npm never publishes')
  },
)

t.test('the scope is written as in package.json, so that one command changes it everywhere', async (t) => {
  const [scope = ''] = packageFile.name.split('/')
  const words = ['grep', '-hIoE', `${scope}/[a-zA-Z0-9_-]*`]
  const found = execFileSync('git', words, { cwd: packageRoot(), encoding: 'utf8' })
  t.same([...new Set(found.trim().split('\n'))].toSorted(), [`${scope}/`, `${scope}/checkout`, `${scope}/svc`])
})

t.test('the workflow may prove who it is, tests and checks, then publishes both with provenance', async (t) => {
  const { on, permissions, jobs } = parse(readFileSync(join(packageRoot(), 'examples/release/github-actions.yml'), 'utf8'))
  t.same(on, { push: { tags: ['v*'] } })
  t.same(permissions, { contents: 'read' })
  t.match(jobs.publish.permissions, { 'id-token': 'write' })
  const lines: string[] = jobs.publish.steps.flatMap(({ run }: { run?: string }) => run ?? [])
  const places = ['npm ci', 'npm test', 'npm run prepublishOnly', 'npm publish --provenance', 'SHA256SUMS'].map(
    (part) => lines.findIndex((line) => line.includes(part)),
  )
  t.same(
    places,
    places.toSorted((a, b) => a - b),
  )
  t.notOk(places.includes(-1))
  t.notMatch(JSON.stringify(jobs), /secrets\./, 'there is no token to steal')
})
