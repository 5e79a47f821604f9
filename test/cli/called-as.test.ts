import { join } from 'node:path'
import t from 'tap'
import { COMMAND_WORDS, asTyped, calledAs } from '../../cli/base/command-hints.ts'
import { makeWholeProgram } from '../../cli/entry/program.ts'
import { makeIo, runCli } from './harness.ts'
import { LAUNCHER } from './service.ts'

t.test('a command is npx svc where no shell finds svc: in a checkout, below npm, from node_modules/.bin', async (t) => {
  t.equal(calledAs({}, LAUNCHER), 'npx svc')
  t.equal(calledAs({ npm_command: 'start' }, '/usr/local/bin/svc'), 'npx svc')
  t.equal(calledAs({ npm_execpath: '/usr/lib/npm' }, '/usr/local/bin/svc'), 'npx svc')
  t.equal(calledAs({}, join('/shop', 'node_modules', '.bin', 'svc')), 'npx svc')
})

t.test('an installed one is svc', async (t) => {
  t.equal(calledAs({}, '/usr/local/bin/svc'), 'svc')
  t.equal(calledAs({ npm_command: '' }, undefined), 'svc')
})

t.test('commands in a text become what is to be typed; the program and its role keep their names', async (t) => {
  const typed = (text: string): string => asTyped(text, 'npx svc')
  t.equal(typed('svc status, or svc up to start one'), 'npx svc status, or npx svc up to start one')
  t.equal(typed('svc --help'), 'npx svc --help')
  t.equal(typed('npx svc up'), 'npx svc up')
  for (const text of [
    "a version of svc that is the service's",
    'svc upgrades',
    '/opt/svc up',
    'svc_runtime',
    '.svc up',
  ])
    t.equal(typed(text), text)
  t.equal(asTyped('svc up', 'svc'), 'svc up')
})

t.test('its words are the commands that there are', async (t) => {
  const { commands } = await makeWholeProgram({ io: makeIo({}).io, exitCode: 0 })
  t.same(
    [...COMMAND_WORDS].toSorted(),
    commands.flatMap((command) => [command.name(), ...command.aliases()]).toSorted(),
  )
})

t.test('hints and remarks say it, also to programs', async (t) => {
  const settings = { calledAs: 'npx svc' }
  t.match(await runCli(['status', '--nonsense'], settings), { stderr: /\nTry: npx svc status --help\n$/ })
  t.match(JSON.parse((await runCli(['payments', 'list', '--json'], settings)).stderr), {
    error: { hint: /^npx svc up; one elsewhere: / },
  })
})

t.test('next steps repeat where the service is and who acts, where the command line said so', async (t) => {
  const given = { apiUrl: 'https://pay.example', profile: 'ops', stateDir: '/tmp/a dir' }
  const typed = (text: string): string => asTyped(text, 'svc', given)
  const state = "--state-dir '/tmp/a dir'"
  t.equal(typed('svc payments list'), `svc --api-url https://pay.example --profile ops ${state} payments list`)
  t.equal(typed('svc up'), `svc ${state} up`)
  t.equal(typed('svc help environment'), 'svc help environment')
  t.equal(typed('svc login --platform'), `svc --api-url https://pay.example ${state} login --platform`)
  t.equal(
    typed('svc payments list --profile acme'),
    `svc --api-url https://pay.example ${state} payments list --profile acme`,
  )
  t.equal(asTyped('svc payments list', 'npx svc'), 'npx svc payments list')
  const { stderr } = await runCli(['payments', 'list', '--api-url', 'http://127.0.0.1:1', '--client-id', 'a-server'])
  t.match(stderr, /\nTry: svc --api-url http:\/\/127\.0\.0\.1:1 status\n {5}to start one: svc up\n$/)
})
