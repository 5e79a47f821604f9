import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import t from 'tap'
import { packageRoot } from '../src/lib/package-root.ts'

/*
 * The arrows between the parts, checked on the text of every import. A rule that gets in the way of good work is
 * changed here and in CONTRIBUTING.md together, never worked around.
 */
const ROOT = packageRoot()

type Import = { from: string; to: string; typeOnly: boolean }

function filesIn(folder: string): string[] {
  const entries = readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && /\.(tsx?|js)$/.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .toSorted()
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
}

const STATEMENT = /^(?:import|export)\s+(type\s+)?(?:[^'"`;]*?\sfrom\s+)?['"]([^'"]+)['"]/gm
const DYNAMIC = /\bimport\(\s*['"]([^'"]+)['"]/g

/** What a file imports of ours; packages and Node's own modules are no concern here. */
function importsOf(file: string): Import[] {
  const text = read(file)
  const fixed = [...text.matchAll(STATEMENT)].map((match) => ({
    target: match[2] ?? '',
    typeOnly: match[1] !== undefined,
  }))
  const late = [...text.matchAll(DYNAMIC)].map((match) => ({ target: match[1] ?? '', typeOnly: false }))
  return [...fixed, ...late]
    .filter(({ target }) => target.startsWith('.'))
    .map(({ target, typeOnly }) => ({
      from: file,
      to: relative(ROOT, resolve(join(ROOT, dirname(file)), target)),
      typeOnly,
    }))
}

const SOURCE = [...filesIn('src'), ...filesIn('cli')]
const IMPORTS = SOURCE.flatMap((file) => importsOf(file))

/** The imports that a rule forbids, as a person reads them. */
function broken(rule: (each: Import) => boolean): string[] {
  return IMPORTS.filter((each) => !rule(each)).map(
    ({ from, to, typeOnly }) => `${from} imports ${typeOnly ? 'the types of ' : ''}${to}`,
  )
}

function isIn(file: string, ...folders: string[]): boolean {
  return folders.some((folder) => file === folder || file.startsWith(`${folder}/`))
}

t.test('the walk finds what there is', async (t) => {
  t.ok(SOURCE.length > 100 && IMPORTS.length > 300)
  t.ok(
    IMPORTS.some(
      ({ from, to, typeOnly }) => from === 'src/payments/create-payment.ts' && to === 'src/app.ts' && typeOnly,
    ),
  )
  t.ok(
    IMPORTS.some(
      ({ from, to, typeOnly }) => from === 'src/payments/create-payment.ts' && to === 'src/lib/money.ts' && !typeOnly,
    ),
  )
  t.ok(
    IMPORTS.some(({ from, to }) => from === 'cli/service/worker.ts' && to === 'src/api.ts'),
    'imports that are made late too',
  )
  t.same(
    IMPORTS.filter(({ to }) => !SOURCE.includes(to)),
    [],
    'every import leads to a file, with its extension',
  )
})

t.test('lib imports nothing of ours, and wire nothing but lib', async (t) => {
  t.same(
    broken(({ from, to }) => !isIn(from, 'src/lib') || isIn(to, 'src/lib')),
    [],
  )
  t.same(
    broken(({ from, to }) => !isIn(from, 'src/wire') || isIn(to, 'src/wire', 'src/lib')),
    [],
  )
})

t.test('nothing in src knows of the command line', async (t) => {
  t.same(
    broken(({ from, to }) => !isIn(from, 'src') || isIn(to, 'src')),
    [],
  )
})

/** The commands that run or migrate the system; all others speak to it over HTTP like anyone. */
const RUNS_THE_SYSTEM = /^cli\/service\//
const SYSTEM = [
  'src/api.ts',
  'src/app.ts',
  'src/worker.ts',
  // The port of a worker's probes and metrics.
  'src/observe/probes.ts',
  'src/config',
  // The description is made from contract and routes; nothing of the system runs for it.
  'src/openapi',
  'src/db',
  'src/sandbox/seed-merchant.ts',
  'src/keys',
  'src/verify/verify-database.ts',
  'src/staff/ensure-platform.ts',
  'src/sandbox/seed-operator.ts',
  'src/sandbox/seed-customer.ts',
  'src/staff/init-platform.ts',
  // svc doctor, where no service answers: what the operations of the same names would.
  'src/registrations/list-registrations.ts',
  'src/console/get-overview.ts',
  'src/webhooks/list-outbox.ts',
  'src/mail/transport.ts',
  'src/banks/connections/list-bank-connections.ts',
  'src/staff/staff.ts',
  'src/identity/with-factors.ts',
  // svc backup verify, over a database that no service runs on.
  'src/audit/export-audit.ts',
  'src/verify/backup-verification-sql.ts',
  // svc up --bank model, before anybody could call the operation.
  'src/banks/connections/register-at-bank.ts',
]

t.test('the command line knows the contract; only what runs the system starts it', async (t) => {
  t.same(
    broken(({ from, to }) => {
      if (!isIn(from, 'cli') || isIn(to, 'cli', 'src/wire', 'src/lib')) return true
      return RUNS_THE_SYSTEM.test(from) && (isIn(to, ...SYSTEM) || /^src\/[\w/-]+\/states\.ts$/.test(to))
    }),
    [],
  )
  t.match(read('bin/svc.js'), /import\('\.\.\/dist\/cli\/main\.js'\)/)
})

/** The folders of the command line. Each imports those to its left, types included; only the entry is imported by nobody. */
const LAYERS = [
  'base',
  'output',
  'client',
  'kit',
  'session',
  'mail',
  'merchants',
  'mandates',
  'payments',
  'disputes',
  'webhooks',
  'team',
  'settlements',
  'checkout',
  'audit',
  'banks',
  'statements',
  'payouts',
  'reconciliation',
  'open-banking',
  'payer',
  'sandbox',
  'overview',
  'service',
  'receivers',
  'scenario',
  'console',
  'entry',
].map((name) => `cli/${name}`)
/** The two files at the root, which package.json names what they compile to. */
const ROOT_FILES = ['cli/main.ts', 'cli/testing.ts']

t.test('the folders of the command line know those to their left', async (t) => {
  const layerOf = (file: string): number => LAYERS.findIndex((layer) => isIn(file, layer))
  const files = filesIn('cli')
  t.same(
    files.filter((file) => layerOf(file) === -1),
    ROOT_FILES,
  )
  t.same(
    LAYERS.filter((layer) => !files.some((file) => isIn(file, layer))),
    [],
    'each is there',
  )
  t.same(
    broken(({ from, to }) => !isIn(from, ...LAYERS) || !isIn(to, 'cli') || isBelow(layerOf(to), layerOf(from))),
    [],
  )
})

/** -1 is a file at the root, which no folder imports. */
function isBelow(layer: number, other: number): boolean {
  return layer !== -1 && layer <= other
}

t.test('what draws the console is loaded by svc ui alone, when it is opened', async (t) => {
  t.same(
    broken(({ from, to }) => {
      if (!isIn(to, 'cli/console') || isIn(from, 'cli/console')) return true
      return to === 'cli/console/command.ts'
    }),
    [],
  )
  t.notMatch(read('cli/console/command.ts'), /^import (?!type )[^\n]*(start|console|app)\.tsx?'/m)
})

/** A folder imports only those to its left. What two of them share stands in the right one. */
const CONCEPTS = [
  'audit',
  'accounts',
  'banks',
  'mail',
  'instructions',
  'identity',
  'staff',
  'merchants',
  'bank-accounts',
  'signing',
  'team',
  'registrations',
  'webhooks',
  'consents',
  'ledger',
  'settlements',
  'payouts',
  'merchant-status',
  'payments',
  'payout-files',
  'checkout',
  'disputes',
  'transactions',
  'statements',
  'reconciliation',
  'verify',
  'alerts',
  'retention',
  'payers',
  'keys',
  'explain',
  'console',
  'sandbox',
]
/** What every concept may use. */
const BELOW = ['src/db', 'src/lib', 'src/wire']

function conceptOf(file: string): number {
  return CONCEPTS.findIndex((name) => isIn(file, `src/${name}`))
}

t.test(
  'a concept knows those to its left, the database and the contract; of the app and the log it knows the types',
  async (t) => {
    t.same(
      broken(({ from, to, typeOnly }) => {
        if (conceptOf(from) === -1 || isIn(to, ...BELOW)) return true
        if (to === 'src/app.ts' || to === 'src/observe/log.ts') return typeOnly
        // Time travel runs what becomes due on the way.
        if (isIn(from, 'src/sandbox') && to === 'src/jobs.ts') return true
        return conceptOf(to) !== -1 && conceptOf(to) <= conceptOf(from)
      }),
      [],
    )
  },
)

t.test('CONTRIBUTING.md has the concepts in this order', async (t) => {
  const [order = ''] = /^audit(?:\s*<\s*[\w-]+)+$/m.exec(read('CONTRIBUTING.md')) ?? []
  t.strictSame(
    order.split('<').map((name) => name.trim()),
    CONCEPTS,
  )
})

t.test('the database layer knows lib, and the type of the log', async (t) => {
  t.same(
    broken(
      ({ from, to, typeOnly }) =>
        !isIn(from, 'src/db') || isIn(to, 'src/db', 'src/lib') || (to === 'src/observe/log.ts' && typeOnly),
    ),
    [],
  )
})

t.test('observe knows lib, its own and the database, and of the app the type', async (t) => {
  t.same(
    broken(
      ({ from, to, typeOnly }) =>
        !isIn(from, 'src/observe') || isIn(to, 'src/observe', 'src/lib', 'src/db') || (to === 'src/app.ts' && typeOnly),
    ),
    [],
  )
})

t.test('handlers, guards and pages ask use cases: no statement, no connection', async (t) => {
  const asks = ['src/http/handlers', 'src/http/pages', 'src/http/guards.ts', 'src/http/callers.ts']
  t.same(
    broken(
      ({ from, to }) => !asks.some((place) => isIn(from, place)) || !(isIn(to, 'src/db') || to.endsWith('sql.ts')),
    ),
    [],
  )
})

t.test('statements get the trace that they store from their caller, and do not look for one', async (t) => {
  t.same(
    broken(({ from, to }) => !from.endsWith('sql.ts') || to !== 'src/lib/trace.ts'),
    [],
  )
})

t.test('the route table knows the contract, guards, endpoints and handlers', async (t) => {
  const known = ['src/wire', 'src/http/guards.ts', 'src/http/endpoint.ts', 'src/http/handlers']
  t.same(
    broken(
      ({ from, to, typeOnly }) =>
        from !== 'src/http/routes.ts' || isIn(to, ...known) || (to === 'src/app.ts' && typeOnly),
    ),
    [],
  )
})

t.test('only the API reaches for http, and only processes for the API, the worker and the jobs', async (t) => {
  const servers = ['src/http', 'src/api.ts', 'src/openapi']
  t.same(
    broken(({ from, to }) => !isIn(to, 'src/http') || isIn(from, ...servers)),
    [],
  )
  t.same(
    broken(
      ({ to, from }) => !isIn(to, 'src/api.ts', 'src/worker.ts') || isIn(from, 'cli', 'src/worker.ts', 'src/api.ts'),
    ),
    [],
  )
  t.same(
    broken(({ to, from }) => to !== 'src/jobs.ts' || from === 'src/worker.ts' || isIn(from, 'src/sandbox')),
    [],
  )
})

t.test(
  'the model bank is a stranger: it shares lib with the service, and nothing of the service starts it',
  async (t) => {
    t.same(
      broken(({ from, to }) => !isIn(from, 'src/model-bank') || isIn(to, 'src/model-bank', 'src/lib')),
      [],
    )
    t.same(
      broken(({ from, to }) => !isIn(to, 'src/model-bank') || isIn(from, 'src/model-bank')),
      [],
    )
  },
)

t.test('there are no cycles, but for the types that lead through app.ts', async (t) => {
  const edges = Map.groupBy(
    IMPORTS.filter(({ to, typeOnly }) => !(typeOnly && to === 'src/app.ts')),
    ({ from }) => from,
  )
  const done = new Set<string>()
  const cycles: string[] = []
  function visit(file: string, way: string[]): void {
    if (way.includes(file)) {
      const cycle = [...way.slice(way.indexOf(file)), file]
      const allTypes = cycle
        .slice(1)
        .every((to, index) => edges.get(cycle[index] ?? '')?.find((each) => each.to === to)?.typeOnly === true)
      const oneFolder = new Set(cycle.map((each) => dirname(each))).size === 1
      // Two files of one folder may name each other's types where one of the two ways is only a type.
      const someType = cycle.slice(1).some((to, index) =>
        edges
          .get(cycle[index] ?? '')
          ?.filter((each) => each.to === to)
          .every(({ typeOnly }) => typeOnly),
      )
      if (!allTypes && !(oneFolder && someType)) cycles.push(cycle.join(' > '))
      return
    }
    if (done.has(file)) return
    for (const { to } of edges.get(file) ?? []) visit(to, [...way, file])
    done.add(file)
  }
  for (const file of SOURCE) visit(file, [])
  t.same(cycles, [])
})

const SQL =
  /\bsql(\.\w+)*\(?[^\n`]*`|\.query\(|(?<!<)\bselect\b[^\n]*\bfrom\b|\b(insert into|delete from)\b|\bupdate \w+( \w+)? set\b/

/** Where a statement may stand beside the files named after it, and why. */
const SPEAKS_SQL: Record<string, string> = {
  'src/db/batcher.ts': 'runs a statement that it is given',
  'src/db/embedded.ts': 'makes the role and the database of a new cluster',
  'src/db/migrate.ts': 'runs migrations',
  'src/db/pool.ts': 'runs a statement that it is given',
  'src/db/scoped-query.ts': 'limits the transaction of a statement that it is given',
  'src/db/wake.ts': 'LISTEN and NOTIFY, which belong to no concept',
}

t.test('statements stand in files named after them', async (t) => {
  const offenders = SOURCE.filter((file) => !/(^|\/|-)sql\.ts$/.test(file) && SPEAKS_SQL[file] === undefined).filter(
    (file) =>
      code(file)
        .split('\n')
        .some((line) => SQL.test(line) && !/\.query\((?!['"`])/.test(line)),
  )
  t.same(offenders, [])
  for (const file of Object.keys(SPEAKS_SQL)) t.ok(SOURCE.includes(file), `${file} is still there`)
})

/** A file without its comments. */
function code(file: string): string {
  return read(file)
    .replaceAll(/\/\*[^]*?\*\//g, '')
    .replaceAll(/^\s*\/\/.*$/gm, '')
}

t.test('everything is exported by name, and no file only passes on', async (t) => {
  t.same(
    SOURCE.filter((file) => /\bexport\s+default\b/.test(code(file))),
    [],
  )
  t.same(
    SOURCE.filter((file) => /(^|\/)index\.(ts|js)$/.test(file)),
    [],
  )
  t.same(
    SOURCE.filter((file) => /^export\s+\*/m.test(code(file))),
    [],
  )
})

/** Imports that give a name of ours another name. Packages export names such as `setTimeout` twice, so those may. */
const RENAMING = /^import\s+(?:type\s+)?\{[^}]*\b\w+ as \w+[^}]*\} from '\.[^']*'/gm

t.test('nothing of ours is renamed where it is imported', async (t) => {
  t.match("import { pay as payNow } from './pay.ts'", RENAMING)
  const found = SOURCE.filter((file) => isIn(file, 'src')).flatMap((file) =>
    [...code(file).matchAll(RENAMING)].map(([statement]) => `${file}: ${statement}`),
  )
  t.same(found, [])
})

t.test('names are in kebab-case', async (t) => {
  t.same(
    SOURCE.filter((file) => !/^[a-z0-9/-]+\.(tsx?|js)$/.test(file)),
    [],
  )
})

const FLOATS = /\b(parseFloat|toFixed|toPrecision|Number\.parseFloat)\b|(?<![.\w])Number\(|\.toNumber\(/

/** The lines that make a number where money is near; what they count is no money. */
const COUNTS: Record<string, RegExp> = {
  'cli/base/moments.ts': /days: Number\(days\)/,
  'cli/open-banking/pages.ts': /Number\((text|page|pageSize [^)]*)\)/,
  'cli/client/pages.ts': /const rowsMax = options\.all \? Infinity : Number\(options\.limit\)/,
  'cli/output/path.ts': /index: Number\(index\)/,
  'cli/scenario/read/source.ts': /holder\.items\[Number\(step\)\]/,
  'cli/service/up/ephemeral-folder.ts': /isRunning\(Number\(pid\)\)/,
  'cli/service/up/plan.ts': /const port = .*Number\(text\)/,
}

t.test('no amount of money becomes a float', async (t) => {
  const files = SOURCE.filter((file) =>
    isIn(
      file,
      'src/payments',
      'src/merchants',
      'src/lib/money.ts',
      'src/lib/minor-units.ts',
      'src/accounts',
      'src/instructions',
      'src/banks',
      'cli',
    ),
  )
  const offenders = files.flatMap((file) =>
    code(file)
      .split('\n')
      .filter((line) => FLOATS.test(line) && !COUNTS[file]?.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  )
  t.same(offenders, [])
  const schemas = SOURCE.filter((file) =>
    isIn(file, 'src/wire', 'src/payments', 'src/merchants', 'src/accounts', 'src/instructions'),
  ).flatMap((file) =>
    code(file)
      .split('\n')
      .filter((line) => /(amount|fee_\w+)\s*:\s*z\.(number|coerce|int)/.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  )
  t.same(schemas, [], 'no schema reads one as a number')
})

/** What browsers run, and the program that builds it. */
const BROWSER = filesIn('widget').filter((file) => !isBuild(file))
const BUILD = filesIn('widget').filter(isBuild)
/** What browsers run of src: small files that import nothing but types and each other. */
const IN_BROWSERS = [
  'src/lib/contrast.ts',
  'src/lib/failure-meaning.ts',
  'src/lib/locales',
  'src/lib/localization.ts',
  'src/lib/payment-status.ts',
  'src/lib/qr-code.ts',
  'src/lib/qr-correction.ts',
]

function isBuild(file: string): boolean {
  return isIn(file, 'widget/build.ts', 'widget/build')
}

t.test('the widget knows the contract by its types, and nothing knows the widget', async (t) => {
  t.ok(BROWSER.includes('widget/loader.ts') && BUILD.includes('widget/build.ts'))
  const tell = ({ from, to }: Import): string => `${from} imports ${to}`
  const inBrowser = ({ to, typeOnly }: Import): boolean => {
    if (isIn(to, 'widget')) return !isBuild(to)
    return isIn(to, ...IN_BROWSERS) || (typeOnly && isIn(to, 'src/wire', 'src/lib'))
  }
  t.same(
    BROWSER.flatMap(importsOf)
      .filter((each) => !inBrowser(each))
      .map(tell),
    [],
  )
  t.same(
    BUILD.flatMap(importsOf)
      .filter(({ to }) => !isBuild(to) && !isIn(to, 'src/banks/catalogue.ts', 'src/lib'))
      .map(tell),
    [],
  )
  t.same(IMPORTS.filter(({ to }) => isIn(to, 'widget')).map(tell), [])
  const inBrowsers = IN_BROWSERS.flatMap((path) => (path.endsWith('.ts') ? [path] : filesIn(path)))
  const atRunTime = inBrowsers.flatMap(importsOf).filter(({ to, typeOnly }) => !typeOnly && !isIn(to, ...IN_BROWSERS))
  t.same(atRunTime.map(tell), [])
})

const MAKES_MARKUP = /\b(innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|DOMParser|eval|new Function)\b/

t.test('in browsers, text never becomes markup or code, and money never a float', async (t) => {
  const offenders = (rule: RegExp): string[] => BROWSER.filter((file) => rule.test(code(file)))
  t.same(offenders(MAKES_MARKUP), [])
  t.same(offenders(FLOATS), [])
  t.same(offenders(/setAttribute\('style'/), [], 'the policy allows no style in attributes')
  t.same(offenders(/addEventListener\('unload'|onunload/), [], 'pages stay in the cache that makes Back instant')
  t.same(
    [...BROWSER, ...BUILD].filter((file) => /\bexport\s+(default|\*)/.test(code(file))),
    [],
  )
  t.same(
    [...BROWSER, ...BUILD].filter((file) => !/^[a-z0-9/-]+\.ts$/.test(file)),
    [],
  )
})

t.test('the environment is read in one place, and standard output belongs to the command line', async (t) => {
  const own = SOURCE.filter((file) => isIn(file, 'src'))
  t.same(
    own.filter((file) => /process\.env\b/.test(code(file)) && !isIn(file, 'src/db')),
    [],
  )
  t.same(
    own.filter((file) => /console\.(?!ts')|process\.stdout/.test(code(file))),
    // A process of its own: the one line that says where the bank is.
    ['src/model-bank/main.ts'],
  )
  t.same(
    own.filter((file) => /process\.exit\(/.test(code(file))),
    [],
  )
})

const CALLS_OUT =
  /^import (?!type )[^\n]*from '(undici|node:https?|nodemailer)'|import\('nodemailer'\)|(?<![.\w])fetch\(['"`]/m

t.test('only the mock bank, webhooks, mail and Keycloak call out, each with its time-out', async (t) => {
  const servers = ['src/http', 'src/api.ts', 'src/observe/probes.ts', 'src/model-bank/start.ts']
  const callers = SOURCE.filter((file) => isIn(file, 'src') && CALLS_OUT.test(code(file)) && !isIn(file, ...servers))
  for (const file of callers) t.ok(isIn(file, 'src/banks', 'src/webhooks', 'src/mail', 'src/identity/keycloak'), file)
  for (const file of SOURCE.filter(
    (each) => /\b(request|fetch)\(/.test(code(each)) && /from 'undici'/.test(code(each)) && isIn(each, 'src'),
  )) {
    t.match(code(file), /AbortSignal\.timeout|signal|headersTimeout/, file)
  }
})

/** What is called by a name that no import has. */
const EXPORTED_FOR_OTHERS = new Set([
  'writeCommands', // package.json
  'testOf', // the module that take-files.ts makes for each test
  'Domain', // the package that tap-domain.js stands for
])

// Not types, nor the schemas that have a type of their name: they belong to what they describe.
t.test('a value that is exported is used by another file', async (t) => {
  // The benchmark installs what it compares with.
  const files = ['src', 'cli', 'widget', 'bin', 'bench', 'docs', 'examples', 'test']
    .flatMap((folder) => filesIn(folder))
    .filter((file) => !file.includes('node_modules'))
  const usersOf = new Map<string, number>()
  for (const file of files)
    for (const word of new Set(read(file).match(/[\w$]+/g))) usersOf.set(word, (usersOf.get(word) ?? 0) + 1)
  const unused = files.flatMap((file) => {
    if (isIn(file, 'src/wire', 'examples') || file.endsWith('.test.ts')) return []
    const text = read(file)
    return [...text.matchAll(/^export (?:async )?(?:const|function\*?|class) (\w+)/gm)]
      .map(([, name = '']) => name)
      .filter((name) => !EXPORTED_FOR_OTHERS.has(name) && !text.includes(`export type ${name} `))
      .filter((name) => (usersOf.get(name) ?? 0) < 2)
      .map((name) => `${file} exports ${name}`)
  })
  t.same(unused, [])
})
