import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

/*
 * npm runs this before it publishes (prepublishOnly): a published version can't be taken back, and its provenance would
 * name the wrong source for good. docs/releasing.md has the steps.
 */
export type Release = {
  version: string
  /** The address of the source in package.json. */
  repository: string | undefined
  changelog: string
  head: string
  /** The tags of HEAD. */
  tags: readonly string[]
  /** Files that differ from HEAD. */
  changes: readonly string[]
  /** The commit that dist was built from, cut to ten digits. */
  built: string | undefined
  /** The repository that the CI system builds, as owner/name. */
  ciRepository: string | undefined
}

export function problemsOf(release: Release): string[] {
  const { version, repository, changelog, head, tags, changes, built, ciRepository } = release
  const problems: [isProblem: boolean, text: string][] = [
    [
      repository === undefined,
      'package.json has no repository, and a provenance names one: npm pkg set repository.url=git+https://<host>/<owner>/<name>.git',
    ],
    [
      repository !== undefined && ciRepository !== undefined && !isAt(repository, ciRepository),
      `package.json has the repository ${repository}, and this is a build of ${ciRepository}: npm rejects its provenance`,
    ],
    [changes.length > 0, `the working tree has changes: ${changes.slice(0, 5).join(', ')}`],
    [!tags.includes(`v${version}`), `HEAD has no tag v${version}: git tag v${version}`],
    [
      !changelog.split('\n').some((line) => line.startsWith(`## [${version}] - 2`)),
      `CHANGELOG.md has no section "## [${version}] - <date>": rename "[Unreleased]"`,
    ],
    [
      built === undefined || !head.startsWith(built),
      `dist was built from ${built ?? 'no commit'} and HEAD is ${head.slice(0, 10)}: npm run build`,
    ],
  ]
  return problems.flatMap(([isProblem, text]) => (isProblem ? [text] : []))
}

/** Also of the short form `github:owner/name`. */
function isAt(address: string, repository: string): boolean {
  return ['/', ':'].some((before) => address.replace(/\.git$/, '').endsWith(`${before}${repository}`))
}

/** Of the package in this folder. */
function readRelease(env: NodeJS.ProcessEnv): Release {
  const git = (...words: string[]): string[] =>
    execFileSync('git', words, { encoding: 'utf8' }).split('\n').filter(Boolean)
  const { version, repository } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    version: string
    repository?: string | { url: string }
  }
  const [head = ''] = git('rev-parse', 'HEAD')
  return {
    version,
    repository: typeof repository === 'string' ? repository : repository?.url,
    changelog: readFileSync('CHANGELOG.md', 'utf8'),
    head,
    tags: git('tag', '--points-at', 'HEAD'),
    changes: git('status', '--porcelain').map((line) => line.slice(3)),
    built: existsSync('dist/commit') ? readFileSync('dist/commit', 'utf8').trim() : undefined,
    ciRepository: env['GITHUB_REPOSITORY'] ?? env['CI_PROJECT_PATH'],
  }
}

if (process.argv[1] === import.meta.filename) {
  const problems = problemsOf(readRelease(process.env))
  for (const problem of problems) process.stderr.write(`not released: ${problem}\n`)
  process.exitCode = problems.length === 0 ? 0 : 1
}
