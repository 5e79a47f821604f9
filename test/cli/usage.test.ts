import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { EXIT, EXIT_MEANINGS, exitOfError } from '../../cli/base/exit-codes.ts'
import { CliError } from '../../cli/base/errors.ts'
import { makeWholeProgram } from '../../cli/entry/program.ts'
import type { Command } from 'commander'
import { makeIo, runCli } from './harness.ts'

t.test('a wrong command line is exit code 2, one line and one that says what to try', async (t) => {
  for (const words of [
    ['nonsense'],
    ['payments', 'nonsense'],
    ['payments', 'create'],
    ['payments', 'list', '--nonsense'],
    ['payments', 'show'],
    ['status', 'extra'],
    ['payments', 'list', '-o', 'xml'],
  ]) {
    const { code, stdout, stderr } = await runCli(words)
    t.equal(code, 2, words.join(' '))
    t.equal(stdout, '', words.join(' '))
    t.match(stderr, /^Error: .+\nTry: svc .+\n$/, words.join(' '))
  }
})

t.test('members without a name are refused, and a hint says --json as it was typed', async (t) => {
  for (const word of ['--json=,', '--json=a,', '--json=,a'])
    t.match(await runCli(['docs', word]), { code: 2, stdout: '', stderr: /has a member without a name/ }, word)
  const { stderr } = await runCli(['paymnts', 'list', '--json'])
  t.equal(JSON.parse(stderr).error.hint, 'svc payments list --json')
})

t.test('every group of commands shows examples', async (t) => {
  for (const words of [['payments'], ['webhooks', 'endpoint'], ['sandbox', 'clock'], ['profile'], ['config']]) {
    const { stdout } = await runCli([...words, '--help'])
    t.match(stdout, new RegExp(`\\nExamples:\\n  svc ${words.join(' ')} .+\\n`), words.join(' '))
  }
  t.equal((await runCli(['payer', '--help'])).stdout.split('Examples:').length, 2, 'and its own where it has them')
})

t.test('an unknown word is answered with the help of what there is', async (t) => {
  t.match((await runCli(['nonsense'])).stderr, /\nTry: svc --help\n$/)
  t.match((await runCli(['payments', 'nonsense'])).stderr, /\nTry: svc payments --help\n$/)
})

t.test('a misspelt value is answered with the one that was meant, wherever it stands', async (t) => {
  for (const [words, meant] of [
    ['payments list --status Setled', 'svc payments list --status Settled'],
    ['payments list --status=setled --json', 'svc payments list --status=Settled --json'],
    ['-o jsn status', 'svc -o json status'],
    ['completion bsh', 'svc completion bash'],
    ['doctor --only mail,machne', 'svc doctor --only mail,machine'],
    ['payments list --status nonsense', 'svc payments list --help'],
  ] as const) {
    const { code, stdout, stderr } = await runCli(words.split(' '))
    t.match({ code, stdout }, { code: 2, stdout: '' }, words)
    t.match(stderr, meant, words)
  }
  t.match((await runCli(['help', 'paymnts'])).stderr, /\nTry: svc help payments\n$/)
  t.match((await runCli(['help', 'payments', 'lst'])).stderr, /\nTry: svc help payments list\n$/)
})

t.test('a misspelt word is answered with the command that was meant', async (t) => {
  t.match((await runCli(['paymnts', 'list'])).stderr, /Try: svc payments list\n$/)
  t.match((await runCli(['secrets'])).stderr, /Try: svc secret\n$/)
  t.match((await runCli(['secrets', 'shw'])).stderr, /Try: svc secret show\n$/)
  t.match((await runCli(['payments', 'list', '--alls'])).stderr, /Try: svc payments list --all\n$/)
  t.match((await runCli(['payments', 'shows'])).stderr, /Try: svc payments --help\n$/)
  t.match((await runCli(['payments', 'creat', '--amount', '5.00'])).stderr, /Try: svc payments create --amount 5.00\n$/)
  t.match(
    (await runCli(['payments', 'list', '--stauts', 'Settled'])).stderr,
    /Try: svc payments list --status Settled\n$/,
  )
  for (const [words, meant] of [
    [['payment', 'lst'], 'svc payments list'],
    [['payment', '-p', 'lst', 'lst', '--limit', '3'], 'svc payments -p lst list --limit 3'],
    [['payment', 'nonsense'], 'svc payments --help'],
    [['merchats', 'fes', 'shw', 'x'], 'svc merchants fees show x'],
  ] as const)
    t.match(await runCli(words), { code: 2, stderr: new RegExp(`Try: ${meant}\\n$`) }, meant)
})

t.test('a word that sounds like a list is not answered with a command that changes something', async (t) => {
  const { stderr } = await runCli(['payments', 'disputes', 'a2b4358c'])
  t.match(stderr, /\nTry: svc disputes list --payment a2b4358c\n$/)
  t.match((await runCli(['payments', 'cancels'])).stderr, /\nTry: svc payments --help\n$/)
  t.match((await runCli(['payments', 'event'])).stderr, /\nTry: svc payments events\n$/)
})

t.test('help of a command ends with the global options, which a topic explains', async (t) => {
  const { stdout } = await runCli(['payments', '--help'])
  t.match(stdout, /\nCommands:\n[^]*\nGlobal options \(svc help global\): --output, --json, [^<]*--state-dir\n$/)
  const topic = await runCli(['help', 'global', '--json'])
  t.ok(JSON.parse(topic.stdout).some(({ option }: { option: string }) => option === '-q, --query <path>'))
})

t.test('a name of elsewhere that is no command here says what is', async (t) => {
  for (const [words, stderr] of [
    ['sandbox approve a2b4358c', /\nTry: svc sandbox bank approve a2b4358c\n$/],
    ['sandbox cancel a2b4358c', /\nTry: svc sandbox bank cancel a2b4358c\n$/],
    ['sandbox reject a2b4358c', /\nTry: svc payments create .*--scenario /],
    ['kyb hold acme --reason x', /\nTry: svc hold set acme --reason x\n$/],
    ['merchants approve acme', /\nTry: svc kyb approve acme\n$/],
    ['logs tail --event=payment.settled', /\nTry: svc listen --events=payment.settled\n$/],
    ['webhooks tail -n 5', /\nTry: svc webhooks list --follow --limit 5\n$/],
    ['audit tail --last 5', /\nTry: svc audit list --follow --limit 5\n$/],
    ['listen --forward-to 4242 --event a.b', /\nTry: svc listen --forward-to 4242 --events a.b\n$/],
  ] as const)
    t.match(await runCli(words.split(' ')), { code: 2, stdout: '', stderr }, words)
})

t.test('no line of any help is longer than a terminal', async (t) => {
  const { io, stdout } = makeIo({ tty: true, columns: 80, env: { NO_COLOR: '1' } })
  const visit = (command: Command): void => {
    stdout.length = 0
    command.outputHelp()
    const long = stdout
      .join('')
      .split('\n')
      .filter((line) => line.length > 80)
    t.same(long, [], command.name())
    for (const child of command.commands) visit(child)
  }
  visit(await makeWholeProgram({ io, exitCode: 0 }))
  for (const topic of ['global', 'environment', 'exit-codes']) {
    const help = await runCli(['help', topic], { tty: true, columns: 80 })
    t.ok(
      help.stdout.split('\n').every((line) => line.length <= 80),
      topic,
    )
  }
})

t.test(
  'with JSON asked for, standard error holds one JSON error and nothing else, even when the line is not understood',
  async (t) => {
    for (const words of [
      ['nonsense', '--json'],
      ['payments', 'show', '--json'],
      ['payments', 'list', '-o', 'json', '--nonsense'],
      ['payments', 'list', '--output=jsonl', '--limit', 'x'],
    ]) {
      const { code, stderr } = await runCli(words)
      t.equal(code, 2)
      t.match(
        JSON.parse(stderr),
        { error: { code: 'USAGE', message: String, status: null, request_id: null, retryable: false } },
        words.join(' '),
      )
    }
    t.match(JSON.parse((await runCli(['nonsense'], { env: { SVC_OUTPUT: 'json' } })).stderr), {
      error: { code: 'USAGE' },
    })
  },
)

t.test(
  'no words print the help and succeed; a noun alone prints its help to standard error and does not',
  async (t) => {
    t.match(await runCli([]), { code: 0, stdout: /Run the service:[^]*Take payments:[^]*Examples:/, stderr: '' })
    t.match(await runCli(['--help']), { code: 0, stdout: /^Usage: svc/ })
    t.match(await runCli(['payments']), { code: 2, stdout: '', stderr: /^Usage: svc payments/ })
    t.match(await runCli(['payments', 'create', '--help']), { code: 0, stdout: /Sandbox:[^]*--approve[^]*Examples:/ })
  },
)

t.test('help knows commands and the exit codes', async (t) => {
  t.match(await runCli(['help', 'webhooks', 'endpoint', 'set']), {
    code: 0,
    stdout: /^Usage: svc webhooks endpoint set/,
  })
  t.match(await runCli(['help', 'nonsense']), { code: 2 })
  const { stdout } = await runCli(['help', 'exit-codes', '--json'])
  t.same(
    JSON.parse(stdout).map((row: { code: number }) => row.code),
    EXIT_MEANINGS.map(({ code }) => code),
  )
})

t.test(
  'the exit code of an error is that of its code, and every code in the table is one that an error has',
  async (t) => {
    t.equal(exitOfError('NOT_SIGNED_IN'), EXIT.signedOut)
    t.equal(exitOfError('SOMETHING_ELSE'), EXIT.failure)
    t.equal(new CliError('NOT_FOUND', 'there is none').options.exit, EXIT.notFound)
    t.equal(new CliError('NOT_FOUND', 'there is none', { exit: EXIT.usage }).options.exit, EXIT.usage)
    const cli = join(import.meta.dirname, '../../cli')
    const files = readdirSync(cli, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file))
    const texts = files.map((file) => ({ file, text: readFileSync(join(cli, file), 'utf8') }))
    const table = texts.find(({ file }) => file === 'base/exit-codes.ts')?.text ?? ''
    const codes = [...table.matchAll(/'([A-Z_ ]+)'/g)].flatMap(([, row = '']) => row.split(' '))
    t.ok(codes.length > 60)
    const used = (code: string): boolean =>
      texts.some(({ file, text }) => file !== 'base/exit-codes.ts' && text.includes(`'${code}'`))
    t.same(
      codes.filter((code) => !used(code)),
      [],
    )
  },
)

t.test('help lists every variable that commands read, and what goes before what', async (t) => {
  const { stdout } = await runCli(['help', 'environment'])
  t.match(stdout, /--client-id, --profile, SVC_TOKEN, SVC_CLIENT_ID, SVC_PROFILE/)
  const cli = join(import.meta.dirname, '../../cli')
  const files = readdirSync(cli, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.startsWith('service/') && file !== 'scenario/play/ephemeral.ts',
  )
  const read = files.flatMap((file) =>
    [...readFileSync(join(cli, file), 'utf8').matchAll(/(?:env\[|variableIn\((?:io\.)?env, )'(?<name>SVC_\w+)'/g)].map(
      ({ groups }) => groups?.['name'] ?? '',
    ),
  )
  t.ok(read.length > 10)
  const listed = JSON.parse((await runCli(['help', 'environment', '--json'])).stdout)
  t.same(listed.map(({ name }: { name: string }) => name).toSorted(), [...new Set(read)].toSorted())
})

t.test('every command has a description and examples', async (t) => {
  const { io, stdout } = makeIo({})
  const visit = (command: Command, path: string): void => {
    t.not(command.description(), '', path)
    stdout.length = 0
    if (command.commands.length === 0) {
      command.outputHelp()
      t.match(stdout.join(''), /Examples:\n {2}\S/, path)
    }
    for (const child of command.commands) visit(child, `${path} ${child.name()}`)
  }
  visit(await makeWholeProgram({ io, exitCode: 0 }), 'svc')
})

t.test("the version is the package's", async (t) => {
  t.match((await runCli(['--version'])).stdout, /^\d+\.\d+\.\d+\n$/)
})
