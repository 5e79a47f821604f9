import { Command } from 'commander'
import t from 'tap'
import { CliError } from '../../cli/base/errors.ts'
import { EXIT } from '../../cli/base/exit-codes.ts'
import { inFlags } from '../../cli/kit/flag-errors.ts'
import { fakeService, refusal, runCli } from './harness.ts'

function refused(paths: readonly string[], message?: string): CliError {
  const fields = paths.map((path) => ({ path, code: 'X', message: 'is wrong' }))
  const told = message ?? fields.map(({ path }) => `${path}: is wrong`).join('; ')
  return new CliError('VALIDATION_FAILED', told, { exit: EXIT.usage, fields })
}

t.test('a refused member is told as the flag or the argument that it came from', async (t) => {
  const command = new Command('set')
    .argument('<origin...>')
    .option('--overlap <duration>')
    .option('--min-amount <amount>')
    .option('--flat <amount>')
    .option('--metadata <pair>')
    .option('--holder <name>')
    .option('--idempotency-key <key>')
  for (const [path, told] of [
    ['overlap_seconds', '--overlap'],
    ['min_amount', '--min-amount'],
    ['fee_flat', '--flat'],
    ['metadata.order', '--metadata'],
    ['account_holder_name', '--holder'],
    ['x-idempotency-key', '--idempotency-key'],
    ['origins.1', '<origin>'],
  ] as const) {
    t.match(inFlags(refused([path]), command), {
      message: `${told}: is wrong`,
      options: { fields: [{ path, flag: told }] },
    })
  }
  t.match(inFlags(refused(['fee_flat', 'sort_code']), command), { message: '--flat: is wrong; sort_code: is wrong' })
})

t.test('what names no flag, has words of its own, or is no refusal stays as it is', async (t) => {
  const command = new Command('set').option('--flat <amount>')
  for (const error of [refused(['sort_code']), refused(['']), new Error('other')])
    t.equal(inFlags(error, command), error)
  t.match(inFlags(refused(['fee_flat'], 'in other words'), command), { message: 'in other words' })
})

t.test("the service's own refusal of a filter is told by its flag, and once", async (t) => {
  const errors = [{ path: 'min_amount', code: 'X', message: 'is wrong' }]
  const { url } = await fakeService(t, () =>
    refusal(400, 'VALIDATION_FAILED', { error: 'min_amount: is wrong', errors }),
  )
  const words = ['payments', 'list', '--min-amount', 'x', '--api-url', url, '--client-id', 'demo']
  const { code, stderr } = await runCli(words)
  t.equal(code, 2)
  t.equal(stderr, 'Error: --min-amount: is wrong\nTry: svc payments list --help\n[request req-1]\n')
})
