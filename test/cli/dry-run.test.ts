import t from 'tap'
import type { Command } from 'commander'
import { makeWholeProgram } from '../../cli/entry/program.ts'
import { createdOf, fakeService, makeIo, runCli } from './harness.ts'
import type { Outcome } from './harness.ts'
import type { Test } from 'tap'

/** Verbs that only read, whatever they stand behind. */
const READING =
  /\b(list|get|show|receipt|history|lines|missing|refunds|payment|payments|events|tail|export|verify|status|whoami)$/

/**
 * The other commands without a dry run, and why they need none. Whoever adds one here says that it changes nothing at the
 * service.
 */
const NEEDS_NONE: Readonly<Record<string, readonly string[]>> = {
  'only look': [
    'webhooks endpoint check',
    'balances',
    'reconcile',
    'listen',
    'secret snippet',
    'explain',
    'inbox',
    'doctor',
    'merchants registrations',
    'banks registrations',
    'payouts files',
    'checkout banks',
    'checkout branding preview',
    'ob accounts',
    'ob balances',
    'ob transactions',
    'sandbox bank faults',
    'sandbox accounts',
    'sandbox books',
  ],
  'work on this machine alone': [
    'webhooks exam',
    'webhooks sign',
    'checkout token',
    'payments link',
    'checkout snippet',
    'checkout demo',
    'config keys create',
    'help',
    'api openapi',
    'docs',
    'open',
    'completion',
    'config check',
    'sandbox scenarios validate',
    'sandbox scenarios create',
    'sandbox scenarios schema',
  ],
  'are who commands act as': [
    'login',
    'logout',
    'profile token',
    'profile use',
    'profile create',
    'profile remove',
    'payer logout',
  ],
  'run the service, or play whole stories in a sandbox, which svc sandbox scenarios validate checks': [
    'up',
    'down',
    'serve',
    'worker',
    'sandbox run',
    'run',
  ],
  'are the console, which asks for itself': ['ui'],
}

type Leaf = { path: string; command: Command }

async function leaves(): Promise<Leaf[]> {
  const program = await makeWholeProgram({ io: makeIo({}).io, exitCode: 0 })
  const visit = (command: Command, path: readonly string[]): Leaf[] =>
    command.commands.length === 0
      ? [{ path: path.join(' '), command }]
      : command.commands.flatMap((child) => visit(child, [...path, child.name()]))
  return visit(program, [])
}

function has(command: Command, flag: string): boolean {
  return command.options.some(({ long }) => long === flag)
}

t.test('whatever changes something has a dry run, and the others are known', async (t) => {
  const none = new Set(Object.values(NEEDS_NONE).flat())
  const all = await leaves()
  t.ok(all.length > 120)
  for (const { path, command } of all) {
    const isKnown = none.has(path) || READING.test(path)
    t.ok(has(command, '--dry-run') || isKnown, `${path} has --dry-run, or is known to change nothing`)
    if (none.has(path)) t.notOk(has(command, '--dry-run'), `${path} has a dry run, so it stands in no list`)
  }
})

t.test('what hurts a real merchant asks first', async (t) => {
  const asking = new Set((await leaves()).filter(({ command }) => has(command, '--yes')).map(({ path }) => path))
  for (const path of [
    'hold set',
    'kyb suspend',
    'payments refund',
    'secret rotate',
    'disputes resolve',
    'merchants disable',
    'staff remove',
    'staff reset-factor',
    'staff role',
    'staff rotate-keys',
    'config keys rotate',
    'credentials revoke',
    'credentials rotate',
    'payouts accounts disable',
    'webhooks endpoint set',
    'payments mandates end',
    'payer erase',
  ])
    t.ok(asking.has(path), path)
})

/** A dry run at a service that has nothing but a mode, and whether anything was sent that changes something. */
async function dryRun(t: Test, words: readonly string[]): Promise<Outcome & { item: Record<string, unknown> }> {
  const { url, requests } = await fakeService(t, ({ path }) =>
    path.startsWith('/api/v1/payments?') ? createdOf() : { json: {} },
  )
  const outcome = await runCli([...words, '--dry-run', '--api-url', url, '--client-id', 'demo', '--json'])
  t.match(outcome, { code: 0, stderr: '' }, words.join(' '))
  t.same(
    requests.filter(({ method, path }) => method !== 'GET' && !path.endsWith('?dry_run=true')),
    [],
    'nothing is sent that changes something',
  )
  return { ...outcome, item: JSON.parse(outcome.stdout) }
}

t.test('it shows the request as it would be sent', async (t) => {
  const create = ['payments', 'create', '--amount', '5.00', '--currency', 'gbp', '--idempotency-key', 'order-1']
  const made = await dryRun(t, [...create, '--approve', '--wait'])
  t.match(made.item, {
    dry_run: true,
    method: 'POST',
    url: /\/payments$/,
    headers: { 'x-idempotency-key': 'order-1' },
    body: { amount: '5.00', currency: 'GBP' },
    effect:
      'this would create a payment of 5.00 GBP, and then approve it as its payer, and then wait until it is Settled',
  })
  t.match((await dryRun(t, ['payer', 'link', 'ada@example.org'])).item, { body: { email: 'ada@example.org' } })
  const clock = ['sandbox', 'clock', 'advance', '2h', '--customer', 'customer-demo']
  t.match((await dryRun(t, clock)).item, { body: { customer_ids: ['customer-demo'], by: '2h' } })
})

t.test('a request that the service would refuse is refused here', async (t) => {
  const words = ['payments', 'create', '--amount', 'five', '--currency', 'GBP', '--dry-run']
  const { code, stderr } = await runCli([...words, '--api-url', 'http://127.0.0.1:1', '--client-id', 'demo', '--json'])
  t.equal(code, 2)
  t.match(JSON.parse(stderr), { error: { code: 'VALIDATION_FAILED' } })
})
