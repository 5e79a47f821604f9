import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import t from 'tap'
import { createPayment } from '../support/app.ts'
import { SCRATCH } from '../support/scratch.ts'
import { fakeService, runCli } from './harness.ts'
import { realService } from './real-service.ts'
import { LAUNCHER, cleanEnv, nodeCommand } from './service.ts'

const HEAVY = ['zod', 'undici', 'yaml', 'ink', 'react', 'commander']

/** A directory with a `svc` for shells to find. */
function withSvc(): NodeJS.ProcessEnv {
  const folder = mkdtempSync(join(SCRATCH, 'svc-shell-'))
  const shim = join(folder, 'svc')
  writeFileSync(shim, `#!/bin/sh\nexec env -u NODE_OPTIONS '${process.execPath}' '${LAUNCHER}' "$@"\n`)
  chmodSync(shim, 0o755)
  return cleanEnv({ PATH: [folder, process.env['PATH']].join(delimiter), HOME: folder })
}

/** What bash would offer, by a line of words as bash breaks them. */
function inBash(env: NodeJS.ProcessEnv, lines: readonly (readonly string[])[]): string[][] {
  const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`
  const asks = lines.map(
    (words) =>
      `COMP_WORDS=(${words.map(quoted).join(' ')}); COMP_CWORD=${words.length - 1}; _svc_completion; ` +
      `printf '%s ' "\${COMPREPLY[@]}"; echo`,
  )
  // Sourced twice, as a shell within a shell does.
  const script = ['set -u', 'source <(svc completion bash)', 'source <(svc completion bash)', ...asks].join('\n')
  const { stdout, stderr, status } = spawnSync('bash', ['--norc', '-c', script], { env, encoding: 'utf8' })
  t.equal(stderr, '')
  t.equal(status, 0)
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' ').filter((word) => word !== ''))
}

t.test('bash completes commands, aliases, options, choices and files', async (t) => {
  const env = withSvc()
  const probe = join(env['HOME'] ?? '', 'it-ran')
  const file = join(env['HOME'] ?? '', 'a file.txt')
  writeFileSync(file, '')
  const [commands, alias, options, choices, afterEquals, empty, argument, files, anyCase, evil] = inBash(env, [
    ['svc', 'pay'],
    ['svc', 'p', 'ref'],
    ['svc', 'payments', 'list', '--stat'],
    ['svc', 'payments', 'list', '--status', 'Se'],
    ['svc', 'payments', 'list', '--status', '=', 'Se'],
    ['svc', 'payments', 'list', '--status', '='],
    ['svc', 'completion', ''],
    ['svc', 'portal', 'disputes', 'evidence', 'x', '--file', file.slice(0, -5)],
    ['svc', 'payments', 'list', '--status', '=', '"se'],
    ['svc', `$(touch ${probe})`, '`id`', '; id', ''],
  ])
  t.same(commands, ['payments', 'payer'])
  t.same(alias, ['refund', 'refunds'])
  t.same(options, ['--status', '--state-dir'].slice(0, options?.length))
  t.same(choices, ['Settled'])
  t.same(afterEquals, ['Settled'])
  t.ok(empty?.includes('Failed'))
  t.same(argument, ['bash', 'zsh', 'fish', 'powershell'])
  t.equal(files?.join(' '), file)
  t.same(anyCase, ['Settled'])
  t.same(evil, undefined)
  t.notOk(existsSync(probe), 'nothing that is typed is run')
})

for (const [shell, script] of [
  ['zsh', 'zsh -n <(svc completion zsh)'],
  ['fish', "svc completion fish | source; complete -C'svc payments list --status=Se'"],
] as const) {
  const isThere = spawnSync(shell, ['--version']).status === 0
  t.test(`${shell} takes its script`, { skip: isThere ? false : `there is no ${shell} on this machine` }, async (t) => {
    const stdout = execFileSync(shell, ['-c', script], { env: withSvc(), encoding: 'utf8' })
    if (shell === 'fish') t.equal(stdout.trim(), '--status=Settled')
  })
}

t.test('neither completion nor the first page loads what is heavy', async (t) => {
  const folder = mkdtempSync(join(SCRATCH, 'svc-loaded-'))
  const recorder = join(import.meta.dirname, '..', 'support', 'loaded-packages.js')
  const loadedBy = (words: readonly string[]): string[] => {
    const file = join(folder, 'loaded')
    const env = cleanEnv({ SVC_LOADED_FILE: file })
    const { status } = spawnSync(...nodeCommand(['--import', recorder, LAUNCHER, ...words]), { env })
    t.equal(status, 0)
    const loaded = readFileSync(file, 'utf8').split('\n')
    return HEAVY.filter((name) => loaded.includes(name))
  }
  t.same(loadedBy(['__complete', 'bash', 'payments', 'list', '--st']), [])
  t.same(loadedBy(['__complete', 'bash', '']), [])
  t.same(loadedBy(['--help']), ['commander'])
  t.ok(loadedBy(['version']).includes('zod'), 'the recorder records')
})

const answered = async (words: readonly string[], env: NodeJS.ProcessEnv): Promise<string> => {
  const { code, stdout, stderr } = await runCli(['__complete', 'zsh', ...words], { env })
  t.match({ code, stderr }, { code: 0, stderr: '' })
  return stdout
}

t.test('ids and names come from the service, as whoever the command would act as', async (t) => {
  const service = await realService(t)
  const merchant = await service.merchant()
  const other = await service.merchant()
  const { body } = await createPayment(service, merchant)
  const id = String(body['payment_id'])
  const of = (clientId: string): NodeJS.ProcessEnv => ({ SVC_API_URL: service.url, SVC_CLIENT_ID: clientId })
  t.match(await answered(['payments', 'get', ''], of(merchant.clientId)), new RegExp(`^${id}\\t[^\\n]+\\n$`))
  t.equal(await answered(['payments', 'get', ''], of(other.clientId)), '')
  t.match(
    await answered(['--client-id', merchant.clientId, 'p', 'refund', id.slice(0, 6)], of(other.clientId)),
    new RegExp(`^${id}\\t`),
  )
  t.equal(await answered(['payments', 'get', 'zzz'], of(merchant.clientId)), '')
  t.match(await answered(['run', 'happ'], {}), /^happy-path\t.+\n:files\n$/)
  t.match(await answered(['profile', 'use', ''], {}), /^dev\t/)
})

t.test('an id by its end, a choice in any case, and a quote that is open', async (t) => {
  const ids = ['01a1fd03-f879-7eb7-872f-a2b4358c4f6d', '01a1fd03-f879-7eb7-872f-a2c4358c4f6e']
  const { url } = await fakeService(t, () => ({ json: { data: ids.map((payment_id) => ({ payment_id })) } }))
  const env = { SVC_API_URL: url, SVC_CLIENT_ID: 'acme' }
  const get = ['payments', 'get']
  t.equal(await answered([...get, '358c4f6e'], env), `${ids[1]}\n:whole\n`)
  t.equal(await answered([...get, '358C4F6E'], env), `${ids[1]}\n:whole\n`)
  t.equal(await answered([...get, '358c4f6'], env), '', 'of several none: a shell would put back what they share')
  t.equal(await answered([...get, '01A1FD03-F879-7EB7-872F-A2C'], env), `${ids[1]}\n:whole\n`)
  t.equal(await answered(['trigger', '--payment=358c4f6e'], env), `--payment=${ids[1]}\n:whole\n`)
  t.equal(await answered([...get, '"01a1fd03-f879-7eb7-872f-a2b'], env), `${ids[0]}\n`)
  t.equal(await answered(['payments', 'list', '--status', 'se'], {}), 'Settled\n:whole\n')
  t.equal(await answered(['payments', 'list', "--status='Se"], {}), '--status=Settled\n')
  t.equal(await answered(['"payments"', 'list', '--status', "'Se"], {}), 'Settled\n')
})

t.test('values that may be left out, paths of the API, chapters, and merchants by their KYB', async (t) => {
  t.match(await answered(['payments', 'create', '--wait', ''], {}), /^Initiated\n[^]*Settled\n/)
  t.match(await answered(['payments', 'create', '--wait', 'Settled', '--cu'], {}), /^--currency\t/)
  t.equal(
    await answered(['api', 'POST', '/api/v1/payments/01a1/ca'], {}),
    '/api/v1/payments/01a1/cancel\n:nospace\n',
    'what is typed of an id stays',
  )
  const paths = await answered(['api', 'GET', '/api/v1/pa'], {})
  t.match(paths, /^\/api\/v1\/payments\/$/m)
  t.notMatch(paths, /[{}]/)
  t.match(await answered(['api', '/api/v1/portal/b'], {}), /^\/api\/v1\/portal\/branding$/m)
  t.match(await answered(['docs', 'verify'], {}), /^verify-a-webhook\t/)
  t.match(await answered(['--profile', 'd'], {}), /^dev\t/)
  const { url, requests } = await fakeService(t, () => ({ json: { data: [{ realm_slug: 'acme' }] } }))
  t.equal(await answered(['kyb', 'approve', ''], { SVC_API_URL: url }), 'acme\n')
  t.match(requests, [{ path: /kyb_status=PENDING/ }])
})

t.test('without the service there is nothing, and nothing is said', async (t) => {
  const { url, requests } = await fakeService(t, () => 'silence')
  t.equal(await answered(['payments', 'get', ''], { SVC_API_URL: url, SVC_CLIENT_ID: 'acme' }), '')
  t.equal(requests.length, 1)
  t.equal(await answered(['payments', 'get', ''], { SVC_API_URL: 'http://127.0.0.1:1', SVC_CLIENT_ID: 'acme' }), '')
  t.equal(await answered(['payments', 'get', ''], {}), '')
  t.equal(await answered(['payments', 'get', ''], { SVC_API_URL: 'no address' }), '')
})

t.test('what the service says reaches no shell and no terminal', async (t) => {
  const rows = ['good', '$(id)', 'a b', '-rf', '`id`', "it's", 'x;y', ':files'].map((payment_id) => ({
    payment_id,
    status: '\u001b[31mred\tthen\nline',
  }))
  const { url } = await fakeService(t, () => ({ json: { data: rows, has_more: false, next_cursor: null } }))
  const env = { SVC_API_URL: url, SVC_CLIENT_ID: 'acme' }
  t.equal(await answered(['payments', 'get', ''], env), 'good\t [31mred then line\n')
})

t.test('the command prints the script of each shell, and refuses others', async (t) => {
  for (const shell of ['bash', 'zsh', 'fish', 'powershell'])
    t.match((await runCli(['completion', shell])).stdout, /svc __complete/)
  t.match(await runCli(['completion', 'tcsh']), { code: 2, stderr: /Try:/ })
  t.match((await runCli(['completion', '--help'])).stdout, /source <\(svc completion bash\)/)
})
