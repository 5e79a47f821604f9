import t from 'tap'
import { fakeAdmin, pageOf } from './admin-harness.ts'
import { refusal } from './harness.ts'
import type { Answer, Request } from './harness.ts'

const ID = '01a1fd03-0000-7eb7-872f-a2b4358c0001'
const MAIL = {
  id: ID,
  kind: 'invite',
  recipient: 'ada@acme.example',
  subject: 'Welcome to Acme',
  status: 'KEPT',
  attempt_count: 0,
  last_error: null,
  sent_at: null,
  created_at: '2026-11-21T09:30:00.000Z',
}
const LINK = 'http://127.0.0.1:8080/realms/acme/invite?token=t1'
const WHOLE = { ...MAIL, body: `Hello\u001b[2J Ada,\n\nopen ${LINK}\n`, links: [LINK] }

function answer({ path }: Request): Answer {
  return path.startsWith(`/api/v1/sandbox/mails/${ID}`) ? { json: WHOLE } : pageOf([MAIL])
}

t.test('mails are listed, all or to one address', async (t) => {
  const admin = await fakeAdmin(t, answer)
  t.match(await admin.run(['sandbox', 'mail', 'list']), { code: 0, stdout: /ada@acme\.example +Welcome to Acme +KEPT/ })
  t.match(await admin.run(['sandbox', 'mail', 'list', '--recipient', 'Ada@acme.example', '-o', 'id']), {
    stdout: `${ID}\n`,
  })
  t.same(
    admin.requests.map(({ path }) => path),
    ['/api/v1/sandbox/mails', '/api/v1/sandbox/mails?recipient=ada%40acme.example'],
  )
})

t.test('an invitation is opened by the links of the newest mail to an address', async (t) => {
  const admin = await fakeAdmin(t, answer)
  t.match(await admin.run(['sandbox', 'mail', 'show', '--recipient', 'ada@acme.example', '--links']), {
    code: 0,
    stdout: `${LINK}\n`,
    stderr: '',
  })
  t.match(await admin.run(['sandbox', 'mail', 'show', '--links', '--json']), { stdout: `[{"link":"${LINK}"}]\n` })
  t.match(await admin.run(['sandbox', 'mail', 'show', 'a2b4358c0001', '--links', '-o', 'id']), { stdout: `${LINK}\n` })
})

t.test('a mail is shown whole, and can not drive the terminal', async (t) => {
  const admin = await fakeAdmin(t, answer)
  const { code, stdout } = await admin.run(['sandbox', 'mail', 'show', ID])
  t.equal(code, 0)
  t.match(stdout, /Subject +Welcome to Acme\n[^]*\n\nHello\\u001b\[2J Ada,\n\nopen http/)
})

t.test('mail that has not come is exit code 6, unless it comes while it is waited for', async (t) => {
  const none = await fakeAdmin(t, () => pageOf([]))
  t.match(await none.run(['sandbox', 'mail', 'show', '--recipient', 'a@b.example', '--json']), {
    code: 6,
    stderr: /"code":"NOT_FOUND".*"retryable":true/,
  })
  let asked = 0
  const late = await fakeAdmin(t, (request) => {
    asked += 1
    return asked < 3 ? pageOf([]) : answer(request)
  })
  t.match(await late.run(['sandbox', 'mail', 'show', '--links', '--wait', '10s']), { code: 0, stdout: `${LINK}\n` })
  t.match(await none.run(['sandbox', 'mail', 'show', ID, '--recipient', 'a@b.example']), { code: 2 })
  const gone = await fakeAdmin(t, () => refusal(404, 'MAIL_NOT_FOUND'))
  t.match(await gone.run(['sandbox', 'mail', 'show', ID]), { code: 6 })
})

t.test('an empty outbox is said to be empty', async (t) => {
  const none = await fakeAdmin(t, () => pageOf([]))
  t.match(await none.run(['sandbox', 'mail', 'list']), { code: 0, stdout: '', stderr: 'No mail.\n' })
  t.match(await none.run(['sandbox', 'mail', 'list', '--recipient', 'a@b.example']), {
    stderr: 'No mail to a@b.example.\n',
  })
})

t.test('live mode keeps no mail, and the command says so without asking for any', async (t) => {
  const live = await fakeAdmin(t, answer, { mode: 'live' })
  for (const words of [['list'], ['show'], ['show', ID], ['show', '--links', '--wait', '1h']])
    t.match(
      await live.run(['sandbox', 'mail', ...words]),
      { code: 6, stderr: /is live: .* keeps none[^]*Try: / },
      words.join(' '),
    )
  t.same(live.requests, [])
})
