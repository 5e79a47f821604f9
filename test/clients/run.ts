import { execFileSync, spawn } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packageRoot } from '../../src/lib/package-root.ts'

/*
 * npm run test:clients: generates clients of a running service in TypeScript and Python from its own description, compiles
 * both and pays with them; newman pays with the Postman collection; a third validator judges the description. Outside of
 * `npm test`, because it installs packages that nothing else needs: openapi-typescript and openapi-fetch,
 * openapi-python-client, openapi-spec-validator and newman.
 */
const GENERATORS = ['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', 'typescript@5.9.3', '@types/node@24.19.2']
const PYTHON_PACKAGES = ['openapi-python-client==0.29.1', 'openapi-spec-validator==0.9.0']
const NEWMAN = 'newman@6.2.2'
const FILES = { b: '/openapi.json', a: '/open-banking/v1/openapi.json', postman: '/postman.json' }

const folder = mkdtempSync(join(tmpdir(), 'svc-clients-'))
const launcher = join(packageRoot(), 'bin', 'svc.js')
const STATE = ['--state-dir', join(folder, 'state')]

function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): void {
  process.stdout.write(`$ ${command} ${args.join(' ')}\n`)
  execFileSync(command, args, { cwd: folder, stdio: 'inherit', env: { ...process.env, ...env } })
}

async function startService(): Promise<{ url: string; stop(): Promise<void> }> {
  const child = spawn(process.execPath, [launcher, 'up', '--port', '0', '--idp', 'none', ...STATE], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = await new Promise<string>((resolve, reject) => {
    let text = ''
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8')
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0]
      if (found !== undefined) resolve(found)
    })
    void ended.then(() => reject(new Error(`svc up ended: ${text}`)))
  })
  return {
    url,
    stop: async () => {
      child.kill('SIGTERM')
      await ended
    },
  }
}

async function payInTypeScript(url: string): Promise<void> {
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}')
  run('npm', ['install', '--no-audit', '--no-fund', '--loglevel', 'error', ...GENERATORS])
  for (const surface of ['a', 'b'])
    run('npx', ['openapi-typescript', `${surface}.json`, '--default-non-nullable=false', '-o', `${surface}.d.ts`])
  copyFileSync(join(import.meta.dirname, 'pay.ts.txt'), join(folder, 'pay.ts'))
  const strict = ['--strict', '--target', 'es2024', '--module', 'nodenext', '--noEmit', '--skipLibCheck']
  run('npx', ['tsc', ...strict, 'pay.ts', 'a.d.ts', 'b.d.ts'])
  run(process.execPath, ['pay.ts'], { SVC_API_URL: url })
}

function payInPostman(): void {
  run('npm', ['install', '--no-audit', '--no-fund', '--loglevel', 'error', NEWMAN])
  run('npx', ['newman', 'run', 'postman.json', '--folder', 'First payment', '--bail', '--color', 'off'])
}

function payInPython(url: string): void {
  run('python3', ['-m', 'venv', 'python'])
  const bin = join(folder, 'python', 'bin')
  run(join(bin, 'pip'), ['install', '--quiet', ...PYTHON_PACKAGES])
  run(join(bin, 'openapi-spec-validator'), ['a.json', 'b.json'])
  run(join(bin, 'openapi-python-client'), ['generate', '--path', 'b.json', '--meta', 'none', '--output-path', 'client'])
  run(join(bin, 'python'), ['-m', 'compileall', '-q', 'client'])
  copyFileSync(join(import.meta.dirname, 'pay.py.txt'), join(folder, 'pay.py'))
  run(join(bin, 'python'), ['pay.py'], { SVC_API_URL: url })
}

const service = await startService()
try {
  for (const [name, path] of Object.entries(FILES))
    writeFileSync(join(folder, `${name}.json`), await (await fetch(`${service.url}${path}`)).text())
  await payInTypeScript(service.url)
  payInPython(service.url)
  payInPostman()
  process.stdout.write('both generated clients compile, and have paid; so has the Postman collection\n')
} finally {
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
}
