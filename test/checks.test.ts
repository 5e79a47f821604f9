import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { packageRoot } from '../src/lib/package-root.ts'
import { envWithoutTap } from './support/built.ts'

/* Types and style are tests like others, so that they run beside them: in front of them they held up the suite. */
for (const script of ['typecheck', 'lint'])
  t.test(`npm run ${script} finds nothing`, async (t) => {
    const { promise: ended, resolve } = Promise.withResolvers<{ error: Error | null; output: string }>()
    const command = ['-u', 'NODE_OPTIONS', 'npm', 'run', '--silent', script]
    execFile('env', command, { cwd: packageRoot(), env: envWithoutTap() }, (error, stdout, stderr) =>
      resolve({ error, output: stdout + stderr }),
    )
    const { error, output } = await ended
    t.ok(error === null, output)
  })

/** The formatter leaves comments as they are: a line that grew by an edit is to be broken again, at 120. */
const COMMENT_WIDTH_MAX = 140

t.test('no line of a comment is wider than a screen', async (t) => {
  const files = globSync('{src,cli,widget,test,migrations,bench/*}/**/*.{ts,tsx,sql}', {
    cwd: packageRoot(),
    exclude: ['bench/peers/**'],
  })
  t.ok(files.length > 1_000)
  t.same(
    files.flatMap((file) => {
      const comment = file.endsWith('.sql') ? /^\s*--(?! needs:)/ : /^\s*(?:\/\/|\/?\*)/
      return readFileSync(join(packageRoot(), file), 'utf8')
        .split('\n')
        .flatMap((line, index) =>
          line.length > COMMENT_WIDTH_MAX && comment.test(line) ? [`${file}:${index + 1}`] : [],
        )
    }),
    [],
  )
})
