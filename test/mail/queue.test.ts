import t from 'tap'
import { deleteOldMails } from '../../src/mail/sql.ts'
import { removeOldRecords } from '../../src/retention/remove-old-records.ts'
import { queueMail } from '../../src/mail/queue.ts'
import type { NewMail } from '../../src/mail/queue.ts'
import { getMail } from '../../src/mail/get-mail.ts'
import { testService } from '../support/app.ts'

const service = await testService(t)
const { app } = service

const MAIL: NewMail = {
  merchantId: null,
  realm: 'acme',
  kind: 'invite',
  recipient: 'ada@acme.example',
  subject: 'Your invitation',
  body: 'Hello,\n\nset your password: https://svc.example/realms/acme/invite?token=abc.\nBye',
}

const queued = async (changes: Partial<NewMail> = {}): Promise<Record<string, unknown>> => {
  await queueMail(app, app.pool, { ...MAIL, ...changes })
  const { rows } = await service.owner.query('select * from mails order by created_at desc, id desc limit 1')
  return rows[0]
}

t.test('without a mail server a mail is kept, and its body is sealed', async (t) => {
  const row = await queued()
  t.match(row, { status: 'KEPT', recipient: /^v1\./, attempt_count: 0, sent_at: null })
  t.notMatch(JSON.stringify(row), /token=abc/)
  t.match(await getMail(app, String(row['id'])), {
    body: MAIL.body,
    links: ['https://svc.example/realms/acme/invite?token=abc'],
  })
})

t.test('a sealed body opens in its own row only', async (t) => {
  const first = await queued()
  const second = await queued({ body: 'another' })
  await service.owner.query('update mails set body = $1 where id = $2', [first['body'], second['id']])
  await t.rejects(getMail(app, String(second['id'])))
})

t.test('a line break in a subject adds no header', async (t) => {
  const row = await queued({ subject: 'Welcome to Acme\r\nBcc: all@acme.example\u2028x\u0000' })
  t.equal(row['subject'], 'Welcome to Acme Bcc: all@acme.example x')
  t.equal(String((await queued({ subject: 'x'.repeat(1_000) }))['subject']).length, 200)
})

t.test('anything but exactly one address is rejected, and leaves no row', async (t) => {
  const before = await service.owner.query('select count(*) from mails')
  for (const recipient of [
    'a@b.example\r\nBcc: c@d.example',
    'a@b.example, c@d.example',
    'a@b.example;c@d.example',
    'Ada <a@b.example>',
    'group: a@b.example',
    'a@b@c.example',
    '"a b"@c.example',
    'a@b.example\u0000',
    'nobody',
    '@b.example',
    'a@',
    '',
  ]) {
    await t.rejects(queueMail(app, app.pool, { ...MAIL, recipient }), TypeError, JSON.stringify(recipient))
  }
  t.same((await service.owner.query('select count(*) from mails')).rows, before.rows)
})

t.test('a mail exists with its cause, or not at all', async (t) => {
  const before = await service.owner.query('select count(*) from mails')
  const failing = app.pool.transaction(async (tx) => {
    await queueMail(app, tx, MAIL)
    throw new Error('undone')
  })
  await t.rejects(failing, { message: 'undone' })
  t.same((await service.owner.query('select count(*) from mails')).rows, before.rows)
})

t.test('mails older than 30 days are deleted, a bounded number at a time', async (t) => {
  await service.owner.query('delete from mails')
  for (let i = 0; i < 5; i += 1) await queued()
  const { rows } = await service.owner.query('select id from mails order by id limit 3')
  await service.owner.query(`update mails set created_at = now() - interval '31 days' where id = any($1)`, [
    rows.map(({ id }) => id),
  ])
  t.equal(await deleteOldMails(app.pool, { days: 30, rowsMax: 2 }), 2)
  t.same(await removeOldRecords(app), { more: false }, 'the job does so too')
  t.match((await service.owner.query('select count(*)::int as count from mails')).rows, [{ count: 2 }])
})

t.test('operators read the outbox of the sandbox over HTTP', async (t) => {
  await service.owner.query('delete from mails')
  const merchant = await service.merchant()
  await queued({ merchantId: merchant.id })
  await queued({ recipient: 'bob@acme.example' })
  const operator = await service.operator()
  const all = await service.call('GET', '/api/v1/sandbox/mails', { headers: operator })
  t.match(all, { status: 200, body: { has_more: false } })
  t.same(
    all.body.data.map(({ recipient }: { recipient: string }) => recipient),
    ['bob@acme.example', 'ada@acme.example'],
    'the newest first',
  )
  t.notMatch(all.text, /token=abc|v1\./, 'the list shows no body')
  const ofAda = await service.call('GET', '/api/v1/sandbox/mails?recipient=ADA%40acme.example', { headers: operator })
  t.match(ofAda.body.data, [{ recipient: 'ada@acme.example', kind: 'invite', status: 'KEPT' }])
  const one = await service.call('GET', `/api/v1/sandbox/mails/${ofAda.body.data[0].id}`, { headers: operator })
  t.match(one, {
    status: 200,
    body: { body: MAIL.body, links: ['https://svc.example/realms/acme/invite?token=abc'] },
  })
})

t.test('an unknown mail is a 404, with an id of any form', async (t) => {
  const headers = await service.operator()
  for (const id of [app.ids.uuid(), 'nonsense', '%00']) {
    t.match(await service.call('GET', `/api/v1/sandbox/mails/${id}`, { headers }), {
      status: 404,
      body: { code: 'MAIL_NOT_FOUND' },
    })
  }
  t.match(await service.call('GET', '/api/v1/sandbox/mails?recipient=%00', { headers }), {
    status: 200,
    body: { data: [] },
  })
  t.match((await service.call('GET', '/api/v1/sandbox/mails?to=x', { headers })).status, 400)
})
