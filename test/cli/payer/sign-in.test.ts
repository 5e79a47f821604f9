import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { refusal } from '../harness.ts'
import { SESSION, TOKEN, answerTo, hub, signedIn } from './hub.ts'

t.test('link asks for one, and says the same of everybody', async (t) => {
  const { run, asked } = await hub(t)
  t.match(await run(['link', 'Ada@Example.org']), {
    code: 0,
    stdout: /^Link +sent, where Ada@Example\.org has paid something\n$/,
    stderr: /svc .*payer verify --from-mail Ada@Example\.org/,
  })
  t.match(await run(['link', '+44 7700 900123', '--json']), { code: 0, stdout: '{"status":"sent"}\n', stderr: '' })
  t.same(
    asked().map(({ body }) => JSON.parse(body)),
    [{ email: 'ada@example.org' }, { phone: '+44 7700 900123' }],
  )
  for (const wrong of ['nobody', 'a@b@c', '12', '@'])
    t.match(await run(['link', wrong]), { code: 2, stderr: /neither an e-mail address nor a phone/ }, wrong)
  t.equal(asked().length, 2)
  const live = await hub(t, answerTo, 'live')
  t.notMatch((await live.run(['link', 'ada@example.org'])).stderr, /--from-mail/)
  const busy = await hub(t, () => refusal(429, 'RATE_LIMITED'))
  t.match(await busy.run(['link', 'ada@example.org']), { code: 8 })
})

t.test('verify takes a link, its token, or either from standard input or a person', async (t) => {
  const { run, asked } = await hub(t)
  const link = `https://pay.example/hub#token=${TOKEN}`
  t.match(await run(['verify', link]), { code: 0, stdout: /Signed in[^]*Until /, stderr: /payer payments list/ })
  await run(['verify', TOKEN])
  await run(['verify', '-'], { stdin: `${link}\n` })
  t.match(await run(['verify'], { typed: ` ${link} ` }), { code: 0, stderr: /^The link, or the token in it: / })
  t.same(
    asked().map(({ body }) => JSON.parse(body)),
    Array.from({ length: 4 }, () => ({ token: TOKEN })),
  )
  t.match(await run(['verify']), { code: 2, stderr: /payer verify - < link\.txt/ })
  for (const wrong of ['short', 'https://pay.example/hub', 'https://pay.example/hub#token=a b'])
    t.match(await run(['verify', wrong]), { code: 2, stderr: /^(?![^]*pay\.example)/ }, wrong)
  t.match(await run(['verify', '-'], { stdin: '\n' }), { code: 2 })
  t.match(await run(['verify', TOKEN, '--from-mail', 'a@b.example']), { code: 2 })
  t.match(await run(['verify', TOKEN, '-q', 'nonsense']), { code: 2 }, 'refused before the link is used up')
  t.equal(asked().length, 4)
})

t.test('the session is kept for its owner alone, and printed only where a program asks for it', async (t) => {
  const { run, configDir } = await hub(t)
  const told = await run(['verify', TOKEN])
  t.match(told.stdout, /Signed in +a…@example\.org\n/, 'as the service tells whose session it is')
  t.notMatch(`${told.stdout}${told.stderr}`, SESSION.session_token)
  t.match(JSON.parse((await run(['verify', TOKEN, '--json'])).stdout), { ...SESSION, expires_at: /Z$/ })
  t.equal((await run(['verify', TOKEN, '-q', 'session_token'])).stdout, `${SESSION.session_token}\n`)
  const [file = ''] = readdirSync(configDir)
  t.match(file, /^payer-[0-9a-f]{16}\.json$/)
  t.equal(statSync(join(configDir, file)).mode & 0o777, 0o600)
  t.match(JSON.parse(readFileSync(join(configDir, file), 'utf8')), { session_token: SESSION.session_token })
  const who = await run(['whoami', '--json'])
  t.equal(who.code, 0)
  t.equal(JSON.parse(who.stdout).contact, SESSION.contact)
  t.notMatch(who.stdout, SESSION.session_token)
})

t.test('the session goes to the service that it is of, and to no other', async (t) => {
  const { configDir } = await signedIn(t)
  const other = await hub(t)
  t.match(await other.run(['payments', 'list'], { env: { SVC_CONFIG_DIR: configDir } }), {
    code: 4,
    stderr: /no payer is signed in\nTry: with your own address: svc .*payer link ada@example\.org\n/,
  })
  t.same(other.asked(), [])
})

t.test('a session that has ended, here or at the service, is exit code 4, and forgotten', async (t) => {
  const short = await hub(t, (request) =>
    request.path.endsWith('/verify') ? { json: { ...SESSION, expires_in: 0 } } : answerTo(request),
  )
  await short.run(['verify', TOKEN])
  t.match(await short.run(['payments', 'list']), {
    code: 4,
    stderr: /the session of a…@example\.org has ended\nTry: with your own address: svc .*payer link ada@example\.org\n/,
  })
  t.equal(short.asked().length, 1, 'what is over is sent nowhere')
  t.match(await short.run(['whoami']), { code: 4 })
  const gone = await signedIn(t, (request) =>
    request.path.endsWith('/verify') ? answerTo(request) : refusal(401, 'TOKEN_EXPIRED'),
  )
  t.match(JSON.parse((await gone.run(['payments', 'list', '--json'])).stderr), {
    error: { code: 'SESSION_EXPIRED', hint: /payer link/ },
  })
  t.same(readdirSync(gone.configDir), [])
})

t.test('logout ends the session at the service, and forgets it whatever that says', async (t) => {
  const { run, asked, configDir } = await signedIn(t)
  t.match(await run(['logout']), { code: 0, stdout: /Signed out/ })
  t.match(asked().at(-1), {
    path: '/api/v1/payer/auth/sign-out',
    headers: { authorization: `Bearer ${SESSION.session_token}` },
  })
  t.same(readdirSync(configDir), [])
  t.match(await run(['logout']), { code: 0, stdout: '', stderr: 'No payer was signed in.\n' })
  const over = await signedIn(t, (request) =>
    request.path.endsWith('/verify') ? answerTo(request) : refusal(401, 'TOKEN_EXPIRED'),
  )
  t.match(await over.run(['logout']), { code: 0 })
  const broken = await signedIn(t, (request) =>
    request.path.endsWith('/verify') ? answerTo(request) : refusal(500, 'INTERNAL_ERROR'),
  )
  t.match(await broken.run(['logout']), { code: 1 })
  t.same(readdirSync(broken.configDir), [])
})
