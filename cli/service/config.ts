import { VARIABLES } from '../base/environment-variables.ts'
import { EXIT } from '../base/exit-codes.ts'
import type { Io } from '../base/io.ts'
import { configDirOf } from '../client/auth/config-dir.ts'
import { configFile } from '../client/auth/config-settings.ts'
import { readUserConfig } from '../client/auth/profiles.ts'
import { command } from '../kit/command.ts'
import type { Context } from '../kit/context.ts'

const show = command({
  command: 'config show',
  summary: 'List settings with their values and sources',
  details: 'Secrets are masked.',
  examples: ['svc config show', 'svc config show --server --set', 'svc config show -o json'],
  flags: {
    server: { summary: 'Show the settings of svc serve and svc worker' },
    set: { summary: 'Show only settings that are set' },
  },
  async run(context, input) {
    const all = input.server ? await serverSettings(context) : ownSettings(context)
    context.print.list(input.set ? all.filter(isSet) : all, {
      fields: ['name', 'value', 'source', 'meaning'],
      columns: [
        { title: 'setting', value: (row) => row.name },
        { title: 'value', value: (row) => row.value ?? '-' },
        { title: 'from', value: (row) => row.source },
      ],
      empty: 'Nothing is set.',
    })
  },
})

async function serverSettings({ io }: Context): Promise<Setting[]> {
  const { CONFIG_VARIABLES } = await import('../../src/config/environment.ts')
  return CONFIG_VARIABLES.map(({ name, unset }) => fromEnvironment(io, { name, meaning: '', unset }))
}

const check = command({
  command: 'config check',
  summary: 'Check the environment as svc serve does',
  details: 'Exit code 3 if a setting is invalid; each problem is printed with its variable.',
  examples: ['svc config check', 'svc config check --env production.env'],
  flags: {},
  async run(context) {
    const [{ readConfig }, { ConfigError }] = await Promise.all([
      import('../../src/config/read.ts'),
      import('../../src/config/parse.ts'),
    ])
    try {
      const { mode, identity } = readConfig(context.io.env)
      context.print.record(
        { ok: true, mode, identity },
        [
          ['Configuration', 'complete'],
          ['Mode', mode],
          ['Identity', identity],
        ],
        { id: 'ok' },
      )
      return undefined
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      const problems = problemsIn(error.message)
      context.print.list(problems, {
        fields: ['variable', 'problem'],
        columns: [
          { title: 'variable', value: (row) => row.variable },
          { title: 'problem', value: (row) => row.problem },
        ],
      })
      context.note(
        `svc serve would not start: ${problems.length} of its variables ${problems.length === 1 ? 'is' : 'are'} wrong.`,
      )
      return EXIT.assertion
    }
  },
})

/** Each line of the service's own message begins with the variable that it is about; it repeats no value. */
function problemsIn(message: string): { variable: string; problem: string }[] {
  const lines = message.split('\n').filter((line) => /SVC_/.test(line))
  return lines.map((line) => {
    const [variable = ''] = /SVC_[A-Z_]+/.exec(line) ?? []
    return { variable, problem: line.trim().replace(new RegExp(`^${variable}: `), '') }
  })
}

/** A variable with what it holds, `null` for nothing, and who said so: a flag, a file, `environment`, `default` or `not set`. */
type Setting = { name: string; value: string | null; source: string; meaning: string }

/** What a command goes by: a flag, else the environment, which the user's configuration file stands below. */
function ownSettings({ io, flags, stateDir }: Context): Setting[] {
  const configDir = configDirOf(io.env)
  const user = readUserConfig(configDir)
  const ofFlags = {
    SVC_API_URL: flags.apiUrl,
    SVC_PROFILE: flags.profile,
    SVC_CLIENT_ID: flags.clientId,
    SVC_STATE_DIR: flags.stateDir,
  }
  const ofFile = { SVC_API_URL: user.api_url, SVC_PROFILE: user.profile }
  const unset = { SVC_STATE_DIR: stateDir, SVC_CONFIG_DIR: configDir, SVC_OUTPUT: 'table', SVC_TIMEOUT: '15s' }
  return VARIABLES.map(({ name, meaning }): Setting => {
    const flag = valueIn(ofFlags, name)
    const source = `--${name.slice('SVC_'.length).toLowerCase().replace('_', '-')}`
    if (flag !== undefined) return { name, value: masked(name, flag), source, meaning }
    const set = fromEnvironment(io, { name, meaning, unset: valueIn(unset, name) })
    if (isSet(set)) return set
    const ofUser = valueIn(ofFile, name)
    return ofUser === undefined ? set : { ...set, value: masked(name, ofUser), source: configFile(configDir) }
  })
}

function valueIn<T>(values: Readonly<Record<string, T>>, name: string): T | undefined {
  return values[name]
}

const NOT_SET = 'not set'

function isSet({ source }: Setting): boolean {
  return source !== 'default' && source !== NOT_SET
}

function fromEnvironment(
  { env, origins }: Pick<Io, 'env' | 'origins'>,
  { name, meaning, unset }: { name: string; meaning: string; unset: string | undefined },
): Setting {
  const value = env[name] ?? ''
  if (value !== '') return { name, value: masked(name, value), source: origins?.get(name) ?? 'environment', meaning }
  const file = env[`${name}_FILE`] ?? ''
  if (file !== '') return { name, value: `the file ${file}`, source: `${name}_FILE`, meaning }
  if (unset === undefined) return { name, value: null, source: NOT_SET, meaning }
  return { name, value: masked(name, unset), source: 'default', meaning }
}

const SECRET = /SECRET|PASSWORD|TOKEN|ENCRYPTION_KEY|MOCK_BANK_CODE/

/** A setting's value as it may be shown: nothing of a secret, and no password or parameter of an address. */
function masked(name: string, value: string): string {
  if (SECRET.test(name)) return '********'
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return value
  if (!URL.canParse(value)) return '********'
  const { protocol, username, password, host, pathname, search } = new URL(value)
  const login = password !== '' ? `${username}:********@` : username === '' ? '' : `${username}@`
  // Parameters may hold a password too.
  return `${protocol}//${login}${host}${pathname}${search === '' ? '' : '?…'}`
}

export const CONFIG = [show, check]
