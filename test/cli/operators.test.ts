import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { bundled } from '../support/built.ts'
import { commandServer } from '../support/command-server.ts'
import { SCRATCH } from '../support/scratch.ts'
import { realService } from './real-service.ts'
import { LAUNCHER, cleanEnv } from './service.ts'
import type { Ended } from './service.ts'

const SCRIPTS = join(import.meta.dirname, '..', '..', 'examples', 'operators')
const SVC_COMMAND = `${process.execPath} ${LAUNCHER}`
/** The same from source, for the scripts that start dozens: a start costs two thirds of the CPU. */
const SVC_FROM_SOURCE = `${process.execPath} --min-semi-space-size=16 ${bundled('svc-source')}`
const PROMPT = /to go on:|Type |password|\[y\/N\]/i

t.test("a day's work of an operator needs no terminal, and does nothing twice", async (t) => {
  const { as, operate, url, merchant: addMerchant } = await realService(t)
  const merchant = await addMerchant()
  const seeded = await as(merchant, ['sandbox', 'seed', '--merchants', '2', '--payments', '40', '--json'], {
    env: { SVC_PLATFORM_USER: 'ada' },
  })
  t.equal(seeded.code, 0, seeded.stderr)
  const { kyb_pending: pending, dead_deliveries: dead } = JSON.parse(seeded.stdout)
  t.equal(pending.length, 3)
  t.ok(dead > 0, `${dead} dead deliveries`)
  const folder = mkdtempSync(join(SCRATCH, 'svc-operators-'))
  const who = { SVC_CLIENT_ID: merchant.clientId, SVC_PLATFORM_USER: 'ada' }
  const env = { SVC: SVC_FROM_SOURCE, SVC_API_URL: url, ...who }
  // Its three dozen commands run in this process; the second day's are processes, as cron starts them.
  const inProcess = join(folder, 'svc')
  writeFileSync(inProcess, `#!/bin/bash\n${await commandServer(t)}\nsvc "$@"\n`, { mode: 0o755 })
  const first = await runScript('day.sh', [folder], { ...env, SVC: inProcess })
  t.equal(first.code, 0, first.stderr)
  t.notMatch(first.stderr, PROMPT)
  t.notMatch(first.stderr, 'There are more')
  const done = wordsOf(first.stdout)
  t.same(
    done,
    'approved held released RESOLVED_MERCHANT_FAVOUR RESOLVED_PAYER_FAVOUR ESCALATED rotated replayed verified exported'.split(
      ' ',
    ),
  )
  t.match(readFileSync(join(folder, 'webhook-secret'), 'utf8'), /^[0-9a-f]{64}\n$/)
  t.equal(statSync(join(folder, 'webhook-secret')).mode & 0o077, 0, 'the secret is its owner’s alone')
  t.match(readFileSync(join(folder, 'payments.csv'), 'utf8'), /^payment_id|^[a-z_]+,/)
  t.notMatch(first.stdout + first.stderr, readFileSync(join(folder, 'webhook-secret'), 'utf8').trim())
  const actions = await operate(['audit', 'list', '--all', '-q', '[].reason'])
  for (const reason of ['documents checked', 'refunds doubled since yesterday', 'their server is back'])
    t.match(actions.stdout, reason)

  const second = await runScript('day.sh', [folder], env)
  t.equal(second.code, 0, second.stderr)
  t.notMatch(second.stderr, PROMPT)
  t.same(wordsOf(second.stdout), ['approved', 'held', 'released', 'verified', 'exported'])
})

t.test('the nightly script is silent when all is well, and reports a trail that was cut off', async (t) => {
  const { as, merchant: addMerchant, url } = await realService(t)
  const merchant = await addMerchant()
  await as(merchant, ['payments', 'create', '--amount', '5.00', '--currency', 'GBP', '--approve', '--wait'])
  const folder = mkdtempSync(join(SCRATCH, 'svc-nightly-'))
  const env = { SVC_API_URL: url, SVC_CLIENT_ID: merchant.clientId, SVC_PLATFORM_USER: 'ada' }
  const day = () => new Date().toISOString().slice(0, 10)
  const days = [day()]
  const first = await runScript('nightly.sh', [folder], env)
  days.push(day())
  t.ok([0, 1].includes(first.code ?? -1), `${first.code} ${first.stderr}`)
  t.equal(first.stdout, '')
  t.ok(days.some((each) => existsSync(join(folder, `payments-${each}.csv`))))
  writeFileSync(join(folder, 'audit.heads'), `operator_actions:99999:${'ab'.repeat(32)}\n`)
  const second = await runScript('nightly.sh', [folder], env)
  t.equal(second.code, 3, second.stderr)
  t.match(second.stderr, /99999/)
})

t.test('the on-call script says how much waits, and fails where the service does not answer', async (t) => {
  const { merchant: addMerchant, url, owner } = await realService(t)
  const { id } = await addMerchant({ kybStatus: 'PENDING' })
  const env = { SVC_API_URL: url, SVC_PLATFORM_USER: 'ada' }
  const { code, stdout } = await runScript('oncall.sh', [], env)
  t.equal(code, 0)
  t.match(stdout, /^[1-9]\d* waiting, 0 overdue\n$/)
  await owner.query("update merchants set created_at = now() - interval '1 year' where id = $1", [id])
  t.match(await runScript('oncall.sh', [], env), { code: 10, stdout: '1 waiting, 1 overdue\n' })
  t.equal((await runScript('oncall.sh', [], { ...env, SVC_API_URL: 'http://127.0.0.1:9' })).code, 8)
})

/** A svc that fails with CODE at the command FAILS, and says elsewhere what lets a script go on. */
function failingSvc(folder: string): string {
  const file = join(folder, 'svc')
  const text = `#!/bin/sh
[ "$1" != "$FAILS" ] || { echo "$1 fails" >&2; exit "$CODE"; }
case "$1 \${2:-}" in
  'inbox '*) printf '%s\\n' $OVERDUE ;;
  'merchants list') echo m-1 ;;
  'merchants show') echo true ;;
  'secret show') echo tomorrow ;;
  'audit verify') echo operator_actions:1:ab ;;
esac
`
  writeFileSync(file, text)
  chmodSync(file, 0o755)
  return file
}

t.test('a step that fails ends each script with its exit code; findings end the nightly one alone', async (t) => {
  const folder = t.testdir({})
  const SVC = failingSvc(folder)
  const run = (name: string, env: NodeJS.ProcessEnv): Promise<Ended> =>
    runScript(name, [folder], { SVC, OVERDUE: '', FAILS: 'none', CODE: '0', ...env })
  t.match(await run('day.sh', {}), { code: 0, stdout: /^verified .*\nexported / })
  t.match(await run('nightly.sh', {}), { code: 0, stdout: '', stderr: '' })
  t.match(await run('oncall.sh', {}), { code: 0, stdout: '0 waiting, 0 overdue\n' })
  t.match(await run('oncall.sh', { OVERDUE: 'true false true' }), { code: 10, stdout: '3 waiting, 2 overdue\n' })
  const steps = {
    'day.sh': ['inbox', 'kyb', 'merchants', 'disputes', 'secret', 'webhooks', 'audit', 'payments', 'doctor'],
    'nightly.sh': ['audit', 'payments', 'doctor'],
    'oncall.sh': ['inbox'],
  }
  for (const [name, commands] of Object.entries(steps))
    for (const FAILS of commands)
      for (const CODE of ['5', '8']) {
        const { code, stderr } = await run(name, { FAILS, CODE })
        t.equal(code, Number(CODE), `${name}: ${FAILS}`)
        t.match(stderr, `${FAILS} fails`, `${name}: ${FAILS}`)
      }
  t.match(await run('day.sh', { FAILS: 'doctor', CODE: '1' }), { code: 0, stderr: /Done\.\n$/ })
  t.match(await run('nightly.sh', { FAILS: 'doctor', CODE: '1' }), { code: 1, stdout: '', stderr: 'doctor fails\n' })
  t.match(await run('nightly.sh', { FAILS: 'audit', CODE: '3' }), { code: 3, stdout: '', stderr: 'audit fails\n' })
  const nowhere = await runScript('nightly.sh', [], { SVC })
  t.not(nowhere.code, 0, 'which number it is, is the shell’s')
  t.match(nowhere, { stdout: '', stderr: /the folder to keep things in/ })
})

/** Runs a script as cron does: without a terminal, and with nothing to read. */
async function runScript(name: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ended> {
  const child = spawn(join(SCRIPTS, name), args, {
    // No service's state is here that would be found instead.
    cwd: SCRATCH,
    env: cleanEnv({ SVC: SVC_COMMAND, ...env }),
    stdio: ['ignore', 'pipe', 'pipe'],
    // A session of its own has no terminal to open either.
    detached: true,
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => void (stdout += chunk))
  child.stderr.on('data', (chunk: Buffer) => void (stderr += chunk))
  const [code] = await once(child, 'close')
  return { code: typeof code === 'number' ? code : null, stdout, stderr }
}

/** What was done, without what it was done to. */
function wordsOf(stdout: string): string[] {
  return stdout.split('\n').flatMap((line) => line.split(' ')[0] || [])
}
