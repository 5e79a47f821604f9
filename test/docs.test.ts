import { readFileSync } from 'node:fs'
import t from 'tap'
import { parse as parseYaml } from 'yaml'
import { RunOptions } from '../cli/commands/sandbox/run-options.ts'
import { STRUCTURES, isStructure } from '../cli/scenario/language/structure.ts'
import { VERBS, isVerb } from '../cli/scenario/language.ts'
import { loadScenarios } from '../cli/scenario/read/load.ts'
import { ruleProblems } from '../cli/scenario/read/step-rules.ts'
import { SCENARIO_NAMES } from '../src/banks/scenarios.ts'
import { CONSENT_TRANSITIONS } from '../src/consents/states.ts'
import { DISPUTE_TRANSITIONS } from '../src/disputes/states.ts'
import { routesOf } from '../src/http/routes.ts'
import { ORDER_TRANSITIONS } from '../src/instructions/orders/states.ts'
import { RECURRING_TRANSITIONS } from '../src/instructions/recurring/states.ts'
import { PAYMENT_REQUEST_TRANSITIONS } from '../src/instructions/requests/states.ts'
import { encodeCheckoutToken, signCheckoutToken } from '../src/lib/checkout-token.ts'
import { toMermaid } from '../src/lib/machine.ts'
import { signBody } from '../src/lib/webhook-signature.ts'
import { KYB_TRANSITIONS } from '../src/merchants/states.ts'
import { PAYMENT_TRANSITIONS } from '../src/payments/states.ts'
import { DELIVERY_TRANSITIONS } from '../src/webhooks/states.ts'
import { CheckoutToken } from '../src/wire/checkout.ts'
import { EventType } from '../src/wire/webhook-events.ts'
import { readEvent } from '../widget/messages.ts'
import type { WidgetEventType } from '../widget/messages.ts'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
const config = readFileSync(new URL('../src/config/environment.ts', import.meta.url), 'utf8')

/** What the widget tells its page: all of it, as the type makes sure. */
const WIDGET_EVENTS: Record<WidgetEventType, true> = {
  SVC_WIDGET_READY: true,
  SVC_BANK_SELECTED: true,
  SVC_PAYMENT_SUCCESS: true,
  SVC_PAYMENT_FAILED: true,
  SVC_PAYMENT_CANCELLED: true,
  SVC_RESIZE: true,
}

t.test('the README names every operation', async (t) => {
  for (const { operation } of routesOf('sandbox'))
    t.match(readme, `\`${operation.method} ${operation.path}\``, operation.name)
})

t.test('the README shows the transition tables as they are', async (t) => {
  const diagrams = [
    toMermaid('KYB', KYB_TRANSITIONS),
    toMermaid('Payment', PAYMENT_TRANSITIONS),
    toMermaid('Consent', CONSENT_TRANSITIONS),
    toMermaid('Dispute', DISPUTE_TRANSITIONS),
    toMermaid('Webhook delivery', DELIVERY_TRANSITIONS),
    toMermaid('Open Banking payment', ORDER_TRANSITIONS),
    toMermaid('Recurring payment', RECURRING_TRANSITIONS),
    toMermaid('Request to pay, offer to pay', PAYMENT_REQUEST_TRANSITIONS),
  ]
  for (const diagram of diagrams) t.ok(readme.includes(diagram), diagram.slice(0, 40))
})

t.test("the README's signature verifies", async (t) => {
  const body = Buffer.from('{"eventId":"evt_1"}')
  t.match(readme, `\`${signBody({ secret: '0123456789abcdef'.repeat(4), body })}\``)
})

t.test('the README names every variable of the configuration', async (t) => {
  const names = new Set(config.match(/\bSVC_[A-Z_]+(?=:)/g))
  t.ok(names.size > 10)
  for (const name of names) t.match(readme, `\`${name}\``, name)
})

t.test("the README's checkout token is signed as it says", async (t) => {
  const fields = { amount: '12.50', currency: 'GBP' }
  t.match(readme, `\`${JSON.stringify(fields)}\``)
  const text = encodeCheckoutToken(fields)
  const [, signature] = signCheckoutToken(text, '0123456789abcdef'.repeat(4)).split('.')
  t.match(readme, `printf %s ${text} |`)
  t.match(readme, `# ${signature}\n`)
})

t.test('the README names every member of a checkout token, and no other', async (t) => {
  t.strictSame(
    codesOf(tableAfter('A token is the base64 of a JSON object')).sort(),
    Object.keys(CheckoutToken.shape).sort(),
  )
})

t.test("the README names the widget's events, each with its whole payload", async (t) => {
  const rows = tableAfter('checkout.destroy()', 'SVC_WIDGET_READY')
  t.strictSame(codesOf(rows).sort(), Object.keys(WIDGET_EVENTS).sort())
  for (const row of rows) {
    const [eventType = ''] = codesOf([row])
    const payload = Object.fromEntries(codesOf([row], 2).map((name) => [name, name === 'height' ? 1 : 'text']))
    t.strictSame(readEvent({ eventType, payload }), { eventType, payload }, eventType)
  }
})

t.test('the README names every webhook event', async (t) => {
  const [events = ''] = readme.split('\nEvents: ')[1]?.split('\n\n') ?? []
  for (const type of EventType.options) t.ok(events.includes(`\`${type}\``), type)
})

t.test('the README has a row for every verb of scenario files, with examples that are right', async (t) => {
  const rows = chapterOf('### Verbs')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
  t.strictSame(codesOf(rows).sort(), [...Object.keys(VERBS), ...Object.keys(STRUCTURES)].sort())
  for (const row of rows) {
    const [verb = ''] = codesOf([row])
    const examples = stepsIn(row)
    t.ok(
      examples.some((step) => step.startsWith(`${verb}: `)),
      `${verb} has an example of its own`,
    )
  }
  for (const step of stepsIn(chapterOf('### Verbs'))) t.strictSame(problemsOf(step), [], step)
})

t.test("the README's scenario files are valid, together with the files that they use", async (t) => {
  const blocks = Array.from(readme.matchAll(/```yaml\n(.*?)```/gs), ([, text = '']) => text)
  const files = blocks.map((text) => [/^# ([\w-]+\.yaml)\n/.exec(text)?.[1] ?? 'unnamed', text] as const)
  t.notOk(files.some(([name]) => name === 'unnamed'))
  const cwd = t.testdir(Object.fromEntries(files))
  const { cases, mistakes } = loadScenarios([cwd], { cwd, vars: {} })
  t.strictSame(
    mistakes.map(({ place, message }) => `${place.file}:${place.line} ${message}`),
    [],
  )
  t.ok(cases.length >= files.length)
})

t.test('the README names every flag of svc sandbox run', async (t) => {
  const rows = codesOf(tableAfter('### Run them', '--ephemeral')).join(' ')
  const flags = Object.keys(RunOptions.shape).map((name) =>
    name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
  )
  for (const flag of flags) t.ok(rows.includes(`--${flag}`), flag)
})

t.test("the README names every scenario of the mock bank's, and no other", async (t) => {
  t.strictSame(codesOf(tableAfter("### The bank's dial")).sort(), [...SCENARIO_NAMES].sort())
})

/** What stands below a heading, up to the next one. */
function chapterOf(heading: string): string {
  return readme.split(`\n${heading}\n`)[1]?.split('\n#')[0] ?? ''
}

/** The steps among what stands as code. */
function stepsIn(text: string): string[] {
  return Array.from(text.matchAll(/`([^`]+)`/g), ([, code = '']) => code).filter((code) => /^[\w.]+: [{[.]/.test(code))
}

/** What is wrong with a step as the language has it: nothing, where it is right. */
function problemsOf(step: string): string[] {
  const [[word, input] = ['', undefined], ...more]: [string, unknown][] = Object.entries(Object(parseYaml(step)))
  const { schema } = isVerb(word) ? VERBS[word] : isStructure(word) ? STRUCTURES[word] : { schema: undefined }
  if (schema === undefined || more.length > 0) return ['is no step']
  const rules = isVerb(word) ? ruleProblems(word, input, undefined) : []
  return [...(schema.safeParse(input).error?.issues ?? []), ...rules].map(({ message }) => message)
}

/** The rows of the first table after a text, without its head; `first` is in the first of them. */
function tableAfter(text: string, first = '|'): string[] {
  const lines = readme.slice(readme.indexOf(text)).split('\n')
  const start = lines.findIndex((line) => line.startsWith('| `') && line.includes(first))
  const rest = lines.slice(start)
  return rest.slice(
    0,
    rest.findIndex((line) => !line.startsWith('|')),
  )
}

/** What stands as code in a column; the first when not said. */
function codesOf(rows: readonly string[], column = 1): string[] {
  return rows.flatMap((row) => [...(row.split('|')[column] ?? '').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code))
}
