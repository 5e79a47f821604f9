import t from 'tap'
import type { CommandMap } from '../../cli/entry/tree/map.ts'
import { runCli } from './harness.ts'

async function mapOf(...words: string[]): Promise<CommandMap> {
  const { code, stdout } = await runCli([...words, '--map=json'])
  t.equal(code, 0)
  return JSON.parse(stdout)
}

function leavesOf(map: CommandMap, path = map.name): { path: string; leaf: CommandMap }[] {
  if (map.commands.length === 0) return [{ path, leaf: map }]
  return map.commands.flatMap((child) => leavesOf(child, `${path} ${child.name}`))
}

t.test('the map for programs has the whole tree, with what writes and what asks', async (t) => {
  const map = await mapOf()
  t.equal(map.name, 'svc')
  const leaves = leavesOf(map)
  t.ok(leaves.length > 150, `${leaves.length} commands`)
  for (const { path, leaf } of leaves) {
    t.not(leaf.summary, '', path)
    t.ok(leaf.examples.length > 0, `${path} has no example`)
    for (const example of leaf.examples) t.notMatch(example, / {3}/, path)
  }
  const of = (path: string): CommandMap | undefined => leaves.find((each) => each.path === path)?.leaf
  t.match(of('svc disputes resolve'), { writes: true, asks: true })
  t.match(of('svc payments list'), { writes: false, asks: false })
  t.match(
    of('svc payments create')?.options.find(({ name }) => name === '--amount'),
    {
      value: 'required',
      value_name: 'amount',
      mandatory: true,
      choices: null,
    },
  )
  t.match(of('svc team role')?.arguments, [{ name: 'who', required: true, variadic: false }, { name: 'role' }])
  t.ok(map.options.find(({ name, short }) => name === '--output' && short === '-o')?.choices?.includes('json'))
})

t.test('a part of the tree, by names and aliases, whatever options stand among them', async (t) => {
  t.equal((await mapOf('payments')).name, 'payments')
  t.same(await mapOf('payments', 'create'), await mapOf('payments', '--json', 'create'))
  t.same(
    await mapOf('payments', 'create'),
    await mapOf('-p', 'login', 'payments', '-o', 'json', 'create', '--amount', '1'),
  )
})

t.test('the forms for people', async (t) => {
  t.match(
    (await runCli(['kyb', '--map'])).stdout,
    /^svc kyb {2}.+\n├─ list.+\n[^]*├─ suspend <merchant> \[writes, asks\]/,
  )
  t.match(
    (await runCli(['webhooks', '--map', 'compact'])).stdout,
    /^svc webhooks endpoint\|.+\nsvc webhooks endpoint show\|/,
  )
  t.match((await runCli(['--map=paths'])).stdout, /\nsvc payments show <id>\n/)
  t.match((await runCli(['--map=json'], { tty: true })).stdout, /^\{\n {2}"name": "svc",\n/)
  t.match((await runCli(['--help'])).stdout, /--map \[form\]/)
})

t.test('another form, or what is no command, is refused', async (t) => {
  t.match(await runCli(['--map=dot']), {
    code: 2,
    stdout: '',
    stderr: /"dot" is none of tree, compact, paths, json\nTry: /,
  })
  for (const flag of [['-q', 'name'], ['--query=name']])
    t.match(await runCli(['--map=json', ...flag]), {
      code: 2,
      stdout: '',
      stderr: /printed whole.*takes no -[^]*Try: svc --map=json/,
    })
  t.match(await runCli(['payments', 'pay', '--map']), { code: 2, stderr: /no command "pay" below svc payments/ })
  const { code, stderr } = await runCli(['nonsense', '--map=json', '--json'])
  t.equal(code, 2)
  t.equal(JSON.parse(stderr).error.code, 'USAGE')
})

/** Whoever adds a command here says that it changes nothing, at the service or on this machine. */
const READING: Readonly<Record<string, string>> = {
  status: '',
  payments: 'list, show, events, receipt, refunds',
  mandates: 'list, show',
  portal: 'disputes list, disputes show',
  webhooks: 'endpoint show, endpoint check, list, show, tail, listen, exam, verify, sign',
  secret: 'show, snippet',
  explain: '',
  team: 'list',
  credentials: 'list',
  'bank-accounts': 'list',
  ledger: 'list, export',
  branding: 'show, preview',
  origins: 'list',
  widget: 'token, snippet, demo',
  banks: 'list',
  ob: 'accounts list, balances, transactions, payment, recurring list, recurring show, recurring preview, request-to-pay list, request-to-pay show, offer-to-pay list, offer-to-pay show',
  sandbox:
    'scenarios list, scenarios show, scenarios validate, scenarios schema, clock show, bank faults, bank list, accounts, books',
  mail: 'list, show',
  listen: '',
  payer: 'whoami, payments list, show, consents list',
  whoami: '',
  token: '',
  profile: 'list, show',
  doctor: '',
  inbox: '',
  logs: 'tail',
  merchants: 'list, export, show, payments, payment, registrations, fees show',
  kyb: 'list, show',
  hold: 'list',
  disputes: 'list, show',
  staff: 'list, clients',
  audit: 'list, show, tail, export, verify',
  migrate: 'status',
  keys: 'list, create',
  openapi: '',
  docs: '',
  open: '',
  samples: 'list',
  config: 'show, check',
  completion: '',
  states: '',
  version: '',
  help: '',
}

t.test('what the map says to change nothing is known to', async (t) => {
  const reading = leavesOf(await mapOf()).filter(({ leaf }) => !leaf.writes)
  const listed = Object.entries(READING).flatMap(([noun, verbs]) =>
    verbs.split(', ').map((verb) => `svc ${noun} ${verb}`.trimEnd()),
  )
  t.same(reading.map(({ path }) => path).toSorted(), listed.toSorted())
})
