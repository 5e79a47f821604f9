import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { createPayment } from '../support/app.ts'
import { SCRATCH } from '../support/scratch.ts'
import { open } from '../support/terminal.ts'
import { until } from '../support/until.ts'
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

t.test('bash completes commands, options, choices and files', async (t) => {
  const env = withSvc()
  const probe = join(env['HOME'] ?? '', 'it-ran')
  const file = join(env['HOME'] ?? '', 'a file.txt')
  writeFileSync(file, '')
  const [commands, verbs, options, choices, afterEquals, empty, argument, files, quote, evil] = inBash(env, [
    ['svc', 'pay'],
    ['svc', 'payments', 'ref'],
    ['svc', 'payments', 'list', '--stat'],
    ['svc', 'payments', 'list', '--status', 'Se'],
    ['svc', 'payments', 'list', '--status', '=', 'Se'],
    ['svc', 'payments', 'list', '--status', '='],
    ['svc', 'completion', ''],
    ['svc', 'disputes', 'evidence', 'x', '--file', file.slice(0, -5)],
    ['svc', 'payments', 'list', '--status', '=', '"Se'],
    ['svc', `$(touch ${probe})`, '`id`', '; id', ''],
  ])
  t.same(commands, ['payments', 'payouts', 'payer'])
  t.same(verbs, ['refund', 'refunds'])
  t.same(options, ['--status', '--state-dir'].slice(0, options?.length))
  t.same(choices, ['Settled'])
  t.same(afterEquals, ['Settled'])
  t.ok(empty?.includes('Failed'))
  t.same(argument, ['bash', 'zsh', 'fish', 'powershell'])
  t.equal(files?.join(' '), file)
  t.same(quote, ['Settled'])
  t.same(evil, undefined)
  t.notOk(existsSync(probe), 'nothing that is typed is run')
})

/** A test that is left out where the shell is not on this machine. */
function inShell(shell: string, name: string, body: (t: Test) => Promise<void>): void {
  const isThere = spawnSync(shell, ['--version']).status === 0
  void t.test(`${shell} ${name}`, { skip: isThere ? false : `there is no ${shell} on this machine` }, body)
}

inShell('zsh', 'takes its script, and completes at a keyboard', async (t) => {
  const env = withSvc()
  execFileSync('zsh', ['-f', '-c', 'zsh -n <(svc completion zsh)'], { env })
  const terminal = open(t, 'zsh -f', { env: { ...env, PS1: '%% ', COLUMNS: '80' } })
  terminal.type('autoload -Uz compinit && compinit -D -u; source <(svc completion zsh); echo rea""dy\r')
  await terminal.until(/^ready$/m)
  terminal.type('svc paym\t')
  await terminal.until(/svc payments$/m)
  terminal.type('list --status Se\t')
  await terminal.until(/svc payments list --status Settled$/m)
  terminal.press('ctrl-u')
  terminal.type('exit\r')
  await terminal.ended()
})

inShell('fish', 'completes commands, options and choices', async (t) => {
  const offered = (line: string): string[] =>
    execFileSync('fish', ['-c', `svc completion fish | source; complete -C '${line}'`], {
      env: withSvc(),
      encoding: 'utf8',
    })
      .trim()
      .split('\n')
      .map((each) => each.split('\t')[0] ?? '')
  t.same(offered('svc payments list --status=Se'), ['--status=Settled'])
  t.same(offered('svc payments list --status Se'), ['Settled'])
  t.same(offered('svc paym'), ['payments'])
})

inShell('pwsh', 'can read its script', async () => {
  const check = '$null = [scriptblock]::Create([Console]::In.ReadToEnd())'
  const { stdout: input } = await runCli(['completion', 'powershell'])
  execFileSync('pwsh', ['-NoProfile', '-NonInteractive', '-Command', check], { input, env: withSvc() })
})

t.test('where members of the result are named, no files are offered', async (t) => {
  for (const word of ['--json=', '--json=payment', '--query='])
    t.equal(await answered(['payments', 'list', word], {}), '', word)
  t.equal(await answered(['payments', 'list', '--json', ''], {}), '')
  t.equal(await answered(['payments', 'list', '-q', ''], {}), '')
})

t.test('neither completion nor help nor a mistyped command loads what is heavy', async (t) => {
  const folder = mkdtempSync(join(SCRATCH, 'svc-loaded-'))
  const recorder = join(import.meta.dirname, '..', 'support', 'loaded-packages.js')
  const loadedBy = (words: readonly string[], code = 0): string[] => {
    const file = join(folder, 'loaded')
    const env = cleanEnv({ SVC_LOADED_FILE: file })
    const { status } = spawnSync(...nodeCommand(['--import', recorder, LAUNCHER, ...words]), { env })
    t.equal(status, code, words.join(' '))
    const loaded = readFileSync(file, 'utf8').split('\n')
    return HEAVY.filter((name) => loaded.includes(name))
  }
  t.same(loadedBy(['__complete', 'bash', 'payments', 'list', '--st']), [])
  t.same(loadedBy(['__complete', 'bash', '']), [])
  t.same(loadedBy(['--help']), [])
  for (const words of ['--version', 'help exit-codes', 'help payments create', 'sandbox run --help', 'completion zsh'])
    t.same(loadedBy(words.split(' ')), ['commander'], words)
  for (const words of ['paymnts list', 'payments lst']) t.same(loadedBy(words.split(' '), 2), [], words)
  for (const words of ['payments', 'payments list --stauts x'])
    t.same(loadedBy(words.split(' '), 2), ['commander'], words)
  t.same(loadedBy(['docs', 'webhooks']), ['commander'])
  t.ok(loadedBy(['sandbox', 'scenarios', 'list']).includes('zod'), 'the recorder records')
})

const answered = async (words: readonly string[], env: NodeJS.ProcessEnv): Promise<string> => {
  const { code, stdout, stderr } = await runCli(['__complete', 'zsh', ...words], { env })
  t.match({ code, stderr }, { code: 0, stderr: '' })
  return stdout
}

/** What the service has for it: a machine that is too busy to answer in the time of a key press is asked again. */
async function offered(words: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  let told = ''
  await until('the service answers in time', async () => (told = await answered(words, env)) !== '')
  return told
}

t.test('ids and names come from the service, with the identity of the command', async (t) => {
  const service = await realService(t)
  const merchant = await service.merchant()
  const other = await service.merchant()
  const { body } = await createPayment(service, merchant)
  const id = String(body['payment_id'])
  const of = (clientId: string): NodeJS.ProcessEnv => ({ SVC_API_URL: service.url, SVC_CLIENT_ID: clientId })
  t.match(await offered(['payments', 'show', ''], of(merchant.clientId)), new RegExp(`^${id}\\t[^\\n]+\\n$`))
  t.equal(await answered(['payments', 'show', ''], of(other.clientId)), '')
  t.match(
    await offered(['--client-id', merchant.clientId, 'payments', 'refund', id.slice(0, 6)], of(other.clientId)),
    new RegExp(`^${id}\\t`),
  )
  t.equal(await answered(['payments', 'show', 'zzz'], of(merchant.clientId)), '')
  t.match(await answered(['run', 'happ'], {}), /^happy-path\t.+\n:files\n$/)
  t.match(await answered(['profile', 'use', ''], {}), /^dev\t/)
})

t.test('a word in quotes, values that may be left out, and names by the option or the command', async (t) => {
  t.equal(await answered(['payments', 'list', "--status='Se"], {}), '--status=Settled\n')
  t.equal(await answered(['"payments"', 'list', '--status', "'Se"], {}), 'Settled\n')
  t.match(await answered(['payments', 'create', '--wait', ''], {}), /^Initiated\n[^]*Settled\n/)
  t.match(await answered(['payments', 'create', '--wait', 'Settled', '--cu'], {}), /^--currency\t/)
  t.match(await answered(['--profile', 'd'], {}), /^dev\t/)
  t.match(await answered(['trigger', 'payment.set'], {}), 'payment.settled\n')
  const rows = [{ id: '1a', consent_id: '1b', realm_slug: 'acme', name: 'slow' }]
  const { url } = await fakeService(t, () => ({ json: { data: rows, has_more: false, next_cursor: null } }))
  const env = { SVC_API_URL: url, SVC_CLIENT_ID: 'acme' }
  for (const [words, name] of [
    ['kyb approve', 'acme'],
    ['disputes resolve', '1a'],
    ['payments mandates end', '1b'],
    ['payments create --debtor-bank-id', '1a\tslow'],
    ['payments create --scenario', 'slow'],
  ] as const)
    t.equal(await offered([...words.split(' '), ''], env), `${name}\n`, words)
})

t.test('without the service there is nothing, and nothing is said', async (t) => {
  const { url, requests } = await fakeService(t, () => 'silence')
  t.equal(await answered(['payments', 'show', ''], { SVC_API_URL: url, SVC_CLIENT_ID: 'acme' }), '')
  t.equal(requests.length, 1)
  t.equal(await answered(['payments', 'show', ''], { SVC_API_URL: 'http://127.0.0.1:1', SVC_CLIENT_ID: 'acme' }), '')
  t.equal(await answered(['payments', 'show', ''], {}), '')
  t.equal(await answered(['payments', 'show', ''], { SVC_API_URL: 'no address' }), '')
})

t.test('what the service says reaches no shell and no terminal', async (t) => {
  const rows = ['good', '$(id)', 'a b', '-rf', '`id`', "it's", 'x;y', ':files'].map((payment_id) => ({
    payment_id,
    status: '\u001b[31mred\tthen\nline',
  }))
  const { url } = await fakeService(t, () => ({ json: { data: rows, has_more: false, next_cursor: null } }))
  const env = { SVC_API_URL: url, SVC_CLIENT_ID: 'acme' }
  t.equal(await offered(['payments', 'show', ''], env), 'good\t [31mred then line\n')
})

t.test('the command prints the script of each shell, and refuses others', async (t) => {
  for (const shell of ['bash', 'zsh', 'fish', 'powershell'])
    t.match((await runCli(['completion', shell])).stdout, /svc __complete/)
  t.match(await runCli(['completion', 'tcsh']), { code: 2, stderr: /Try:/ })
  t.match((await runCli(['completion', '--help'])).stdout, /source <\(svc completion bash\)/)
})
