import t from 'tap'
import { createdOf, fakeService, paymentOf, runCli } from './harness.ts'
import { openSvc } from './in-terminal.ts'

t.test('at a terminal a required argument is asked for', async (t) => {
  const { url } = await fakeService(t, () => ({ json: paymentOf('Settled') }))
  const env = { SVC_API_URL: url, SVC_CLIENT_ID: 'demo' }
  const id = '01a1fd03-f879-7eb7-872f-a2b4358c4f6d'
  const { code, stdout, stderr } = await runCli(['payments', 'show', '--json'], { env, typed: ` ${id} ` })
  t.match({ code, stderr }, { code: 0, stderr: /^payment \(.+\): $/ })
  t.equal(JSON.parse(stdout).status, 'Settled')
})

t.test('choices are shown, taken in any case, and refused with the nearest', async (t) => {
  const words = ['completion']
  t.match(await runCli(words, { typed: 'bash' }), { code: 0, stderr: 'shell (bash, zsh, fish, powershell): ' })
  t.match(await runCli(words, { typed: 'csh' }), {
    code: 2,
    stderr: /invalid value "csh" for <shell>: use one of bash/,
  })
})

t.test('no question is asked in a script, with --no-input or in CI, and an empty answer is none', async (t) => {
  const refused = {
    code: 2,
    stdout: '',
    stderr: /^Error: required and not given: <payment>\nTry: svc payments show --help\n$/,
  }
  t.match(await runCli(['payments', 'show']), refused)
  t.match(await runCli(['payments', 'show', '--no-input'], { typed: 'x', env: { NO_COLOR: '1' } }), refused)
  t.match(await runCli(['payments', 'show'], { typed: 'x', env: { SVC_NO_INPUT: '1', NO_COLOR: '1' } }), refused)
  t.match(await runCli(['payments', 'show'], { typed: 'x', env: { CI: 'true', NO_COLOR: '1' } }), refused)
  t.match(await runCli(['payments', 'show'], { typed: '', env: { NO_COLOR: '1' } }), {
    code: 2,
    stderr: /\): Error: required and not given: <payment>/,
  })
})

t.test('all that is missing is reported at once, and help marks it', async (t) => {
  const { stderr } = await runCli(['hold', 'set'])
  t.equal(stderr, 'Error: required and not given: <merchant>, --reason <text>\nTry: svc hold set --help\n')
  t.match((await runCli(['hold', 'set', '--help'])).stdout, /--reason <text> .*\(required\)/)
})

t.test('an argument that is empty, as a variable of the shell that is not set, is rejected by its name', async (t) => {
  for (const [words, name] of [
    [['payments', 'refund', ''], '<payment>'],
    [['payments', 'cancel', ' '], '<payment>'],
    [['explain', ''], '<id>'],
  ] as const) {
    const help = `svc ${words.slice(0, -1).join(' ')} --help`
    const { code, stdout, stderr } = await runCli([...words])
    t.strictSame(
      { code, stdout, stderr },
      { code: 2, stdout: '', stderr: `Error: ${name}: must not be empty\nTry: ${help}\n` },
    )
  }
})

t.test('what was typed is checked before anything is asked for', async (t) => {
  t.match(await runCli(['payments', 'create', '--nonsense'], { typed: 'x', env: { NO_COLOR: '1' } }), {
    code: 2,
    stderr: /^Error: unknown option/,
  })
  t.match(await runCli(['payments', 'create', '--approve', '--cancel'], { typed: 'x', env: { NO_COLOR: '1' } }), {
    code: 2,
    stderr: /^Error: option '--approve' cannot be used with option '--cancel'\nTry: svc payments create --help\n$/,
  })
  t.match(await runCli(['payments', 'create', '--nonsense']), {
    code: 2,
    stderr: /^Error: unknown option '--nonsense'/,
  })
})

t.test('a person answers one question after the other', async (t) => {
  const { url, requests } = await fakeService(t, () => createdOf())
  const terminal = openSvc(t, ['payments', 'create', '--dry-run'], { env: { SVC_API_URL: url, SVC_CLIENT_ID: 'demo' } })
  await terminal.until(/^amount \(.+\): $/m)
  terminal.type('5.00')
  terminal.press('enter')
  await terminal.until(/^currency \(Currency code, such as GBP\): *$/m)
  terminal.type('GBP')
  terminal.press('enter')
  const { code, text } = await terminal.ended()
  t.equal(code, 0)
  t.match(text, /"amount":"5\.00","currency":"GBP"/)
  t.ok(requests.every(({ path }) => path.endsWith('?dry_run=true')))
})
