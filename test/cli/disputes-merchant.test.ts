import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import type { TestMerchant } from '../support/app.ts'
import { countRows } from '../support/rows.ts'
import { SCRATCH } from '../support/scratch.ts'
import { DISPUTE_ID, disputeOf, fakeAdmin } from './admin-harness.ts'
import { paidPayment, realService } from './real-service.ts'
import type { RealService } from './real-service.ts'

type Case = { service: RealService; merchant: TestMerchant; payment: string; dispute: string }

async function disputed(t: Test): Promise<Case> {
  const service = await realService(t)
  const merchant = await service.merchant()
  const payment = await paidPayment(service, merchant)
  const words = [
    'disputes',
    'raise',
    '--as-payer',
    payment,
    '--reason',
    'ITEM_NOT_RECEIVED',
    '--statement',
    'nothing came',
  ]
  const { stdout } = await service.as(merchant, [...words, '-o', 'id'])
  return { service, merchant, payment, dispute: stdout.trim() }
}

/** A shell script as an editor, which is given the file and the place to keep a copy in. */
function editorOf(t: Test, script: string): { env: NodeJS.ProcessEnv; copy: string } {
  const folder = t.testdir({})
  const file = join(folder, 'editor.sh')
  writeFileSync(file, `#!/bin/sh\nCOPY='${join(folder, 'copy')}'\n${script}\n`)
  chmodSync(file, 0o700)
  return { env: { EDITOR: `${file} --wait`, PATH: process.env['PATH'] }, copy: join(folder, 'copy') }
}

/** Files of editors go to a folder of the test: other processes open editors, too. */
function ownFolder(t: Test): void {
  const { TMPDIR } = process.env
  const folder = mkdtempSync(join(SCRATCH, 'svc-editors-'))
  process.env['TMPDIR'] = folder
  t.teardown(() => {
    rmSync(folder, { recursive: true })
    if (TMPDIR === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = TMPDIR
  })
}

/** What editors were given and did not take away again. */
function leftovers(): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith('svc-edit-'))
}

t.test(
  'a merchant reads its disputes, answers with a text, a file and standard input, and more is added',
  async (t) => {
    const { service, merchant, payment, dispute } = await disputed(t)
    const run = (words: string[], settings = {}) => service.as(merchant, ['disputes', ...words], settings)
    t.match(await run(['list', '--payment', payment.slice(-8), '-o', 'id']), { code: 0, stdout: `${dispute}\n` })
    t.match(await run(['list', '--status', 'OPEN']), {
      stdout: /ID +STATUS +REASON[^]*OPEN +ITEM_NOT_RECEIVED +50\.00/,
    })
    t.match(await run(['list', '--since', '1h', '--until', '2100-01-01', '-o', 'id']), { stdout: `${dispute}\n` })
    t.match(await run(['list', '--until', '1h', '-o', 'id']), { code: 0, stdout: '' })
    t.match(await run(['list', '--until', 'soon']), { code: 2, stderr: /--until: invalid time "soon"/ })
    const shown = await run(['show', dispute.slice(-8)])
    t.match(shown.stdout, /Evidence due +\S+ \S+ \(in 13 days 23 hours\)\n[^]*The payer says\nnothing came\n/)
    t.match(shown.stderr, `Next: svc disputes evidence ${dispute.slice(-8)}`)

    t.match(await run(['evidence', dispute, '--text', 'first']), { code: 0, stdout: /Status +UNDER_REVIEW/ })
    const cwd = t.testdir({ 'proof.txt': 'second, ünïcode\n' })
    t.match(await run(['evidence', dispute, '--file', 'proof.txt'], { cwd }), { code: 0 })
    t.match(await run(['evidence', dispute, '--file', '-'], { stdin: 'third\n' }), { code: 0 })
    t.match((await run(['show', dispute, '-q', 'merchant_evidence'])).stdout, /^first[^]*second, ünïcode[^]*third\n$/)
  },
)

t.test('evidence that can not be read, or is none, is refused before anything is sent', async (t) => {
  const { service, merchant, dispute } = await disputed(t)
  const before = await countRows(service.owner)
  const cwd = t.testdir({ 'blank.txt': ' \n', 'picture.png': Buffer.from([0xff, 0xd8, 0xff, 0x00]) })
  const refused = async (words: string[], stderr: RegExp): Promise<void> => {
    const all = ['disputes', 'evidence', dispute, ...words]
    t.match(await service.as(merchant, all, { cwd }), { code: 2, stdout: '', stderr }, words.join(' '))
  }
  await refused([], /No words were given\nTry: --text <words>, or --file/)
  await refused(['--text', ' '], /--text: there are no words/)
  await refused(['--file', 'blank.txt'], /--file: there are no words/)
  await refused(['--file', 'nowhere.txt'], /can't read nowhere\.txt/)
  await refused(['--file', 'picture.png'], /can't read picture\.png as text/)
  await refused(['--text', 'a', '--file', 'blank.txt'], /give one of them/)
  await refused(['--text', 'x'.repeat(20_001)], /--text: must be at most 20000 characters|merchant_evidence/)
  t.match(await service.as(merchant, ['disputes', 'evidence', dispute, '--text', 'a', '--dry-run']), {
    code: 0,
    stdout: /Would send +PUT .*\nBody +\{"merchant_evidence":"a"\}/,
  })
  t.same(await countRows(service.owner), before)
})

t.test("an editor is opened on the dispute's facts, and only what was written is sent", async (t) => {
  ownFolder(t)
  const { service, merchant, dispute } = await disputed(t)
  const before = leftovers()
  const { env, copy } = editorOf(
    t,
    'shift; cp -p "$1" "$COPY"\n{ printf "signed for\\n# 12 in our books\\n"; cat "$1"; } > "$1.new" && mv "$1.new" "$1"',
  )
  const words = ['disputes', 'evidence', dispute]
  t.match(await service.as(merchant, words, { typed: '', env }), { code: 0 })
  const { stdout } = await service.as(merchant, ['disputes', 'show', dispute, '-q', 'merchant_evidence'])
  t.equal(stdout, 'signed for\n# 12 in our books\n', "a line of one's own may begin like a comment")
  const template = readFileSync(copy, 'utf8')
  t.match(template, /^\n\n# Write above\.[^]*# Dispute .*ITEM_NOT_RECEIVED[^]*# The payer says:\n# {3}nothing came\n/)
  t.equal(statSync(copy).mode & 0o777, 0o600)
  t.same(leftovers(), before)
})

t.test('an editor that is left without a word, fails, or is not there sends nothing', async (t) => {
  ownFolder(t)
  const { service, merchant, dispute } = await disputed(t)
  const before = { rows: await countRows(service.owner), files: leftovers() }
  const words = ['disputes', 'evidence', dispute]
  const run = (env: NodeJS.ProcessEnv) => service.as(merchant, words, { typed: '', env })
  t.match(await run(editorOf(t, 'exit 0').env), { code: 2, stderr: /no words were written, so nothing was sent/ })
  t.match(await run(editorOf(t, ': > "$2"').env), { code: 2, stderr: /no words were written/ })
  t.match(await run(editorOf(t, 'echo half >> "$2"; exit 3').env), { code: 1, stderr: /the editor ended with 3/ })
  const PATH = process.env['PATH']
  t.match(await run({ EDITOR: 'no-such-editor', PATH }), { code: 1, stderr: /was not found: no-such-editor/ })
  t.match(await run({ PATH }), { code: 2, stderr: /no editor is known\n\S+ EDITOR=nano [^\n]*--text/ })
  t.same({ rows: await countRows(service.owner), files: leftovers() }, before)
})

t.test('what was written in an editor and can not be sent is kept; for a closed dispute none is opened', async (t) => {
  const { service, merchant, dispute } = await disputed(t)
  const { env, copy } = editorOf(t, 'shift; echo opened > "$COPY"; head -c 20001 /dev/zero | tr "\\0" x > "$1"')
  const evidence = ['disputes', 'evidence', dispute]
  const refused = await service.as(merchant, evidence, { typed: '', env })
  t.match(refused, { code: 2, stderr: /--text[^]*What you wrote is kept|What you wrote is kept[^]*--text/ })
  const kept = /--file (\S+words\.txt)/.exec(refused.stderr)?.[1] ?? ''
  // Of no name the folder would be the one that this runs in.
  if (t.match(kept, /svc-kept-/)) t.teardown(() => rmSync(dirname(kept), { recursive: true }))
  t.equal(statSync(kept).size, 20_002)
  t.equal(statSync(kept).mode & 0o777, 0o600)
  rmSync(copy)
  await service.as(merchant, ['disputes', 'accept', dispute])
  t.match(await service.as(merchant, evidence, { typed: '', env }), { code: 7, stderr: /how it ended/ })
  t.throws(() => statSync(copy), 'no editor was opened')
})

t.test("accept says what is left to refund, and ends the dispute in the payer's favour", async (t) => {
  const { service, merchant, payment, dispute } = await disputed(t)
  await service.as(merchant, ['payments', 'refund', payment, '--amount', '12.50'])
  const accept = ['disputes', 'accept', dispute, '--refund', '--note', 'our mistake']
  const dry = await service.as(merchant, [...accept, '--dry-run'])
  t.match(dry, { code: 0, stdout: /Effect +this would close [^\n]* and refund 37\.50 GBP, all that is left of it\n/ })
  t.match(await service.as(merchant, accept), {
    code: 0,
    stdout: /Status +RESOLVED_PAYER_FAVOUR[^]*Refund +37\.50 GBP/,
  })
  t.match(await service.as(merchant, accept), {
    code: 7,
    stderr: /Try: how it ended: svc disputes show \S+\n/,
  })
  const late = ['disputes', 'evidence', dispute, '--text', 'late']
  t.match(await service.as(merchant, late), { code: 7, stderr: /Try: how it ended: svc disputes show/ })
})

t.test('what was escalated is no longer for the merchant to accept', async (t) => {
  const { service, merchant, dispute } = await disputed(t)
  await service.operate(['disputes', 'escalate', dispute, '--reason', 'fraud'])
  t.match(await service.as(merchant, ['disputes', 'accept', dispute]), {
    code: 7,
    stderr: /Try: the platform decides it now: svc disputes show \S+\n/,
  })
})

t.test('the refunds of a payment come in pages, or all of them', async (t) => {
  const { service, merchant, payment } = await disputed(t)
  for (let count = 0; count < 3; count += 1)
    await service.as(merchant, ['payments', 'refund', payment, '--amount', '1.00'])
  const refunds = ['payments', 'refunds', payment, '-o', 'id']
  const first = await service.as(merchant, [...refunds, '--limit', '2'])
  t.match(first, { code: 0, stdout: /^\S+\n\S+\n$/, stderr: /There are more: --cursor \S+, or --all/ })
  const cursor = /--cursor ([\w-]+)/.exec(first.stderr)?.[1] ?? ''
  const rest = await service.as(merchant, [...refunds, '--cursor', cursor])
  t.match(await service.as(merchant, [...refunds, '--all']), { stdout: first.stdout + rest.stdout })
})

t.test("another merchant's dispute and payment are not there", async (t) => {
  const { service, payment, dispute } = await disputed(t)
  const other = await service.merchant()
  const before = await countRows(service.owner)
  for (const words of [
    ['disputes', 'show', dispute],
    ['disputes', 'evidence', dispute, '--text', 'a'],
    ['disputes', 'accept', dispute],
    ['disputes', 'raise', payment, '--reason', 'OTHER'],
    ['payments', 'refunds', payment],
  ])
    t.match(await service.as(other, words), { code: 6, stdout: '' }, words.join(' '))
  t.match(await service.as(other, ['disputes', 'list', '-o', 'id']), { code: 0, stdout: '' })
  t.same(await countRows(service.owner), before)
})

t.test('a merchant disputes its own payment, in its own words', async (t) => {
  const service = await realService(t)
  const merchant = await service.merchant()
  const payment = await paidPayment(service, merchant)
  const words = ['disputes', 'raise', payment.slice(-8), '--reason', 'DUPLICATE_PAYMENT', '--file', '-']
  t.match(await service.as(merchant, [...words, '--dry-run'], { stdin: 'paid twice\n' }), {
    code: 0,
    stdout: /Body +\{"reason":"DUPLICATE_PAYMENT","statement":"paid twice"\}/,
  })
  const raised = await service.as(merchant, words, { stdin: 'paid twice\n' })
  t.match(raised, { code: 0, stdout: /by MERCHANT\n[^]*The merchant says\npaid twice\n/ })
  t.match(await service.as(merchant, words, { stdin: 'paid twice\n' }), {
    code: 7,
    stderr: new RegExp(`Try: svc disputes list --payment ${payment}\n`),
  })
  const { body } = await service.call('POST', '/api/v1/payments', {
    merchant,
    headers: { 'x-idempotency-key': 'k' },
    body: { amount: '5.00', currency: 'GBP', redirect_uri: 'https://shop.example/' },
  })
  t.match(await service.as(merchant, ['disputes', 'raise', body.payment_id, '--reason', 'OTHER']), {
    code: 7,
    stderr: new RegExp(`Try: svc payments show ${body.payment_id}\n`),
  })
})

t.test('in live mode accepting asks for the id of the dispute', async (t) => {
  const id = DISPUTE_ID
  const dispute = { ...disputeOf({ status: 'OPEN' }), events: [] }
  for (const [typed, code] of [
    ['358c0009', 0],
    [id, 0],
    ['yes', 2],
    ['', 2],
  ] as const) {
    const admin = await fakeAdmin(t, () => ({ json: dispute }), { mode: 'live' })
    const words = ['disputes', 'accept', id, '--refund', '--client-id', 'demo']
    t.match(await admin.run(words, { typed }), { code, stderr: /LIVE[^\n]*refund 50\.00 GBP, all that is left/ })
    t.equal(admin.writes().length, code === 0 ? 1 : 0, typed)
  }
})
