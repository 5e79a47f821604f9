import { Command } from 'commander'
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { z } from 'zod'
import { NOUNS } from '../../../cli/base/command-names.ts'
import { operation } from '../../../src/wire/operation.ts'
import { CliError, usageError } from '../../../cli/base/errors.ts'
import { EXIT } from '../../../cli/base/exit-codes.ts'
import { action, commandLine, isOffered, memberOf } from '../../../cli/kit/action.ts'
import type { AnyAction, Flags, Variant } from '../../../cli/kit/action.ts'
import { headerCredentials } from '../../../cli/client/auth/credentials.ts'
import type { Client } from '../../../cli/client/call.ts'
import { actionKeys } from '../../../cli/console/action-key.ts'
import { dataOf } from '../../../cli/entry/tree/describe.ts'
import { fill } from '../../../cli/entry/tree/fill.ts'
import { loadNoun } from '../../../cli/entry/tree/nouns.ts'
import type { Context, Runtime } from '../../../cli/kit/context.ts'
import { readValues, withFlags, requestOf } from '../../../cli/kit/read-values.ts'
import { whoOf } from '../console/who.ts'
import { fakeService, makeIo, refusal, serviceInfo } from '../harness.ts'
import type { Answer, CliSettings, Request } from '../harness.ts'

/* A kind of thing that no noun has, to try what actions can do apart from what they are used for. */
type Lamp = { id: string; name: string; is_lit: boolean }
const LAMP: Lamp = { id: 'l-1', name: 'Desk', is_lit: false }

const setLamp = operation({
  name: 'setLamp',
  dryRun: true,
  method: 'POST',
  path: '/api/v1/lamps/{id}',
  summary: 'Set a lamp',
  access: ['merchant'],
  params: z.object({ id: z.string() }),
  query: z.strictObject({}),
  headers: z.object({ 'x-idempotency-key': z.string().optional() }),
  body: z.strictObject({
    is_lit: z.boolean(),
    colour_name: z.enum(['red', 'blue']).optional(),
    words: z.string().min(3).optional(),
    expected: z.strictObject({ is_lit: z.boolean() }).optional(),
  }),
  replies: { 200: z.object({ id: z.string(), name: z.string(), is_lit: z.boolean() }) },
  errors: [],
})

const light = action({
  command: 'lamps light',
  summary: 'light a lamp',
  examples: ['svc lamps light Desk --colour red'],
  subject: {
    noun: 'lamp',
    summary: 'its name',
    find: async (_client, given) => {
      if (given !== LAMP.name) throw new CliError('LAMP_NOT_FOUND', 'no such lamp', { exit: EXIT.notFound })
      return { thing: LAMP, isExact: true }
    },
    id: ({ id }) => id,
    name: ({ name }) => name,
    handle: ({ name }) => name,
    confirmBy: ({ name }) => [name],
  },
  flags: {
    colour: { value: 'colour', summary: 'which', member: 'colour_name', choices: ['red', 'blue'] },
    words: { value: 'words', summary: 'what to say', long: true, file: true },
    quietly: { summary: 'wake nobody' },
    howLong: {
      value: 'time',
      summary: 'for how long',
      read(text) {
        if (text === 'forever') throw usageError('nothing lasts forever', 'a time such as 5m')
        return text.trim()
      },
    },
  },
  operation: setLamp,
  request: (id, { colour, words }) => ({
    params: { id },
    body: {
      is_lit: true,
      ...(colour === undefined ? {} : { colour_name: colour }),
      ...(words === undefined ? {} : { words }),
    },
  }),
  move: { member: 'is_lit', from: false, to: true, already: ({ name }) => `${name} is lit already` },
  effect: ({ name }, { colour = 'white' }) => `light ${name} in ${colour}`,
  done: ({ name }) => `lit ${name}`,
  confirm: ({ quietly }) => quietly !== true,
  key: { letter: 'l', label: 'light' },
  view: ({ print }, reply) => print.record(reply, [['Lamp', reply.name]], { id: reply.id }),
  wait: {
    summary: 'wait until it is warm',
    failures: ['BANK_UNAVAILABLE'],
    until: async ({ again, timeoutMs }) => ({
      reply: await again(),
      ...(timeoutMs < 1_000
        ? { problem: new CliError('WAIT_TIMED_OUT', 'it is cold', { exit: EXIT.waitTimedOut }) }
        : {}),
    }),
  },
})

/** The same lamps for somebody who puts them out. */
const douse = action({ ...light, effect: ({ name }) => `put ${name} out` })

const colours = operation({
  ...setLamp,
  name: 'setColours',
  path: '/api/v1/colours',
  params: z.strictObject({}),
  headers: z.object({}),
  body: z.strictObject({ colours: z.array(z.string()) }),
})

/** What is written as a whole: it is read before. */
const paint = action({
  command: 'lamps paint',
  summary: 'add colours to those that there are',
  examples: ['svc lamps paint red blue'],
  subject: {
    noun: 'colours',
    summary: 'the colours',
    isOwn: true,
    find: async () => ({ thing: { colours: ['black'], is_full: false }, isExact: true }),
    id: () => '',
    name: () => 'the colours',
    handle: () => '',
    confirmBy: () => [],
  },
  flags: { colours: { value: 'colour', summary: 'which', positional: true, several: true, required: true } },
  operation: colours,
  request: (_id, { colours: more }, thing) => ({ body: { colours: [...(thing?.colours ?? []), ...more.split(' ')] } }),
  move: { member: 'is_full', from: false, to: true, already: () => 'full' },
  effect: (_thing, { colours: more }) => `add ${more}`,
  done: () => 'painted',
  view: () => undefined,
})

function asSomebody(context: Context): Client {
  return { ...context.client(), credentials: headerCredentials({ clientId: 'somebody', platformUser: undefined }) }
}

type World = { mode?: 'sandbox' | 'live'; answer?: (request: Request) => Answer }

/** Runs a line of a program that has lamps and nothing else. */
async function lamps(t: Test, { mode = 'sandbox', answer }: World = {}) {
  const { url, requests } = await fakeService(t, (request) => {
    if (request.path === '/api/v1/service') return { json: serviceInfo({ mode }) }
    return answer?.(request) ?? { json: { ...LAMP, is_lit: true } }
  })
  const sent = (): Request[] => requests.filter(({ method }) => method === 'POST')
  const run = async (words: readonly string[], settings: CliSettings = {}) => {
    const { io, stdout, stderr } = makeIo(settings)
    const runtime: Runtime = { io, exitCode: EXIT.ok }
    const program = new Command('svc').exitOverride().option('--api-url <url>').option('--client-id <id>')
    program.option('-o, --output <form>').configureOutput({ writeErr: () => undefined, writeOut: () => undefined })
    const choose: Variant['choose'] = async (_context, { off }) => (off === true ? douse : light)
    const variant = { flags: { off: { summary: 'put it out' } }, choose, client: asSomebody }
    const all = [light, paint, { ...light, command: 'lamp set', variant }]
    for (const noun of ['lamps', 'lamp'])
      fill(program.command(noun), dataOf([noun], all), { runtime, words, load: async () => all })
    const error: unknown = await program
      .parseAsync([...words, '--api-url', url, '--client-id', 'demo'], { from: 'user' })
      .then(() => undefined)
      .catch((thrown: unknown) => thrown)
    return { error, stdout: stdout.join(''), stderr: stderr.join('') }
  }
  return { run, sent }
}

t.test('an action is a command: found, sent as it was seen, and printed', async (t) => {
  const { run, sent } = await lamps(t)
  const { error, stdout } = await run(['lamps', 'light', 'Desk', '--colour', 'red', '--idempotency-key', 'k-1'])
  t.equal(error, undefined)
  t.match(stdout, /Lamp +Desk/)
  t.match(sent(), [{ path: '/api/v1/lamps/l-1', headers: { 'x-idempotency-key': 'k-1' } }])
  t.same(JSON.parse(sent()[0]?.body ?? ''), { is_lit: true, colour_name: 'red', expected: { is_lit: false } })
  await run(['lamps', 'light', 'Desk'])
  t.match(sent()[1]?.headers['x-idempotency-key'], /^[0-9a-f-]{36}$/, 'a key of its own where none is given')
})

t.test('what is written as a whole is made of what there is, and several words stand at the end', async (t) => {
  const { run, sent } = await lamps(t)
  t.equal((await run(['lamps', 'paint', 'red', 'blue'])).error, undefined)
  t.same(JSON.parse(sent()[0]?.body ?? ''), { colours: ['black', 'red', 'blue'] }, 'and nothing that it does not take')
  t.match((await run(['lamps', 'paint'])).error, { code: 'USAGE' })
  t.equal(commandLine(paint, '', { colours: 'red dark;blue' }), "svc lamps paint red 'dark;blue'")
})

t.test('values are refused by the names of their flags, before anything is looked up', async (t) => {
  const { run, sent } = await lamps(t)
  t.match((await run(['lamps', 'light', 'nobody', '--how-long', 'forever'])).error, {
    code: 'USAGE',
    message: '--how-long: nothing lasts forever',
    options: { exit: 2, hint: 'a time such as 5m' },
  })
  t.match((await run(['lamps', 'light', 'Desk', '--colour', 'green'])).error, { code: 'USAGE' })
  t.match((await run(['lamps', 'light', 'Desk', '--words', 'ab'])).error, {
    code: 'VALIDATION_FAILED',
    options: { fields: [{ flag: '--words' }] },
  })
  t.match((await run(['lamps', 'light', 'Sofa'])).error, { code: 'LAMP_NOT_FOUND', options: { exit: 6 } })
  t.same(sent(), [])
  const told = withFlags(
    new CliError('VALIDATION_FAILED', 'colour_name: must be a colour, or leave colour_name out', {
      exit: EXIT.usage,
      fields: [{ path: 'colour_name', code: 'invalid', message: 'must be a colour, or leave colour_name out' }],
    }),
    light.flags,
  )
  t.match(told, { message: '--colour: must be a colour, or leave --colour out' })
})

t.test('a dry run asks the service, and shows what would be sent only where that would be taken', async (t) => {
  const { run, sent } = await lamps(t)
  const { error, stdout, stderr } = await run(['lamps', 'light', 'Desk', '--dry-run'])
  t.equal(error, undefined)
  t.match(stdout, /Would send +POST \S+\/lamps\/l-1\n[^]*Effect +this would light Desk in white/)
  t.match(stderr, /Nothing was changed/)
  t.match(sent(), [{ path: '/api/v1/lamps/l-1?dry_run=true' }])
  const other = await lamps(t, { answer: () => refusal(409, 'LAMP_BROKEN') })
  const refused = await other.run(['lamps', 'light', 'Desk', '--dry-run'])
  t.match(refused, { error: { code: 'LAMP_BROKEN', options: { exit: 7 } }, stdout: '' })
})

t.test('live mode asks where the values make it so, and nothing is sent before', async (t) => {
  const { run, sent } = await lamps(t, { mode: 'live' })
  t.match((await run(['lamps', 'light', 'Desk'])).error, {
    code: 'CONFIRMATION_NEEDED',
    message: /^this would light Desk in white/,
  })
  t.match((await run(['lamps', 'light', 'Desk'], { typed: 'Sofa' })).error, { code: 'NOT_CONFIRMED' })
  t.same(sent(), [])
  t.equal((await run(['lamps', 'light', 'Desk'], { typed: 'Desk' })).error, undefined)
  t.equal((await run(['lamps', 'light', 'Desk', '--yes'])).error, undefined)
  t.equal((await run(['lamps', 'light', 'Desk', '--quietly'])).error, undefined)
  t.equal(sent().length, 3)
})

t.test('what waits prints what came, and then says what did not', async (t) => {
  const { run, sent } = await lamps(t)
  t.match(await run(['lamps', 'light', 'Desk', '--wait']), { error: undefined, stdout: /Desk/ })
  const keys = sent().map(({ headers }) => headers['x-idempotency-key'])
  t.same(keys, [keys[0], keys[0]], 'it asks again under the same key')
  t.match(await run(['lamps', 'light', 'Desk', '--wait', '--timeout', '500ms', '--idempotency-key', 'k']), {
    error: { code: 'WAIT_TIMED_OUT', options: { facts: { lamp_id: 'l-1', idempotency_key: 'k' } } },
    stdout: /Desk/,
  })
  t.match((await run(['lamps', 'light', 'Desk', '--wait', '--timeout', 'soon'])).error, { message: /^--timeout: / })
})

t.test('the key of an action is printed, also in errors; what was waited for and failed is exit code 3', async (t) => {
  const { run, sent } = await lamps(t)
  t.match((await run(['lamps', 'light', 'Desk'])).stderr, `Idempotency key: ${sent()[0]?.headers['x-idempotency-key']}`)
  t.notMatch((await run(['lamps', 'light', 'Desk', '--idempotency-key', 'k'])).stderr, 'Idempotency key')
  const broken = await lamps(t, { answer: () => refusal(503, 'BANK_UNAVAILABLE') })
  const light = ['lamps', 'light', 'Desk', '--idempotency-key', 'k']
  const facts = { lamp_id: 'l-1', idempotency_key: 'k' }
  t.match((await broken.run(light)).error, { code: 'BANK_UNAVAILABLE', options: { exit: 1, facts } })
  t.match((await broken.run([...light, '--wait'])).error, { code: 'BANK_UNAVAILABLE', options: { exit: 3, facts } })
})

t.test('words come from a flag, a file or standard input, and from one of them', async (t) => {
  const { run, sent } = await lamps(t)
  const file = join(t.testdir({}), 'words.txt')
  writeFileSync(file, 'from a file\n')
  const wordsOf = (): unknown => JSON.parse(sent().at(-1)?.body ?? '{}').words
  await run(['lamps', 'light', 'Desk', '--words', 'as typed'])
  t.equal(wordsOf(), 'as typed')
  await run(['lamps', 'light', 'Desk', '--file', file])
  t.equal(wordsOf(), 'from a file')
  await run(['lamps', 'light', 'Desk', '--file', '-'], { stdin: 'piped in' })
  t.equal(wordsOf(), 'piped in')
  const count = sent().length
  t.match((await run(['lamps', 'light', 'Desk', '--words', 'a', '--file', file])).error, {
    message: /say the same thing/,
  })
  t.equal(sent().length, count)
})

/** A shell script as an editor. */
function editorOf(t: Test, script: string): CliSettings {
  const file = join(t.testdir({}), 'editor.sh')
  writeFileSync(file, `#!/bin/sh\n${script}\n`)
  chmodSync(file, 0o700)
  return { typed: '', env: { EDITOR: file, PATH: process.env['PATH'] } }
}

t.test('what was written in an editor and can not be sent is kept', async (t) => {
  const { run, sent } = await lamps(t)
  const { error, stderr } = await run(['lamps', 'light', 'Desk', '--edit'], editorOf(t, 'echo no > "$1"'))
  t.match(error, { code: 'VALIDATION_FAILED' })
  const kept = /to send it again: --file (\S+)\n/.exec(stderr)?.[1] ?? ''
  // Of no name the folder would be the one that this runs in.
  if (t.match(kept, /svc-kept-/)) t.teardown(() => rmSync(dirname(kept), { recursive: true }))
  t.equal(readFileSync(kept, 'utf8'), 'no\n')
  t.equal(statSync(kept).mode & 0o777, 0o600)
  t.match(sent(), [{ path: /dry_run=true$/ }], 'the service was asked first, and sent nothing after')
})

t.test('no editor is opened for what the service refuses anyway', async (t) => {
  const { run } = await lamps(t, { answer: () => refusal(409, 'LAMP_BROKEN') })
  const copy = join(t.testdir({}), 'opened')
  const { error } = await run(['lamps', 'light', 'Desk', '--edit'], editorOf(t, `touch ${copy}`))
  t.match(error, { code: 'LAMP_BROKEN' })
  t.notOk(existsSync(copy))
})

t.test('one command may stand for actions of several people, and act with a client of its own', async (t) => {
  const { run, sent } = await lamps(t)
  t.match(await run(['lamp', 'set', 'Desk', '--off', '--dry-run']), { stdout: /Effect +this would put Desk out/ })
  t.match(await run(['lamp', 'set', 'Desk', '--dry-run']), { stdout: /Effect +this would light Desk/ })
  t.match(sent(), [{ headers: { 'x-merchant-client-id': 'somebody' } }, {}])
})

t.test('a key of the console is done to several, and is for those who may', async (t) => {
  const paid = action({
    ...light,
    restricted: { permission: 'administer platform', where: ({ name }) => name === 'Crown' },
    effectOnAll: (all, { colour = 'white' }) => `light ${all.length} in ${colour}`,
  })
  const keys = actionKeys<Lamp, Lamp>([paid], { get: (row) => row, set: (_row, lamp) => lamp })
  const [owners, others] = keys
  t.match(keys, [{ permission: 'administer platform' }, { lacks: 'administer platform' }])
  const crown = { ...LAMP, name: 'Crown' }
  t.same([owners?.fits?.(crown), others?.fits?.(crown), others?.fits?.(LAMP)], [true, false, true])
  const { last } = owners?.ask?.([LAMP, crown], whoOf('OWNER')) ?? {}
  t.equal(last?.({ colour: 'red' }), 'will light 2 in red')
})

t.test('a command line of an action can be pasted, and says what is missing', async (t) => {
  const any: AnyAction = light
  t.equal(commandLine(any, 'Desk'), 'svc lamps light Desk')
  t.equal(
    commandLine(any, 'my desk', { colour: 'red', howLong: '5m', quietly: true, words: '' }),
    "svc lamps light 'my desk' --colour red --quietly --how-long 5m",
  )
  const needing: AnyAction = { ...light, flags: { reason: { value: 'text', summary: 'why', required: true } } }
  t.equal(commandLine(needing, undefined), 'svc lamps light --reason ...')
  t.equal(memberOf('howLong'), 'how_long')
})

t.test('the console offers what is open and applies', async (t) => {
  t.ok(isOffered(light, LAMP))
  t.notOk(isOffered(light, { ...LAMP, is_lit: true }))
  t.notOk(isOffered({ ...light, applies: () => false }, LAMP))
  t.same(readValues(light.flags, { quietly: false, colour: '', howLong: ' 5m ' }), { howLong: '5m' })
})

t.test('what an action sends by its flags are members that its operation knows', async (t) => {
  const nouns = await Promise.all(NOUNS.map(({ name }) => loadNoun(name)))
  const actions = nouns.flat().flatMap((each) => ('operation' in each && !('run' in each) ? [each as AnyAction] : []))
  const derived = actions.filter(({ request }) => request === undefined)
  t.ok(derived.length > 20)
  for (const each of derived) {
    const { operation, flags, command } = each
    const values = Object.fromEntries(Object.entries(flags as Flags).map(([name, { value }]) => [name, value ?? true]))
    const { params, body } = requestOf(each, { id: 'x', values })
    t.same(Object.keys(Object(params)), Object.keys(operation.params.shape), command)
    const known = 'unwrap' in operation.body ? operation.body.unwrap() : operation.body
    t.same(
      Object.keys(Object(body)).filter((member) => !(member in known.shape)),
      [],
      `${command}: all of its body`,
    )
    t.equal(body === undefined, Object.keys(flags).length === 0, `${command}: no body without flags`)
  }
  const rotate = actions.find(({ command }) => command === 'staff rotate-keys')
  t.same(rotate && requestOf(rotate, { id: 'acme', values: { revokeNow: true, reason: 'stolen' } }), {
    params: { slug: 'acme' },
    body: { revoke_now: true, reason: 'stolen' },
  })
})
