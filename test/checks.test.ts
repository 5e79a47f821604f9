import { execFile } from 'node:child_process'
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
