import t from 'tap'
import { CliError } from '../../cli/base/errors.ts'
import { EXIT } from '../../cli/base/exit-codes.ts'
import { KEY_FLAG } from '../../cli/kit/action.ts'
import { withFlags } from '../../cli/kit/read-values.ts'
import { fakeService, refusal, runCli } from './harness.ts'

function refused(paths: readonly string[], message?: string): CliError {
  const fields = paths.map((path) => ({ path, code: 'X', message: 'is wrong' }))
  const told = message ?? fields.map(({ path }) => `${path}: is wrong`).join('; ')
  return new CliError('VALIDATION_FAILED', told, { exit: EXIT.usage, fields })
}

t.test('a rejected member is reported as the flag or the argument that it came from', async (t) => {
  const flags = {
    ...KEY_FLAG,
    origin: { value: 'origin', summary: '', member: 'origins', positional: true },
    overlap: { value: 'duration', summary: '', member: 'overlap_seconds' },
    minAmount: { value: 'amount', summary: '' },
    flat: { value: 'amount', summary: '', member: 'fee_flat' },
    metadata: { value: 'pair', summary: '' },
    merchantName: { value: 'name', summary: '' },
  } as const
  for (const [path, told] of [
    ['overlap_seconds', '--overlap'],
    ['min_amount', '--min-amount'],
    ['fee_flat', '--flat'],
    ['metadata.order', '--metadata'],
    ['merchantName', '--merchant-name'],
    ['x-idempotency-key', '--idempotency-key'],
    ['origins.1', '<origin>'],
  ] as const) {
    t.match(withFlags(refused([path]), flags), {
      message: `${told}: is wrong`,
      options: { fields: [{ path, flag: told }] },
    })
  }
  t.match(withFlags(refused(['fee_flat', 'sort_code']), flags), { message: '--flat: is wrong; sort_code: is wrong' })
})

t.test('what names no flag, has words of its own, or is no refusal stays as it is', async (t) => {
  const flags = { flat: { value: 'amount', summary: '', member: 'fee_flat' } } as const
  for (const path of ['sort_code', ''])
    t.match(withFlags(refused([path]), flags), {
      message: `${path}: is wrong`,
      options: { fields: [{ flag: undefined }] },
    })
  const other = new Error('other')
  t.equal(withFlags(other, flags), other)
  t.match(withFlags(refused(['fee_flat'], 'in other words'), flags), { message: 'in other words' })
})

t.test("the service's own error of a filter is reported by its flag, and once", async (t) => {
  const errors = [{ path: 'min_amount', code: 'X', message: 'is wrong' }]
  const { url } = await fakeService(t, () =>
    refusal(400, 'VALIDATION_FAILED', { error: 'min_amount: is wrong', errors }),
  )
  const words = ['payments', 'list', '--min-amount', 'x', '--api-url', url, '--client-id', 'demo']
  const { code, stderr } = await runCli(words)
  t.equal(code, 2)
  t.equal(stderr, 'Error: --min-amount: is wrong\nTry: svc payments list --help\n[request req-1]\n')
})
