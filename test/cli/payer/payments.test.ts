import t from 'tap'
import { PAYMENT_ID, refusal } from '../harness.ts'
import type { Answer, Request } from '../harness.ts'
import { CONSENT_ID, PAYMENT, SESSION, TOKEN, answerTo, hub, signedIn } from './hub.ts'
import { readdirSync } from 'node:fs'

t.test('payments, receipts and mandates are read with the session', async (t) => {
  const { run, asked } = await signedIn(t)
  const terminal = { tty: true, env: { NO_COLOR: '1' } }
  const list = await run(['payments', 'list'], terminal)
  t.match(list, { code: 0, stdout: /STATUS +AMOUNT[^\n]*\n\S+ +Settled +50\.00 +GBP +Acme/ })
  t.ok(list.stdout.split('\n').every((line) => line.length <= 80))
  t.equal(asked().at(-1)?.headers.authorization, `Bearer ${SESSION.session_token}`)
  t.same(JSON.parse((await run(['payments', 'list', '--json'])).stdout), [PAYMENT])
  const receipt = await run(['show', PAYMENT_ID.slice(-8)])
  t.match(
    receipt.stdout,
    /To +Acme\nStatus +Settled\nAmount +50\.00 GBP\n[^]*Refunded +5\.00 GBP, 2026[^]*End-to-end id +SVC1/,
  )
  t.equal((await run(['show', PAYMENT_ID, '-q', 'end_to_end_id'])).stdout, 'SVC1\n')
  t.match(await run(['show', 'ffffffff']), { code: 6, stderr: /payer payments list/ })
  const consents = await run(['payments', 'mandates', 'list', '--as-payer'], terminal)
  t.match(consents, { code: 0, stdout: /Acme +20\.00 +GBP +50\.01 this month +3 +2027-11-21/ })
  t.ok(consents.stdout.split('\n').every((line) => line.length <= 80))
})

t.test('cancelling a mandate and disputing say what was done; live mode asks first', async (t) => {
  const { run, asked } = await signedIn(t)
  t.match(await run(['payments', 'mandates', 'cancel', CONSENT_ID, '--dry-run']), { code: 0, stdout: /DELETE / })
  t.match(await run(['payments', 'mandates', 'cancel', CONSENT_ID.slice(-8)]), { code: 0, stdout: /Status +REVOKED/ })
  const dispute = ['dispute', PAYMENT_ID, '--reason', 'item_not_received', '--statement', 'nothing came']
  t.match(await run(dispute), { code: 0, stdout: /Status +OPEN[^]*You say +nothing came/ })
  t.same(JSON.parse(asked().at(-1)?.body ?? ''), { reason: 'ITEM_NOT_RECEIVED', payer_statement: 'nothing came' })
  t.match(await run(['dispute', PAYMENT_ID]), { code: 2, stderr: /--reason/ })
  const live = await signedIn(t, answerTo, 'live')
  const cancel = ['payments', 'mandates', 'cancel', CONSENT_ID]
  t.match(await live.run(cancel), { code: 2, stderr: /cancel the mandate/ })
  t.notOk(live.asked().some(({ method }) => method === 'DELETE'))
  t.match(await live.run([...cancel, '--yes']), { code: 0 })
})

t.test('what the service rejects is reported with the next step of a payer', async (t) => {
  const refusing = (answer: Answer) => (request: Request) =>
    request.path.endsWith('/verify') ? answerTo(request) : answer
  const words = ['show', PAYMENT_ID]
  const missing = await signedIn(t, refusing(refusal(404, 'PAYMENT_NOT_FOUND')))
  t.match(await missing.run(words), { code: 6, stderr: /payer payments list/ })
  const again = await signedIn(t, refusing(refusal(409, 'DISPUTE_ALREADY_OPEN')))
  t.match(await again.run(['dispute', PAYMENT_ID, '--reason', 'OTHER', '--statement', 'odd']), {
    code: 7,
    stderr: /payer show 01a1fd03/,
  })
  const early = await signedIn(t, (request) =>
    request.path.endsWith('/receipt') ? refusal(409, 'PAYMENT_NOT_SETTLED') : answerTo(request),
  )
  t.match(await early.run(['send-receipt', PAYMENT_ID]), { code: 7, stderr: /payer show 01a1fd03/ })
  const byPhone = await signedIn(t, (request) =>
    request.path.endsWith('/receipt') ? refusal(409, 'EMAIL_NOT_CONFIRMED') : answerTo(request),
  )
  t.match(await byPhone.run(['send-receipt', PAYMENT_ID]), { code: 7, stderr: /payer link ada@example\.org/ })
  const single = await signedIn(t, refusing(refusal(409, 'CONSENT_NOT_REVOCABLE')))
  t.match(await single.run(['payments', 'mandates', 'cancel', CONSENT_ID]), {
    code: 7,
    stderr: /mandates list --as-payer/,
  })
  const used = await hub(t, () => refusal(401, 'LINK_INVALID'))
  t.match(await used.run(['verify', TOKEN]), {
    code: 4,
    stderr: /Try: with your own address: svc .*payer link ada@example\.org\n/,
  })
  t.same(readdirSync(used.configDir), [])
})
