import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { migrateVerbs } from '../../cli/scenario/read/migrate-verbs.ts'
import { runCli } from '../cli/harness.ts'
import { PAY, casesOf, mistakesOf, scenarioOf } from './read.ts'

const DISPUTE = 'dispute: { as: d1, payment: $p1, reason: OTHER }'

const OLD = `# a story of before
scenario: v1
name: old words
given: { merchant: { kyb: PENDING } }
steps:
  # it is looked at
  - kyb: { status: SUSPENDED,   reason: "no papers" }   # refused
  - kyb:
      status: APPROVED # at last
      reason: papers came
  - merchant: { as: other, kyb: APPROVED }
  - parallel:
      - kyb: { of: $other, status: SUSPENDED }
      - hold: { payouts: true }
  - for_each:
      in: [GBP]
      as: currency
      steps:
        - 'fees': { "fee_percentage": "0.0100", fee_flat: "0.20" }
        - active:
            of: $other
            enabled: false
  - http: { get: /payments, expect: { body: { hold: { payouts: true } } } }
`

const NEW = `# a story of before
scenario: v1
name: old words
given: { merchant: { kyb: PENDING } }
steps:
  # it is looked at
  - kyb.refuse: { reason: "no papers" }   # refused
  - kyb.reinstate:
       # at last
      reason: papers came
  - merchant: { as: other, kyb: APPROVED }
  - parallel:
      - kyb.suspend: { of: $other }
      - hold.set: {}
  - for_each:
      in: [GBP]
      as: currency
      steps:
        - "merchants.fees.set": { "percentage": "0.0100", flat: "0.20" }
        - merchants.disable:
            of: $other
  - http: { get: /payments, expect: { body: { hold: { payouts: true } } } }
`

t.test('only verbs of before and their members are written over: layout and comments stay', async (t) => {
  const { text, changes, mistakes } = migrateVerbs('old.yaml', OLD)
  t.strictSame(mistakes, [])
  t.equal(text, NEW)
  t.equal(changes.length, 6)
  t.strictSame(changes[0], {
    line: 7,
    before: '  - kyb: { status: SUSPENDED,   reason: "no papers" }   # refused',
    after: '  - kyb.refuse: { reason: "no papers" }   # refused',
  })
  t.equal(casesOf(text).length, 1)
  t.strictSame(migrateVerbs('old.yaml', text), { text, changes: [], mistakes: [] }, 'a second time changes nothing')
})

t.test('verbs of payments, disputes, mandates, endpoints and secrets', async (t) => {
  const today: Readonly<Record<string, string>> = {
    'refund: { as: r, payment: $p1, amount: "1.00" }': 'payments.refund: { as: r, payment: $p1, amount: "1.00" }',
    'payment.cancel: { payment: $p1 }': 'payments.cancel: { payment: $p1 }',
    'payment.cancel: { payment: $p1, by: payer }': 'payer.cancel: { payment: $p1 }',
    'payment.cancel: { by: merchant, payment: $p1 }': 'payments.cancel: { payment: $p1 }',
    'endpoint: { paused: true }': 'webhooks.endpoint.pause: {}',
    'endpoint: { paused: false }': 'webhooks.endpoint.resume: {}',
    'consent.end: { consent: $p1 }': 'mandates.end: { consent: $p1 }',
    'accept: { dispute: $d1, refund: true }': 'disputes.accept: { dispute: $d1, refund: true }',
    'rotate_secret: { overlap: 1h }': 'secret.rotate: { overlap: 1h }',
  }
  for (const [before, after] of Object.entries(today)) {
    const { text } = migrateVerbs('x.yaml', scenarioOf([PAY, DISPUTE, before]))
    t.equal(text, scenarioOf([PAY, DISPUTE, after]))
    t.same(mistakesOf(text), [])
  }
})

t.test('an old verb is answered with the new one and the command that writes it', async (t) => {
  t.strictSame(mistakesOf(scenarioOf(['hold: { payouts: true }'])), ['4:5 "hold" is now hold.set or hold.release'])
  const folder = t.testdir({ 'old.yaml': OLD })
  t.match(await runCli(['scenarios', 'validate', 'old.yaml'], { cwd: folder }), {
    code: 2,
    stderr: /"fees" is now merchants\.fees\.set\n[^]*Try: svc scenarios migrate old\.yaml/,
  })
})

t.test('a file is written, and with --dry-run its steps are shown before and after', async (t) => {
  const cwd = t.testdir({ 'old.yaml': OLD, 'new.yaml': NEW })
  const file = join(cwd, 'old.yaml')
  const { code, stdout } = await runCli(['scenarios', 'migrate', '.', '--dry-run'], { cwd })
  t.equal(code, 0)
  t.match(stdout, /^--- old\.yaml\n@@ line 7 @@\n- {2}- kyb: \{ .*\n\+ {2}- kyb\.refuse: \{ reason: .*\n@@ line 8 @@\n/)
  t.equal(readFileSync(file, 'utf8'), OLD)
  t.match(await runCli(['scenarios', 'migrate', '.', '-o', 'jsonl'], { cwd }), {
    code: 0,
    stdout: /^\{"file":"old\.yaml","steps":6,/,
  })
  t.equal(readFileSync(file, 'utf8'), NEW)
  t.match(await runCli(['scenarios', 'migrate', '.'], { cwd }), { code: 0, stdout: '' })
})

t.test('what no verb of today does is left as it is and told, with exit code 2', async (t) => {
  const text = scenarioOf(['kyb: { status: PENDING }', 'hold: { payouts: false }'])
  const cwd = t.testdir({})
  writeFileSync(join(cwd, 'x.yaml'), text)
  t.match(await runCli(['scenarios', 'migrate', 'x.yaml'], { cwd }), {
    code: 2,
    stderr: /these steps are left as they are[^]*x\.yaml:4:5: "kyb" is now kyb\.approve or .* does not say which/,
  })
  t.equal(readFileSync(join(cwd, 'x.yaml'), 'utf8'), scenarioOf(['kyb: { status: PENDING }', 'hold.release: {}']))
})
