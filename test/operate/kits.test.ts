import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { Environment } from '../../src/config/environment.ts'
import { packageRoot, packageVersion } from '../../src/lib/package-root.ts'
import { readConfig, readKeys } from '../../src/config/read.ts'
import { makeMetrics } from '../../src/observe/metrics.ts'
import { makeAdminConnection } from '../../src/db/connection.ts'
import { emptyDatabase, testDatabase } from '../support/database.ts'
import { runCli } from '../cli/harness.ts'

const KITS = join(packageRoot(), 'examples', 'operate')
const read = (file: string): string => readFileSync(join(KITS, file), 'utf8')
const UNITS = readdirSync(join(KITS, 'systemd')).map((file) => `systemd/${file}`)
const all = ['Dockerfile', 'compose.yaml', 'kubernetes.yaml', ...UNITS].map((file) => ({ file, text: read(file) }))

const NamedValue = z.object({ name: z.string(), value: z.string() })

t.test('every setting that a kit names exists, and no secret is given as a variable', async (t) => {
  for (const { file, text } of all) {
    const names = [...text.matchAll(/\bSVC_[A-Z_]+\b/g)].map(([name]) => name).filter((name) => name !== 'SVC_DOMAIN')
    for (const name of new Set(names)) t.ok(name.replace(/_FILE$/, '') in Environment.shape, `${file}: ${name}`)
    t.notMatch(
      text,
      /SVC_(MIGRATION_)?DATABASE_URL(?!_FILE)\b(?!_)|SVC_ENCRYPTION_KEY(?!_FILE)|SVC_SMTP_URL(?!_FILE)/,
      file,
    )
  }
})

t.test('each kit migrates, serves and works, as a user without rights, with time to drain', async (t) => {
  const compose = z
    .looseObject({ services: z.record(z.string(), z.looseObject({ command: z.array(z.string()).optional() })) })
    .parse(parse(read('compose.yaml'), { merge: true }))
  t.match(compose.services, {
    migrate: { command: ['migrate', 'up'], restart: 'no' },
    api: { command: ['serve'], read_only: true, cap_drop: ['ALL'], stop_grace_period: '30s' },
    worker: { command: ['worker'], read_only: true, cap_drop: ['ALL'], stop_grace_period: '30s' },
  })
  const resources = parseAllDocuments(read('kubernetes.yaml')).map((each) => each.toJS() as Resource)
  t.same(
    resources.map(({ kind, metadata }) => `${kind} ${metadata.name}`),
    [
      'Job svc-migrate',
      'Deployment svc-api',
      'Deployment svc-worker',
      'Service svc-api',
      'PodDisruptionBudget svc-api',
    ],
  )
  for (const { spec } of resources.slice(0, 3)) {
    const pod = spec.template?.spec
    t.match(pod, { automountServiceAccountToken: false, securityContext: { runAsNonRoot: true } })
    t.match(pod?.containers[0], {
      image: `svc:${packageVersion()}`,
      securityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false },
    })
  }
  for (const { spec } of resources.slice(1, 3))
    t.match(spec.template?.spec.containers[0], {
      readinessProbe: { httpGet: { path: '/readyz', port: 'observe' } },
      livenessProbe: { httpGet: { path: '/healthz', port: 'observe' } },
    })
  t.match(read('Dockerfile'), /^ARG BUILD_COMMIT$[^]*^RUN npm ci/m, 'svc --version names the commit')
  t.match(compose['x-svc'], { build: { args: { BUILD_COMMIT: /BUILD_COMMIT/ } } })
  t.match(read('Dockerfile'), /^USER \d+$/m)
  t.notMatch(read('Dockerfile'), /^FROM (?:[^:\s]+|\S+:latest)(?: |$)/m, 'images have a version')
  for (const unit of UNITS) t.match(read(unit), /DynamicUser=yes[^]*ProtectSystem=strict/, unit)
})

t.test('the service starts with the settings of each kit', (t) => {
  const secret = (name: string, value: string): string => {
    const file = join(folder, name)
    writeFileSync(file, value)
    return file
  }
  const folder = t.testdir()
  const secrets: NodeJS.ProcessEnv = {
    SVC_DATABASE_URL_FILE: secret('database_url', 'postgres://svc:secret@database/svc'),
    SVC_ENCRYPTION_KEY_FILE: secret('encryption_key', randomBytes(32).toString('base64')),
    SVC_SMTP_URL_FILE: secret('smtp_url', 'smtps://user:password@mail.example'),
  }
  const compose = z
    .object({
      services: z.record(z.string(), z.looseObject({ environment: z.record(z.string(), z.string()).optional() })),
    })
    .parse(parse(read('compose.yaml').replaceAll(/\$\{SVC_DOMAIN[^}]*\}/g, 'pay.example'), { merge: true }))
  const containers = parseAllDocuments(read('kubernetes.yaml'))
    .map((each) => each.toJS() as Resource)
    .flatMap(({ spec }) => spec.template?.spec.containers ?? [])
    .map((each) => z.looseObject({ args: z.array(z.string()), env: z.array(NamedValue) }).parse(each))
  const [, environment = ''] = /`\/etc\/svc\/environment`[^`]*```text\n([^`]*)```/.exec(read('README.md')) ?? []
  const kits: Record<string, NodeJS.ProcessEnv> = {
    'compose api': compose.services['api']?.environment ?? {},
    'compose worker': compose.services['worker']?.environment ?? {},
    ...Object.fromEntries(
      containers
        .filter(({ args: [command = ''] }) => ['serve', 'worker'].includes(command))
        .map(({ args, env }) => [
          `kubernetes ${args[0]}`,
          Object.fromEntries(env.map(({ name, value }) => [name, value])),
        ]),
    ),
    systemd: Object.fromEntries(environment.split('\n').flatMap((line) => (line === '' ? [] : [line.split('=', 2)]))),
  }
  t.equal(Object.keys(kits).length, 5)
  for (const [kit, settings] of Object.entries(kits)) {
    t.equal(settings['SVC_MODE'], 'live', kit)
    t.equal(readConfig({ ...settings, ...secrets }).mode, 'live', kit)
  }
  t.end()
})

t.test('the file that the README makes is a key', async (t) => {
  const [, words = ''] = /^svc (.+?) > secrets\/encryption_key\b/m.exec(read('README.md')) ?? []
  const { code, stdout } = await runCli(words.split(' '))
  t.equal(code, 0)
  t.equal(readKeys({ SVC_ENCRYPTION_KEY: stdout.trim() }).encryptionKey, stdout.trim())
})

t.test('the logins that the database of the compose file gets are as svc doctor --live wants them', async (t) => {
  // It makes the roles that the script makes on a server of its own.
  await testDatabase(t)
  const { url } = await emptyDatabase(t)
  const database = new URL(url).pathname.slice(1)
  const [owner, api] = [`kit_owner_${process.pid}`, `kit_api_${process.pid}`]
  const script = read('database.sql')
    .replaceAll(/^(\\set|create role svc_(runtime|merchant)\b).*$/gm, '')
    .replaceAll(/:'\w+'/g, `'p4ss'`)
    .replaceAll(':"DBNAME"', database)
    .replaceAll('svc_owner', owner)
    .replaceAll('svc_api', api)
  const admin = await makeAdminConnection({ databaseUrl: url })
  t.teardown(() => admin.end())
  await admin.query(script)
  const urlOf = (username: string): string => Object.assign(new URL(url), { username, password: 'p4ss' }).href
  const env = { SVC_MIGRATION_DATABASE_URL: urlOf(owner), SVC_DATABASE_URL: urlOf(api) }
  t.match(await runCli(['migrate', 'up'], { env }), { code: 0 })
  const { stdout } = await runCli(['doctor', '--live', '--json'], { env })
  const checks: { check: string; state: string }[] = JSON.parse(stdout).checks
  for (const name of ['database logins', 'migrations'])
    t.match(
      checks.find(({ check }) => check === name),
      { state: 'ok' },
    )
  await admin.query(`alter database ${database} owner to current_user; reassign owned by ${owner} to current_user`)
  await admin.query(`drop owned by ${owner}, ${api}; drop role ${owner}, ${api}`)
})

type Resource = {
  kind: string
  metadata: { name: string }
  spec: { template?: { spec: { containers: Record<string, unknown>[] } } }
}

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0

t.test('systemd accepts the units', { skip: hasSystemd ? false : 'systemd is not installed' }, async (t) => {
  const units = UNITS.map((file) => join(KITS, file))
  const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', ...units], { encoding: 'utf8' })
  // Whether Node.js is at its usual place is the machine's matter.
  const said = `${stdout}${stderr}`.split('\n').filter((line) => /svc-/.test(line) && !/is not executable/.test(line))
  t.same(said, [])
})

const hasPromtool = spawnSync('promtool', ['--version']).status === 0

t.test(
  'promtool accepts the rules and their tests',
  { skip: hasPromtool ? false : 'promtool is not installed' },
  (t) => {
    for (const words of [
      ['check', 'rules', 'alerts.yaml'],
      ['test', 'rules', 'alerts.test.yaml'],
    ]) {
      const { status, stdout, stderr } = spawnSync('promtool', words, { cwd: KITS, encoding: 'utf8' })
      t.equal(status, 0, `${stdout}${stderr}`)
    }
    t.end()
  },
)

t.test('every metric of the alerts and of the dashboard exists, and each alert is in the runbook', async (t) => {
  const known = new Set(
    (await makeMetrics().registry.getMetricsAsJSON()).flatMap(({ name }) => [name, `${name}_count`, `${name}_bucket`]),
  )
  const rules = z
    .object({ groups: z.array(z.object({ rules: z.array(z.looseObject({ alert: z.string(), expr: z.string() })) })) })
    .parse(parse(read('alerts.yaml')))
    .groups.flatMap((group) => group.rules)
  const panels = z
    .object({ panels: z.array(z.object({ targets: z.array(z.object({ expr: z.string() })) })) })
    .parse(JSON.parse(read('dashboard.json'))).panels
  const ruleTests = read('alerts.test.yaml')
  for (const [, name = ''] of ruleTests.matchAll(/alertname: (\w+)/g))
    t.ok(
      rules.some(({ alert }) => alert === name),
      name,
    )
  for (const [, name = ''] of ruleTests.matchAll(/series: '?(svc_\w+)/g)) t.ok(known.has(name), name)
  const expressions = [
    ...rules.map(({ expr }) => expr),
    ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ]
  t.ok(expressions.length > 15)
  for (const name of expressions.flatMap((expr) => expr.match(/\b(?:svc|process)_\w+/g) ?? []))
    t.ok(known.has(name), name)
  const runbook = readFileSync(join(packageRoot(), 'docs', 'operators', 'runbook.md'), 'utf8')
  for (const { alert } of rules) t.match(runbook, `## ${alert}\n`)
})
