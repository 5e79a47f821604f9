import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { DROPPED, RENAMED } from '../../cli/entry/tree/renamed.ts'
import { makeWholeProgram } from '../../cli/entry/program.ts'
import type { Command } from 'commander'
import { makeIo, runCli } from './harness.ts'

/** What these words after `svc` name: a command, or a flag of one. */
function isThere(program: Command, words: string): boolean {
  let command = program
  for (const word of words.split(' ')) {
    if (words.startsWith('-')) return hasSomewhere(program, words)
    if (word.startsWith('-')) return command.options.some(({ long, short }) => long === word || short === word)
    const child = command.commands.find((each) => each.name() === word || each.aliases().includes(word))
    // A page of the documentation.
    if (child === undefined) return command.name() === 'docs'
    command = child
  }
  return true
}

function hasSomewhere(command: Command, flag: string): boolean {
  return (
    command.options.some(({ long, short }) => long === flag || short === flag) ||
    command.commands.some((child) => hasSomewhere(child, flag))
  )
}

t.test('an old command or flag ends with exit code 2 and the new one, which there is', async (t) => {
  const program = await makeWholeProgram({ io: makeIo({}).io, exitCode: 0 })
  for (const [old, now] of RENAMED) {
    const [, command = ''] = /^(?:(.*) )?--?[a-z-]+$/.exec(old) ?? []
    t.notOk(isThere(program, old), `${old} is gone`)
    t.ok(isThere(program, now.startsWith('-') ? `${command} ${now}`.trim() : now), now)
    const { code, stdout, stderr } = await runCli([...old.split(' '), 'x'])
    t.match({ code, stdout }, { code: 2, stdout: '' }, old)
    t.ok(stderr.startsWith(`Error: ${old.startsWith('-') ? '' : 'svc '}${old} is now `), stderr)
    t.ok(stderr.includes(now), stderr)
  }
})

t.test('each command of before the renaming is there, or is answered with one that is', async (t) => {
  const program = await makeWholeProgram({ io: makeIo({}).io, exitCode: 0 })
  const before = readFileSync(join(import.meta.dirname, 'commands-before.txt'), 'utf8')
    .trim()
    .split('\n')
  t.equal(before.length, 197)
  for (const words of before) {
    if (isThere(program, words)) continue
    const { code, stderr } = await runCli(words.split(' '))
    const [, now = ''] = /is now (?:svc )?(.*)$/m.exec(stderr) ?? []
    t.ok(code === 2 && isThere(program, now), `${words} → ${now}`)
  }
})

t.test('a flag that is gone says what to do instead', async (t) => {
  for (const [flag, instead] of DROPPED) {
    const { code, stderr } = await runCli(['payments', 'list', flag])
    t.equal(code, 2)
    t.equal(stderr.replaceAll('     ', ''), `Error: there is no ${flag} any more\nTry: ${instead}\n`)
  }
})

t.test('the new line keeps what was typed', async (t) => {
  for (const [words, line] of [
    [['-p', 'get', 'payments', '-o', 'yaml', 'get', 'a b', '-q', 'x'], `-p get payments -o yaml show 'a b' -q x`],
    [['staff', 'rotate-keys', '--reason', 'r', '--realm=acme'], 'staff rotate-keys --reason r acme'],
    [['staff', 'rotate-keys', '--realm', 'acme'], 'staff rotate-keys acme'],
    [['ob', '--customer', 'get', 'recurring', 'get', '0'], 'ob --customer get recurring show 0'],
  ] as const) {
    const { code, stderr } = await runCli(words)
    t.equal(code, 2)
    t.ok(stderr.endsWith(`\nTry: svc ${line}\n`), stderr)
  }
})

t.test('who asks for help with an old command reads the new one', async (t) => {
  for (const [words, message, line] of [
    [['branding', '--help'], 'svc branding is now svc checkout branding', 'svc checkout branding --help'],
    [['payments', 'get', '-h'], 'svc payments get is now svc payments show', 'svc payments show -h'],
    [['help', 'payments', 'get'], 'svc payments get is now svc payments show', 'svc payments show --help'],
    [
      ['help', 'outbox', 'list'],
      'svc outbox list is now svc webhooks list --all-merchants',
      'svc webhooks list --all-merchants --help',
    ],
  ] as const) {
    const { code, stdout, stderr } = await runCli(words)
    t.same({ code, stdout }, { code: 2, stdout: '' }, words.join(' '))
    t.equal(stderr, `Error: ${message}\nTry: ${line}\n`)
    t.equal((await runCli(line.split(' ').slice(1))).code, 0, line)
  }
  t.equal((await runCli(['nosuch', '--help'])).code, 0, 'a word that is none prints the first page')
})
