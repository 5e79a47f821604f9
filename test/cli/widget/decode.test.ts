import t from 'tap'
import { runCli } from '../harness.ts'
import type { CliSettings } from '../harness.ts'
import { GOOD, SECRET, WITH_SECRET, tokenOf } from './service.ts'

const decode = (token: string, settings?: CliSettings, ...more: string[]) =>
  runCli(['checkout', 'token', '--decode', token, ...more], settings)

t.test('--decode prints what a token says, without any service, and whether its signature is right', async (t) => {
  const exp = Math.floor(Date.now() / 1_000) + 600
  const signed = tokenOf({ ...GOOD, exp }, SECRET)
  t.match(await decode(signed, { env: WITH_SECRET }), {
    code: 0,
    stdout: /amount +50\.00\n[^]*exp +\d+ \(.*Z, in \d+ minutes[^]*Signature +valid[^]*Good /,
    stderr: '',
  })
  t.match(await decode(signed), { code: 0, stdout: /Signature +there; no secret/ })
  t.match(await decode('-', { stdin: `${tokenOf(GOOD)}\n` }), { code: 0, stdout: /Signature +none/ })
  t.match(await decode(signed, { stdin: SECRET }, '--secret-file', '-', '-q', 'signature'), { stdout: 'valid\n' })
  t.same(JSON.parse((await decode(tokenOf(GOOD), {}, '--json')).stdout), {
    content: GOOD,
    signature: 'none',
    expires_at: null,
    expired: false,
    problems: [],
  })
})

t.test('an invalid token is printed as far as it can be read, with exit code 3', async (t) => {
  t.match(await decode(tokenOf({ ...GOOD, exp: 1_700_000_000 })), { code: 3, stdout: /Problem +it has expired/ })
  t.match(await decode(tokenOf(GOOD, 'another'), { env: WITH_SECRET }), { code: 3, stdout: /Signature +wrong/ })
  t.match(await decode(tokenOf({ ...GOOD, amount: 50 })), { code: 3, stdout: /amount +50\n[^]*Problem +amount: / })
  t.match(await decode(tokenOf({ ...GOOD, evil: '\u001b[31m' })), { code: 3, stdout: /evil +\\u001b\[31m/ })
  for (const bad of ['', 'nonsense!', 'a.b.c', tokenOf(GOOD).slice(1), Buffer.from('[]').toString('base64')]) {
    const { code, stdout, stderr } = await decode(bad, {}, '--json')
    t.match({ code, stderr }, { code: 3, stderr: '' }, bad)
    t.equal(JSON.parse(stdout).problems.length, 1, bad)
  }
  t.match(await decode(tokenOf({ ...GOOD, exp: 1e300 })), { code: 3 })
  t.match(await decode('-', { stdin: 'x' }, '--secret-file', '-'), { code: 2 })
  t.match(await decode(tokenOf(GOOD), {}, '--amount', '1.00'), { code: 2 })
})
